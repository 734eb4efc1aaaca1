//! What can go wrong with a crumb file, in the user's terms.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::document::NotUtf8;
use crate::base::error::Diagnostic;
use crate::git::GitError;
use crate::trace::TraceError;
use crate::trace::change::compressor::CompressorError;

/// Why something could not be done with a crumb file.
#[derive(Debug, Error)]
pub(crate) enum CrumbError {
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no such file.
    #[error("there is no file `{}`", path.display())]
    NoSuchFile {
        /// The file.
        path: PathBuf,
    },
    /// There is such a file already.
    #[error("`{}` is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file may only be read, by its permissions.
    #[error("cannot write `{}`: its permissions forbid it", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Others were writing for too long.
    #[error("cannot write `{}`: another process keeps it locked", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A program without our lock changed the file again and again.
    #[error("cannot write `{}`: another program keeps changing it", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// Not text.
    #[error(transparent)]
    NotUtf8(#[from] NotUtf8),
    /// No header, so nobody knows whose memory it is and which session this is.
    #[error("the file does not start with the header of a crumb file")]
    NoHeader,
    /// What was given is not a crumb file.
    #[error("line {line}: {message}")]
    Invalid {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A merge left a conflict.
    #[error("line {line} is a conflict marker")]
    Conflict {
        /// The line, from 1.
        line: usize,
    },
    /// A name that nobody can have.
    #[error("`{}` is not an identity: it is one word without control characters", identity.escape_debug())]
    BadIdentity {
        /// The name.
        identity: String,
    },
    /// A name that no section can have.
    #[error("`{}` is not the name of a section: it is one word without control characters", name.escape_debug())]
    BadSection {
        /// The name.
        name: String,
    },
    /// A name that no failure can have.
    #[error("`{}` is not the name of a failure: `area:topic` is, without spaces", key.escape_debug())]
    BadKey {
        /// The name.
        key: String,
    },
    /// Nothing to be noted.
    #[error("the text is empty")]
    NoText,
    /// More than should be noted in a file that is read whole.
    #[error("a text of {len} bytes is too long: {} are allowed", super::edit::MAX_TEXT_LEN)]
    TextTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// There is no session after this one.
    #[error("session {session} is the last one that a number can name")]
    LastSession {
        /// The session.
        session: u64,
    },
    /// No entry is meant.
    #[error("no entry is named by `{}`", selector.escape_debug())]
    NoSuchEntry {
        /// What was given.
        selector: String,
    },
    /// Several entries may be meant.
    #[error("`{}` could be any of the lines {}", selector.escape_debug(), lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// What was given.
        selector: String,
        /// Their lines, from 1.
        lines: Vec<usize>,
    },
    /// The archive has nothing for it.
    #[error("the archive of `{identity}` has no originals of `{}`", line.escape_debug())]
    NotArchived {
        /// Whose archive.
        identity: String,
        /// The line, or the failure.
        line: String,
    },
    /// There is no such section.
    #[error("the file has no section `{}`", name.escape_debug())]
    NoSuchSection {
        /// The name.
        name: String,
    },
    /// An entry belongs to nobody known.
    #[error("it is not known whose entries these are: no identity says so with a first letter from A to Z")]
    NoAgent,
    /// Two agents with one letter.
    #[error("`{}` and `{}` share the letter {letter}", theirs.escape_debug(), ours.escape_debug())]
    SharedLetter {
        /// The letter.
        letter: char,
        /// Who takes in.
        ours: String,
        /// Who sent.
        theirs: String,
    },
    /// The archive could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The archive could not be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The user's command failed.
    #[error(transparent)]
    Compressor(#[from] CompressorError),
}

impl Diagnostic for CrumbError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoHeader => {
                "start it with a line such as `∴CRUMB2 MYAGENT s1`; `git trace crumb validate` tells more"
            }
            Self::Conflict { .. } => "resolve the conflict",
            Self::Invalid { .. } => "`git trace crumb validate` tells all that is wrong",
            Self::NoSuchFile { .. } => "`git trace crumb new` creates one",
            Self::Exists { .. } => "`git trace crumb note` and its kin add to it",
            Self::Busy { .. } | Self::Changing { .. } => "try again when it has ended",
            Self::NoSuchEntry { .. } => "`git trace crumb show` lists the entries with their lines",
            Self::Ambiguous { .. } => "give the number of a line, or more of the text",
            Self::TextTooLong { .. } => "put it into a file and note its path",
            Self::NoAgent => "give --agent",
            Self::SharedLetter { .. } => "give the sender another one with --agent",
            Self::NotArchived { .. } => "`git trace crumb expand --list` tells what is there",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn exit_status(&self) -> u8 {
        if matches!(self, Self::NoSuchEntry { .. } | Self::NotArchived { .. }) { 1 } else { 2 }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::Trace(error) => Some(error),
            _ => None,
        }
    }
}
