//! Notes: what the user should know about a merge. The merge driver prints each as one line.

use std::fmt;

use crate::base::finding::Plain;
use crate::base::merge::Side;
use crate::memory::breadcrumb::LineError;

/// Line numbers are those of the side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MergeNote {
    /// Both sides changed a record; one won.
    BothChanged { key: String, taken: Side },
    /// One side deleted a record that the other changed; it was kept.
    KeptChanged { key: String, deleted_by: Side },
    /// A side has a key twice; this line lost.
    Duplicate { key: String, side: Side, line: usize },
    /// Both sides have an invalid line; it was kept.
    KeptInvalid { line: usize, reason: LineError },
    /// A side removed an invalid line that the other left unchanged; it was removed.
    RemovedInvalid { line: usize, by: Side },
    /// A side added or changed an invalid line; it is in a conflict.
    Conflict { side: Side, line: usize, reason: LineError },
}

impl fmt::Display for MergeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BothChanged { key, taken } => write!(f, "`{}`: both sides changed it; took {taken}", Plain(key)),
            Self::KeptChanged { key, deleted_by } => {
                write!(f, "`{}`: {deleted_by} deleted it, {} changed it; kept", Plain(key), deleted_by.other())
            }
            Self::Duplicate { key, side, line } => {
                write!(f, "`{}`: {side} has it more than once; line {line} is ignored", Plain(key))
            }
            Self::KeptInvalid { line, reason } => write!(f, "kept invalid line {line}: {reason}"),
            Self::RemovedInvalid { line, by } => write!(f, "{by} removed invalid line {line} of {}", by.other()),
            Self::Conflict { side, line, reason } => {
                write!(f, "conflict: line {line} of {side} is invalid: {reason}")
            }
        }
    }
}
