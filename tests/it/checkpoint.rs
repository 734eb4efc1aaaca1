//! Checkpoints: what is read, judged, changed and merged.

mod validate;
