//! `git trace breadcrumb get`, `list` and `namespaces`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{BreadcrumbContext, shown_text, shown_value};
use crate::app::breadcrumbs::decrypted;
use crate::app::cli::flags::{NulArgs, one_of};
use crate::app::cli::{ExitStatus, Result, Values, json, minute};
use crate::base::escape::shell_word;
use crate::base::when::When;
use crate::memory::breadcrumb::exchange::{self, Format};
use crate::memory::breadcrumb::namespace::STANDARD;
use crate::memory::breadcrumb::namespace_of;
use crate::memory::breadcrumb::query::{Expired, Order, Sort};
use crate::memory::breadcrumb::{Query, Record};
use crate::trace::Time;

/// Print the value of a breadcrumb; the exit status is 1 if there is none
///
/// If a damaged line may be the breadcrumb, the exit status is 3.
#[derive(clap::Args, Debug)]
pub(crate) struct GetArgs {
    /// Key
    #[arg(add = Values::Keys)]
    key: String,
    /// What to print: the value, or the complete record
    #[arg(long, value_name = "FORMAT", default_value = "value", value_parser = ["value", "json"])]
    format: String,
    /// Print the complete record as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// List breadcrumbs that have not expired
///
/// The table shortens long values and hides secrets; JSON contains everything. If lines were skipped because they cannot be read,
/// the exit status is 3.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// Prefix of the keys to list, such as `auth.` [default: all keys]
    #[arg(default_value = "", hide_default_value = true, add = Values::Keys)]
    prefix: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = ["table", "json", "jsonl"])]
    format: String,
    /// Print a JSON array
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
    /// Field to sort by
    #[arg(long, default_value = "key", value_parser = one_of(SORTS))]
    sort: Sort,
    /// Sort direction
    #[arg(long, default_value = "asc", value_parser = one_of(&[("asc", Order::Ascending), ("desc", Order::Descending)]))]
    order: Order,
    /// Most breadcrumbs to list
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// List only breadcrumbs of a task
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    task_id: Option<i64>,
    /// List only breadcrumbs last set before this time, such as `yesterday`, `2 days ago`, or `30d`
    #[arg(long, value_name = "TIME")]
    older_than: Option<When>,
    /// List only breadcrumbs last set after this time, such as `yesterday`, `2 days ago`, or `30d`
    #[arg(long, value_name = "TIME")]
    newer_than: Option<When>,
    /// Include expired breadcrumbs
    #[arg(long)]
    expired: bool,
}

const SORTS: &[(&str, Sort)] = &[("key", Sort::Key), ("created", Sort::Created), ("updated", Sort::Updated)];

impl GetArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        let lookup = context.store.lookup(&self.key, context.now())?;
        if context.warn_damaged(&lookup, &self.key) {
            return Ok(ExitStatus::Incomplete);
        }
        let Some(record) = lookup.record else {
            let below = Query { prefix: format!("{}.", self.key), ..Query::default() };
            let has_more = !context.store.list(&below, context.now())?.records.is_empty();
            let hint = if has_more {
                format!("; `git trace breadcrumb list {}` lists others", shell_word(&below.prefix))
            } else {
                String::new()
            };
            context.ui.note(format!("no breadcrumb `{}`{hint}", self.key));
            return Ok(ExitStatus::No);
        };
        context.warn_bad_times([&record]);
        let record = decrypted(context, record)?;
        if self.json || self.format == "json" {
            context.ui.json_pretty(&record)?;
        } else {
            context.ui.write_content(format!("{}\n", record.value))?;
        }
        Ok(ExitStatus::Success)
    }
}

impl ListArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        self.nul.apply(context);
        let (now, clock) = (context.now(), context.clock());
        let time = |when: &Option<When>| when.as_ref().map(|when| when.before(&clock)).transpose();
        let query = Query {
            prefix: self.prefix.clone(),
            task_id: self.task_id,
            updated_before: time(&self.older_than)?,
            updated_after: time(&self.newer_than)?,
            expired: if self.expired { Expired::Shown } else { Expired::Hidden },
            sort: self.sort,
            order: self.order,
            limit: self.limit,
        };
        let texts = context.store.texts(now)?;
        let listing = texts.list(&query, now);
        context.warn_skipped_lines(&listing.skipped_lines);
        let is_table = self.format == "table" && !self.json;
        if !is_table {
            context.ui.page(false);
            context.warn_bad_times(&listing.records);
        }
        match self.format.as_str() {
            _ if is_table => print_table(context, &listing.records)?,
            "jsonl" if context.ui.ends_with_nul() => {
                let write = |record| exchange::export(&[record], Format::Jsonl, &mut context.ui.content());
                let mut records = listing.records.into_iter();
                records.try_for_each(|record| context.ui.entry(|| Ok(write(record)?)))?;
            }
            "jsonl" => exchange::export(&listing.records, Format::Jsonl, &mut context.ui.content())?,
            _ => {
                context
                    .ui
                    .entry(|| Ok(exchange::export(&listing.records, Format::Json, &mut context.ui.content())?))?;
            }
        }
        Ok(ExitStatus::unless_incomplete(!listing.skipped_lines.is_empty()))
    }
}

/// Also warns about times that cannot be read, because parsing them twice would take a tenth of the time of a long list.
fn print_table(context: &BreadcrumbContext<'_>, records: &[Record<'_>]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let heading = ["KEY", "VALUE", "TASK", "CREATED", "UPDATED"].map(Cow::from);
    let mut rows = Vec::from_iter(Some(heading).filter(|_| !context.ui.ends_with_nul()));
    rows.extend(records.iter().map(|record| {
        let (created, updated) = (record.created(), record.updated());
        let is_bad = |text: &Option<_>, time: Option<Time>| text.is_some() && time.is_none();
        if is_bad(&record.created_at, created) || is_bad(&record.updated_at, updated) || record.expires_at.is_some() {
            context.warn_bad_times([record]);
        }
        [
            shown_text(&record.key, 256),
            shown_value(record, 40),
            record.task_id.filter(|id| *id != 0).map_or("-".into(), |id| id.to_string().into()),
            shown_time(record.created_at.as_deref(), created),
            shown_time(record.updated_at.as_deref(), updated),
        ]
    }));
    context.ui.table(&rows)
}

/// `?` is a time that cannot be read, `-` a missing one.
fn shown_time<'t>(text: Option<&str>, time: Option<Time>) -> Cow<'t, str> {
    match (text, time) {
        (Some(text), Some(_)) if text.as_bytes().last() == Some(&b'Z') => {
            // The text is the time in UTC already.
            let mut minute = text[..16].to_owned();
            minute.replace_range(10..11, " ");
            minute.into()
        }
        (_, Some(time)) => minute(time).into(),
        (None, _) => "-".into(),
        _ => "?".into(),
    }
}

/// List namespaces: standard ones, those declared in `.synapse/config.json`, and undeclared ones in use
#[derive(clap::Args, Debug)]
pub(crate) struct NamespacesArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl NamespacesArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let declared = context.store.namespaces()?;
        let listing = context.store.list(&Query::default(), context.now())?;
        context.warn_skipped_lines(&listing.skipped_lines);
        let mut known: BTreeMap<&str, (&str, &str, usize)> = BTreeMap::new();
        known.extend(STANDARD.iter().map(|(name, what)| (*name, ("standard", *what, 0))));
        known.extend(declared.declared.iter().map(|(name, what)| (name.as_str(), ("declared", what.as_str(), 0))));
        for record in &listing.records {
            // Names may contain dots, so the longest one that fits is meant.
            let fits =
                |name: &&&str| record.key.strip_prefix(**name).is_some_and(|r| r.is_empty() || r.starts_with('.'));
            let name = known.keys().filter(fits).max_by_key(|name| name.len()).copied();
            let name = name.unwrap_or_else(|| namespace_of(&record.key));
            known.entry(name).or_insert(("unknown", "", 0)).2 += 1;
        }
        if self.json {
            let rows = known.iter().map(|(name, (kind, what, count))| {
                json!({ "name": name, "kind": kind, "description": what, "breadcrumbs": count })
            });
            return context.ui.json(&rows.collect::<Vec<_>>());
        }
        let heading = ["NAME", "BREADCRUMBS", "KIND", "DESCRIPTION"].map(Cow::from);
        let mut rows = Vec::from_iter(Some(heading).filter(|_| !context.ui.ends_with_nul()));
        rows.extend(known.iter().map(|(name, (kind, what, count))| {
            [shown_text(name, 256), count.to_string().into(), (*kind).into(), shown_text(what, 256)]
        }));
        context.ui.table(&rows)
    }
}
