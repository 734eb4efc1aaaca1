//! Errors of checkpoints.

use std::io;
use std::path::Path;

use thiserror::Error;

use super::follow::FollowError;
use crate::base::error::Diagnostic;
use crate::base::merge::conflict;
use crate::base::replace::FileError;
use crate::git::GitError;

#[derive(Debug, Error)]
pub(crate) enum CheckpointError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Follow(#[from] FollowError),
    #[error("cannot remove `{path}`")]
    Remove { path: String, source: io::Error },
    #[error("no checkpoint is named `{name}`")]
    Unknown { name: String },
    #[error("`{name}` is ambiguous: it matches {}", paths.join(", "))]
    Ambiguous { name: String, paths: Vec<String> },
    #[error("no checkpoint is current")]
    NoCurrent,
    #[error("`{path}` is not UTF-8")]
    NotUtf8 { path: String },
    #[error("cannot edit the frontmatter of `{path}`: {problem}")]
    Frontmatter { path: String, problem: String },
    #[error(
        "invalid checkpoint name `{name}`: expected 1 to 64 letters, digits, `.`, `_`, and `-`, with no `.` at the start"
    )]
    BadName { name: String },
    #[error("the checkpoint `{path}` exists already")]
    Exists { path: String },
    #[error("`{path}` would be no checkpoint, because `trace.checkpoints` does not match it")]
    NotMatched { path: String },
    #[error("`{path}` has conflict markers")]
    Conflict { path: String },
    #[error("`{path}` is archived already")]
    Archived { path: String },
    #[error("the section Completion of `{path}` lacks {missing}")]
    NoCompletion { path: String, missing: String },
    #[error("`{path}` has a section Completion already")]
    Completed { path: String },
    #[error("`{id}` has active children: {}", children.join(", "))]
    ActiveChildren { id: String, children: Vec<String> },
    #[error("the section Breadcrumbs of `{path}` has no table with three columns")]
    BadTable { path: String },
    #[error("{what} is empty")]
    Empty { what: &'static str },
}

impl Diagnostic for CheckpointError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { .. } => "list checkpoints with `git trace checkpoint list --all`",
            Self::Ambiguous { name, .. } if name == "current" => "choose one with `git trace checkpoint current <id>`",
            Self::Ambiguous { .. } => "use its path",
            Self::NoCurrent => "name a checkpoint, or choose one with `git trace checkpoint current <id>`",
            Self::NotUtf8 { .. } | Self::Frontmatter { .. } | Self::BadTable { .. } => {
                "find the problem with `git trace checkpoint validate`"
            }
            Self::Conflict { .. } => conflict::REMEDY,
            Self::BadName { name } => return did_you_mean(name),
            Self::Exists { .. } => "choose another name",
            Self::NotMatched { .. } => "name the folder in the setting, as in `docs/checkpoints/**/*.md`",
            Self::NoCompletion { .. } => "add it with `--outcome TEXT --learnings TEXT`",
            Self::Completed { .. } => "edit it, and archive without --outcome and --learnings",
            Self::ActiveChildren { .. } => "archive them first, or change their parent",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::File(error) => Some(error),
            Self::Git(error) => Some(error),
            Self::Follow(error) => Some(error),
            _ => None,
        }
    }
}

pub(crate) fn read_error(path: &Path) -> impl Fn(io::Error) -> CheckpointError {
    |source| FileError::Read { path: path.to_owned(), source }.into()
}

pub(crate) fn write_error(path: &Path) -> impl Fn(io::Error) -> CheckpointError {
    |source| FileError::Write { path: path.to_owned(), source }.into()
}

/// The name with dashes in place of what a name cannot contain.
fn did_you_mean(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let meant = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    (!meant.is_empty()).then(|| format!("did you mean `{meant}`?"))
}
