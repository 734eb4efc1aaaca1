//! Checkpoints: reading, edits, validation, and merges.

mod chunks;
mod consistency;
mod edit;
mod external;
mod frontmatter;
mod index;
mod markdown;
mod merge;
mod pathspec;
mod timestamp;
mod validate;
