//! `git trace breadcrumb history`.

use crate::base::error::{Error, Result};
use serde_json::json;

use super::{ExitStatus, Place, shown_text, shown_value};
use crate::memory::breadcrumb::query::history::history;
use crate::memory::breadcrumb::{Record, StoreFile};
use crate::trace::Time;

/// Show the values of a breadcrumb commit by commit, newest first
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Key
    key: String,

    /// Most changes to show
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl HistoryArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let file = StoreFile::of_key(&self.key);
        if file == StoreFile::Secret {
            let message = format!("`{}` has no history: secrets are not committed", self.key);
            return Err(Error::with_hint(message, "`git trace breadcrumb get` prints its value".to_owned()));
        }
        let path = place.store.path(file);
        let path = path.strip_prefix(&place.root).unwrap_or(&path);
        let mut changes = history(&place.git, &place.root, path, &self.key)?;
        let uncommitted = self.uncommitted(place, changes.first().and_then(|change| change.record.as_ref()))?;
        changes.truncate(self.limit.unwrap_or(usize::MAX));
        if let Some(record) = &uncommitted {
            self.print(place, None, "not committed", record.as_ref())?;
        }
        for change in &changes {
            let commit = [&change.commit, &change.at, &change.author].map(String::as_str);
            self.print(place, Some(commit), &change.subject, change.record.as_ref())?;
        }
        if changes.is_empty() && uncommitted.is_none() {
            place.ui.note(format!("no commit has a breadcrumb `{}`", self.key));
            return Ok(ExitStatus::No);
        }
        Ok(ExitStatus::Success)
    }

    /// The breadcrumb in the working tree if it differs from the last commit.
    #[expect(clippy::option_option, reason = "the inner option tells whether the breadcrumb exists")]
    fn uncommitted(
        &self,
        place: &Place<'_>,
        committed: Option<&Record<'_>>,
    ) -> Result<Option<Option<Record<'static>>>> {
        // An expired breadcrumb still exists, so the lookup is made at the beginning of time.
        let lookup = place.store.lookup(&self.key, Time::from_second(i64::MIN))?;
        place.warn_skipped_lines(&lookup.skipped_lines);
        Ok(match (&lookup.record, committed) {
            (None, None) => None,
            (Some(now), Some(committed)) if now.means_same(committed) => None,
            _ => Some(lookup.record),
        })
    }

    /// Prints a change, of `[commit, time, author]` if it is committed.
    fn print(
        &self,
        place: &Place<'_>,
        commit: Option<[&str; 3]>,
        subject: &str,
        record: Option<&Record<'_>>,
    ) -> Result<()> {
        let [oid, at, author] = commit.map_or([None; 3], |commit| commit.map(Some));
        if self.json {
            return place.ui.json(&json!({
                "commit": oid, "at": at, "author": author, "subject": subject,
                "deleted": record.is_none(), "breadcrumb": record,
            }));
        }
        let value = record.map_or("(deleted)".to_owned(), |record| shown_value(record, 60));
        let minute = at.and_then(|at| at.get(..16)).map_or(String::new(), |at| at.replace('T', " ") + "  ");
        let oid = oid.map_or("-------", |oid| &oid[..7]);
        place.ui.write_content(format!("{oid}  {minute}{value}  [{}]\n", shown_text(subject, 72)))
    }
}
