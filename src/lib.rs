//! git-trace: version control for what a language model sees, inside the user's own git repository.
//!
//! The context of an agent is kept as real git objects and refs, one commit per item. `docs/architecture.md` describes the
//! modules. Imports point down, and nothing below `app` prints, exits, or reads the clock, the environment, or the working
//! folder.
//!
//! ```
//! use git_trace::{Draft, Encoding, Env, Options, Repo, Trace, materialize};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::process::Command::new("git").arg("init").arg("--quiet").arg(folder.path()).status()?;
//! # let env = Env::capture(["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
//! #     ["NAME", "EMAIL"].map(|part| (format!("GIT_{who}_{part}").into(), "somebody".into()))
//! # }));
//! let repo = Repo::open(folder.path(), env)?;
//! let trace = Trace::open(&repo, "main".parse()?);
//! trace.append(Draft::dialogue("Where is the limit set?"))?;
//!
//! let materialized = materialize(&repo, &trace.view()?, &Options::default(), Encoding::default())?;
//! assert_eq!(materialized.messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod app;
mod base;
mod check;
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
pub use materialize::{Cut, Join, MaterializeError, Materialized, Materializer, Options, materialize};
pub use message::{Block, Content, Message, messages};
pub use tokens::Encoding;
pub use trace::model::item::Role;
pub use trace::{Draft, Fields, Item, ItemId, ItemType, Time, Tip, Trace, TraceError, TraceName, View};

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
