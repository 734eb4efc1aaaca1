//! Which new files are synced, and how: `core.fsync`, `core.fsyncMethod`, and `core.fsyncObjectFiles`, as git reads them.
//!
//! Git reads `core.fsync` in its own way: a word means each component whose name starts with it, `none` counts only as the last
//! word, and a component that is named is synced even if it is excluded as well.

use std::fs::File;
use std::io;

use super::config::Config;
use super::error::GitError;
use super::open::Repo;

/// Files that are synced together. Git syncs no reflog and no symbolic ref.
#[derive(Clone, Copy)]
pub(super) enum Component {
    LooseObject = 1,
    Pack = 2,
    PackMetadata = 4,
    Reference = 8,
}

/// The names in `core.fsync` and their components. Only git itself writes the index and the commit graph.
const NAMES: [(&str, u8); 11] = [
    ("loose-object", 1),
    ("pack", 2),
    ("pack-metadata", 4),
    ("commit-graph", 0),
    ("index", 0),
    ("objects", 3),
    ("reference", 8),
    ("derived-metadata", 4),
    ("committed", 11),
    ("added", 11),
    ("all", 15),
];

const DEFAULT: u8 = if cfg!(windows) { 7 } else { 6 };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fsync {
    components: u8,
    /// Whether it is enough that the kernel starts to write.
    is_writeout_only: bool,
}

impl Fsync {
    fn read(config: &Config) -> Result<Self, GitError> {
        let mut components = config.text("core.fsync")?.map_or(DEFAULT, |value| components(&value));
        if config.boolean("core.fsyncObjectFiles")? == Some(true) {
            components |= Component::LooseObject as u8;
        }
        // Outside of `git add` and similar, `batch` syncs each file.
        let is_writeout_only = match config.text("core.fsyncMethod")?.as_deref() {
            Some("writeout-only") => true,
            Some("fsync" | "batch") => false,
            _ => cfg!(target_os = "macos"),
        };
        Ok(Self { components, is_writeout_only })
    }

    /// Syncs the file of a component, if the settings say so.
    pub(super) fn sync(self, component: Component, file: &File) -> io::Result<()> {
        if self.components & component as u8 == 0 || (self.is_writeout_only && write_out(file)) {
            return Ok(());
        }
        file.sync_all()
    }
}

fn components(value: &str) -> u8 {
    let (mut kept, mut named, mut excluded) = (DEFAULT, 0, 0);
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t', '\n', '\r']);
        if rest == "none" {
            kept = 0;
            break;
        }
        let (word, tail) = rest.split_once(',').unwrap_or((rest, ""));
        let (list, word) = match word.strip_prefix('-') {
            Some(word) => (&mut excluded, word),
            None => (&mut named, word),
        };
        if word.is_empty() {
            break;
        }
        *list |= NAMES.iter().filter(|(name, _)| name.starts_with(word)).fold(0, |all, (_, bits)| all | bits);
        rest = tail;
    }
    (kept & !excluded) | named
}

/// Writes the file's pages without waiting for the disk's own cache. False if the system cannot do this.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the standard library has no such call")]
fn write_out(file: &File) -> bool {
    use std::os::fd::AsRawFd as _;
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the descriptor is open while `file` is borrowed, and the call takes no pointer.
    unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) == 0 }
}

/// `fsync` does not empty the disk's cache on macOS, where [`File::sync_all`] does.
#[cfg(target_os = "macos")]
#[allow(unsafe_code, reason = "the standard library has no such call")]
fn write_out(file: &File) -> bool {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open while `file` is borrowed, and the call takes no pointer.
    unsafe { libc::fsync(file.as_raw_fd()) == 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn write_out(_file: &File) -> bool {
    false
}

impl Repo {
    /// The settings, read on first use.
    pub(super) fn fsync(&self) -> Result<Fsync, GitError> {
        if let Some(fsync) = self.fsync.get() {
            return Ok(*fsync);
        }
        let fsync = Fsync::read(self.config()?)?;
        Ok(*self.fsync.get_or_init(|| fsync))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/git/fsync.rs"]
mod tests;
