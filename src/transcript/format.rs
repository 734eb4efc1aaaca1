//! The table of transcript formats, and which one a file has.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::agents::{AgentFormat, FolderAndFile, IsWanted, claude_code, codex, gemini_cli, swe_agent};
use super::read::document;
use crate::base::string_enum::string_enum;
use crate::git::Env;

const MAX_HEAD: u64 = 256 * 1024;

const MAX_LINES: usize = 50;

string_enum! {
    /// The format in which an agent writes its sessions.
    Format { ClaudeCode = "claude-code", Codex = "codex", GeminiCli = "gemini-cli", SweAgent = "swe-agent" }
}

impl Format {
    pub(crate) fn agent(self) -> &'static AgentFormat {
        match self {
            Self::ClaudeCode => &claude_code::AGENT,
            Self::Codex => &codex::AGENT,
            Self::GeminiCli => &gemini_cli::AGENT,
            Self::SweAgent => &swe_agent::AGENT,
        }
    }

    pub(crate) fn all() -> impl DoubleEndedIterator<Item = Self> {
        Self::VALUES.iter().filter_map(|name| name.parse().ok())
    }

    pub(crate) fn detect(head: &[u8]) -> Option<Self> {
        if let Some(found) = first_lines(head).find_map(Self::of_line) {
            return Some(found);
        }
        let mut members = Vec::new();
        document::DocumentLines::new(head).read_to_end(&mut members).ok()?;
        first_lines(&members).find_map(Self::of_line)
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        // The members that identify Claude Code occur in other formats too. Its reader is asked last.
        Self::all().rev().find(|format| (format.agent().recognizes)(line))
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
