//! The file formats that have their own merge, and how a path tells them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum FileKind {
    Breadcrumbs,
    Crumb,
    Checkpoint,
    CheckpointIndex,
}

impl FileKind {
    pub(crate) const ALL: [Self; 4] = [Self::Breadcrumbs, Self::Crumb, Self::Checkpoint, Self::CheckpointIndex];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Breadcrumbs => "breadcrumbs",
            Self::Crumb => "crumb",
            Self::Checkpoint => "checkpoint",
            Self::CheckpointIndex => "checkpoint-index",
        }
    }

    /// The format of the file at a path as git writes it: with slashes, and not always in UTF-8.
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

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("unknown kind of file `{text}`: expected breadcrumbs, crumb, checkpoint, or checkpoint-index")]
pub(crate) struct UnknownFileKind {
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
    fn the_path_tells_the_kind() {
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
    fn a_kind_parses_as_it_prints() {
        for kind in FileKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("crumbs".parse::<FileKind>().is_err());
    }
}
