//! Bulk writing: one pack instead of fifty thousand loose files.
//!
//! The caller's thread hashes, a thread of its own compresses and writes. `git fast-import` does the same in one thread, hashes
//! everything a second time and searches for the deltas that are known here: a trace's trees differ from the one before by an entry.

mod delta;
mod index;
mod thread;

use std::cell::RefCell;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use git2::{ObjectType, Oid};

use super::commit::NewCommit;
use super::error::GitError;
use super::open::Repo;
use super::tree::{Entry, Tree, TreeStore, render_tree};
use thread::{Packed, Sent};

/// Objects that may wait for the other thread: those of a few items, whose texts may be large.
const WAITING: usize = 32;

/// A pack under construction. Its objects are in the repository once [`PackWriter::finish`] is done, and not before.
///
/// Dropped before that, nothing is left of it; a process that is killed leaves a `tmp_pack_…` file, which `git gc` removes.
pub(crate) struct PackWriter<'r> {
    repo: &'r Repo,
    running: RefCell<Option<Running>>,
}

/// The other thread, and the way to it.
struct Running {
    sender: SyncSender<Sent>,
    thread: JoinHandle<Result<Option<Packed>, GitError>>,
}

impl<'r> PackWriter<'r> {
    /// Starts a pack beside the repository's others.
    pub(crate) fn start(repo: &'r Repo) -> Result<Self, GitError> {
        let folder = repo.objects.join("pack");
        let (sender, receiver) = sync_channel(WAITING);
        let thread = thread::spawn(&folder, repo.object_format(), receiver)?;
        Ok(Self { repo, running: RefCell::new(Some(Running { sender, thread })) })
    }

    /// Puts a blob into the pack.
    pub(crate) fn write_blob(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        self.write(ObjectType::Blob, bytes)
    }

    /// Puts a commit into the pack.
    pub(crate) fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Oid, GitError> {
        self.write(ObjectType::Commit, commit.render().into_bytes())
    }

    fn write(&self, kind: ObjectType, bytes: Vec<u8>) -> Result<Oid, GitError> {
        let oid = self.repo.hash(kind, &bytes)?;
        if self.send(Sent::Object { oid, kind, bytes }) {
            Ok(oid)
        } else {
            Err(self.join().err().unwrap_or_else(thread::lost))
        }
    }

    /// Whether the other thread is still there to take it.
    fn send(&self, sent: Sent) -> bool {
        self.running.borrow().as_ref().is_some_and(|running| running.sender.send(sent).is_ok())
    }

    /// Writes the rest, and makes the pack one of the repository's.
    ///
    /// The files are synced before they get their names, as git does it.
    pub(crate) fn finish(self) -> Result<(), GitError> {
        // If it has ended before, joining says why.
        self.send(Sent::End);
        self.join()?.map_or(Ok(()), Packed::take_place)
    }

    /// Waits until the other thread has ended.
    fn join(&self) -> Result<Option<Packed>, GitError> {
        let Some(Running { sender, thread }) = self.running.take() else { return Err(thread::lost()) };
        drop(sender);
        thread.join().unwrap_or_else(|_panicked| Err(thread::lost()))
    }
}

impl Drop for PackWriter<'_> {
    fn drop(&mut self) {
        // Its files are gone when it is, which the end of the process would not wait for.
        let _ = self.join();
    }
}

impl TreeStore for PackWriter<'_> {
    /// Reads from the repository: what went into the pack is not seen yet.
    fn tree(&self, oid: Oid) -> Result<Tree, GitError> {
        self.repo.tree(oid)
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.write(ObjectType::Tree, render_tree(entries))
    }
}
