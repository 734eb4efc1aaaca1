//! `.keep` files: packs with one are not deleted by `git repack -d`.
//!
//! A new pack has one from before git can see it until a ref holds its commits. Its owner holds a kernel lock on it, so a keep
//! file that nobody has locked belongs to a process that was killed.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::git::open::Repo;

/// The content of our keep files; those of others stay.
const OWNER: &[u8] = b"git-trace import\n";

/// Keeps a pack as long as it lives.
#[derive(Debug)]
pub(crate) struct KeptPack {
    path: PathBuf,
    file: File,
}

impl KeptPack {
    /// Puts a keep file at `path`. `None` if somebody else's is there, which keeps the pack as well.
    pub(super) fn create(path: PathBuf) -> io::Result<Option<Self>> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::Builder::new().prefix("tmp_keep_").tempfile_in(folder)?;
        new.write_all(OWNER)?;
        new.as_file().lock_shared()?;
        loop {
            let error = match new.persist_noclobber(&path) {
                Ok(file) => return Ok(Some(Self { path, file })),
                Err(error) => error,
            };
            if error.error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error.error);
            }
            new = error.file;
            // Another import of the same objects may own it, or have owned it. The last owner removes it.
            let Ok(mut file) = File::open(&path) else { continue };
            file.lock_shared()?;
            if is_at(&file, &path) {
                return Ok(is_ours(&mut file).then_some(Self { path, file }));
            }
        }
    }
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        let _ = self.file.unlock();
        remove_unowned(&self.path);
    }
}

/// Removes a keep file of ours that no process has locked.
fn remove_unowned(path: &Path) {
    let Ok(mut file) = File::open(path) else { return };
    if file.try_lock().is_ok() && is_at(&file, path) && is_ours(&mut file) {
        let _ = fs::remove_file(path);
    }
}

fn is_ours(file: &mut File) -> bool {
    let mut content = Vec::new();
    file.take(OWNER.len() as u64 + 1).read_to_end(&mut content).is_ok() && content == OWNER
}

/// Whether the file is still the one at the path: its last owner may have removed it before we had the lock.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
        let there = id(fs::metadata(path));
        there.is_some() && there == id(file.metadata())
    }
    // Windows does not delete a file that is open.
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

impl Repo {
    /// Removes the keep files of imports that were killed.
    pub(in crate::git) fn remove_stale_keeps(&self) {
        for entry in fs::read_dir(self.objects.join("pack")).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "keep") {
                remove_unowned(&path);
            }
        }
    }
}
