//! Checkpoints: what is read, judged, changed, followed and merged.

mod commands;
mod follow;
mod merge;
mod validate;
