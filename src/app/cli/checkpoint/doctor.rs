//! `git trace checkpoint doctor`.

use super::CheckpointContext;
use crate::app::cli::{ExitStatus, Result, json};
use crate::memory::checkpoint::doctor::{examine, fix};

/// Examine the checkpoints together: folders, lists, learnings, statuses, and breadcrumbs that lead nowhere
///
/// The exit status is 1 if there is a problem. `validate` checks each file in detail.
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Fix the lists: write a missing one, remove rows without a file, add rows for files without one, and collect learnings
    #[arg(long)]
    fix: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<ExitStatus> {
        if self.fix {
            for path in fix(&context.folder, context.now())? {
                context.ui.note(format!("changed {path}"));
            }
        }
        let problems = examine(&context.folder, &context.git)?;
        if self.json {
            context.ui.json(&json!(problems))?;
        } else {
            for problem in &problems {
                writeln!(context.ui, "{problem}")?;
            }
            if problems.is_empty() {
                context.ui.note("the checkpoints are in order");
            }
        }
        Ok(ExitStatus::of(problems.is_empty()))
    }
}
