//! Reading the file that a breadcrumb names, but nothing outside of the repository.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{FollowError, Followed};
use crate::base::bounded;
use crate::base::worktree_path::resolve;
use crate::memory::checkpoint::folder::path_below;

const MAX_NAMES: usize = 1000;

/// Resolves a path below the root; refuses `..`, absolute paths, symbolic links, and `.git`. `None` if nothing exists there.
pub(crate) fn locate(root: &Path, reference: &str) -> Result<Option<(PathBuf, Metadata)>, FollowError> {
    let refuse = |why| FollowError::Outside { reference: reference.to_owned(), why };
    if reference.starts_with('~') {
        return Err(refuse("it is in a home directory"));
    }
    // A path must have the same meaning on every system.
    if reference.contains('\\') || reference.as_bytes().get(1) == Some(&b':') || reference.contains('\0') {
        return Err(refuse("it is not a relative path with slashes"));
    }
    let mut location = root.to_owned();
    let mut metadata = fs::symlink_metadata(root).ok();
    for part in Path::new(reference).components() {
        match part {
            Component::CurDir => continue,
            Component::ParentDir => return Err(refuse("`..` could leave the repository")),
            Component::RootDir | Component::Prefix(_) => return Err(refuse("it is an absolute path")),
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                return Err(refuse("it is inside `.git`"));
            }
            Component::Normal(name) => location.push(name),
        }
        metadata = match fs::symlink_metadata(&location) {
            Ok(metadata) if metadata.is_symlink() => {
                return Err(refuse("a symbolic link could leave the repository"));
            }
            Ok(metadata) => Some(metadata),
            Err(_) => return Ok(None),
        };
    }
    match resolve(root, reference) {
        Ok(_) => Ok(metadata.map(|metadata| (location, metadata))),
        Err(_) => Err(refuse("it is neither a file nor a folder of the work tree")),
    }
}

/// The path in `src/a.rs:12`, `src/a.rs:12:5`, `src/a.rs:12-20`, or `src/a.rs#L12-L20`, and the first and the last line.
fn split_lines(reference: &str) -> (&str, Option<(usize, usize)>) {
    let is_line =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'L'));
    let split = reference.rsplit_once("#L").or_else(|| reference.split_once(':'));
    let Some((path, lines)) = split.filter(|(_, lines)| is_line(lines)) else { return (reference, None) };
    let number = |text: &str| text.trim_start_matches('L').parse().ok();
    let (first, last) = lines.split_once('-').unwrap_or_else(|| {
        let line = lines.split(':').next().unwrap_or_default();
        (line, line)
    });
    let range = number(first).zip(number(last));
    (path, range.filter(|(first, last)| 1 <= *first && first <= last))
}

/// Lines of a text, counted from 1; `None` if it has fewer.
fn lines_of(text: &[u8], (first, last): (usize, usize)) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').skip(first - 1).take(last - first + 1).collect();
    (!lines.is_empty()).then(|| lines.concat())
}

pub(crate) fn read(root: &Path, reference: &str) -> Result<Followed, FollowError> {
    let (path, lines) = split_lines(reference);
    let (found, lines) = match locate(root, reference)? {
        None => (locate(root, path)?, lines),
        found => (found, None),
    };
    let Some((location, metadata)) = found else {
        return Ok(Followed::Stale(format!("the file `{reference}` does not exist")));
    };
    let path = path_below(root, &location);
    if metadata.is_dir() {
        return Ok(match names(&location) {
            Ok(names) => Followed::Folder { path, names },
            Err(error) => Followed::Stale(format!("the folder cannot be read: {error}")),
        });
    }
    if !metadata.is_file() {
        return Ok(Followed::Stale(format!("`{reference}` is not a file")));
    }
    Ok(match bounded::read_file(&location) {
        Ok(content) => match lines.map(|lines| lines_of(&content, lines)) {
            None => Followed::File { path, content },
            Some(Some(content)) => Followed::File { path, content },
            Some(None) => Followed::Stale(format!("`{path}` has fewer lines than `{reference}` names")),
        },
        Err(error) => Followed::Stale(format!("the file cannot be read: {error}")),
    })
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.take(MAX_NAMES).map(|entry| {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        Ok(format!("{}{slash}", entry.file_name().to_string_lossy()))
    });
    let mut names = entries.collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| !name.trim_end_matches('/').eq_ignore_ascii_case(".git"));
    names.sort_unstable();
    Ok(names)
}
