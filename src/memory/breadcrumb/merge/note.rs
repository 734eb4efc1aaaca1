//! Notes: what the user should know about a merge. The merge driver prints each as one line.

use std::fmt;

use crate::base::escape::Plain;
use crate::base::line_ending::LineEnding;
use crate::base::merge::Side;
use crate::base::merge::conflict::MarkerError;
use crate::memory::breadcrumb::LineError;

/// Line numbers are those of the side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MergeNote {
    BothChanged { key: String, taken: Side },
    KeptChanged { key: String, deleted_by: Side },
    Duplicate { key: String, side: Side, line: usize },
    KeptInvalid { line: usize, reason: LineError },
    RemovedInvalid { line: usize, by: Side },
    Conflict { side: Side, line: usize, reason: LineError },
    Markers { side: Side },
    MergedAgain { reason: MarkerError },
    LineEndings { side: Side, count: usize, ending: LineEnding },
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
            Self::Markers { side } => {
                write!(f, "{side} contains committed conflict markers; merged the lines of both halves")
            }
            Self::MergedAgain { reason } => write!(f, "{reason}; merged the versions in the index instead"),
            Self::LineEndings { side, count, ending } => {
                write!(f, "changed the line endings of {side} to {}: {count}", ending.name())
            }
            Self::Conflict { side, line, reason } => {
                write!(f, "conflict: line {line} of {side} is invalid: {reason}")
            }
        }
    }
}
