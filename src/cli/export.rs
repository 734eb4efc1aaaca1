//! `git trace export`: a trace as JSON Lines.

use anyhow::Result;

use super::{ExitStatus, Session};
use crate::trace::export::export;
use crate::trace::{Tip, TraceName};

/// Write a trace as JSON Lines, one line an operation, oldest first
///
/// `import jsonl` reads it back: items, edits, deletions, restorations and priorities, with their times and authors.
#[derive(clap::Args, Debug)]
pub(super) struct ExportArgs {
    /// Trace to write [default: the current one]
    name: Option<TraceName>,
}

pub(super) fn run(session: &mut Session, args: &ExportArgs) -> Result<ExitStatus> {
    let name = session.trace(args.name.as_ref())?;
    let tip = Tip::of_trace(&session.repo, &name)?;
    let mut content = session.ui.content();
    export(&session.repo, tip, &mut content)?;
    Ok(ExitStatus::Success)
}
