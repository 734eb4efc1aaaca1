//! Errors of crumb files.

use std::path::PathBuf;

use thiserror::Error;

use super::compress::archive;
use super::grammar::document::NotUtf8;
use crate::base::error::Diagnostic;
use crate::base::merge::conflict;
use crate::base::replace::FileError;
use crate::git::GitError;
use crate::trace::TraceError;
use crate::trace::change::compressor::CompressorError;

/// Lines count from 1.
#[derive(Debug, Error)]
pub(crate) enum CrumbError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("no such file: `{}`", path.display())]
    NoSuchFile { path: PathBuf },
    #[error("`{}` already exists", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    NotUtf8(#[from] NotUtf8),
    #[error("the file does not start with a crumb file header")]
    NoHeader,
    #[error("line {line}: {message}")]
    Invalid { line: usize, message: String },
    #[error("line {line} is a conflict marker")]
    Conflict { line: usize },
    #[error("invalid {what} `{}`: expected {expected}", name.escape_debug())]
    BadName { what: &'static str, name: String, expected: &'static str },
    #[error("the text is empty")]
    NoText,
    #[error("text too long: {len} bytes, the limit is {}", super::edit::MAX_TEXT_LEN)]
    TextTooLong { len: usize },
    #[error("cannot start a session after {session}, the greatest session number")]
    LastSession { session: u64 },
    #[error("no entry matches `{}`", selector.escape_debug())]
    NoSuchEntry { selector: String },
    #[error("`{}` matches lines {}", selector.escape_debug(), lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous { selector: String, lines: Vec<usize> },
    #[error("the archive of `{identity}` has no originals of `{}`", line.escape_debug())]
    NotArchived { identity: String, line: String },
    #[error("the file has no section `{}`", name.escape_debug())]
    NoSuchSection { name: String },
    #[error("cannot tell whose entries these are: the header has no identity that starts with a letter from A to Z")]
    NoAgent,
    #[error("`{}` and `{}` have the same letter {letter}", theirs.escape_debug(), ours.escape_debug())]
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
                "start the file with a line such as `∴CRUMB2 MYAGENT s1`; `git trace crumb validate` shows all problems"
            }
            Self::Conflict { .. } => conflict::REMEDY,
            Self::Invalid { .. } => "`git trace crumb validate` shows all problems",
            Self::NoSuchFile { path } => {
                let meant = path.with_extension("crumb");
                if !meant.is_file() {
                    return Some("`git trace crumb new <FILE>` creates it".to_owned());
                }
                return Some(format!("did you mean `{}`?", meant.display()));
            }
            Self::Exists { .. } => "`git trace crumb note` adds to it",
            Self::NoSuchEntry { .. } => "`git trace crumb show` lists the entries with their lines",
            Self::Ambiguous { .. } => "give a line number, or more of the text",
            Self::TextTooLong { .. } => "put the text in a file and note its path",
            Self::NoAgent => "give the letter with --agent",
            Self::SharedLetter { .. } => "give the sender another letter with --agent",
            Self::NotArchived { identity, .. } => {
                let archive = archive::refname(identity);
                return Some(format!("if another clone compressed it: `git trace pull REMOTE {archive}`"));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn exit_status(&self) -> u8 {
        if matches!(self, Self::NoSuchEntry { .. } | Self::NotArchived { .. }) { 1 } else { 2 }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::File(error) => Some(error),
            Self::Git(error) => Some(error),
            Self::Trace(error) => Some(error),
            _ => None,
        }
    }
}
