//! Priorities: what is left out of the context, and what survives compression and budgets verbatim.
//!
//! The priority record is a separate history, `refs/trace-priority`. Its tree has one JSON Lines file per item (`ab/cdef…`, the
//! digits of its id) with one line per change:
//!
//! ```text
//! {"at":"2026-02-10T09:00:00.000000001Z","by":"A <a@b>","level":"skip","seq":42,"reason":"superseded","after":[]}
//! ```
//!
//! - The last line applies. The others are sorted by time. Times have nine digits, so that they sort as bytes.
//! - `after` names the latest lines that the writer saw; [`heads`] says which line applies when several clones changed an item.
//! - A priority belongs to the item in every trace that contains it. An item without a line has the default of its type, see
//!   [`crate::trace::model::types`].
//! - The record determines the lightweight tags `refs/trace-tags/<level>/<item id>`; see [`tags`].

mod absorb;
mod changes;
pub(crate) mod heads;
mod record;
mod set;
pub(crate) mod tags;

pub(crate) use crate::trace::model::level::Level;
pub(crate) use absorb::absorb;
pub(crate) use changes::{Before, ChangedPriority, in_traces};
pub(crate) use record::{InForce, Levels, Record, SetLevel, Setting};
pub(crate) use set::{Knows, RESTORING, Request, Restored, follow_meta, requests, restore_under, set, set_under};

use super::line_history::{LineFormat, LineHistory};
use crate::trace::ItemId;

/// The ref of the record.
pub(crate) const RECORD: &str = "refs/trace-priority";

pub(crate) static HISTORY: LineHistory<'static> = LineHistory {
    refname: RECORD,
    shared: "priority",
    noun: "priorities",
    format: LineFormat {
        is_path: |path| item_of(path).is_some(),
        is_line: |line| Setting::parse(line).is_some(),
        sort: heads::sort,
    },
};

/// The path of an item's file.
fn path_of(item: ItemId) -> String {
    let (folder, file) = item.fan_out();
    format!("{folder}/{file}")
}

/// The item of a file of the record.
pub(crate) fn item_of(path: &str) -> Option<ItemId> {
    let (folder, file) = path.split_once('/')?;
    format!("{folder}{file}").parse().ok().filter(|item| path_of(*item) == path)
}
