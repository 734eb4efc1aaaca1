//! git-trace: version control for what a language model sees, inside the user's own git repository.
//!
//! The context of an agent is kept as real git objects and refs, one item a commit. The modules stand in layers, and imports
//! point down:
//!
//! - porcelain: [`cli`], [`mcp`], which never call each other but that the one starts the other;
//! - [`check`] (what must not be committed), [`fsck`] (whether all is whole), [`install`] (config and attributes), [`view`] (a
//!   trace as a page);
//! - [`materialize`] (items to messages), [`transcript`] (agents' records to items);
//! - [`trace`] (items, trees, commits, priorities), [`breadcrumb`] (facts that outlive a
//!   session), [`crumb`] (memory files);
//! - [`message`], [`merge`], [`tokens`], [`finding`], [`compressor`], [`git`].
//! - [`trace`] (items, trees, commits, priorities), [`breadcrumb`] (facts that outlive a session),
//!   [`checkpoint`] (the state of a piece of work);
//! - [`message`], [`merge`], [`tokens`], [`finding`], [`secrets`], [`git`].
//!
//! Everything below the porcelain takes typed values and returns typed values: it does not print, exit, or read the clock,
//! the environment or the working folder.
//!
//! ```
//! use git_trace::git::{Env, Repo};
//! use git_trace::materialize::{Options, materialize};
//! use git_trace::trace::append::{Request, append};
//! use git_trace::trace::view::View;
//! use git_trace::trace::write::{Accounting, Stamp};
//! use git_trace::trace::{Draft, Fields, ItemType, Time, TraceName};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::process::Command::new("git").arg("init").arg("--quiet").arg(folder.path()).status()?;
//! # let env = Env::capture(["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
//! #     ["NAME", "EMAIL"].map(|part| (format!("GIT_{who}_{part}").into(), "somebody".into()))
//! # }));
//! let repo = Repo::open(folder.path(), env)?;
//! let name: TraceName = "main".parse()?;
//! let draft = Draft { fields: Fields::new(ItemType::dialogue()), body: b"Where is the limit set?".to_vec() };
//! let request = Request { draft: &draft, subject: None, skipped: false, reported_tokens: None };
//! let accounting = Accounting::default();
//! append(&repo, &name, &Stamp::take(&repo, Time::now())?, accounting, &request)?;
//!
//! let view = View::open(&repo, &name, None)?;
//! let materialized = materialize(&repo, &view, &Options::default(), accounting.encoding)?;
//! assert_eq!(materialized.messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod advice;
mod bounded;
pub mod breadcrumb;
pub mod brief;
mod changes;
pub mod check;
pub mod checkpoint;
pub mod cli;
pub mod compressor;
pub mod crumb;
pub mod finding;
pub mod forward;
pub mod fsck;
pub mod git;
pub mod install;
pub mod materialize;
pub mod mcp;
pub mod merge;
pub mod message;
mod replace;
pub mod secrets;
pub mod shell;
pub mod tokens;
pub mod trace;
pub mod transcript;
pub mod view;
mod words;
