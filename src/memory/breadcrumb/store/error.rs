//! Errors of reading and writing a store.

use std::path::PathBuf;

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::merge::conflict::MarkerError;
use crate::base::replace::FileError;
use crate::base::time::Time;
use crate::memory::breadcrumb::InvalidLine;
use crate::memory::breadcrumb::namespace::ConfigError;

#[derive(Debug, Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot write `{}`: it has {count} invalid {}", path.display(), if *count == 1 { "line" } else { "lines" })]
    InvalidLines {
        path: PathBuf,
        #[source]
        first: InvalidLine,
        count: usize,
    },
    #[error("cannot write `{}`: git does not ignore it", path.display())]
    NotIgnored { path: PathBuf },
    #[error("value of `{key}` too long: {len} bytes, the limit is {}", super::write::MAX_VALUE_LEN)]
    ValueTooLong { key: String, len: usize },
    #[error("cannot set a breadcrumb that expired already, at {time}")]
    AlreadyExpired { time: Time },
    #[error("cannot set metadata of `{key}`: its `metadata` is not a JSON object")]
    MetadataNotAnObject { key: String },
    #[error("no breadcrumb is named `{key}`")]
    NoSuchKey { key: String },
    #[error("breadcrumb `{key}` already exists")]
    KeyTaken { key: String },
    #[error("cannot rename `{from}` to `{to}`: the value would leave the file that git ignores")]
    LeavesSecret { from: String, to: String },
    #[error("cannot read `{}`", path.display())]
    Config { path: PathBuf, source: ConfigError },
    #[error("cannot resolve `{}`", path.display())]
    Markers { path: PathBuf, source: MarkerError },
}

impl Diagnostic for StoreError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::InvalidLines { .. } => {
                "correct or delete the line; `git trace breadcrumb resolve` resolves a merge conflict"
            }
            Self::NotIgnored { .. } => {
                "add `breadcrumbs-secret.jsonl` to `.gitignore`; if it is committed, run `git rm --cached` on it"
            }
            Self::KeyTaken { .. } => "use --force to replace it",
            Self::ValueTooLong { .. } => "put the value in a file and store its path",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        if let Self::File(error) = self { Some(error) } else { None }
    }

    fn exit_status(&self) -> u8 {
        if matches!(self, Self::NoSuchKey { .. }) { 1 } else { 2 }
    }
}
