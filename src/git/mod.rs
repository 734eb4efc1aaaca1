//! The repository: the only module that names `git2`. Nothing here knows about traces.
//!
//! Objects are read and written through libgit2, in process. Git itself does what libgit2 cannot be trusted with (deleting
//! refs, unusual identities, maintenance); see `process`.
//!
//! - A ref moves only from the value that was read ([`Repo::update_ref`]).
//! - libgit2's error codes do not leave this module: callers get [`GitError`], or `None` for what does not exist.

mod alternates;
mod ancestry;
mod blobs;
mod call;
mod code_lines;
mod commit;
mod config;
mod deflate;
mod env;
mod error;
mod fsync;
mod function_lines;
mod history;
mod ident;
mod index;
mod integrity;
mod lending;
mod lock;
mod loose;
mod network;
mod objects;
mod oid;
mod open;
mod operation;
mod pack;
mod partial;
mod permissions;
mod process;
mod purge;
mod pushed;
mod refs;
mod setting;
mod shared;
mod sign;
mod staged;
mod three_way;
pub(crate) mod tree;
mod trust;
mod worktrees;
mod write;
mod zone;

pub(crate) use call::{Git, browse, merge_tool, worktree_root};
pub(crate) use code_lines::CodeLine;
pub(crate) use commit::{Commit, NewCommit, RawCommit};
pub(crate) use config::{parse_bool, parse_number};
pub use env::Env;
pub use error::{GitError, StoreError};
pub(crate) use git2::ObjectFormat;
pub(crate) use history::CodeCommit;
pub(crate) use ident::Ident;
pub(crate) use integrity::RefListing;
pub(crate) use lock::{ObjectsLock, RefLock};
pub(crate) use network::{CONTEXT_REMOTE, Destination, Direction, ListedRef, Outgoing, PushFate, PushedRef};
pub use oid::Oid;
pub(crate) use oid::short_oid;
pub use open::Repo;
pub(crate) use operation::{BACKUP_REFS, Operation, Recorded, RefMove, is_of_purges};
pub(crate) use pack::{KeptPack, PackWriter};
pub(crate) use purge::{NOTED_REMOVAL, Noted, ObjectKind, Objects, Ours, RefChange, Reflog, remove_derived};
pub(crate) use refs::{LogEntry, LogLine, RefUpdate, RefsState};
pub(crate) use setting::rewrite_settings;
pub(crate) use shared::SHARED_SETTINGS;
pub(crate) use staged::StagedFile;
pub(crate) use three_way::merge_lines;
pub(crate) use tree::{Entry, EntryRef, Mode, Tree, TreeStore};
pub(crate) use worktrees::Worktrees;
