//! Reading the newest first without reading all.
//!
//! Crumbs stand in the order in which they were left, and that is nearly the order of their times: a clock may have been set
//! back, or older ones imported. So each crumb also says of which time the newest up to its own position is. Who reads from
//! the end knows by that when nothing before can be new enough, and stops.
//!
//! The header names the position it is true of (`newest: 41 2026-01-03T18:30:45Z`). Where a merge or a renumbering put
//! the file elsewhere, it says nothing, and reading goes on: slower, and right.

use super::crumb::{self, header};
use crate::git::Repo;
use crate::trace::model::tree::{self, ItemEntry};
use crate::trace::{Fields, Time, Tip, TraceError};

/// The header's name.
pub(crate) const HEADER: &str = "newest";

/// The header's value.
pub(crate) fn value(seq: u32, newest: Time) -> String {
    format!("{seq} {newest}")
}

/// What a crumb at `seq` says of itself and those before it: none is later than this.
pub(crate) fn bound(seq: u32, fields: &Fields) -> Option<Time> {
    bound_of(seq, header(fields, HEADER)?)
}

/// The same, of the header's value.
pub(crate) fn bound_of(seq: u32, value: &str) -> Option<Time> {
    let (at_seq, newest) = value.split_once(' ')?;
    if at_seq.parse() == Ok(seq) { newest.parse().ok() } else { None }
}

/// Whether what crumbs say of those before them can be trusted: a merge by plain git may put two at one position.
pub(crate) fn is_one_line(slots: &[ItemEntry]) -> bool {
    slots.is_sorted_by(|a, b| a.seq < b.seq)
}

/// The latest time among the crumbs of a tip; `None` where there are none. Reads one of them, or all where that one does
/// not know.
///
/// # Errors
///
/// [`crate::git::GitError::MissingObject`] and its kin.
pub(crate) fn newest(repo: &Repo, tip: &Tip) -> Result<Option<Time>, TraceError> {
    let Some(last) = tree::last(repo, tip.commit.tree)? else { return Ok(None) };
    if let (Ok(_), Some(bound)) = crumb::read(repo, &last)? {
        return Ok(Some(bound));
    }
    let mut newest: Option<Time> = None;
    for slot in tree::list(repo, tip.commit.tree)? {
        if let (Ok(crumb), _) = crumb::read(repo, &slot)? {
            newest = newest.max(Some(crumb.about.created));
        }
    }
    Ok(newest)
}
