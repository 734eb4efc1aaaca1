//! Files that are ours as a whole: manual pages and scripts for shells.
//!
//! The last line of such a file is a comment with a digest of what stands above it. A file whose digest holds was written by
//! us and changed by nobody, so it may be replaced and removed; any other is left alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Action, InstallError, Mode, Step, put_file, read_file};

/// What stands in the last line, before the digest.
const MARK: &str = "written by git-trace ";

/// A file as it is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnedFile {
    pub path: PathBuf,
    /// What it says, without the last line.
    pub text: String,
    pub comment: &'static str,
}

impl OwnedFile {
    /// Writes the file, unless somebody else's stands there. Doing it again changes nothing.
    pub(crate) fn install(&self, mode: Mode) -> Result<Step, InstallError> {
        let new = sealed(&self.text, self.comment);
        let action = match read_file(&self.path)? {
            Some(old) if old == new.as_bytes() => Action::Kept,
            Some(old) if !is_ours(&old) => Action::LeftAlone,
            Some(_) => Action::Updated,
            None => Action::Added,
        };
        if mode == Mode::Write && matches!(action, Action::Updated | Action::Added) {
            put_file(&self.path, Some(new.as_bytes()))?;
        }
        Ok(step(action, &self.path))
    }
}

/// Removes a file of ours; `None` where there is no file.
pub(crate) fn uninstall(path: &Path, mode: Mode) -> Result<Option<Step>, InstallError> {
    let Some(old) = read_file(path)? else { return Ok(None) };
    if !is_ours(&old) {
        return Ok(Some(step(Action::LeftAlone, path)));
    }
    if mode == Mode::Write {
        fs::remove_file(path).map_err(|source| InstallError::Attributes { path: path.to_owned(), source })?;
    }
    Ok(Some(step(Action::Removed, path)))
}

/// The files of a folder whose names `is_named` knows, sorted; none where there is no such folder.
pub(crate) fn list(folder: &Path, is_named: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, InstallError> {
    let unreadable = |source| InstallError::Attributes { path: folder.to_owned(), source };
    let mut found = Vec::new();
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(unreadable(source)),
        Ok(entries) => {
            for entry in entries {
                let entry = entry.map_err(unreadable)?;
                if entry.file_name().to_str().is_some_and(&is_named) {
                    found.push(entry.path());
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

fn step(action: Action, path: &Path) -> Step {
    Step { action, what: path.display().to_string() }
}

fn sealed(text: &str, comment: &str) -> String {
    format!("{text}{comment} {MARK}{}\n", digest(text.as_bytes()))
}

fn is_ours(file: &[u8]) -> bool {
    let Some(lines) = file.strip_suffix(b"\n") else { return false };
    let start = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    let (text, last) = lines.split_at(start);
    let Ok(last) = std::str::from_utf8(last) else { return false };
    last.split_once(MARK).is_some_and(|(_, told)| told == digest(text))
}

fn digest(text: &[u8]) -> String {
    blake3::hash(text).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{is_ours, sealed};

    #[test]
    fn a_file_is_ours_until_somebody_changes_it() {
        let file = sealed(".TH X 1\ntext\n", ".\\\"");
        assert!(is_ours(file.as_bytes()));
        for changed in [file.replace("text", "texts"), file.clone() + "more\n", "text\n".to_owned(), String::new()] {
            assert!(!is_ours(changed.as_bytes()), "{changed}");
        }
    }
}
