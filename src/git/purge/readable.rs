//! Whether everything that may contain an object, or lead to one, can be read. Git skips what it cannot read, mostly without an error.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::git::error::GitError;
use crate::git::open::Repo;
use crate::git::purge::code::{LISTS, PSEUDO_REFS, STATE_FOLDERS};
use crate::git::tree::raw_len;

/// What leads to objects in the git folder of a worktree.
const ROOTS: [&str; 5] = ["index", "logs", "packed-refs", "refs", "reftable"];

impl Repo {
    pub(super) fn check_readable(&self) -> Result<(), GitError> {
        for objects in self.loose.folders() {
            for path in list(&objects.join("pack"))? {
                let extension = path.extension().unwrap_or_default();
                if extension == "pack" {
                    list(&path)?;
                } else if extension == "idx" {
                    unless_gone(&path, self.check_pack(&path))?;
                }
            }
            let is_loose = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 2);
            for path in list(objects)?.into_iter().filter(is_loose) {
                list(&path)?;
            }
        }
        let common = self.common_dir();
        let mut paths = Vec::new();
        for git_dir in list(&common.join("worktrees"))?.into_iter().chain([common.to_owned()]) {
            let names = ROOTS.iter().chain(&PSEUDO_REFS).chain(&LISTS).chain(&STATE_FOLDERS);
            paths.extend(names.map(|name| git_dir.join(name)));
            list(&git_dir)?;
        }
        while let Some(path) = paths.pop() {
            // No ref has such a name.
            if path.extension().is_none_or(|extension| extension != "lock") {
                paths.extend(list(&path)?);
            }
        }
        Ok(())
    }

    /// Fails if git does not use the pack with this index. See `gitformat-pack(5)`.
    fn check_pack(&self, index: &Path) -> io::Result<()> {
        const COUNTS: usize = 256 * 4;
        let damaged = |what| Err(io::Error::new(ErrorKind::InvalidData, what));
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
        let (mut file, mut head) = (File::open(index)?, Vec::new());
        file.by_ref().take(8 + COUNTS as u64).read_to_end(&mut head)?;
        let has_version = head.starts_with(b"\xfftOc");
        if has_version && head.get(4..8) != Some(&[0, 0, 0, 2]) {
            return damaged("it is an index of an unknown version");
        }
        let Some(counts) = head.get(if has_version { 8..8 + COUNTS } else { 0..COUNTS }) else {
            return damaged("the index of a pack is too short");
        };
        let counts: Vec<u64> = counts.chunks_exact(4).map(number).collect();
        let oid_len = raw_len(self.object_format()) as u64;
        let length = if has_version { 8 + oid_len + 8 } else { oid_len + 4 };
        let (count, fixed) = (counts[255], COUNTS as u64 + 2 * oid_len);
        let least = fixed + if has_version { 8 + count * (length - 8) } else { count * length };
        if !counts.is_sorted() || file.metadata()?.len() < least {
            return damaged("the index of a pack is damaged");
        }
        let mut start = [0; 12];
        File::open(index.with_extension("pack"))?.read_exact(&mut start)?;
        if !start.starts_with(b"PACK") || number(&start[8..]) != count {
            return damaged("its pack is damaged");
        }
        Ok(())
    }
}

/// The entries of a folder; none of a file, or if it is not there. Fails if it cannot be read.
fn list(path: &Path) -> Result<Vec<PathBuf>, GitError> {
    let read = || {
        // As git, through links.
        let kind = fs::metadata(path)?;
        if kind.is_dir() {
            return Ok(fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect());
        }
        if kind.is_file() {
            File::open(path)?;
        }
        Ok(Vec::new())
    };
    unless_gone(path, read())
}

/// Git may remove a file meanwhile. It makes folders for refs whose paths are too long, and lists such refs itself.
fn unless_gone<T: Default>(path: &Path, done: io::Result<T>) -> Result<T, GitError> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(T::default()),
        Err(error) if error.kind() == ErrorKind::InvalidFilename && !path.iter().any(|part| part == "logs") => {
            Ok(T::default())
        }
        done => done.map_err(|error| GitError::io("read", path, error)),
    }
}
