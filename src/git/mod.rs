//! The repository, as the rest of the crate sees it: the only module that names `git2`.
//!
//! Objects are read and written through libgit2, in process; what it cannot be trusted with (deleting refs, odd
//! identities, maintenance) is done by git itself, see `process`. Nothing here has heard of a trace.
//!
//! - A ref moves only from where it was seen ([`Repo::move_ref`]).
//! - libgit2's error codes end here; callers get [`GitError`], and absence as `None`.

mod ancestry;
mod blobs;
mod browse;
mod call;
mod commit;
mod config;
mod env;
mod error;
mod history;
mod ident;
mod integrity;
mod lock;
mod loose;
mod maintenance;
mod network;
mod objects;
mod open;
mod pack;
mod partial;
mod process;
mod refs;
mod setting;
mod shallow;
mod shared;
mod sign;
mod three_way;
mod tree;
mod zone;

pub use browse::browse;
pub use call::{Answer, Git, worktree_root};
pub use commit::{Commit, NewCommit};
pub use config::{Config, parse_bool, parse_number};
pub use env::Env;
pub use error::GitError;
pub use git2::{ObjectFormat, ObjectType, Oid};
pub use history::CodeCommit;
pub use ident::Ident;
pub use integrity::RefListing;
pub use lock::{FileLock, LOCK_PATIENCE};
pub use network::{PushFate, PushedRef};
pub use objects::Object;
pub use open::Repo;
pub use pack::PackWriter;
pub use refs::{LogEntry, LogLine};
pub use shared::SHARED_SETTINGS;
pub use three_way::merge_lines;
pub use tree::{Entry, EntryRef, Mode, Tree, TreeStore, render_tree};

/// Shortens an oid for display to the seven digits git shows at least.
#[must_use]
pub fn short_oid(oid: Oid) -> String {
    let mut digits = oid.to_string();
    digits.truncate(7);
    digits
}
