//! `git trace forward status`, `expire` and `dedupe`.

use super::{ForwardContext, line, note_damaged};
use crate::app::cli::flags::items::ReasonArgs;
use crate::app::cli::{Result, bail, json};
use crate::memory::forward::dedupe::duplicates;
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
                let reason = self.reason.get(context)?;
                set_status(&context.open(&TraceName::of_agent(agent))?, crumb.id, status, reason.as_deref())?.is_some()
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

/// List expired forward crumbs, and delete them with --delete
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

/// Mark forward crumbs that say the same as a later one as superseded
///
/// Two are alike by the share of their words that both have. One with an open task that the later one lacks stays.
#[derive(clap::Args, Debug)]
pub(crate) struct DedupeArgs {
    /// How alike they are at least, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.9", value_parser = share)]
    threshold: f64,
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.9".to_owned())
}

impl DedupeArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let repo = context.repo()?;
        let found = duplicates(repo, agent, self.threshold, query_time(repo, context.now())?)?;
        let trace = context.open(&TraceName::of_agent(agent))?;
        let mut rows = Vec::new();
        for duplicate in &found {
            let (id, of) = (duplicate.crumb.id, duplicate.of.id);
            if !self.dry_run {
                set_status(&trace, id, CrumbStatus::Superseded, Some(&format!("says the same as {of}")))?;
            }
            let likeness = (duplicate.likeness * 100.0).round() / 100.0;
            if self.json {
                rows.push(json!({ "id": id.to_string(), "of": of.to_string(), "likeness": likeness }));
            } else {
                let what = if self.dry_run { "would be superseded" } else { "superseded" };
                writeln!(context.ui, "{id} {what} by {of} ({likeness})")?;
            }
        }
        if self.json {
            return context.ui.json(&rows);
        }
        if found.is_empty() {
            context.ui.note("no active forward crumb says the same as a later one");
        }
        Ok(())
    }
}
