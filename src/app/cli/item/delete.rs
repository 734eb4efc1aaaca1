//! `git trace delete` and `git trace restore`: items leave a trace and come back.

use crate::app::cli::flags::items::{ItemsArgs, ReasonArgs};
use crate::app::cli::{Context, Result, bail, escaped};
use crate::trace::TraceName;
use crate::trace::change::append::Committed;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::query::select::{Among, other_results};

/// Delete items from the trace
///
/// They stay in history and in other traces, and `restore` restores them. With a call, its results are deleted. All items are deleted
/// in one commit. To leave an item out everywhere, `skip` it.
#[derive(clap::Args, Debug)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    items: ItemsArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON, one object per item
    #[arg(long)]
    json: bool,
}

/// Restore deleted items, or an earlier revision of an item
///
/// Deleted items return to their positions, and an item that `clean` cut gets its content back. `expand` restores what a summary
/// replaced; `undo` takes back the last command.
///
/// A range, a turn, or a filter selects deleted items; a commit names those that it deleted. All items are restored in one commit.
#[derive(clap::Args, Debug)]
#[command(override_usage = "git trace restore [OPTIONS] [ITEM]...\n       git trace restore <ITEM> <REVISION>")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    items: ItemsArgs,
    /// Revision to restore, of one item [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON, one object per item
    #[arg(long)]
    json: bool,
}

impl DeleteArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let mut ids = self.items.select(context, &name, &tip, Among::Live)?;
        let results = other_results(repo, &tip, &ids)?;
        ids.extend(&results);
        let deleted = context.open(&name)?.delete_all(&ids, self.reason.get(context)?.as_deref())?;
        print(context, &name, &deleted, results.len(), self.json)
    }
}

impl RestoreArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (_, name, tip) = context.current(None)?;
        let (names, revision) = match self.items.names.as_slice() {
            [_, word] if self.revision.is_none() && is_revision(word) => (&self.items.names[..1], word.parse().ok()),
            names => (names, self.revision),
        };
        let reason = self.reason.get(context)?;
        let reason = reason.as_deref();
        let ids = self.items.select_named(context, &name, &tip, names, Among::RemovedOrNamed)?;
        let trace = context.open(&name)?;
        let restored = match (ids.as_slice(), revision) {
            ([id], revision) => vec![trace.restore(*id, revision, reason)?],
            (ids, None) => trace.restore_all(ids, reason)?,
            (ids, Some(_)) => bail!("a revision belongs to one item, and {} were named", ids.len()),
        };
        print(context, &name, &restored, 0, self.json)
    }
}

/// Whether a word is a revision, and not an item, which has four digits.
fn is_revision(word: &str) -> bool {
    word.len() < 4 && word.bytes().all(|b| b.is_ascii_digit())
}

/// Says what was done to each item, and how many items and tokens there were if there are several. The last `results` items are
/// results that followed their calls.
fn print(context: &Context, name: &TraceName, changed: &[Committed], results: usize, json: bool) -> Result<()> {
    if json {
        return changed.iter().try_for_each(|item| context.ui.json(&item.to_json()));
    }
    let counter = context.counter()?;
    let mut tokens = 0;
    let mut done = "";
    for Committed { item, seq, op, .. } in changed {
        done = if *op == Op::Delete { "deleted" } else { "restored" };
        tokens += item.token_count(counter);
        writeln!(context.ui, "[{name} #{seq}] {done} {} {}", escaped(&preview(item)), context.ui.id(item.id))?;
    }
    if changed.len() > 1 {
        writeln!(context.ui, "{done} {} items, {tokens} tokens{}", changed.len(), results_of_calls(results))?;
    }
    Ok(())
}

/// Says how many results followed their calls.
pub(crate) fn results_of_calls(results: usize) -> String {
    match results {
        0 => String::new(),
        1 => "; 1 of them is the result of a call".to_owned(),
        results => format!("; {results} of them are results of calls"),
    }
}
