//! Fixes of mechanical errors: the order of lines, duplicate keys, mixed line endings, a missing final newline.
//!
//! Only the file in the working tree is fixed: the author decides what to stage.

use std::io;
use std::path::Path;

use super::Checked;
use crate::base::line_ending::LineEnding;
use crate::base::merge::FileKind;
use crate::base::replace::{self, Access, Lock, Stem};
use crate::base::worktree_path::resolve;
use crate::memory::breadcrumb;

const CODES: [&str; 4] = ["duplicate-key", "mixed-line-endings", "no-final-newline", "unsorted"];

#[derive(PartialEq, Eq)]
pub(crate) enum Fate {
    Fixed,
    /// The file in the working tree is already in order, unlike the one that was checked.
    InOrder,
    Unreadable,
}

pub(crate) fn is_fixable(checked: &Checked) -> bool {
    matches!(checked.kind, Some(FileKind::Breadcrumbs | FileKind::Crumb))
        && checked.findings.iter().any(|finding| CODES.contains(&finding.code))
}

/// Fixes a file in the working tree at `root`; see [`breadcrumb::fix`]. A symbolic link is refused.
pub(crate) fn fix(root: &Path, checked: &Checked) -> io::Result<Fate> {
    if checked.path.contains(char::REPLACEMENT_CHARACTER) {
        return Err(io::Error::other("its name is not UTF-8, or contains U+FFFD"));
    }
    let path = root.join(&checked.path);
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let path = resolve(root, path)?;
    let stem = Stem("git-trace-fix");
    let folder = path.parent().unwrap_or(root);
    let lock = Lock::take(folder, stem)?;
    if lock.is_none() {
        return Err(io::Error::other("another process is writing in its folder"));
    }
    let seen = replace::read(&path)?;
    let fixed = match checked.kind {
        Some(FileKind::Breadcrumbs) => match breadcrumb::fix(&seen.text) {
            Some(fixed) => fixed,
            None => return Ok(Fate::Unreadable),
        },
        _ => LineEnding::of(&seen.text).unwrap_or(LineEnding::Lf).put_on((&seen.text).into()).into_owned(),
    };
    if fixed == seen.text {
        return Ok(Fate::InOrder);
    }
    if replace::replace(&path, stem, seen.version.as_ref(), Access::Usual, &fixed)? {
        Ok(Fate::Fixed)
    } else {
        Err(io::Error::other("it changed in the meantime"))
    }
}
