//! `git trace delete` and `git trace restore`: an item leaves a trace and comes back.

use crate::app::cli::{Context, Result, Values, escaped};
use crate::trace::TraceName;
use crate::trace::change::append::Committed;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::store::resolve::Resolver;

/// Delete an item from the trace
///
/// It stays in history and in other traces, and `restore` restores it. To leave an item out everywhere, `skip` it.
#[derive(clap::Args, Debug)]
pub(crate) struct DeleteArgs {
    /// Item: id or at least four digits of it, #<position>, or a commit that changed it
    #[arg(add = Values::Items)]
    item: String,
    /// Reason
    #[arg(short = 'm', long = "message", value_name = "REASON", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Restore a deleted item to its position, or an item to an earlier revision
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Item: id or at least four digits of it, or a commit that changed it
    #[arg(add = Values::Items)]
    item: String,
    /// Revision to restore [default: the newest]
    revision: Option<u32>,
    /// Reason
    #[arg(short = 'm', long = "message", value_name = "REASON", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl DeleteArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let id = Resolver::new(repo, &name, &tip)?.live(&self.item)?.id;
        let deleted = context.open(&name)?.delete(id, self.reason.as_deref())?;
        print(context, &name, &deleted, self.json)
    }
}

impl RestoreArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let id = Resolver::new(repo, &name, &tip)?.item(&self.item)?;
        let restored = context.open(&name)?.restore(id, self.revision, self.reason.as_deref())?;
        print(context, &name, &restored, self.json)
    }
}

fn print(context: &Context, name: &TraceName, committed: &Committed, json: bool) -> Result<()> {
    if json {
        return context.ui.json(&committed.to_json());
    }
    let Committed { item, seq, op, .. } = committed;
    let done = if *op == Op::Delete { "deleted" } else { "restored" };
    writeln!(context.ui, "[{name} #{seq}] {done} {} {}", escaped(&preview(item)), context.ui.id(item.id))
}
