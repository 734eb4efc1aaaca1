//! The file formats that have their own merge, and how a path tells them.

use crate::base::string_enum::string_enum;

string_enum! {
    FileKind("kind of file") {
        Breadcrumbs = "breadcrumbs",
        Crumb = "crumb",
        Checkpoint = "checkpoint",
        CheckpointIndex = "checkpoint-index",
    }
}

impl FileKind {
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
        for word in FileKind::VALUES {
            assert_eq!(word.parse::<FileKind>().unwrap().to_string(), *word);
        }
        assert!("crumbs".parse::<FileKind>().is_err());
    }
}
