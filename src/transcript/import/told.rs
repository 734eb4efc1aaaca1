//! Whether the user was told that a recorded session fills the context window: one empty file per trace in
//! `<git dir>/trace/transcripts`. Without it, they are told again.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;

use crate::git::Repo;
use crate::trace::TraceName;

fn path(repo: &Repo, name: &TraceName) -> PathBuf {
    let digest = &blake3::hash(name.as_str().as_bytes()).to_hex()[..32];
    repo.common_dir().join("trace").join("transcripts").join(format!("{digest}.told"))
}

/// Returns whether they were not told yet. Of several hooks at once, one gets `true`.
pub(crate) fn remember(repo: &Repo, name: &TraceName) -> io::Result<bool> {
    let path = path(repo, name);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        created => created.map(|_| true),
    }
}

pub(crate) fn forget(repo: &Repo, name: &TraceName) -> io::Result<()> {
    match fs::remove_file(path(repo, name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
