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

pub mod change;
pub mod document;
pub mod edit;
mod error;
pub mod folder;
pub mod follow;
pub mod front;
pub mod index;
pub mod item;
pub mod judge;
pub mod lineage;
mod listing;
pub mod merge;
pub mod moment;
pub mod outline;
pub mod pathspec;
mod report;
pub mod set;
pub mod validate;
mod writer;

pub use document::{Document, Reference, ReferenceKind};
pub use error::CheckpointError;
pub use folder::Folder;
pub use index::{Index, validate_index};
pub use merge::merge;
pub use moment::Moment;
pub use pathspec::Pathspec;
pub use set::validate_set;
pub use validate::{Rules, validate, validate_document};
