//! The formats: their names, and which one a file is of.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::input::Seekable;
use super::reader::{Reader, Scribe, Transcript};
use super::{Position, claude_code};
use crate::git::Env;
use crate::words::words;

words! {
    /// A format that an agent writes its sessions in.
    Format {
        /// Claude Code.
        ClaudeCode = "claude-code",
    }
}

impl Format {
    /// The agent as people call it.
    #[must_use]
    pub fn agent(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
        }
    }

    /// The folder in which the agent keeps what is the user's.
    #[must_use]
    pub fn home(self, env: &Env) -> PathBuf {
        let (variable, folder) = match self {
            Self::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        };
        match (env.os(variable), env.os("HOME")) {
            (Some(chosen), _) => PathBuf::from(chosen),
            (None, Some(home)) => Path::new(home).join(folder),
            (None, None) => PathBuf::new(),
        }
    }

    /// The newest session of `folder` under the agent's `home`.
    ///
    /// # Errors
    ///
    /// Whatever listing folders meets, but for their absence.
    pub fn newest(self, home: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
        match self {
            Self::ClaudeCode => claude_code::newest_transcript(home, folder),
        }
    }

    /// Starts reading a transcript at its first byte.
    ///
    /// # Errors
    ///
    /// Whatever reading its head meets.
    pub fn open<'r>(self, reader: Box<dyn Read + 'r>) -> io::Result<Box<dyn Transcript + 'r>> {
        Ok(match self {
            Self::ClaudeCode => Box::new(claude_code::Reader::new(reader)),
        })
    }

    /// Goes on from a position, see [`Reader::resume`].
    ///
    /// # Errors
    ///
    /// Whatever reading meets.
    pub fn resume<'r>(
        self,
        reader: Box<dyn Seekable + 'r>,
        position: &Position,
        memory: &[u8],
    ) -> io::Result<Option<Box<dyn Transcript + 'r>>> {
        match self {
            Self::ClaudeCode => resume::<claude_code::Scribe>(reader, position, memory),
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
