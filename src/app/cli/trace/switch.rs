//! `git trace switch`: makes another trace the current one.

use super::branch;
use crate::app::cli::{Context, Result, Values};
use crate::trace::store::head;
use crate::trace::{Tip, TraceName};

/// Make another trace the current trace of this worktree
#[derive(clap::Args, Debug)]
pub(crate) struct SwitchArgs {
    /// Name of the trace; `-` is the previous trace
    #[arg(add = Values::Traces)]
    name: String,
    /// Trace, commit, item or time to start from with -c [default: the tip of the current trace]
    #[arg(requires = "create", add = Values::States)]
    start: Option<String>,
    /// Create the trace
    #[arg(short = 'c', long)]
    create: bool,
}

impl SwitchArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let repo = context.repo()?;
        let name: TraceName =
            if self.name == "-" && !self.create { head::previous(repo)? } else { self.name.parse()? };
        let done = if self.create {
            format!("a new trace `{name}` at {}", branch::begin(context, &name, self.start.as_deref())?)
        } else {
            Tip::of_trace(repo, &name)?;
            format!("trace `{name}`")
        };
        head::switch(context.repo()?, &name)?;
        writeln!(context.ui, "Switched to {done}")
    }
}
