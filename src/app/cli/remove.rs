//! `git trace delete` and `git trace restore`: an item leaves a trace and comes back.

use super::ui::{ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::Result;
use crate::trace::change::remove::{self, Moved, delete, restore};
use crate::trace::model::trailers::{Op, preview};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::write::{Accounting, Signature, encoding};
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

pub(crate) fn run_delete(session: &mut Session, args: &DeleteArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let id = Resolver::new(repo, &name, &tip)?.live(&args.item)?.id;
    let signature = Signature::take(repo, session.now())?;
    let moved = delete(repo, &name, &signature, Accounting::counting(encoding(repo)?), id, args.reason.as_deref())?;
    print(session, &name, Op::Delete, &moved, args.json)
}

pub(crate) fn run_restore(session: &mut Session, args: &RestoreArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let id = Resolver::new(repo, &name, &tip)?.item(&args.item)?;
    let signature = Signature::take(repo, session.now())?;
    let moved = restore(
        repo,
        &name,
        &signature,
        Accounting::counting(encoding(repo)?),
        id,
        args.revision,
        args.reason.as_deref(),
    )?;
    print(session, &name, Op::Restore, &moved, args.json)
}

fn print(session: &mut Session, name: &TraceName, op: Op, moved: &Moved, json: bool) -> Result<ExitStatus> {
    if json {
        session.ui.json_line(&remove::to_json(op, moved))?;
    } else {
        let Moved { item, seq, .. } = moved;
        session.ui.settle_colour(&session.repo)?;
        let done = if op == Op::Delete { "deleted" } else { "restored" };
        let id = session.ui.styled(ID, &item.id.to_string());
        let subject = escaped(&preview(item)).into_owned();
        writeln!(session.ui.out(), "[{name} #{seq}] {done} {subject} {id}")?;
    }
    Ok(ExitStatus::Success)
}
