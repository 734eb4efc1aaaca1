//! Creating folders that several users may share.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(unix)]
use super::worktree_path::is_git_directory;

/// Creates a folder and the missing ones above it. In a git directory that users share, they share it too, as git's own folders.
pub(crate) fn create_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), create_folders)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => return Ok(()),
        made => made?,
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(folder.join(".."))?.permissions().mode() & 0o7777;
        if mode & 0o2020 != 0 && folder.ancestors().any(is_git_directory) {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}
