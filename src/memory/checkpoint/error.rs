//! Why something could not be done with checkpoints.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::base::error::Diagnostic;

/// Why something could not be done with checkpoints.
#[derive(Debug, Error)]
pub(crate) enum CheckpointError {
    /// A file could not be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// No checkpoint has that id, and no file that name.
    #[error("there is no checkpoint `{name}`")]
    Unknown {
        /// The name as it was given.
        name: String,
    },
    /// Several checkpoints have that id or name.
    #[error("`{name}` is more than one checkpoint: {}", paths.join(", "))]
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// The files.
        paths: Vec<String>,
    },
    /// No checkpoint is current, and none was named.
    #[error("no checkpoint is current")]
    NoCurrent,
    /// The file is not UTF-8.
    #[error("`{path}` is not UTF-8")]
    NotUtf8 {
        /// The file.
        path: String,
    },
    /// The frontmatter cannot be read, or not be changed line by line.
    #[error("the frontmatter of `{path}` cannot be changed: {problem}")]
    Front {
        /// The file.
        path: String,
        /// What is the matter.
        problem: String,
    },
    /// The name of a new checkpoint is none.
    #[error("`{name}` is no name for a checkpoint: letters, digits, `.`, `_` and `-` are, at most 64, not `.` first")]
    BadName {
        /// The name as it was given.
        name: String,
    },
    /// There is such a file, or such an id, already.
    #[error("there is already a checkpoint `{path}`")]
    Exists {
        /// The file.
        path: String,
    },
    /// It is archived already.
    #[error("`{path}` is archived already")]
    Archived {
        /// The file.
        path: String,
    },
    /// It has no part Completion, or that does not say enough.
    #[error("`{path}` has no Completion that says its {missing}")]
    NoCompletion {
        /// The file.
        path: String,
        /// What is not said.
        missing: String,
    },
    /// It has a part Completion already.
    #[error("`{path}` has a Completion already")]
    Completed {
        /// The file.
        path: String,
    },
    /// Active checkpoints have branched from it.
    #[error("active checkpoints have branched from `{id}`: {}", children.join(", "))]
    ActiveChildren {
        /// Its id.
        id: String,
        /// Theirs.
        children: Vec<String>,
    },
    /// Somebody else changed the file meanwhile.
    #[error("`{}` was changed by another program meanwhile", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Others kept changing checkpoints.
    #[error("other processes have been writing to `{path}` for 10 seconds")]
    Busy {
        /// The folder.
        path: String,
    },
    /// The Breadcrumbs are no table that a row could be added to.
    #[error("the Breadcrumbs of `{path}` are not a table of three columns")]
    BadTable {
        /// The file.
        path: String,
    },
    /// Nothing is said where something must be.
    #[error("{what} is empty")]
    Empty {
        /// What.
        what: &'static str,
    },
}

impl Diagnostic for CheckpointError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { .. } => "`git trace checkpoint list --all` lists them",
            Self::Ambiguous { name, .. } if name == "current" => "`git trace checkpoint current <id>` leaves one",
            Self::Ambiguous { .. } => "name it by its path",
            Self::NoCurrent => "name one, or make one current with `git trace checkpoint current <id>`",
            Self::NotUtf8 { .. } | Self::Front { .. } | Self::BadTable { .. } => {
                "`git trace checkpoint validate` tells what is wrong, and where"
            }
            Self::Exists { .. } => "choose another name",
            Self::NoCompletion { .. } => "`--outcome TEXT --learnings TEXT` writes it",
            Self::Completed { .. } => "change it by hand, and archive without --outcome and --learnings",
            Self::ActiveChildren { .. } => "archive them first, or give them another parent",
            Self::Changed { .. } | Self::Busy { .. } => "try again",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl CheckpointError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }
}
