//! Traces: lines of context kept as commits and refs, one item a commit.
//!
//! A trace is a ref under `refs/traces/`; its tip's tree holds one file for every live item, in reading order. Reading the
//! context is reading one tree; as it was earlier is an older tree. Items keep their ids through everything.
//!
//! - Nothing here rewrites history, prints, or reads a clock.
//! - A change is recorded whole or not at all, see [`mod@write`].

pub(crate) mod change;
pub(crate) mod error;
pub(crate) mod model;
pub(crate) mod query;
pub(crate) mod store;
pub(crate) mod sync;

pub use crate::base::time::Time;
pub(crate) use error::TraceError;
pub(crate) use model::id::ItemId;
pub use model::item::{Draft, Fields, Item, ItemType};
pub use model::name::{AgentName, TraceName};
pub use store::tip::Tip;
