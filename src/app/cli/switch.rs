//! `git trace switch`: makes another trace the current one.

use super::{ExitStatus, Session, branch};
use crate::base::error::Result;
use crate::trace::store::head;
use crate::trace::{Tip, TraceName};

/// Make another trace the current one of this worktree
#[derive(clap::Args, Debug)]
pub(crate) struct SwitchArgs {
    /// Name of the trace; `-` is the one that was current before
    name: String,

    /// Trace, commit, item or time to start from, with -c [default: the tip of the current trace]
    #[arg(requires = "create")]
    start: Option<String>,

    /// Create the trace
    #[arg(short = 'c', long)]
    create: bool,
}

pub(crate) fn run(session: &mut Session, args: &SwitchArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name: TraceName = if args.name == "-" && !args.create { head::previous(repo)? } else { args.name.parse()? };
    let done = if args.create {
        format!("a new trace `{name}` at {}", branch::begin(session, &name, args.start.as_deref())?)
    } else {
        Tip::of_trace(repo, &name)?;
        format!("trace `{name}`")
    };
    head::switch(&session.repo, &name)?;
    writeln!(session.ui.out(), "Switched to {done}")?;
    Ok(ExitStatus::Success)
}
