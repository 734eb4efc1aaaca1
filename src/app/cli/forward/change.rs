//! `git trace forward status` and `expire`.

use crate::base::error::Result;
use serde_json::json;

use super::{Place, line, note_damaged, write_pretty};
use crate::app::cli::ExitStatus;
use crate::memory::forward::read::moment;
use crate::memory::forward::{CrumbStatus, Query, find, get, json as shape, set_status};
use crate::trace::TraceName;
use crate::trace::change::remove;
use crate::trace::store::write::Accounting;

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

impl StatusArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let repo = context.repo()?;
        let crumb = find(repo, agent, &self.id)?;
        let before = crumb.about.status;
        let status = self.status.unwrap_or(before);
        let reason = self.reason.as_deref();
        let changed = match self.status {
            Some(status) => {
                let signature = context.signature()?;
                set_status(repo, agent, &signature, context.encoding()?, crumb.id, status, reason)?.is_some()
            }
            None => false,
        };
        if self.json {
            let (id, before) = (crumb.id.to_string(), before.as_str());
            context.ui.json(&json!({ "id": id, "status": status.as_str(), "before": before, "changed": changed }))?;
        } else {
            let was = if changed { format!(" (was {before})") } else { String::new() };
            writeln!(context.ui, "{} {status}{was}", crumb.id)?;
        }
        Ok(ExitStatus::Success)
    }
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

impl ExpireArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let repo = context.repo()?;
        let now = moment(repo, context.now())?;
        let mut found = get(repo, agent, &Query::all(), now)?;
        found.crumbs.retain(|crumb| crumb.about.is_expired(now));
        if self.delete {
            let accounting = Accounting::counting(context.encoding()?);
            for crumb in &found.crumbs {
                let signature = context.signature()?;
                remove::delete(repo, &TraceName::of_agent(agent), &signature, accounting, crumb.id, Some("expired"))?;
            }
        }
        note_damaged(context, &found.damaged);
        if self.json {
            let crumbs: Vec<_> = found.crumbs.iter().map(|crumb| shape::crumb(agent, crumb)).collect();
            write_pretty(context, &json!({ "expired": crumbs, "deleted": self.delete }))?;
            return Ok(ExitStatus::Success);
        }
        for crumb in &found.crumbs {
            let line = line(context, crumb);
            writeln!(context.ui, "{line}")?;
        }
        match (found.crumbs.len(), self.delete) {
            (0, _) => context.ui.note("no crumb's time is over"),
            (count, true) => context.ui.note(format!("{count} taken out; history keeps them")),
            (count, false) => {
                context.ui.note(format!("{count} out of reading; --delete takes them out of what is there"))
            }
        }
        Ok(ExitStatus::Success)
    }
}
