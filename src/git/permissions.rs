//! Permissions of new files and folders in the git folder: `core.sharedRepository`, as git reads it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::call::Git;
use super::config::parse_bool;
use super::error::GitError;
use super::open::Repo;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Permissions {
    Umask,
    /// Adds these bits.
    Added(u32),
    /// Replaces all bits.
    Exact(u32),
}

const KEY: &str = "core.sharedRepository";

const GROUP: Permissions = Permissions::Added(0o660);
const EVERYBODY: Permissions = Permissions::Added(0o664);

impl Permissions {
    fn of(value: Option<String>) -> Result<Self, GitError> {
        let Some(value) = value else { return Ok(Self::Umask) };
        let expected = "umask, group, all, or an octal mode with read and write for the owner";
        parse(&value).ok_or_else(|| GitError::BadSetting { key: KEY.to_owned(), value, expected })
    }

    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has modes"))]
    fn mode(self, old: u32, is_folder: bool) -> u32 {
        let (kept, mut bits) = match self {
            Self::Umask => return old,
            Self::Added(bits) => (old, bits),
            Self::Exact(bits) => (old & !0o777, bits),
        };
        if old & 0o200 == 0 {
            bits &= !0o222;
        }
        if old & 0o100 != 0 {
            bits |= (bits & 0o444) >> 2;
        }
        let mode = kept | bits;
        // New files in the folder then belong to its group.
        if is_folder && mode & 0o060 != 0 { mode | 0o2000 } else { mode }
    }

    pub(super) fn adjust(self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if self != Self::Umask {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = fs::symlink_metadata(path)?;
            // It is the user's own, as for git.
            if metadata.is_symlink() {
                return Ok(());
            }
            let old = metadata.permissions().mode() & 0o7777;
            let new = self.mode(old, metadata.is_dir());
            if new != old {
                fs::set_permissions(path, fs::Permissions::from_mode(new))?;
            }
        }
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }

    /// Creates a folder and the missing ones above it.
    pub(super) fn create_folders(self, folder: &Path) -> io::Result<()> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let Some(above) = folder.parent() else { return Err(error) };
                self.create_folders(above)?;
                self.create_folders(folder)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
            made => made.and_then(|()| self.adjust(folder)),
        }
    }
}

fn parse(value: &str) -> Option<Permissions> {
    match value {
        "umask" => return Some(Permissions::Umask),
        "group" => return Some(GROUP),
        "all" | "world" | "everybody" => return Some(EVERYBODY),
        _ => {}
    }
    let Ok(mode) = u32::from_str_radix(value, 8) else {
        return parse_bool(value).map(|is_shared| if is_shared { GROUP } else { Permissions::Umask });
    };
    match mode {
        0 => Some(Permissions::Umask),
        1 => Some(GROUP),
        2 => Some(EVERYBODY),
        mode => (mode & 0o600 == 0o600).then_some(Permissions::Exact(mode & 0o666)),
    }
}

impl Git {
    /// As [`Repo::share_file`].
    pub(crate) fn share_file(&self, path: &Path) -> Result<(), GitError> {
        let answer = self.ask(&["config", "--get", KEY])?;
        let value = answer.is_success().then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned());
        share(Permissions::of(value)?, path)
    }
}

fn share(permissions: Permissions, path: &Path) -> Result<(), GitError> {
    permissions.adjust(path).map_err(|source| GitError::io("set the permissions of", path, source))
}

impl Repo {
    /// Gives a new file in the git folder its permissions.
    pub(crate) fn share_file(&self, path: &Path) -> Result<(), GitError> {
        share(self.permissions()?, path)
    }

    /// The setting, read on first use.
    pub(super) fn permissions(&self) -> Result<Permissions, GitError> {
        if let Some(permissions) = self.permissions.get() {
            return Ok(*permissions);
        }
        let permissions = Permissions::of(self.config()?.text_or_true(KEY)?)?;
        Ok(*self.permissions.get_or_init(|| permissions))
    }
}
