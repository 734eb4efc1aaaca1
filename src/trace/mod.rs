//! Traces: the context of a model as commits and refs, one commit per item.
//!
//! A trace is a ref under `refs/traces/`. The tree of its tip contains one file per live item, in reading order, so reading the
//! context means reading one tree, and an earlier state is an older tree. Items keep their ids in every operation.
//!
//! Nothing here rewrites history, prints, or reads a clock. A change is recorded completely or not at all, see [`Trace::change`].

pub(crate) mod change;
pub(crate) mod error;
pub(crate) mod model;
pub(crate) mod query;
pub(crate) mod store;
pub(crate) mod sync;

pub use crate::base::time::Time;
pub use error::TraceError;
pub use model::id::ItemId;
pub use model::item::{Draft, Fields, Item, ItemType};
pub(crate) use model::name::AgentName;
pub use model::name::TraceName;
pub(crate) use model::trailers::Op;
pub(crate) use model::tree::ItemEntry;
pub use store::tip::Tip;
pub use store::trace::Trace;
pub use store::view::View;
