//! Priorities: what is left out of materializing, and what survives compression and budgets word for word.
//!
//! The record is the truth: `refs/trace-priority` is a history whose tree holds one JSON Lines file an item (`ab/cdef…`, the
//! digits of its id), a line for each change:
//!
//! ```text
//! {"at":"2026-02-10T09:00:00.000000001Z","by":"A <a@b>","level":"skip","seq":42,"reason":"superseded"}
//! ```
//!
//! - Lines are in order of time; the last one decides. Times have nine digits, so that the order of bytes is that of time.
//! - A priority belongs to the item in every trace that holds it. An item without a line has its type's default, see
//!   [`crate::trace::model::types`].
//! - `refs/trace-tags/<level>/<item id>` are lightweight tags derived from the record, for git's own eyes; see [`tags`].

mod line;
mod meta;
mod record;
mod set;
pub(crate) mod tags;
pub(crate) mod union;

pub(crate) use crate::trace::model::level::Level;
pub(crate) use line::Setting;
pub(crate) use meta::follow_meta;
pub(crate) use record::{Levels, Record, SetLevel};
pub(crate) use set::{Request, requests, set};

/// The ref of the record.
pub(crate) const RECORD: &str = "refs/trace-priority";
