//! What a reader knew where the last import of a file ended, so that the next goes on without what stands before.
//!
//! A file of JSON for each trace and session under `<git dir>/trace/transcripts`. It is a cache: it counts only for the
//! position that the trace's own history names, and without it the file is read from its start. On a transcript of 10 MB it
//! saves nine tenths of a hook's time.

use std::fs;
use std::path::PathBuf;

use crate::base::replace::{Access, put};
use crate::git::Repo;
use crate::trace::TraceName;

fn path(repo: &Repo, name: &TraceName, session: &str) -> PathBuf {
    let key = format!("{name}\n{session}");
    repo.common_dir().join("trace").join("transcripts").join(&blake3::hash(key.as_bytes()).to_hex()[..32])
}

/// What was kept, if anything.
pub(super) fn read(repo: &Repo, name: &TraceName, session: &str) -> Option<Vec<u8>> {
    fs::read(path(repo, name, session)).ok()
}

/// Keeps what a reader knows. Where that fails the next import takes longer and does the same.
pub(super) fn write(repo: &Repo, name: &TraceName, session: &str, memory: &[u8]) {
    let _ = put(&path(repo, name, session), Access::Private, memory);
}
