//! `git trace delete` and `git trace restore`: an item leaves a trace and comes back.

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::app::ui::{ID, escaped};
use crate::base::error::Result;
use crate::trace::change::remove::{self, Moved, delete, restore};
use crate::trace::model::trailers::{Op, preview};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::write::Accounting;
use crate::trace::{Tip, TraceName};

/// Take an item out of the trace
///
/// It stays in history, `restore` puts it back, and other traces keep it. To leave an item out everywhere, `skip` it.
#[derive(clap::Args, Debug)]
pub(crate) struct DeleteArgs {
    /// Item: its id or four digits of it, #<position>, or a commit that touched it
    item: String,

    /// Why
    #[arg(short = 'm', long = "message", value_name = "REASON", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Put an item back where it was, or back to an earlier revision
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Item: its id or four digits of it, or a commit that touched it
    item: String,

    /// Revision whose text it gets [default: the newest]
    revision: Option<u32>,

    /// Why
    #[arg(short = 'm', long = "message", value_name = "REASON", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl DeleteArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let tip = Tip::of_trace(repo, &name)?;
        let id = Resolver::new(repo, &name, &tip)?.live(&self.item)?.id;
        let signature = context.signature()?;
        let moved =
            delete(repo, &name, &signature, Accounting::counting(context.encoding()?), id, self.reason.as_deref())?;
        print(context, &name, Op::Delete, &moved, self.json)
    }
}

impl RestoreArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let tip = Tip::of_trace(repo, &name)?;
        let id = Resolver::new(repo, &name, &tip)?.item(&self.item)?;
        let signature = context.signature()?;
        let moved = restore(
            repo,
            &name,
            &signature,
            Accounting::counting(context.encoding()?),
            id,
            self.revision,
            self.reason.as_deref(),
        )?;
        print(context, &name, Op::Restore, &moved, self.json)
    }
}

fn print(context: &Context, name: &TraceName, op: Op, moved: &Moved, json: bool) -> Result<ExitStatus> {
    if json {
        context.ui.json(&remove::to_json(op, moved))?;
    } else {
        let Moved { item, seq, .. } = moved;
        let done = if op == Op::Delete { "deleted" } else { "restored" };
        let id = context.ui.styled(ID, &item.id.to_string());
        let subject = escaped(&preview(item)).into_owned();
        writeln!(context.ui, "[{name} #{seq}] {done} {subject} {id}")?;
    }
    Ok(ExitStatus::Success)
}
