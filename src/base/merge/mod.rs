//! Three-way merge: what every file format's merge has in common.
//!
//! A merge takes [`MergeInput`] and gives a [`Merged`] text: hunks that are settled, conflicts that are not, and notes for the
//! person who reads along. It never fails: what it cannot settle is a conflict, written between git's [`Markers`]. Which
//! format a path holds is a [`FileKind`]; the merges themselves live with their formats.

pub(crate) mod conflict;
pub(crate) mod kind;
pub(crate) mod lines;
pub(crate) mod outcome;

pub use conflict::{Labels, Markers, Style};
pub(crate) use kind::FileKind;
pub use outcome::{ConflictText, Hunk, MergeInput, Merged, Side};
