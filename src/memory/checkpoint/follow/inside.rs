//! Reading a file that a breadcrumb names, and none outside of the repository.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{FollowError, Followed};
use crate::base::bounded;

/// How many names of a folder are told.
const MAX_NAMES: usize = 1000;

/// What a path leads to.
pub(crate) enum Place {
    /// Something that is there.
    There(PathBuf, Metadata),
    /// Nothing.
    Nothing,
}

/// Finds the place of a path below the root: no `..`, no absolute path, no link on the way, nothing in `.git`.
pub(crate) fn place(root: &Path, reference: &str) -> Result<Place, FollowError> {
    let refuse = |why| FollowError::Outside { reference: reference.to_owned(), why };
    if reference.starts_with('~') {
        return Err(refuse("it is in a home folder"));
    }
    // What a path means must not hang on the system it is read on.
    if reference.contains('\\') || reference.as_bytes().get(1) == Some(&b':') || reference.contains('\0') {
        return Err(refuse("it is no path with slashes below the root of the repository"));
    }
    let mut location = root.to_owned();
    let mut metadata = fs::symlink_metadata(root).ok();
    for part in Path::new(reference).components() {
        match part {
            Component::CurDir => continue,
            Component::ParentDir => return Err(refuse("`..` could lead out of the repository")),
            Component::RootDir | Component::Prefix(_) => return Err(refuse("it is an absolute path")),
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                return Err(refuse("git's own files are not followed"));
            }
            Component::Normal(name) => location.push(name),
        }
        metadata = match fs::symlink_metadata(&location) {
            Ok(metadata) if metadata.is_symlink() => {
                return Err(refuse("a symbolic link could lead out of the repository"));
            }
            Ok(metadata) => Some(metadata),
            Err(_) => return Ok(Place::Nothing),
        };
    }
    let real = location.canonicalize().ok().zip(root.canonicalize().ok());
    match (metadata, real) {
        (Some(metadata), Some((real, root))) if real.starts_with(&root) => Ok(Place::There(location, metadata)),
        (_, Some(_)) => Err(refuse("it leads out of the repository")),
        _ => Ok(Place::Nothing),
    }
}

/// A path without the line that may stand behind it: `src/a.rs:12`, `src/a.rs:12-20`, `src/a.rs#L12`.
fn without_line(reference: &str) -> &str {
    let is_line =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'L'));
    reference
        .rsplit_once("#L")
        .or_else(|| reference.split_once(':'))
        .filter(|(_, line)| is_line(line))
        .map_or(reference, |(path, _)| path)
}

/// Reads what a path of the repository leads to.
pub(crate) fn read(root: &Path, reference: &str) -> Result<Followed, FollowError> {
    let found = match place(root, reference)? {
        Place::Nothing => place(root, without_line(reference))?,
        found @ Place::There(..) => found,
    };
    let Place::There(location, metadata) = found else {
        return Ok(Followed::Stale(format!("there is no file `{reference}`")));
    };
    let below = location.strip_prefix(root).unwrap_or(&location);
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let path = parts.join("/");
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
        Ok(content) => Followed::File { path, content },
        Err(error) => Followed::Stale(format!("the file cannot be read: {error}")),
    })
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.take(MAX_NAMES) {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        let name = format!("{}{slash}", entry.file_name().to_string_lossy());
        if !name.eq_ignore_ascii_case(".git/") && !name.eq_ignore_ascii_case(".git") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
