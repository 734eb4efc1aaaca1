//! `git trace undo` and `git trace redo`.

use crate::app::cli::flags::NulArgs;
use crate::app::cli::repository::op;
use crate::app::cli::{Context, Error, Result, escaped};
use crate::git::{GitError, Operation};
use crate::trace::change::undo::{History, Reversed, is_export, reverse, to_json};
use crate::trace::model::name::PREVIOUS;
use crate::trace::store::session::SESSIONS;
use crate::trace::{Tip, TraceError, TraceName};

/// Undo the last command that changed traces
///
/// Moves traces, the current trace, and remote-tracking refs back to where they were before the command, and gives items the
/// priorities they had. The next `undo` undoes the command before that one, and `redo` takes an undo back.
///
/// Without an operation, undoes what was done in this worktree, and with `--trace`, what changed that trace. What hooks did is undone
/// by its id only, as is an earlier command, and an export. If something has moved since, nothing is undone, except that a
/// remote-tracking ref which moved since stays. Breadcrumbs, crumb files, and checkpoints are files: `git restore` brings them back.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// Id of an operation, or its first digits: `git trace op log` lists them
    #[arg(value_name = "OPERATION", conflicts_with = "number")]
    operation: Option<String>,
    /// Number of operations to undo, by default 1, or to list, by default all
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    number: Option<u64>,
    /// List the operations that can be undone, newest first
    #[arg(short, long, conflicts_with = "operation")]
    list: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Redo the last undo
///
/// Another `redo` redoes the undo before that one.
#[derive(clap::Args, Debug)]
pub(crate) struct RedoArgs {
    /// Number of undos to take back
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    number: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl UndoArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if self.list {
            self.nul.apply(context);
            return self.print_list(context);
        }
        if self.nul.is_given() {
            return Err(Error::with_hint("-z is for --list", "`git trace undo --list -z`"));
        }
        if let Some(spec) = &self.operation {
            let history = History::read(context.repo()?)?;
            let operation = history.find(spec)?;
            let reversed = reverse(context.repo()?, &context.signature()?, &history, &[operation], "undo")?;
            return report(context, &history.originals(operation), &reversed, "undo", self.json);
        }
        let done =
            |originals: &[&Operation], reversed: &[Reversed]| report(context, originals, reversed, "undo", self.json);
        reverse_latest(context, self.number.unwrap_or(1), "undo", done)
    }

    fn print_list(&self, context: &Context) -> Result<()> {
        let (repo, ui) = (context.repo()?, &context.ui);
        let history = History::read(repo)?;
        let operations = history.in_effect(repo, false, context.named_trace()?.as_ref())?;
        let limit = self.number.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX));
        operations.into_iter().filter(|operation| !is_export(operation)).take(limit).try_for_each(|operation| {
            let originals = history.originals(operation);
            let commands: Vec<&str> = originals.iter().map(|original| original.command.as_str()).collect();
            let note = if operation.reverses.is_empty() { "" } else { " (redone)" };
            op::print(ui, operation, &format!("{}{note}", commands.join(", ")), self.json)
        })
    }
}

impl RedoArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let done =
            |originals: &[&Operation], reversed: &[Reversed]| report(context, originals, reversed, "redo", self.json);
        reverse_latest(context, self.number, "redo", done)
    }
}

/// Reverses the newest operations. If others have moved the refs of these meanwhile, takes the operations that are newest then.
pub(crate) fn reverse_latest<T>(
    context: &Context,
    number: u64,
    verb: &str,
    done: impl Fn(&[&Operation], &[Reversed]) -> Result<T>,
) -> Result<T> {
    // As in other commands, a head that names no trace is an error.
    context.trace_name(None)?;
    let (repo, signature, trace) = (context.repo()?, context.signature()?, context.named_trace()?);
    let mut before = Vec::new();
    loop {
        let history = History::read(repo)?;
        let operations = latest(&history.in_effect(repo, verb == "redo", trace.as_ref())?, number, verb)?;
        let ids: Vec<String> = operations.iter().map(|operation| operation.id.clone()).collect();
        match reverse(repo, &signature, &history, &operations, verb) {
            Ok(reversed) => {
                let originals: Vec<_> = operations.iter().flat_map(|operation| history.originals(operation)).collect();
                return done(&originals, &reversed);
            }
            // What this operation has reversed in part is out of effect: another try would reverse an older one.
            Err(error) if ids == before || repo.recorded().is_some() || !is_from_a_move(&error) => {
                return Err(error.into());
            }
            Err(_) => before = ids,
        }
    }
}

/// Whether others may have moved what a reversal was planned for.
fn is_from_a_move(error: &TraceError) -> bool {
    use TraceError::{Git, MovedSince, NothingLeft, SetSince};
    matches!(error, MovedSince { .. } | SetSince { .. } | NothingLeft { .. } | Git(GitError::RefMoved { .. }))
}

fn latest<'h>(operations: &[&'h Operation], number: u64, verb: &str) -> Result<Vec<&'h Operation>> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(newest) = History::newest(operations, number) {
        return Ok(newest);
    }
    let problem = match operations.iter().filter(|operation| !is_export(operation)).count() {
        0 => format!("there is nothing to {verb} in this worktree"),
        known => format!("there are only {known} operations to {verb}"),
    };
    Err(Error::with_hint(problem, "`git trace op log` lists all operations; `git trace undo <id>` undoes one"))
}

fn report(context: &Context, originals: &[&Operation], reversed: &[Reversed], verb: &str, json: bool) -> Result<()> {
    let (repo, ui) = (context.repo()?, &context.ui);
    if json {
        return ui.json(&to_json(originals, reversed));
    }
    for original in originals.iter().filter(|original| originals.len() == 1 || !is_export(original)) {
        writeln!(ui, "{} `{}`", if verb == "undo" { "Undid" } else { "Redid" }, escaped(&original.command))?;
    }
    for change in reversed {
        let line = match change {
            Reversed::Ref { refname, to } => {
                let name = TraceName::of_ref(refname).map(|name| format!("[{name}]"));
                let name = name.unwrap_or_else(|| escaped(refname).into_owned());
                match to {
                    Some(to) => {
                        let subject = Tip::read(repo, *to).map(|tip| tip.commit.subject().to_owned());
                        let subject = subject.unwrap_or_else(|error| error.to_string());
                        format!("{name} is now at {} {}", escaped(&subject), ui.oid(*to))
                    }
                    None => format!("{name} does not exist now"),
                }
            }
            Reversed::Head { refname, .. } if refname.ends_with(PREVIOUS) || refname.starts_with(SESSIONS) => continue,
            Reversed::Head { refname, to } => {
                let name = to.as_deref().and_then(TraceName::of_ref).unwrap_or_else(TraceName::default_name);
                let worktree = refname.rsplit_once('/').map_or("", |(worktree, _)| worktree);
                let place =
                    if worktree == repo.worktree_name() { String::new() } else { format!(" of {}", escaped(worktree)) };
                format!("The current trace{place} is `{name}`")
            }
            Reversed::Priority { item, level } => format!("{item} is {level} now"),
        };
        writeln!(ui, "{line}")?;
    }
    if reversed
        .iter()
        .any(|change| matches!(change, Reversed::Ref { refname, .. } if refname.starts_with("refs/trace-remote")))
    {
        ui.note("the remote keeps what was pushed");
    }
    if verb == "undo" {
        ui.note("`git trace redo` reverses this");
    }
    Ok(())
}
