//! Checkpoints: validation and merges.

mod merge;
mod validate;
