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
#[path = "../../../tests/unit/base/merge/file_kind.rs"]
mod tests;
