//! `git trace breadcrumb history`.

use serde_json::json;

use super::{ExitStatus, Place, brief_value, one_line};
use crate::base::error::{Error, Result};
use crate::memory::breadcrumb::history::history;
use crate::memory::breadcrumb::{Record, StoreFile};

/// How much of a value is shown.
const SHOWN_VALUE: usize = 60;

/// Show what a breadcrumb was, commit by commit, newest first
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Key
    key: String,

    /// How many changes at most
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(place: &mut Place<'_>, args: &HistoryArgs) -> Result<ExitStatus> {
    let half = StoreFile::of_key(&args.key);
    if half == StoreFile::Secret {
        let message = format!("`{}` has no history: secrets are not committed", args.key);
        return Err(Error::with_hint(message, "`git trace breadcrumb get` prints what it is now"));
    }
    let path = place.store.path(half);
    let path = path.strip_prefix(&place.root).unwrap_or(&path);
    let mut changes = history(&place.git, &place.root, path, &args.key)?;
    let uncommitted = uncommitted(place, args, changes.first().and_then(|change| change.record.as_ref()))?;
    changes.truncate(args.limit.unwrap_or(usize::MAX));
    if let Some(record) = &uncommitted {
        write_change(place, args, &Shown { commit: None, at: "", author: "", subject: "not committed", record })?;
    }
    for change in &changes {
        let shown = Shown {
            commit: Some(&change.commit),
            at: &change.at,
            author: &change.author,
            subject: &change.subject,
            record: &change.record,
        };
        write_change(place, args, &shown)?;
    }
    if changes.is_empty() && uncommitted.is_none() {
        place.ui.note(&format!("no commit has a breadcrumb `{}`", args.key));
        return Ok(ExitStatus::No);
    }
    Ok(ExitStatus::Success)
}

/// The breadcrumb as it is in the working tree, where that is not what was committed last.
#[expect(clippy::option_option, reason = "the inner option is whether the breadcrumb is there")]
fn uncommitted(
    place: &Place<'_>,
    args: &HistoryArgs,
    committed: Option<&Record<'_>>,
) -> Result<Option<Option<Record<'static>>>> {
    // One that expired is still there.
    let long_ago = crate::trace::Time::from_second(i64::MIN);
    let lookup = place.store.lookup(&args.key, long_ago)?;
    place.warn_skipped_lines(&lookup.skipped_lines);
    Ok(match (&lookup.record, committed) {
        (None, None) => None,
        (Some(now), Some(committed)) if now.means_same(committed) => None,
        _ => Some(lookup.record),
    })
}

struct Shown<'s> {
    commit: Option<&'s str>,
    at: &'s str,
    author: &'s str,
    subject: &'s str,
    record: &'s Option<Record<'static>>,
}

fn write_change(place: &mut Place<'_>, args: &HistoryArgs, change: &Shown<'_>) -> Result<()> {
    if args.json {
        let breadcrumb = change.record.as_ref().map(serde_json::to_value).transpose()?;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let line = json!({
            "commit": change.commit, "at": some(change.at), "author": some(change.author), "subject": change.subject,
            "deleted": change.record.is_none(), "breadcrumb": breadcrumb,
        });
        return Ok(place.ui.json_line(&line)?);
    }
    let value = change.record.as_ref().map_or("(deleted)".to_owned(), |record| brief_value(record, SHOWN_VALUE));
    let commit = change.commit.map_or("-------", |oid| &oid[..7]);
    let day = change.at.get(..16).map_or(String::new(), |at| at.replace('T', " ") + "  ");
    let line = format!("{commit}  {day}{value}  [{}]\n", one_line(change.subject, 72));
    Ok(place.ui.write_content(line.as_bytes())?)
}
