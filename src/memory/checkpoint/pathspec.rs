//! Which files are checkpoints: the setting `trace.checkpoints`, a pathspec like git's `:(glob)`.

use crate::base::glob;
use crate::base::merge::FileKind;

pub(crate) const DEFAULT: &str = "checkpoints/**/*.md";

/// A pattern of paths below the root of the repository.
///
/// `*` and `?` do not match a slash, `**/` matches any number of folders, and a folder matches everything below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pathspec(String);

impl Pathspec {
    pub(crate) fn new(setting: Option<&str>) -> Self {
        let text = setting.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(DEFAULT);
        let text = text.strip_prefix(":(glob)").unwrap_or(text).trim_start_matches("./").trim_matches('/');
        Self(text.to_owned())
    }

    /// Whether a path matches. It has slashes, as in git, and need not be UTF-8.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        glob::matches_below(self.0.as_bytes(), path)
    }

    /// The folder that contains all matches, before the first wildcard; empty for the root. Without one, it is the folder itself.
    pub(crate) fn folder(&self) -> &str {
        let literal = match self.0.find(['*', '?', '[', '\\']) {
            Some(end) => &self.0[..end],
            // That of a file.
            None if self.0.as_bytes().ends_with(b".md") => &self.0,
            None => return &self.0,
        };
        literal.rfind('/').map_or("", |end| &literal[..end])
    }

    /// Whether a path is a checkpoint, an index, or neither, like `README.md` and `LEARNINGS.md`.
    pub(crate) fn kind(&self, path: &[u8]) -> Option<FileKind> {
        let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        if !name.ends_with(b".md") || matches!(name, b"README.md" | b"LEARNINGS.md") || !self.matches(path) {
            return None;
        }
        Some(if name == b"INDEX.md" { FileKind::CheckpointIndex } else { FileKind::Checkpoint })
    }
}

pub(crate) fn is_archived(path: &[u8]) -> bool {
    path.split(|b| *b == b'/').any(|part| part == b"archive")
}
