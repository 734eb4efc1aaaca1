//! Traces: lines of context kept as commits and refs, one item a commit.

pub mod file;
pub mod id;
pub mod item;
pub mod schema;
pub mod source;
pub mod time;
