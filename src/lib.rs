//! git-trace: version control for what a language model sees, inside the user's own git repository.
//!
//! The context of an agent is kept as real git objects and refs, one item a commit. The modules stand in layers, and imports
//! point down:
//!
//! - porcelain: [`cli`];
//! - [`materialize`] (items to messages), [`transcript`] (agents' records to items);
//! - [`trace`] (items, trees, commits, priorities), [`breadcrumb`] (facts that outlive a session);
//! - [`message`], [`merge`], [`tokens`], [`finding`], [`git`].
//!
//! Everything below the porcelain takes typed values and returns typed values: it does not print, exit, or read the clock,
//! the environment or the working folder.

pub mod breadcrumb;
pub mod cli;
pub mod finding;
pub mod git;
pub mod materialize;
pub mod merge;
pub mod message;
pub mod tokens;
pub mod trace;
pub mod transcript;
mod words;
