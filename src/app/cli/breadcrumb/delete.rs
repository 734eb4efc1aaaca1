//! `git trace breadcrumb delete` and `prune`.

use std::io::{self, IsTerminal as _};

use super::BreadcrumbContext;
use crate::app::cli::{Error, ExitStatus, Result, Values, json};
use crate::app::ui::confirmed as is_confirmed;
use crate::memory::breadcrumb::query::Expired;
use crate::memory::breadcrumb::{Listing, Query, Record, StoreError};

/// Delete a breadcrumb, or all breadcrumbs of a task; git keeps committed ones in history
///
/// If a damaged line may be the breadcrumb, nothing is deleted, and the exit status is 3.
#[derive(clap::Args, Debug)]
pub(crate) struct DeleteArgs {
    /// Key
    #[arg(required_unless_present = "task_id", conflicts_with = "task_id", add = Values::Keys)]
    key: Option<String>,
    /// Delete all breadcrumbs of a task
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    task_id: Option<i64>,
    /// Do not ask for confirmation
    #[arg(long, alias = "yes", short_alias = 'y')]
    confirm: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Remove expired breadcrumbs
#[derive(clap::Args, Debug)]
pub(crate) struct PruneArgs {
    /// Print what would be removed, and keep it
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl DeleteArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        let Listing { records: found, skipped_lines, .. } = self.find(context)?;
        if found.is_empty() {
            let may_be_damaged = match &self.key {
                Some(key) => context.warn_damaged(&context.store.lookup(key, context.now())?, key),
                None => {
                    context.warn_skipped_lines(&skipped_lines);
                    !skipped_lines.is_empty()
                }
            };
            if may_be_damaged {
                return Ok(ExitStatus::Incomplete);
            }
            if self.json {
                context.ui.json(&json!({ "success": true, "deleted": false, "keys": [] }))?;
            }
            if let Some(key) = &self.key {
                return Err(StoreError::NoSuchKey { key: key.clone() }.into());
            }
            context.ui.note(format!("no breadcrumb of task {}", self.task_id.unwrap_or_default()));
            return Ok(ExitStatus::No);
        }
        if !self.confirm && !confirmed(&found)? {
            context.ui.note("nothing was deleted");
            return Ok(ExitStatus::No);
        }
        let deleted = context.write(|writer| {
            Ok(match (&self.key, self.task_id) {
                (Some(key), _) => writer.delete(key)?.into_iter().collect(),
                (None, Some(id)) => writer.delete_task(id)?,
                (None, None) => Vec::new(),
            })
        })?;
        print(context, &deleted, "deleted", self.json)?;
        Ok(ExitStatus::Success)
    }

    /// The breadcrumbs to delete, expired ones included.
    fn find(&self, context: &BreadcrumbContext<'_>) -> Result<Listing<'static>> {
        let prefix = self.key.clone().unwrap_or_default();
        let query = Query { prefix, task_id: self.task_id, expired: Expired::Shown, ..Query::default() };
        let mut listing = context.store.list(&query, context.now())?;
        listing.records.retain(|record| self.key.as_ref().is_none_or(|key| *key == record.key));
        Ok(listing)
    }
}

fn confirmed(records: &[Record<'_>]) -> Result<bool> {
    let what = match records {
        [record] => format!("breadcrumb `{}`", record.key),
        records => format!("{} breadcrumbs", records.len()),
    };
    if !io::stdin().is_terminal() {
        let message = format!("cannot ask whether to delete {what}: stdin is not a terminal");
        return Err(Error::with_hint(message, "give --confirm to delete without being asked".to_owned()));
    }
    is_confirmed(&format!("Delete {what}?"))
}

impl PruneArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        let now = context.now();
        if self.dry_run {
            let query = Query { expired: Expired::Shown, ..Query::default() };
            let Listing { records: mut expired, skipped_lines, .. } = context.store.list(&query, now)?;
            context.warn_skipped_lines(&skipped_lines);
            expired.retain(|record| record.is_expired(now));
            print(context, &expired, "would delete", self.json)?;
            return Ok(ExitStatus::unless_incomplete(!skipped_lines.is_empty()));
        }
        let deleted = context.write(|writer| Ok(writer.prune(now)?))?;
        print(context, &deleted, "deleted", self.json)?;
        Ok(ExitStatus::Success)
    }
}

fn print(context: &BreadcrumbContext<'_>, records: &[Record<'_>], done: &str, json: bool) -> Result<()> {
    if json {
        let keys: Vec<_> = records.iter().map(|record| &*record.key).collect();
        let deleted = done == "deleted" && !keys.is_empty();
        return context.ui.json(&json!({ "success": true, "deleted": deleted, "keys": keys }));
    }
    records.iter().try_for_each(|record| context.ui.write_content(format!("{done} {}\n", record.key)))
}
