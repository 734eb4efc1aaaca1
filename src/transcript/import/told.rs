//! Messages that the user has seen: one empty file for each in `<git dir>/trace/transcripts`. Without it, the message is repeated.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;

use crate::base::folders::create_folders;
use crate::git::Repo;
use crate::trace::TraceName;
use crate::trace::store::session::cache_path;

#[derive(Clone, Copy)]
pub(crate) enum Message<'n> {
    /// The recorded session fills its context window.
    Full(&'n TraceName),
    /// Sessions of this repository are recorded.
    Recording,
    /// Traces go to a host of public repositories.
    Public,
    /// Traces go to a remote that nobody named.
    DefaultRemote,
    /// Sessions of this repository are not recorded unless the user says so.
    Asking,
}

fn path(repo: &Repo, message: Message<'_>) -> PathBuf {
    let name = match message {
        Message::Full(name) => blake3::hash(name.as_str().as_bytes()).to_hex()[..32].to_owned(),
        Message::Recording => "recording".to_owned(),
        Message::Asking => "asking".to_owned(),
        Message::Public => "public".to_owned(),
        Message::DefaultRemote => "default-remote".to_owned(),
    };
    cache_path(repo.common_dir(), format!("{name}.told"))
}

/// Returns whether they were not told yet, as far as can be known. Of several hooks at once, one gets `true`.
pub(crate) fn remember(repo: &Repo, message: Message<'_>) -> bool {
    let path = path(repo, message);
    // A folder that cannot be created fails below.
    let _ = path.parent().map_or(Ok(()), create_folders);
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    !created.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
}

pub(crate) fn forget(repo: &Repo, message: Message<'_>) -> io::Result<()> {
    match fs::remove_file(path(repo, message)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
