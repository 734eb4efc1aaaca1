//! Three-way merge: the types that the merge of every file format shares.
//!
//! A merge takes a [`MergeInput`] and returns [`Merged`]: a list of hunks, and notes for the user. It never fails. A hunk
//! that it cannot resolve is a conflict, written between git's [`Markers`]. [`FileKind`] tells which format a path has; each
//! format's merge is in that format's own module.

pub(crate) mod conflict;
pub(crate) mod diff3;
pub(crate) mod file_kind;
pub(crate) mod merged;

pub(crate) use conflict::{Labels, Markers, Style};
pub(crate) use file_kind::FileKind;
pub(crate) use merged::{ConflictText, Hunk, MergeInput, Merged, Side};
