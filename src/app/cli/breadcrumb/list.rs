//! `git trace breadcrumb get` and `list`.

use clap::ValueEnum;

use super::{ExitStatus, Place, brief_value, minute, one_line, write_table};
use crate::base::error::Result;
use crate::memory::breadcrumb::exchange::{self, Format};
use crate::memory::breadcrumb::query::{Expired, Moment, Order, Sort};
use crate::memory::breadcrumb::{Query, Record};

/// How much of a value a table shows.
const SHOWN_VALUE: usize = 40;

/// Print the value of a breadcrumb; the exit status is 1 if there is none
#[derive(clap::Args, Debug)]
pub(crate) struct GetArgs {
    /// Key
    key: String,

    /// What to print: the value alone, or the whole record
    #[arg(long, value_name = "FORMAT", default_value = "value")]
    format: GetFormat,

    /// The whole record as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum GetFormat {
    Value,
    Json,
}

/// List breadcrumbs, those that expired left out
///
/// A table cuts long values and does not show those of secrets; JSON gives all as it is.
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// What keys start with, such as `auth.` [default: all]
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,

    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: ListFormat,

    /// As a JSON array
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// What to sort by
    #[arg(long, default_value = "key")]
    sort: SortBy,

    /// In which direction
    #[arg(long, default_value = "asc")]
    order: Direction,

    /// How many at most
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// Only those of a task
    #[arg(long, value_name = "N")]
    task_id: Option<i64>,

    /// Only those last set before: an age (30d, 12h) or a time
    #[arg(long, value_name = "WHEN")]
    older_than: Option<Moment>,

    /// Only those last set after: an age (30d, 12h) or a time
    #[arg(long, value_name = "WHEN")]
    newer_than: Option<Moment>,

    /// Those that expired too
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

pub(crate) fn run_get(place: &mut Place<'_>, args: &GetArgs) -> Result<ExitStatus> {
    let lookup = place.store.lookup(&args.key, place.now())?;
    place.warn_skipped_lines(&lookup.skipped_lines);
    let Some(record) = lookup.record else {
        place.ui.note(&format!("no breadcrumb `{}`", args.key));
        return Ok(ExitStatus::No);
    };
    if args.json || args.format == GetFormat::Json {
        place.write_pretty(&record)?;
    } else {
        place.ui.write_content(record.value.as_bytes())?;
        place.ui.write_content(b"\n")?;
    }
    Ok(ExitStatus::Success)
}

pub(crate) fn run(place: &mut Place<'_>, args: &ListArgs) -> Result<ExitStatus> {
    let now = place.now();
    let query = Query {
        prefix: args.prefix.clone(),
        task_id: args.task_id,
        updated_before: args.older_than.map(|moment| moment.before(now)),
        updated_after: args.newer_than.map(|moment| moment.before(now)),
        expired: if args.expired { Expired::Shown } else { Expired::Hidden },
        sort: match args.sort {
            SortBy::Key => Sort::Key,
            SortBy::Created => Sort::Created,
            SortBy::Updated => Sort::Updated,
        },
        order: match args.order {
            Direction::Asc => Order::Ascending,
            Direction::Desc => Order::Descending,
        },
        limit: args.limit,
    };
    let listing = place.store.list(&query, now)?;
    place.warn_skipped_lines(&listing.skipped_lines);
    let format = if args.json { ListFormat::Json } else { args.format };
    match format {
        ListFormat::Table => write_records(place, &listing.records)?,
        ListFormat::Json => exchange::export(&listing.records, Format::Json, &mut place.ui.content())?,
        ListFormat::Jsonl => exchange::export(&listing.records, Format::Jsonl, &mut place.ui.content())?,
    }
    Ok(ExitStatus::Success)
}

fn write_records(place: &mut Place<'_>, records: &[Record<'_>]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let mut rows = vec![["KEY", "VALUE", "TASK", "CREATED", "UPDATED"].map(str::to_owned).to_vec()];
    rows.extend(records.iter().map(|record| {
        vec![
            one_line(&record.key, 256),
            brief_value(record, SHOWN_VALUE),
            record.task_id.filter(|id| *id != 0).map_or("-".to_owned(), |id| id.to_string()),
            minute(record.created_at.as_deref(), record.created()),
            minute(record.updated_at.as_deref(), record.updated()),
        ]
    }));
    Ok(write_table(place.ui, &rows)?)
}
