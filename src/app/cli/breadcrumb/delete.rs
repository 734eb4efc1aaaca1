//! `git trace breadcrumb delete` and `prune`.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use serde_json::json;

use super::{ExitStatus, Place};
use crate::app::cli::ui::escaped;
use crate::base::error::{Context as _, Error, Result};
use crate::memory::breadcrumb::query::Expired;
use crate::memory::breadcrumb::{Query, Record, StoreError, Writer};

/// Delete a breadcrumb, or all of a task; git keeps what was committed
#[derive(clap::Args, Debug)]
pub(crate) struct DeleteArgs {
    /// Key
    #[arg(required_unless_present = "task_id", conflicts_with = "task_id")]
    key: Option<String>,

    /// All breadcrumbs of a task
    #[arg(long, value_name = "N")]
    task_id: Option<i64>,

    /// Do not ask
    #[arg(long)]
    confirm: bool,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Remove the breadcrumbs that expired
#[derive(clap::Args, Debug)]
pub(crate) struct PruneArgs {
    /// Say what would go, and keep it
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(place: &mut Place<'_>, args: &DeleteArgs) -> Result<ExitStatus> {
    let meant = meant(place, args)?;
    if meant.is_empty() {
        if args.json {
            place.ui.json_line(&json!({ "success": true, "deleted": false, "keys": [] }))?;
        }
        return match (&args.key, args.task_id) {
            (Some(key), _) => Err(StoreError::NoSuchKey { key: key.clone() }.into()),
            (None, id) => {
                place.ui.note(&format!("no breadcrumb of task {}", id.unwrap_or_default()));
                Ok(ExitStatus::No)
            }
        };
    }
    if !args.confirm && !confirmed(&meant)? {
        place.ui.note("nothing was deleted");
        return Ok(ExitStatus::No);
    }
    let is_ignored = place.is_ignored();
    let writer = Writer::new(&place.store, &is_ignored, Writer::PATIENCE);
    let deleted = match (&args.key, args.task_id) {
        (Some(key), _) => writer.delete(key)?.into_iter().collect(),
        (None, Some(id)) => writer.delete_task(id)?,
        (None, None) => Vec::new(),
    };
    answer(place, &deleted, "deleted", args.json)
}

/// The breadcrumbs that a command is about, whether they expired or not.
fn meant(place: &Place<'_>, args: &DeleteArgs) -> Result<Vec<Record<'static>>> {
    let query = Query {
        prefix: args.key.clone().unwrap_or_default(),
        task_id: args.task_id,
        expired: Expired::Shown,
        ..Query::default()
    };
    let mut records = place.store.list(&query, place.now())?.records;
    records.retain(|record| args.key.as_ref().is_none_or(|key| *key == record.key));
    Ok(records)
}

fn confirmed(meant: &[Record<'_>]) -> Result<bool> {
    if !io::stdin().is_terminal() {
        let message = format!("deleting {} needs to be confirmed", named(meant));
        return Err(Error::with_hint(message, "give --confirm to delete without being asked"));
    }
    let mut stderr = io::stderr();
    write!(stderr, "Delete {}? [y/N] ", escaped(&named(meant)))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

fn named(records: &[Record<'_>]) -> String {
    match records {
        [record] => format!("breadcrumb `{}`", record.key),
        records => format!("{} breadcrumbs", records.len()),
    }
}

pub(crate) fn run_prune(place: &mut Place<'_>, args: &PruneArgs) -> Result<ExitStatus> {
    let now = place.now();
    if args.dry_run {
        let query = Query { expired: Expired::Shown, ..Query::default() };
        let mut expired = place.store.list(&query, now)?.records;
        expired.retain(|record| record.is_expired(now));
        return answer(place, &expired, "would delete", args.json);
    }
    let is_ignored = place.is_ignored();
    let writer = Writer::new(&place.store, &is_ignored, Writer::PATIENCE);
    let deleted = writer.prune(now)?;
    answer(place, &deleted, "deleted", args.json)
}

fn answer(place: &mut Place<'_>, records: &[Record<'_>], what: &str, as_json: bool) -> Result<ExitStatus> {
    if as_json {
        let keys: Vec<_> = records.iter().map(|record| &*record.key).collect();
        let deleted = what == "deleted" && !keys.is_empty();
        place.ui.json_line(&json!({ "success": true, "deleted": deleted, "keys": keys }))?;
    } else {
        for record in records {
            place.ui.write_content(format!("{what} {}\n", record.key).as_bytes())?;
        }
    }
    Ok(ExitStatus::Success)
}
