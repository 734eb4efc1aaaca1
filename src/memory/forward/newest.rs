//! The header `newest`, with which a query reads only the newest forward crumbs.
//!
//! Forward crumbs are stored in the order in which they were written. That is nearly the order of their times, but a clock may
//! have been set back, or older ones imported. Each forward crumb therefore states the latest time up to its own position. A
//! query that reads from the end stops when nothing before can be new enough.
//!
//! The header names the position for which it holds (`newest: 41 2026-01-03T18:30:45Z`). After a merge or a renumbering moves
//! the file, the position differs and the header is ignored: the query is slower, and still correct.

use crate::trace::Time;

pub(crate) const HEADER: &str = "newest";

pub(crate) fn header_value(seq: u32, newest: Time) -> String {
    format!("{seq} {newest}")
}

/// The time in a header of the forward crumb at `seq`; `None` if the header was written for another position.
pub(crate) fn parse_header(seq: u32, value: &str) -> Option<Time> {
    let (at_seq, newest) = value.split_once(' ')?;
    if at_seq.parse() == Ok(seq) { newest.parse().ok() } else { None }
}
