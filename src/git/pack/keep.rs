//! The files of an import that is not finished: temporary files, and `.keep` files, with which `git repack -d` deletes no pack.
//!
//! A new pack has a keep file from before git can see it until a ref holds its commits. Imports of the same objects share one, and
//! hold a kernel lock on it, so that the last one removes it. While no process holds the lock of the objects
//! ([`Repo::lock_objects`]), all these files belong to imports that were killed.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::git::lock::ObjectsLock;
use crate::git::open::Repo;

/// The content of our keep files; those of others stay.
const OWNER: &[u8] = b"git-trace import\n";

/// How the names of our temporary files begin. `git prune` knows the prefix `tmp_`, and git's own begin with `tmp_pack_` as well.
const TEMPORARY: [&str; 2] = ["tmp_pack_trace_", "tmp_idx_trace_"];

#[derive(Clone, Copy)]
pub(super) enum Temporary {
    Pack,
    Index,
}

impl Temporary {
    /// A file with the permissions that git gives to packs.
    pub(super) fn create(self, folder: &Path) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
        builder.prefix(TEMPORARY[self as usize]).tempfile_in(folder)
    }
}

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
        let Ok(file) = File::open(&self.path) else { return };
        if file.try_lock().is_ok() && is_at(&file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
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
    /// Removes the keep files and temporary files of all imports. The lock is the exclusive one, so these were killed.
    pub(in crate::git) fn remove_pack_files(&self, _alone: &ObjectsLock) {
        for entry in fs::read_dir(self.objects.join("pack")).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_keep = path.extension().is_some_and(|extension| extension == "keep");
            let is_temporary = TEMPORARY.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
            if is_temporary || (is_keep && File::open(&path).is_ok_and(|mut file| is_ours(&mut file))) {
                let _ = fs::remove_file(path);
            }
        }
    }
}
