//! What can go wrong with a crumb file, in the user's terms.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::memory::crumb::grammar::document::NotUtf8;
use crate::base::error::Diagnostic;
use crate::git::GitError;
use crate::memory::crumb::grammar::document::NotUtf8;
use crate::trace::TraceError;
use crate::trace::change::compressor::CompressorError;

/// Why something could not be done with a crumb file.
#[derive(Debug, Error)]
pub(crate) enum CrumbError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("there is no file `{}`", path.display())]
    NoSuchFile { path: PathBuf },
    #[error("`{}` is there already", path.display())]
    Exists { path: PathBuf },
    /// A file may only be read, by its permissions.
    #[error("cannot write `{}`: its permissions forbid it", path.display())]
    ReadOnly { path: PathBuf },
    #[error("cannot write `{}`: another process keeps it locked", path.display())]
    Busy { path: PathBuf },
    /// A program without our lock changed the file again and again.
    #[error("cannot write `{}`: another program keeps changing it", path.display())]
    Changing { path: PathBuf },
    #[error(transparent)]
    NotUtf8(#[from] NotUtf8),
    /// No header, so nobody knows whose memory it is and which session this is.
    #[error("the file does not start with the header of a crumb file")]
    NoHeader,
    #[error("line {line}: {message}")]
    Invalid { line: usize, message: String },
    #[error("line {line} is a conflict marker")]
    Conflict { line: usize },
    #[error("`{}` is not an identity: it is one word without control characters", identity.escape_debug())]
    BadIdentity { identity: String },
    #[error("`{}` is not the name of a section: it is one word without control characters", name.escape_debug())]
    BadSection { name: String },
    #[error("`{}` is not the name of a failure: `area:topic` is, without spaces", key.escape_debug())]
    BadKey { key: String },
    #[error("the text is empty")]
    NoText,
    /// More than should be noted in a file that is read whole.
    #[error("a text of {len} bytes is too long: {} are allowed", crate::memory::crumb::edit::MAX_TEXT_LEN)]
    TextTooLong { len: usize },
    #[error("session {session} is the last one that a number can name")]
    LastSession { session: u64 },
    #[error("no entry is named by `{}`", selector.escape_debug())]
    NoSuchEntry { selector: String },
    #[error("`{}` could be any of the lines {}", selector.escape_debug(), lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous { selector: String, lines: Vec<usize> },
    #[error("the archive of `{identity}` has no originals of `{}`", line.escape_debug())]
    NotArchived { identity: String, line: String },
    #[error("the file has no section `{}`", name.escape_debug())]
    NoSuchSection { name: String },
    #[error("it is not known whose entries these are: no identity says so with a first letter from A to Z")]
    NoAgent,
    #[error("`{}` and `{}` share the letter {letter}", theirs.escape_debug(), ours.escape_debug())]
    SharedLetter { letter: char, ours: String, theirs: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Trace(#[from] TraceError),
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
