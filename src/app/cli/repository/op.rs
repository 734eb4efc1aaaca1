//! `git trace op`: the operation log.

use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, DIM, ExitStatus, ID, Result, Ui, escaped};
use crate::git::{Operation, RefMove};

commands! {
    /// List what commands did to the refs of this repository
    ///
    /// Each command that changes a trace, a priority, an archive, or the current trace is one operation with an id.
    /// `purge` is none, and empties the log.
    pub(crate) OpCommand(&Context) {
        Log(OpLogArgs),
    }
}

/// List the operations, newest first
///
/// Shows the id, time, and command of each operation, and each ref it moved with the old and the new commit. `undo ID` undoes one. The
/// log is a file of this clone, `<git dir>/trace/ops`; it has the last 1,000 operations at least.
#[derive(clap::Args, Debug)]
pub(crate) struct OpLogArgs {
    /// Most entries to list
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl OpLogArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let ui = &context.ui;
        let operations = context.repo()?.operations()?;
        operations
            .iter()
            .take(self.max_count.unwrap_or(usize::MAX))
            .try_for_each(|operation| print(ui, operation, &operation.command, self.json))
    }
}

pub(crate) fn print(ui: &Ui, operation: &Operation, command: &str, json: bool) -> Result<()> {
    if json {
        return ui.json(operation);
    }
    ui.entry(|| print_text(ui, operation, command))
}

fn print_text(ui: &Ui, operation: &Operation, command: &str) -> Result<()> {
    let time = ui.styled(DIM, &operation.time);
    writeln!(ui, "{}  {time}  {}", ui.styled(ID, &operation.id), escaped(command))?;
    for RefMove { refname, old, new, done } in &operation.refs {
        // Symbolic refs have the names of others.
        let shown = |value: &Option<String>| match value.as_deref() {
            None => "(none)".to_owned(),
            Some(refname) if refname.starts_with("refs/") => escaped(refname).into_owned(),
            Some(oid) => escaped(oid.get(..7).unwrap_or(oid)).into_owned(),
        };
        let note = if *done { "" } else { "  (not confirmed)" };
        writeln!(ui, "    {}  {} -> {}{note}", escaped(refname), shown(old), shown(new))?;
    }
    Ok(())
}
