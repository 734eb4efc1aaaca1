//! The state of a reader at the end of the last import, so that the next one need not read the file from its start.
//!
//! One file per trace and session in `<git dir>/trace/transcripts`, with two lines of JSON: what the import found out about the
//! trace, and the reader's state. It is a cache: it is used only for the position that the trace's history records, and without it
//! the file is read from its start. For a transcript of 10 MB it saves nine tenths of a hook's time.

use std::fs;
use std::path::PathBuf;

use crate::base::replace::{Access, put};
use crate::git::Repo;
use crate::trace::TraceName;
use crate::trace::change::bulk::Summary;
use crate::trace::store::session::cache_path;

fn path(repo: &Repo, name: &TraceName, session: &str) -> PathBuf {
    let key = format!("{name}\n{session}");
    cache_path(repo.common_dir(), &blake3::hash(key.as_bytes()).to_hex()[..32])
}

pub(super) struct Resume {
    pub(super) summary: Option<Summary>,
    file: Vec<u8>,
    /// Where the second line starts.
    start: usize,
}

impl Resume {
    pub(super) fn state(&self) -> &[u8] {
        &self.file[self.start..]
    }
}

pub(super) fn read(repo: &Repo, name: &TraceName, session: &str) -> Option<Resume> {
    let file = fs::read(path(repo, name, session)).ok()?;
    let start = memchr::memchr(b'\n', &file)? + 1;
    Some(Resume { summary: serde_json::from_slice(&file[..start]).ok()?, file, start })
}

/// Stores the state. If that fails, the next import takes longer and has the same result.
pub(super) fn write(repo: &Repo, name: &TraceName, session: &str, summary: Option<&Summary>, state: &[u8]) {
    if let Ok(summary) = serde_json::to_vec(&summary) {
        let _ = put(&path(repo, name, session), Access::Cache, &[&summary, &b"\n"[..], state].concat());
    }
}
