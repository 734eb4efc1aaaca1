//! `git trace switch`: makes another trace the current one.

use anyhow::Result;

use super::{ExitStatus, Session};
use crate::trace::{Tip, TraceName, head};

/// Make another trace the current one of this worktree
#[derive(clap::Args, Debug)]
pub(super) struct SwitchArgs {
    /// Name of the trace
    name: TraceName,
}

pub(super) fn run(session: &mut Session, args: &SwitchArgs) -> Result<ExitStatus> {
    Tip::of_trace(&session.repo, &args.name)?;
    head::switch(&session.repo, &args.name)?;
    writeln!(session.ui.out(), "Switched to trace `{}`", args.name)?;
    Ok(ExitStatus::Success)
}
