//! The table of transcript formats, and which one a file has.
//!
//! Detection is a contest. Each format says how sure it is of each record in the head of a file, from its content alone. The surest
//! wins; among equally sure ones, the one with more such records. If none is sure enough, or two are equal, there is no answer but a
//! list of candidates.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::agents::conversations::{chatgpt, claude_ai, sharegpt};
use super::agents::trajectories::{atif, inspect, mini_swe_agent, openhands, otel, runs, swe_agent};
use super::agents::{
    AgentFormat, FolderAndFile, IsWanted, aider, claude_code, cline, codex, copilot_cli, cursor, droid, gemini_cli,
    opencode, pi, qwen_code, vscode_copilot,
};
use super::api_request;
use super::read::document::{DocumentLines, JoinedLines};
use super::read::object::Object;
use super::read::reader::Certainty;
use crate::base::string_enum::string_enum;
use crate::git::Env;
use crate::message::Api;

const MAX_HEAD: u64 = 256 * 1024;

const MAX_LINES: usize = 50;

const APIS: [Api; 4] = [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Gemini];

string_enum! {
    /// The format in which an agent writes its sessions.
    Format {
        ClaudeCode = "claude-code",
        Codex = "codex",
        GeminiCli = "gemini-cli",
        Opencode = "opencode",
        CopilotCli = "copilot-cli",
        Cursor = "cursor",
        Pi = "pi",
        Droid = "droid",
        Aider = "aider",
        QwenCode = "qwen-code",
        Atif = "atif",
        Otel = "otel-genai",
        SweAgent = "swe-agent",
        VsCodeCopilot = "vscode-copilot",
        Inspect = "inspect",
        LangSmith = "langsmith",
        Langfuse = "langfuse",
        ChatGpt = "chatgpt",
        ClaudeAi = "claude-export",
        ShareGpt = "sharegpt",
        CodexExec = "codex-exec",
        GeminiStream = "gemini-stream-json",
        Cline = "cline",
        OpenHands = "openhands",
        MiniSweAgent = "mini-swe-agent",
    }
}

/// The possible contents of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InputFormat {
    Session(Format),
    Jsonl,
    Provider(Api),
}

impl InputFormat {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Format::all().map(Self::Session).chain([Self::Jsonl]).chain(APIS.map(Self::Provider))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Session(format) => format.as_str(),
            Self::Jsonl => "jsonl",
            Self::Provider(api) => api.as_str(),
        }
    }

    /// The format of a file with this head, or the candidates if that is not clear.
    pub(crate) fn detect(head: &[u8]) -> Result<Self, Vec<Self>> {
        let lines = lines_of(head);
        let mut scores: Vec<_> = Self::all().map(|format| (format.score(&lines), format)).collect();
        scores.retain(|((certainty, _), _)| *certainty > Certainty::No);
        let best = scores.iter().map(|(score, _)| *score).max().unwrap_or_default();
        let is_clear = best.0 >= Certainty::Likely;
        scores.retain(|(score, _)| *score == best || !is_clear);
        match &scores[..] {
            [(_, only)] if is_clear => Ok(*only),
            _ => Err(scores.into_iter().map(|(_, format)| format).collect()),
        }
    }

    /// How sure it is of the best line, and the number of such lines.
    pub(crate) fn score(self, lines: &[Vec<u8>]) -> (Certainty, usize) {
        let certainties: Vec<Certainty> = lines.iter().map(|line| self.certainty(line)).collect();
        let best = certainties.iter().copied().max().unwrap_or_default();
        (best, certainties.into_iter().filter(|certainty| *certainty == best).count())
    }

    fn certainty(self, line: &[u8]) -> Certainty {
        match self {
            Self::Session(format) => (format.agent().certainty)(line),
            Self::Jsonl => {
                let item: Object<'_> = serde_json::from_slice(line).unwrap_or_default();
                let is_item = item.has("op") && item.has("id") && (item.has("type") || item.has("seq"));
                if is_item { Certainty::Sure } else { Certainty::No }
            }
            Self::Provider(api) => serde_json::from_slice(line)
                .map_or(Certainty::No, |document: Object<'_>| api_request::certainty(api, &document)),
        }
    }
}

/// The lines of a log; the values and the members of a document; the headings of a text; an archive.
pub(crate) fn lines_of(head: &[u8]) -> Vec<Vec<u8>> {
    if head.starts_with(b"PK\x03\x04") {
        return vec![head.to_vec()];
    }
    let mut lines: Vec<Vec<u8>> = first_lines(head).map(<[u8]>::to_vec).collect();
    if let Some(start) = lines.iter().position(|line| line.starts_with(b"{") || line.starts_with(b"[")) {
        let is_log = serde_json::from_slice::<Object<'_>>(&lines[start]).is_ok();
        let mut split = Vec::new();
        if !is_log {
            // A line inside of a document may look like a record of something else.
            let mut joined = Vec::new();
            let _ = JoinedLines::new(head).read_to_end(&mut joined);
            lines = first_lines(&joined).map(<[u8]>::to_vec).collect();
            let _ = DocumentLines::new(head).read_to_end(&mut split);
        } else if start + 1 == lines.len() {
            let _ = DocumentLines::new(&lines[start][..]).read_to_end(&mut split);
        }
        lines.extend(first_lines(&split).map(<[u8]>::to_vec));
        // The head may end in a long value.
        if let Some(last) = lines.last_mut().filter(|_| head.len() as u64 == MAX_HEAD) {
            close(last);
        }
    }
    let headings = head.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"# ")).take(MAX_LINES);
    lines.extend(headings.map(<[u8]>::to_vec));
    lines
}

/// Ends a value that was cut after its last complete member.
fn close(value: &mut Vec<u8>) {
    let (mut open, mut end, mut in_text, mut escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in value.iter().enumerate() {
        if in_text {
            in_text = *byte != b'"' || escaped;
            escaped = *byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => _ = open.pop(),
            b',' => end = at,
            _ => {}
        }
        if matches!(byte, b'{' | b'[' | b'}' | b']') {
            end = at + 1;
        }
    }
    value.truncate(end);
    value.extend(open.iter().rev());
}

impl Format {
    pub(crate) fn agent(self) -> &'static AgentFormat {
        match self {
            Self::ClaudeCode => &claude_code::AGENT,
            Self::Codex => &codex::AGENT,
            Self::GeminiCli => &gemini_cli::AGENT,
            Self::Opencode => &opencode::AGENT,
            Self::CopilotCli => &copilot_cli::AGENT,
            Self::Cursor => &cursor::AGENT,
            Self::Pi => &pi::AGENT,
            Self::Droid => &droid::AGENT,
            Self::Aider => &aider::AGENT,
            Self::QwenCode => &qwen_code::AGENT,
            Self::Atif => &atif::AGENT,
            Self::Otel => &otel::AGENT,
            Self::SweAgent => &swe_agent::AGENT,
            Self::VsCodeCopilot => &vscode_copilot::AGENT,
            Self::Inspect => &inspect::AGENT,
            Self::LangSmith => &runs::LANGSMITH,
            Self::Langfuse => &runs::LANGFUSE,
            Self::ChatGpt => &chatgpt::AGENT,
            Self::ClaudeAi => &claude_ai::AGENT,
            Self::ShareGpt => &sharegpt::AGENT,
            Self::CodexExec => &codex::exec::AGENT,
            Self::GeminiStream => &gemini_cli::stream::AGENT,
            Self::Cline => &cline::AGENT,
            Self::OpenHands => &openhands::AGENT,
            Self::MiniSweAgent => &mini_swe_agent::AGENT,
        }
    }

    pub(crate) fn all() -> impl DoubleEndedIterator<Item = Self> {
        Self::VALUES.iter().filter_map(|name| name.parse().ok())
    }

    pub(crate) fn home(self, env: &Env) -> Option<PathBuf> {
        (self.agent().home)(env)
    }

    pub(crate) fn newest(self, home: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
        Ok(self.own_sessions(home, folder)?.next())
    }

    /// The files of the sessions of a folder, without those of sub-agents, newest first.
    pub(crate) fn own_sessions(self, home: &Path, folder: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
        Ok(self.sessions(home, folder)?.filter(move |file| (self.agent().sub_agent)(file).is_none()))
    }

    /// The files of the sessions of a folder, newest first.
    pub(crate) fn sessions(self, home: &Path, folder: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
        self.wanted_sessions(home, folder, &|_, _| true)
    }

    /// The files of all sessions whose folder is known, each after its folder, oldest first.
    pub(crate) fn all_sessions(self, home: &Path) -> io::Result<Vec<FolderAndFile>> {
        let mut found = (self.agent().all)(home)?;
        found.reverse();
        Ok(found)
    }

    /// Those of them that are wanted. From the others, nothing is read.
    pub(crate) fn wanted_sessions(
        self,
        home: &Path,
        folder: &Path,
        is_wanted: IsWanted<'_>,
    ) -> io::Result<impl Iterator<Item = PathBuf> + use<>> {
        // Agents store the path without a trailing slash.
        let folder: PathBuf = folder.components().collect();
        (self.agent().sessions)(home, &folder, is_wanted)
    }
}

pub(crate) fn head(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(MAX_HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The first non-blank lines, without a byte order mark.
pub(super) fn first_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(MAX_LINES)
}
