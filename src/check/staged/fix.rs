//! Mending what is mechanical: the order of lines, keys that are there twice, a last line without an end.
//!
//! The file of the working tree is mended, never the index: what is staged is the author's business.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use super::Checked;
use crate::base::merge::FileKind;
use crate::base::replace::{self, Access, Lock, Stem};
use crate::memory::breadcrumb;

/// How long to wait for another writer of the folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// The findings that can be mended.
const CODES: [&str; 3] = ["duplicate-key", "no-final-newline", "unsorted"];

/// What became of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It was mended.
    Mended,
    /// The file of the working tree is in order already, other than what was judged.
    InOrder,
    /// It has lines that cannot be read; those come first.
    Unreadable,
}

/// Whether something about a file can be mended.
pub(crate) fn is_mendable(checked: &Checked) -> bool {
    matches!(checked.kind, FileKind::Breadcrumbs | FileKind::Crumb)
        && checked.findings.iter().any(|finding| CODES.contains(&finding.code))
}

/// Mends a file of the working tree whose root is `root`.
///
/// Of several lines with one key the one that counts stays, see [`breadcrumb::fix`]. A file that is a symbolic link is left
/// alone.
pub(crate) fn mend(root: &Path, checked: &Checked) -> io::Result<Fate> {
    let path = root.join(&checked.path);
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let stem = Stem("git-trace-fix");
    let folder = path.parent().unwrap_or(root);
    let lock = Lock::take(folder, stem, PATIENCE)?;
    if lock.is_none() {
        return Err(io::Error::other("another process keeps writing there"));
    }
    let seen = replace::read(&path)?;
    let mended = match checked.kind {
        FileKind::Breadcrumbs => match breadcrumb::fix(&seen.text) {
            Some(mended) => mended,
            None => return Ok(Fate::Unreadable),
        },
        _ => ended(&seen.text),
    };
    if mended == seen.text {
        return Ok(Fate::InOrder);
    }
    if replace::replace(&path, stem, seen.stamp.as_ref(), Access::Usual, |out| out.write_all(&mended))? {
        Ok(Fate::Mended)
    } else {
        Err(io::Error::other("somebody changed it meanwhile"))
    }
}

/// A text whose last line has an end, as the lines before it have.
fn ended(text: &[u8]) -> Vec<u8> {
    let mut ended = text.to_vec();
    if !text.is_empty() && !text.ends_with(b"\n") {
        let crlf = memchr::memchr(b'\n', text).is_some_and(|at| text[..at].ends_with(b"\r"));
        ended.extend(if crlf { &b"\r\n"[..] } else { b"\n" });
    }
    ended
}
