//! Traces: lines of context kept as commits and refs, one item a commit.
//!
//! A trace is a ref under `refs/traces/`; its tip's tree holds one file for every live item, in reading order. Reading the
//! context is reading one tree; as it was earlier is an older tree. Items keep their ids through everything.
//!
//! - Nothing here rewrites history, prints, or reads a clock.
//! - A change is recorded whole or not at all, see [`mod@write`].

pub mod advance;
pub mod append;
pub mod blame;
pub mod branch;
pub mod bulk;
pub mod code;
pub mod commit;
pub mod compress;
pub mod diff;
pub mod edit;
pub mod error;
pub mod export;
pub mod file;
pub mod grep;
pub mod guard;
pub mod head;
pub mod id;
pub mod item;
pub mod json;
pub mod log;
pub mod merge;
pub mod message;
pub mod name;
pub mod place;
pub mod priority;
pub mod remove;
pub mod renumber;
pub mod replant;
pub mod replay;
pub mod resolve;
pub mod revision;
pub mod schema;
pub mod screen;
pub mod settings;
pub mod share;
pub mod show;
pub mod source;
pub mod status;
pub mod time;
pub mod tip;
pub mod total;
pub mod tree;
pub mod types;
pub mod undo;
pub mod view;
pub mod walk;
pub mod write;

pub(crate) mod sign;

pub use error::TraceError;
pub use id::ItemId;
pub use item::{Draft, Fields, Item, ItemType};
pub use name::{AgentName, TraceName};
pub use time::Time;
pub use tip::Tip;
