//! Which merge serves which path.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Formats with a merge of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum FileKind {
    /// A breadcrumb store: JSON Lines, one record a key.
    Breadcrumbs,
    /// A crumb file.
    Crumb,
    /// A checkpoint.
    Checkpoint,
    /// The list of the checkpoints of a folder.
    CheckpointIndex,
}

impl FileKind {
    /// Every kind, in the order in which they are listed.
    pub(crate) const ALL: [Self; 4] = [Self::Breadcrumbs, Self::Crumb, Self::Checkpoint, Self::CheckpointIndex];

    /// The word it is written as.
    #[must_use]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Breadcrumbs => "breadcrumbs",
            Self::Crumb => "crumb",
            Self::Checkpoint => "checkpoint",
            Self::CheckpointIndex => "checkpoint-index",
        }
    }

    /// Tells the format from a path as git writes it, with slashes; its bytes need not be UTF-8.
    #[must_use]
    pub(crate) fn of_path(path: &[u8]) -> Option<Self> {
        let mut parts = path.rsplit(|b| *b == b'/');
        let name = parts.next()?;
        let in_checkpoints = parts.any(|folder| folder == b"checkpoints");
        if matches!(name, b"breadcrumbs.jsonl" | b"breadcrumbs-secret.jsonl") {
            Some(Self::Breadcrumbs)
        } else if name.ends_with(b".crumb") {
            Some(Self::Crumb)
        } else if in_checkpoints && name == b"INDEX.md" {
            Some(Self::CheckpointIndex)
        } else if name.ends_with(b".md") && (in_checkpoints || name.starts_with(b"chk-")) {
            Some(Self::Checkpoint)
        } else {
            None
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is not a kind.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not a kind of file: breadcrumbs, crumb, checkpoint and checkpoint-index are")]
pub(crate) struct UnknownFileKind {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for FileKind {
    type Err = UnknownFileKind;

    fn from_str(text: &str) -> Result<Self, UnknownFileKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| UnknownFileKind { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_its_kind() {
        for (path, kind) in [
            (".synapse/breadcrumbs.jsonl", Some(FileKind::Breadcrumbs)),
            ("sub/.synapse/breadcrumbs-secret.jsonl", Some(FileKind::Breadcrumbs)),
            ("memory/auth.crumb", Some(FileKind::Crumb)),
            ("checkpoints/active/chk-auth.md", Some(FileKind::Checkpoint)),
            ("checkpoints/active/plan.md", Some(FileKind::Checkpoint)),
            ("chk-auth.md", Some(FileKind::Checkpoint)),
            ("checkpoints/INDEX.md", Some(FileKind::CheckpointIndex)),
            ("INDEX.md", None),
            ("docs/README.md", None),
            ("memory.jsonl", None),
            ("checkpoints", None),
            ("", None),
        ] {
            assert_eq!(FileKind::of_path(path.as_bytes()), kind, "{path}");
        }
    }

    #[test]
    fn a_kind_is_read_as_it_is_written() {
        for kind in FileKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("crumbs".parse::<FileKind>().is_err());
    }
}
