//! Looks up a key in a large file without a complete scan.
//!
//! Binary search finds a key only in a sorted file. Only a complete scan shows that a file is sorted, so a scan that finds it
//! sorted and undamaged notes which version of the file that was, in `<common dir>/trace/cache/breadcrumbs-<hash of the path>`:
//!
//! ```text
//! git-trace sorted 1 <device> <inode> <bytes> <time of the last change of the content, and of the file>
//! ```
//!
//! - As git does for its index, a version is noted only if it is older than the resolution of the times of any file system. So another
//!   change would have another time.
//! - While the note fits, a lookup finds exactly what a scan would. Otherwise, and without the note, the file is scanned.

use super::LARGE_FILE_LEN;
use super::lines::{BOM, complete_key, is_blank, numbered, plain_key};
use crate::base::replace::{Access, put};
use crate::base::time::Time;
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The coarsest times of file systems are those of FAT.
#[cfg(unix)]
const RESOLUTION_SECONDS: i64 = 2;

/// How many bytes are read at once.
const BLOCK: usize = 4 * 1024;

/// The notes about sorted files of a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Notes {
    pub(crate) folder: PathBuf,
}

impl Notes {
    fn path(&self, file: &Path) -> PathBuf {
        // Another version of Rust may hash differently, and then scans once more. BLAKE3 would ask the processor what it can do, which
        // takes long in a virtual machine.
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        self.folder.join(format!("breadcrumbs-{:016x}", hasher.finish()))
    }

    /// Notes that a file is sorted if `text` is. `before` is what the file was before it was read.
    pub(crate) fn note(&self, path: &Path, before: &Metadata, text: &[u8], now: Time) {
        let Some(version) = version(before).filter(|_| is_settled(before, now)) else { return };
        let is_unchanged = || path.metadata().is_ok_and(|after| self::version(&after).as_ref() == Some(&version));
        let note = self.path(path);
        let is_known = std::fs::read_to_string(&note).is_ok_and(|noted| noted == version);
        if !is_known && is_sorted(text) && is_unchanged() {
            // Without the note, the next lookup scans again.
            let _ = put(&note, Access::Cache, version.as_bytes());
        }
    }

    /// The lines of a key in a file that is noted as sorted; `None` if it must be scanned.
    pub(crate) fn find(&self, path: &Path, key: &[u8]) -> Option<Vec<Vec<u8>>> {
        let found = path.metadata().ok().filter(|found| found.is_file() && found.len() > LARGE_FILE_LEN)?;
        let version = version(&found)?;
        if std::fs::read_to_string(self.path(path)).ok()? != version {
            return None;
        }
        let file = File::open(path).ok()?;
        let lines = find_lines(&file, key, BLOCK).ok()??;
        // Another program may have written while this one read.
        (self::version(&file.metadata().ok()?)? == version).then_some(lines)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no version")]
fn version(file: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()].map(|time| time.to_string());
    Some(format!("git-trace sorted 1 {} {} {} {}\n", file.dev(), file.ino(), file.len(), times.join(" ")))
}

/// Without an inode and the time of its last change, a file that replaced another one might not be noticed.
#[cfg(not(unix))]
fn version(_: &Metadata) -> Option<String> {
    None
}

/// Whether a change from now on would change the times of the file.
#[cfg(unix)]
fn is_settled(file: &Metadata, now: Time) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    now.as_second().saturating_sub(file.mtime().max(file.ctime())) > RESOLUTION_SECONDS
}

#[cfg(not(unix))]
fn is_settled(_: &Metadata, _: Time) -> bool {
    false
}

/// Whether every line looks valid, and the lines are in the order of their keys.
pub(crate) fn is_sorted(text: &[u8]) -> bool {
    let mut last: &[u8] = b"";
    numbered(text).all(|(_, line)| {
        let key = complete_key(line).filter(|key| *key >= last);
        last = key.unwrap_or_default();
        key.is_some()
    })
}

/// The lines of a key in a sorted file; `None` if it turns out not to be one.
pub(crate) fn find_lines(mut file: &File, key: &[u8], block: usize) -> io::Result<Option<Vec<Vec<u8>>>> {
    // The line that starts at `low` is before the key, and no line that starts after `high` is needed to find the first one of the key.
    let (mut low, mut high) = (0, file.metadata()?.len());
    while high - low > block as u64 {
        let middle = low + (high - low) / 2;
        file.seek(SeekFrom::Start(middle))?;
        let mut reader = BufReader::with_capacity(block, file);
        let mut start = middle + reader.skip_until(b'\n')? as u64;
        let mut line = Vec::new();
        while start < high && reader.read_until(b'\n', &mut line)? > 0 && is_blank(&line) {
            start += line.len() as u64;
            line.clear();
        }
        match plain_key(&line) {
            _ if start >= high || line.is_empty() => high = middle,
            Some(found) if found < key => low = start,
            Some(_) => high = start,
            None => return Ok(None),
        }
    }
    file.seek(SeekFrom::Start(low))?;
    let mut reader = BufReader::with_capacity(block, file);
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(Some(lines));
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_prefix(BOM).unwrap_or(line);
        match plain_key(line) {
            _ if is_blank(line) => {}
            Some(found) if found < key => {}
            Some(found) if found == key => lines.push(line.to_vec()),
            Some(_) => return Ok(Some(lines)),
            None => return Ok(None),
        }
    }
}
