//! git-trace: version control for what a language model sees, inside the user's own git repository.
//!
//! The context of an agent is kept as real git objects and refs, one commit per item. `docs/architecture.md` describes the
//! modules. Imports point down, and nothing below `app` prints, exits, or reads the clock, the environment, or the working
//! folder.
//!
//! ```
//! use git_trace::{Api, Draft, Repo};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let git = |args: &[&str]| std::process::Command::new("git").current_dir(&folder).args(args).status();
//! # git(&["init", "--quiet"])?;
//! # git(&["config", "user.name", "somebody"])?;
//! # git(&["config", "user.email", "somebody@example.com"])?;
//! let repo = Repo::discover(folder.path())?;
//! let trace = repo.trace("main")?;
//! trace.append(Draft::dialogue("Where is the limit set?"))?;
//!
//! let context = trace.materialize()?;
//! assert_eq!(context.messages.len(), 1);
//! println!("{}", String::from_utf8(context.request(Api::Anthropic)?.body)?);
//! # Ok(())
//! # }
//! ```
//!
//! | To | Use |
//! | --- | --- |
//! | open a repository and its traces | [`Repo`], [`Trace`] |
//! | append, edit, delete, restore items | [`Draft`], [`Trace::append`], [`Patch`], [`Trace::edit`] |
//! | read a trace, now or at an earlier moment | [`View::open`], [`Trace::items`] |
//! | turn it into messages and requests | [`Trace::materialize`], [`materialize()`] with [`Options`] or a [`Materializer`] of your own |
//! | count tokens, read what a provider reports | [`Counter`], [`TokenCounter`], [`Encoding`], [`TokenUsage`] |

mod app;
mod base;
mod check;
mod clean;
mod git;
mod materialize;
mod memory;
mod message;
mod secrets;
mod tokens;
mod trace;
mod transcript;

#[cfg(any(fuzzing, test))]
#[path = "../fuzz/targets/mod.rs"]
pub mod fuzz;

#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod unit;

#[cfg(test)]
extern crate self as git_trace;

#[doc(hidden)]
pub use app::cli::main;
pub use git::{Env, GitError, Oid, Repo, StoreError};
pub use materialize::{
    Cut, Join, MaterializeError, Materialized, Materializer, Omission, Options, Request, materialize,
};
pub use message::{Api, Block, Content, Message, Signature, Status, messages};
pub use tokens::{
    BadCounterId, CountError, Counter, CounterId, CustomId, Encoding, TokenCounter, TokenUsage, UsageError,
};
pub use trace::change::append::{AppendOptions, Committed};
pub use trace::change::edit::Patch;
pub use trace::model::item::{Direction, Role};
pub use trace::model::level::Level;
pub use trace::model::name::BadTraceName;
pub use trace::{Draft, Fields, Item, ItemId, ItemType, Time, Tip, Trace, TraceError, TraceName, View};

impl Repo {
    /// Opens the repository that `path` is in, with the environment of this process.
    pub fn discover(path: impl AsRef<std::path::Path>) -> Result<Self, GitError> {
        Self::containing(path.as_ref(), Env::capture(std::env::vars_os()))
    }
}

/// What the benchmarks measure below the public interface.
#[doc(hidden)]
pub mod measured {
    pub use crate::memory::breadcrumb::measured::{BreadcrumbStore, merge_breadcrumbs};

    /// Imports items as JSON Lines and returns the number of changes.
    #[must_use]
    pub fn import_jsonl(trace: &crate::Trace<'_>, mut lines: &[u8]) -> Option<usize> {
        crate::trace::change::jsonl::import(trace, &mut lines).ok().map(|report| report.recorded)
    }

    /// Lists the live items of a trace's tip and returns their number.
    #[must_use]
    pub fn list_items(repo: &crate::Repo, tip: &crate::Tip) -> Option<usize> {
        crate::trace::model::tree::list(repo, tip.commit.tree).ok().map(|entries| entries.len())
    }
}
