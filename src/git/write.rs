//! Writing loose objects.
//!
//! libgit2 syncs objects together with refs or not at all, so it does not write them.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::time::SystemTime;

use flate2::Compression;
use git2::ObjectType;
use tempfile::NamedTempFile;

use super::deflate::Deflater;
use super::error::GitError;
use super::fsync::Component;
use super::oid::Oid;
use super::open::Repo;
use super::permissions::Permissions;

/// How often a folder is created again that `git gc` removed because it was empty.
const TRIES: usize = 10;

impl Repo {
    pub(super) fn write(&self, kind: ObjectType, bytes: &[u8], what: &str) -> Result<Oid, GitError> {
        let oid = self.hash(kind, bytes)?;
        let digits = oid.to_string();
        let path = self.objects.join(&digits[..2]).join(&digits[2..]);
        let (fsync, permissions) = (self.fsync()?, self.permissions()?);
        // The time of its file is renewed, so that `git prune` does not remove it. That of another user stays as it is, as in git: he might
        // not be able to read a new one. The time of a pack cannot be relied on: it may be a cruft pack, which has one for each object.
        if let (false, Ok(file)) = (self.loose.was_removed(oid), File::open(&path)) {
            let _ = file.set_modified(SystemTime::now());
            return Ok(oid);
        }
        let write = || {
            let head = format!("{} {}\0", kind.str(), bytes.len());
            let mut packed = Vec::new();
            let mut deflater = self.deflater.borrow_mut();
            let deflater = deflater.get_or_insert_with(|| Deflater::new(Compression::fast()));
            deflater.compress(&[head.as_bytes(), bytes], &mut packed)?;
            let mut file = temporary(path.parent().unwrap_or(&self.objects), permissions)?;
            file.as_file_mut().write_all(&packed)?;
            fsync.sync(Component::LooseObject, file.as_file())?;
            permissions.adjust(file.path())?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| GitError::Write { what: what.to_owned(), source })?;
        Ok(oid)
    }
}

/// A file with the name and permissions that git gives to an object until it is complete.
fn temporary(folder: &Path, permissions: Permissions) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tmp_obj_");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
    let mut made = builder.tempfile_in(folder);
    for _ in 1..TRIES {
        match &made {
            Err(error) if error.kind() == ErrorKind::NotFound => permissions.create_folders(folder)?,
            _ => break,
        }
        made = builder.tempfile_in(folder);
    }
    made
}
