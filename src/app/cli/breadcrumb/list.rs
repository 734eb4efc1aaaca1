//! `git trace breadcrumb get` and `list`.

use crate::base::error::Result;
use clap::ValueEnum;

use super::{ExitStatus, Place, shown_text, shown_value};
use crate::app::ui::minute;
use crate::memory::breadcrumb::exchange::{self, Format};
use crate::memory::breadcrumb::query::{Expired, Moment, Order, Sort};
use crate::memory::breadcrumb::{Query, Record};
use crate::trace::Time;

/// Print the value of a breadcrumb; the exit status is 1 if there is none
#[derive(clap::Args, Debug)]
pub(crate) struct GetArgs {
    /// Key
    key: String,

    /// What to print: the value, or the whole record
    #[arg(long, value_name = "FORMAT", default_value = "value")]
    format: GetFormat,

    /// Print the whole record as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum GetFormat {
    Value,
    Json,
}

/// List breadcrumbs that have not expired
///
/// The table shortens long values and hides secrets; JSON contains everything.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// Prefix of the keys to list, such as `auth.` [default: all keys]
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: ListFormat,

    /// Print a JSON array
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Field to sort by
    #[arg(long, default_value = "key")]
    sort: SortBy,

    /// Sort direction
    #[arg(long, default_value = "asc")]
    order: Direction,

    /// Most breadcrumbs to list
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// List only breadcrumbs of a task
    #[arg(long, value_name = "N")]
    task_id: Option<i64>,

    /// List only breadcrumbs last set before this: an age (30d, 12h) or a time
    #[arg(long, value_name = "WHEN")]
    older_than: Option<Moment>,

    /// List only breadcrumbs last set after this: an age (30d, 12h) or a time
    #[arg(long, value_name = "WHEN")]
    newer_than: Option<Moment>,

    /// Include expired breadcrumbs
    #[arg(long)]
    expired: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ListFormat {
    Table,
    Json,
    Jsonl,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SortBy {
    Key,
    Created,
    Updated,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Direction {
    Asc,
    Desc,
}

impl GetArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let lookup = place.store.lookup(&self.key, place.now())?;
        place.warn_skipped_lines(&lookup.skipped_lines);
        let Some(record) = lookup.record else {
            place.ui.note(format!("no breadcrumb `{}`", self.key));
            return Ok(ExitStatus::No);
        };
        if self.json || self.format == GetFormat::Json {
            place.ui.json_pretty(&record)?;
        } else {
            place.ui.write_content(format!("{}\n", record.value))?;
        }
        Ok(ExitStatus::Success)
    }
}

impl ListArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<()> {
        let now = place.now();
        let query = Query {
            prefix: self.prefix.clone(),
            task_id: self.task_id,
            updated_before: self.older_than.map(|moment| moment.before(now)),
            updated_after: self.newer_than.map(|moment| moment.before(now)),
            expired: if self.expired { Expired::Shown } else { Expired::Hidden },
            sort: match self.sort {
                SortBy::Key => Sort::Key,
                SortBy::Created => Sort::Created,
                SortBy::Updated => Sort::Updated,
            },
            order: match self.order {
                Direction::Asc => Order::Ascending,
                Direction::Desc => Order::Descending,
            },
            limit: self.limit,
        };
        let listing = place.store.list(&query, now)?;
        place.warn_skipped_lines(&listing.skipped_lines);
        let format = match self.format {
            ListFormat::Table if !self.json => return print_table(place, &listing.records),
            ListFormat::Jsonl => Format::Jsonl,
            ListFormat::Table | ListFormat::Json => Format::Json,
        };
        Ok(exchange::export(&listing.records, format, &mut place.ui.content())?)
    }
}

fn print_table(place: &Place<'_>, records: &[Record<'_>]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    // `?` is a time that cannot be read, `-` a missing one.
    let shown_time = |text: Option<&str>, time: Option<Time>| match (text, time) {
        (_, Some(time)) => minute(time),
        (None, _) => "-".to_owned(),
        _ => "?".to_owned(),
    };
    let mut rows = vec![["KEY", "VALUE", "TASK", "CREATED", "UPDATED"].map(str::to_owned)];
    rows.extend(records.iter().map(|record| {
        [
            shown_text(&record.key, 256),
            shown_value(record, 40),
            record.task_id.filter(|id| *id != 0).map_or("-".to_owned(), |id| id.to_string()),
            shown_time(record.created_at.as_deref(), record.created()),
            shown_time(record.updated_at.as_deref(), record.updated()),
        ]
    }));
    place.ui.table(&rows)
}
