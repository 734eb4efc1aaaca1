//! Checkpoints: the state of a piece of work as a Markdown file, so that another session can go on with it.
//!
//! ```text
//! checkpoints/active/INDEX.md         list of the active ones
//! checkpoints/active/chk-<name>.md    frontmatter, sections, deltas
//! checkpoints/archive/chk-<name>.md   what is done, with its Completion
//! checkpoints/LEARNINGS.md            what was learnt, collected when archiving
//! ```
//!
//! - Headings in code, quotes and comments never count.
//! - What is not being changed keeps its bytes.
//! - A file that cannot be read never hides another.

pub(crate) mod change;
pub(crate) mod document;
pub(crate) mod edit;
mod error;
pub(crate) mod folder;
pub(crate) mod follow;
pub(crate) mod front;
pub(crate) mod index;
pub(crate) mod item;
pub(crate) mod judge;
pub(crate) mod lineage;
mod listing;
pub(crate) mod merge;
pub(crate) mod moment;
pub(crate) mod outline;
pub(crate) mod pathspec;
mod report;
pub(crate) mod set;
pub(crate) mod validate;
mod writer;

pub(crate) use document::{Document, Reference, ReferenceKind};
pub(crate) use error::CheckpointError;
pub(crate) use folder::Folder;
pub(crate) use index::validate_index;
pub(crate) use merge::merge;
pub(crate) use moment::Moment;
pub(crate) use pathspec::Pathspec;
pub(crate) use set::validate_set;
pub(crate) use validate::{Rules, validate, validate_document};
