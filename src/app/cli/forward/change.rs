//! `git trace forward status` and `expire`.

use serde_json::json;

use super::{line, note_damaged, required, write_pretty};
use crate::app::cli::{ExitStatus, Session};
use crate::base::error::Result;
use crate::memory::forward::read::moment;
use crate::memory::forward::{CrumbStatus, Query, find, get, json as shape, set_status};
use crate::trace::change::remove;
use crate::trace::store::write::{Accounting, Signature, encoding};
use crate::trace::{AgentName, TraceName};

/// Show whether a crumb is active, completed or superseded, or say so
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Crumb: its id or four digits of it
    id: String,

    /// What it is from now on: active, completed or superseded [default: show it]
    status: Option<CrumbStatus>,

    /// Why
    #[arg(short = 'm', long = "reason", value_name = "TEXT", requires = "status", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run_status(session: &mut Session, agent: Option<&AgentName>, args: &StatusArgs) -> Result<ExitStatus> {
    let agent = required(agent)?;
    let repo = &session.repo;
    let crumb = find(repo, agent, &args.id)?;
    let before = crumb.about.status;
    let status = args.status.unwrap_or(before);
    let reason = args.reason.as_deref();
    let changed = match args.status {
        Some(status) => {
            let signature = Signature::take(repo, session.now())?;
            set_status(repo, agent, &signature, encoding(repo)?, crumb.id, status, reason)?.is_some()
        }
        None => false,
    };
    if args.json {
        let (id, before) = (crumb.id.to_string(), before.as_str());
        session.ui.json_line(&json!({ "id": id, "status": status.as_str(), "before": before, "changed": changed }))?;
    } else {
        let was = if changed { format!(" (was {before})") } else { String::new() };
        writeln!(session.ui.out(), "{} {status}{was}", crumb.id)?;
    }
    Ok(ExitStatus::Success)
}

/// List the crumbs whose time is over, and take them out if asked
///
/// HIGH ones are read for 90 days, MEDIUM ones for 30, LOW ones for 7. After that they are out of reading, and still there:
/// `get --all` shows them.
#[derive(clap::Args, Debug)]
pub(crate) struct ExpireArgs {
    /// Take them out of what is there; history keeps them
    #[arg(long)]
    delete: bool,

    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run_expire(session: &mut Session, agent: Option<&AgentName>, args: &ExpireArgs) -> Result<ExitStatus> {
    let agent = required(agent)?;
    let repo = &session.repo;
    let now = moment(repo, session.now())?;
    let mut found = get(repo, agent, &Query::all(), now)?;
    found.crumbs.retain(|crumb| crumb.about.is_expired(now));
    if args.delete {
        let accounting = Accounting::counting(encoding(repo)?);
        for crumb in &found.crumbs {
            let signature = Signature::take(repo, session.now())?;
            remove::delete(repo, &TraceName::of_agent(agent), &signature, accounting, crumb.id, Some("expired"))?;
        }
    }
    note_damaged(session, &found.damaged);
    if args.json {
        let crumbs: Vec<_> = found.crumbs.iter().map(|crumb| shape::crumb(agent, crumb)).collect();
        write_pretty(session, &json!({ "expired": crumbs, "deleted": args.delete }))?;
        return Ok(ExitStatus::Success);
    }
    session.ui.settle_colour(&session.repo)?;
    for crumb in &found.crumbs {
        let line = line(session, crumb);
        writeln!(session.ui.out(), "{line}")?;
    }
    match (found.crumbs.len(), args.delete) {
        (0, _) => session.ui.note("no crumb's time is over"),
        (count, true) => session.ui.note(&format!("{count} taken out; history keeps them")),
        (count, false) => session.ui.note(&format!("{count} out of reading; --delete takes them out of what is there")),
    }
    Ok(ExitStatus::Success)
}
