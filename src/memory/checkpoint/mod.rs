//! Checkpoints: the state of a piece of work as a Markdown file, so that another session can continue it.
//!
//! ```text
//! checkpoints/active/INDEX.md         index of the active checkpoints
//! checkpoints/active/chk-<name>.md    frontmatter, sections, deltas
//! checkpoints/archive/chk-<name>.md   completed checkpoints with their section Completion
//! checkpoints/LEARNINGS.md            learnings, collected when checkpoints are archived
//! ```
//!
//! - Headings in code, quotes, and comments are ignored.
//! - Text that is not edited keeps its bytes.
//! - An unreadable file does not hide others.

pub(crate) mod doctor;
pub(crate) mod document;
mod error;
pub(crate) mod folder;
pub(crate) mod follow;
pub(crate) mod index;
pub(crate) mod lifecycle;
pub(crate) mod merge;
pub(crate) mod pathspec;
pub(crate) mod tree;
pub(crate) mod validate;

pub(crate) use document::{Document, Reference, ReferenceKind, Timestamp};
pub(crate) use error::CheckpointError;
pub(crate) use folder::Folder;
pub(crate) use merge::merge;
pub(crate) use pathspec::Pathspec;
pub(crate) use validate::{Rules, validate, validate_document, validate_index, validate_set};
