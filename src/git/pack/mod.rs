//! Bulk writing: one pack instead of fifty thousand loose files.
//!
//! The caller's thread hashes; a second thread compresses and writes. `git fast-import` does both in one thread, hashes
//! everything twice, and searches for deltas. Here they are known: a tree of a trace differs from the previous one by an entry.

mod delta;
mod index;
mod keep;
mod thread;

use std::cell::RefCell;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use git2::ObjectType;

use super::commit::NewCommit;
use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::tree::{Entry, Tree, TreeStore, render_tree};
pub(super) use delta::common_start;
pub(crate) use keep::KeptPack;
use thread::{Packed, Sent};

/// Number of objects that may wait for the other thread. They may be large.
const WAITING: usize = 32;

/// A pack whose objects are in the repository only after [`PackWriter::finish`]. A killed process leaves a temporary
/// file, which the next one removes.
pub(crate) struct PackWriter<'r> {
    repo: &'r Repo,
    running: RefCell<Option<Running>>,
}

struct Running {
    sender: SyncSender<Sent>,
    thread: JoinHandle<Result<Option<Packed>, GitError>>,
}

impl<'r> PackWriter<'r> {
    /// The caller holds [`Repo::lock_objects`], which keeps others from removing the files of this pack.
    pub(crate) fn start(repo: &'r Repo) -> Result<Self, GitError> {
        let folder = repo.objects.join("pack");
        let (sender, receiver) = sync_channel(WAITING);
        let thread = thread::spawn(&folder, repo.object_format(), repo.fsync()?, receiver)?;
        Ok(Self { repo, running: RefCell::new(Some(Running { sender, thread })) })
    }

    pub(crate) fn write_blob(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        self.write(ObjectType::Blob, bytes)
    }

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

    fn send(&self, sent: Sent) -> bool {
        self.running.borrow().as_ref().is_some_and(|running| running.sender.send(sent).is_ok())
    }

    /// Writes the rest and adds the pack to the repository. As in git, the files are synced before they are renamed, unless
    /// `core.fsync` says otherwise.
    ///
    /// The result must live until a ref holds the commits: until then, it keeps `git repack -d` from deleting the pack. It is
    /// `None` if the pack is empty, or kept by somebody else.
    pub(crate) fn finish(self) -> Result<Option<KeptPack>, GitError> {
        // If the thread has ended early, joining it tells why.
        self.send(Sent::End);
        let permissions = self.repo.permissions()?;
        self.join()?.map_or(Ok(None), |packed| packed.take_place(permissions))
    }

    fn join(&self) -> Result<Option<Packed>, GitError> {
        let Some(Running { sender, thread }) = self.running.take() else { return Err(thread::lost()) };
        drop(sender);
        thread.join().unwrap_or_else(|_panicked| Err(thread::lost()))
    }
}

impl Drop for PackWriter<'_> {
    fn drop(&mut self) {
        // Wait until the thread has removed its files; the end of the process would not.
        let _ = self.join();
    }
}

impl TreeStore for PackWriter<'_> {
    fn tree(&self, oid: Oid) -> Result<Tree, GitError> {
        self.repo.tree(oid)
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.write(ObjectType::Tree, render_tree(entries))
    }
}
