//! Commands about a trace.

pub(crate) mod bisect;
pub(crate) mod branch;
pub(crate) mod clean;
pub(crate) mod diff;
pub(crate) mod log;
pub(crate) mod materialize;
pub(crate) mod merge;
pub(crate) mod pick;
pub(crate) mod reset;
pub(crate) mod status;
pub(crate) mod top;
pub(crate) mod undo;
pub(crate) mod view;
