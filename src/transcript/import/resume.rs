//! The state of a reader at the end of the last import, so that the next one need not read the file from its start.
//!
//! One JSON file per trace and session in `<git dir>/trace/transcripts`. It is a cache: it is used only for the position that
//! the trace's history records, and without it the file is read from its start. For a transcript of 10 MB it saves nine
//! tenths of a hook's time.

use std::fs;
use std::path::PathBuf;

use crate::base::replace::{Access, put};
use crate::git::Repo;
use crate::trace::TraceName;

fn path(repo: &Repo, name: &TraceName, session: &str) -> PathBuf {
    let key = format!("{name}\n{session}");
    repo.common_dir().join("trace").join("transcripts").join(&blake3::hash(key.as_bytes()).to_hex()[..32])
}

pub(super) fn read(repo: &Repo, name: &TraceName, session: &str) -> Option<Vec<u8>> {
    fs::read(path(repo, name, session)).ok()
}

/// Stores the state. If that fails, the next import takes longer and has the same result.
pub(super) fn write(repo: &Repo, name: &TraceName, session: &str, state: &[u8]) {
    let _ = put(&path(repo, name, session), Access::Cache, state);
}
