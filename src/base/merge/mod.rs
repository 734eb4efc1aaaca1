//! Three-way merge: what every file format's merge has in common.
//!
//! A merge takes [`Sides`] and gives a [`Merged`] text: pieces that are settled, conflicts that are not, and notes for the
//! person who reads along. It never fails: what it cannot settle is a conflict, written between git's [`Markers`]. Which
//! format a path holds is a [`Kind`]; the merges themselves live with their formats.

pub(crate) mod conflict;
pub(crate) mod kind;
pub(crate) mod lines;
pub(crate) mod outcome;

pub use conflict::{Labels, Markers, Style};
pub(crate) use kind::Kind;
pub use outcome::{Contested, Merged, Piece, Side, Sides};
