//! `git trace op`: the operation log.

use crate::app::cli::{Context, DIM, ExitStatus, ID, Result, escaped};
use crate::git::RefMove;

commands! {
    /// List what commands did to the refs of this repository
    ///
    /// Each command that changes a trace, a priority or an archive is one operation with an id.
    pub(crate) OpCommand(&Context) {
        Log(OpLogArgs),
    }
}

/// List the operations, newest first
///
/// Shows the id, time, and command of each operation, and each ref it moved with the old and the new commit. The log is a file of
/// this clone, `<git dir>/trace/ops`; it has the last 1,000 operations at least.
#[derive(clap::Args, Debug)]
pub(crate) struct OpLogArgs {
    /// Most entries to list
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl OpLogArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let operations = context.repo()?.operations()?;
        if !self.json {
            ui.page()?;
        }
        for operation in operations.iter().take(self.max_count.unwrap_or(usize::MAX)) {
            if self.json {
                ui.json(operation)?;
                continue;
            }
            let time = ui.styled(DIM, &operation.time);
            writeln!(ui, "{}  {time}  {}", ui.styled(ID, &operation.id), escaped(&operation.command))?;
            for RefMove { refname, old, new, done } in &operation.refs {
                let [old, new] = [old, new].map(|oid| oid.as_deref().and_then(|oid| oid.get(..7)).unwrap_or("(none)"));
                let note = if *done { "" } else { "  (not confirmed)" };
                writeln!(ui, "    {}  {old} -> {new}{note}", escaped(refname))?;
            }
        }
        Ok(())
    }
}
