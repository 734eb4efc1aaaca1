//! The formats: their names, which one a file is of, and where each agent keeps its files.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::input::Seekable;
use super::raw::{self, view};
use super::reader::{Reader, Scribe, Transcript};
use super::{Position, claude_code, codex, document, gemini_cli, swe_agent};
use crate::base::string_enum::string_enum;
use crate::git::Env;

/// How much of a file is looked at to learn what it is.
const MAX_HEAD: u64 = 256 * 1024;

/// How many lines of that are looked at.
const MAX_LINES: usize = 50;

string_enum! {
    /// A format that an agent writes its sessions in.
    Format {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        GeminiCli = "gemini-cli",
        /// SWE-agent.
        SweAgent = "swe-agent",
    }
}

view! {
    /// What tells the formats apart.
    Probe {
        kind: b"type",
        payload: b"payload",
        record_type: b"record_type",
        id: b"id",
        instructions: b"instructions",
        call_id: b"call_id",
        role: b"role",
        uuid: b"uuid",
        leaf: b"leafUuid",
        session: b"sessionId",
        message: b"message",
        project: b"projectHash",
        messages: b"messages",
        set: b"$set",
        rewind: b"$rewindTo",
        history: b"history",
        trajectory: b"trajectory",
    }
}

impl Format {
    /// The format of a file that begins with `head`; `None` if it is none of these.
    #[must_use]
    pub(crate) fn detect(head: &[u8]) -> Option<Self> {
        if let Some(found) = lines(head).find_map(Self::of_line) {
            return Some(found);
        }
        // A document: its members as lines.
        let mut members = Vec::new();
        document::Lines::new(head).read_to_end(&mut members).ok()?;
        lines(&members).find_map(Self::of_line)
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let probe: Probe<'_> = serde_json::from_slice(line).ok()?;
        let kind = probe.kind.and_then(raw::text);
        let bare_item =
            matches!(kind.as_deref(), Some("message" | "reasoning" | "function_call" | "function_call_output"))
                && (probe.role.is_some() || probe.call_id.is_some());
        let old_head = kind.is_none() && probe.id.is_some() && probe.instructions.is_some();
        if (probe.payload.is_some() && kind.is_some()) || probe.record_type.is_some() || bare_item || old_head {
            Some(Self::Codex)
        } else if probe.project.is_some() || probe.set.is_some() || probe.rewind.is_some() {
            Some(Self::GeminiCli)
        } else if probe.history.is_some() || probe.trajectory.is_some() {
            Some(Self::SweAgent)
        } else if kind.is_some() && (probe.uuid.is_some() || probe.leaf.is_some() || probe.session.is_some()) {
            Some(Self::ClaudeCode)
        } else if probe.messages.is_some() && probe.session.is_some() {
            Some(Self::GeminiCli)
        } else {
            None
        }
    }

    /// The agent as people call it.
    #[must_use]
    pub(crate) fn agent(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::SweAgent => "SWE-agent",
        }
    }

    /// The folder in which the agent keeps what is the user's; none where it keeps nothing.
    #[must_use]
    pub(crate) fn home(self, env: &Env) -> Option<PathBuf> {
        let (variable, folder) = match self {
            Self::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => ("CODEX_HOME", ".codex"),
            Self::GeminiCli => {
                let home = env.os("GEMINI_CLI_HOME").or_else(|| env.os("HOME"));
                return Some(home.map_or_else(PathBuf::new, |home| Path::new(home).join(".gemini")));
            }
            Self::SweAgent => return None,
        };
        Some(match (env.os(variable), env.os("HOME")) {
            (Some(chosen), _) => PathBuf::from(chosen),
            (None, Some(home)) => Path::new(home).join(folder),
            (None, None) => PathBuf::new(),
        })
    }

    /// The newest session of `folder` under the agent's `home`.
    ///
    /// # Errors
    ///
    /// Whatever listing folders meets, but for their absence.
    pub(crate) fn newest(self, home: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
        // As agents name it, without a slash at its end.
        let folder: PathBuf = folder.components().collect();
        match self {
            Self::ClaudeCode => claude_code::newest_transcript(home, &folder),
            Self::Codex => codex::newest_rollout(home, &folder),
            Self::GeminiCli => gemini_cli::newest_session(home, &folder),
            Self::SweAgent => Ok(None),
        }
    }

    /// Starts reading a transcript at its first byte.
    ///
    /// # Errors
    ///
    /// Whatever reading its head meets.
    pub(crate) fn open<'r>(self, mut reader: Box<dyn Read + 'r>) -> io::Result<Box<dyn Transcript + 'r>> {
        Ok(match self {
            Self::ClaudeCode => Box::new(claude_code::Reader::new(reader)),
            Self::Codex => Box::new(Reader::<_, codex::Scribe>::new(reader)),
            Self::GeminiCli => {
                let head = head(&mut *reader)?;
                let of_lines = is_of_lines(&head);
                let whole = Cursor::new(head).chain(reader);
                if of_lines {
                    Box::new(Reader::<_, gemini_cli::Scribe>::new(whole))
                } else {
                    Box::new(Reader::<_, gemini_cli::Scribe>::of_document(document::Lines::new(whole)))
                }
            }
            Self::SweAgent => Box::new(Reader::<_, swe_agent::Scribe>::of_document(document::Lines::new(reader))),
        })
    }

    /// Goes on from a position, see [`Reader::resume`].
    ///
    /// # Errors
    ///
    /// Whatever reading meets.
    pub(crate) fn resume<'r>(
        self,
        reader: Box<dyn Seekable + 'r>,
        position: &Position,
        memory: &[u8],
    ) -> io::Result<Option<Box<dyn Transcript + 'r>>> {
        match self {
            Self::ClaudeCode => resume::<claude_code::Scribe>(reader, position, memory),
            Self::Codex => resume::<codex::Scribe>(reader, position, memory),
            Self::GeminiCli => resume::<gemini_cli::Scribe>(reader, position, memory),
            Self::SweAgent => Ok(None),
        }
    }
}

fn resume<'r, S: Scribe + 'r>(
    reader: Box<dyn Seekable + 'r>,
    position: &Position,
    memory: &[u8],
) -> io::Result<Option<Box<dyn Transcript + 'r>>> {
    let resumed = Reader::<_, S>::resume(reader, position, memory)?;
    Ok(resumed.map(|reader| Box::new(reader) as Box<dyn Transcript + 'r>))
}

/// The first bytes of a file, as many as tell what it is.
///
/// # Errors
///
/// Whatever reading meets.
pub(crate) fn head(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(MAX_HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The first lines that are not blank, a byte order mark left away.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(MAX_LINES)
}

/// Whether the first line is an object of its own that holds no messages, as no document's is.
fn is_of_lines(head: &[u8]) -> bool {
    lines(head).next().is_some_and(|line| {
        serde_json::from_slice::<Probe<'_>>(line)
            .is_ok_and(|probe| probe.messages.is_none_or(|messages| messages.get().len() <= 2))
    })
}
