//! Finds the sessions of agents that store one file per session and name the working folder in it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::{FolderAndFile, IsWanted, Sessions, list_folder, newest_first};
use crate::base::worktree_path::check_regular;
use crate::transcript::read::dialect::TextOf;
use crate::transcript::read::document::DocumentLines;
use crate::transcript::read::object::Object;

/// How much of a file, and how many of its records, are searched for the folder.
const MAX_HEAD: u64 = 256 * 1024;
const MAX_RECORDS: usize = 20;

type Patterns<'p> = &'p [&'p [&'p str]];

/// The sessions of `folder`, newest first.
pub(super) fn sessions(
    home: &Path,
    files: Patterns<'_>,
    folder: &Path,
    is_wanted: IsWanted<'_>,
    ran_in: TextOf,
) -> io::Result<Sessions> {
    let (newest, folder) = (newest_first(matching(home, files)?, is_wanted)?, folder.to_owned());
    Ok(Box::new(newest.filter(move |path| said_by(path, ran_in).is_some_and(|ran| Path::new(&ran) == folder))))
}

pub(super) fn all(home: &Path, files: Patterns<'_>, ran_in: TextOf) -> io::Result<Vec<FolderAndFile>> {
    let newest = newest_first(matching(home, files)?, |_, _| true)?;
    Ok(newest.filter_map(|path| Some((said_by(&path, ran_in)?.into(), path))).collect())
}

pub(super) fn folder_of(
    home: &Path,
    files: Patterns<'_>,
    session: &str,
    (session_of, ran_in): (TextOf, TextOf),
) -> io::Result<Option<PathBuf>> {
    let is_it = |path: &PathBuf| said_by(path, session_of).is_some_and(|own| own == session);
    Ok(matching(home, files)?.into_iter().find(is_it).and_then(|path| said_by(&path, ran_in)).map(PathBuf::from))
}

/// The first answer among the first records of a file.
pub(super) fn said_by(path: &Path, say: TextOf) -> Option<String> {
    check_regular(path).ok()?;
    let mut head = Vec::new();
    File::open(path).ok()?.take(MAX_HEAD).read_to_end(&mut head).ok()?;
    if head.trim_ascii_start().starts_with(b"[") {
        let list = std::mem::take(&mut head);
        DocumentLines::new(&list[..]).read_to_end(&mut head).ok()?;
    }
    let mut records = serde_json::Deserializer::from_slice(&head).into_iter::<Object<'_>>().take(MAX_RECORDS);
    records.find_map(|record| say(&record.ok()?).map(Into::into))
}

/// The paths that match one of the patterns.
pub(super) fn matching(root: &Path, patterns: Patterns<'_>) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for pattern in patterns {
        let mut found = vec![root.to_owned()];
        for name in *pattern {
            let mut next = Vec::new();
            for folder in found {
                match name.strip_prefix('*') {
                    Some(suffix) => {
                        next.extend(list_folder(&folder)?.into_iter().filter(|path| ends_with(path, suffix)));
                    }
                    None => next.push(folder.join(name)),
                }
            }
            found = next;
        }
        all.append(&mut found);
    }
    Ok(all)
}

/// The files with this ending in a folder that `names` lead to from `root`, sorted.
///
/// The user does not name them, and `root` may be in a clone. So links below it are not followed.
pub(super) fn own_files(root: &Path, names: &[&str], ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut folder = root.to_owned();
    for name in names {
        folder.push(name);
        if folder.is_symlink() {
            return Ok(Vec::new());
        }
    }
    let mut files = list_folder(&folder)?;
    files.retain(|file| ends_with(file, ending) && is_own_file(file));
    files.sort();
    Ok(files)
}

/// Whether this is a regular file, and not a link to one.
pub(super) fn is_own_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|file| file.is_file())
}

fn ends_with(path: &Path, suffix: &str) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(suffix.as_bytes())
}
