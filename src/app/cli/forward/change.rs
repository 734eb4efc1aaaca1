//! `git trace forward status` and `expire`.

use super::{ForwardContext, line, note_damaged};
use crate::app::cli::flags::items::ReasonArgs;
use crate::app::cli::{Result, bail, json};
use crate::memory::forward::json::CrumbJson;
use crate::memory::forward::{CrumbStatus, Query, query_time, resolve, search, set_status};
use crate::trace::TraceName;

/// Show or set the status of a forward crumb: active, completed or superseded
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Forward crumb: its id or at least four digits of it
    id: String,
    /// New status: active, completed or superseded [default: show the status]
    status: Option<CrumbStatus>,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        if self.status.is_none() && self.reason.is_given() {
            bail!("a reason belongs to a new status, which is missing");
        }
        let agent = context.agent()?;
        let repo = context.repo()?;
        let crumb = resolve(repo, agent, &self.id)?;
        let before = crumb.metadata.status;
        let status = self.status.unwrap_or(before);
        let changed = match self.status {
            Some(status) => {
                set_status(&context.open(&TraceName::of_agent(agent))?, crumb.id, status, self.reason.get(context))?
                    .is_some()
            }
            None => false,
        };
        if self.json {
            let (id, before) = (crumb.id.to_string(), before.as_str());
            return context
                .ui
                .json(&json!({ "id": id, "status": status.as_str(), "before": before, "changed": changed }));
        }
        let was = if changed { format!(" (was {before})") } else { String::new() };
        writeln!(context.ui, "{} {status}{was}", crumb.id)
    }
}

/// List expired forward crumbs, and delete them if asked
///
/// Forward crumbs expire after 90 days (HIGH), 30 days (MEDIUM) or 7 days (LOW). `get` hides expired ones, and
/// `get --all` shows them.
#[derive(clap::Args, Debug)]
pub(crate) struct ExpireArgs {
    /// Delete them; history keeps them
    #[arg(long)]
    delete: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ExpireArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let repo = context.repo()?;
        let now = query_time(repo, context.now())?;
        let mut found = search(repo, agent, &Query::all(), now)?;
        found.crumbs.retain(|crumb| crumb.metadata.is_expired(now));
        if self.delete && !found.crumbs.is_empty() {
            // One commit, because each one would read the list of all.
            let ids: Vec<_> = found.crumbs.iter().map(|crumb| crumb.id).collect();
            context.open(&TraceName::of_agent(agent))?.delete_all(&ids, Some("expired"))?;
        }
        note_damaged(context, &found.damaged);
        if self.json {
            let crumbs: Vec<_> = found.crumbs.iter().map(|crumb| CrumbJson::new(agent, crumb)).collect();
            return context.ui.json_pretty(&json!({ "expired": crumbs, "deleted": self.delete }));
        }
        for crumb in &found.crumbs {
            writeln!(context.ui, "{}", line(context, crumb))?;
        }
        context.ui.note(match (found.crumbs.len(), self.delete) {
            (0, _) => "no forward crumb has expired".to_owned(),
            (count, true) => format!("expired forward crumbs deleted: {count}; history keeps them"),
            (count, false) => format!("expired forward crumbs: {count}; delete them with --delete"),
        });
        Ok(())
    }
}
