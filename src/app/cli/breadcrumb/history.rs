//! `git trace breadcrumb history`.

use super::{BreadcrumbContext, shown_text, shown_value};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Error, ExitStatus, Plain, Result, Ui, Values, bail, json};
use crate::base::escape::shell_word;
use crate::memory::breadcrumb::StoreFile;
use crate::memory::breadcrumb::query::history::{History, KeyChange, KeyState, history};
use crate::trace::Time;

/// Show the values of a breadcrumb commit by commit, newest first
///
/// If one of them is on a damaged line, the exit status is 3.
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Key
    #[arg(add = Values::Keys)]
    key: String,
    /// Most changes to show
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl HistoryArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        self.nul.apply(context);
        let path = context.store.path(StoreFile::Shared);
        let path = path.strip_prefix(&context.root).unwrap_or(&path);
        if path.as_os_str().as_encoded_bytes().contains(&b'\n') {
            bail!("cannot read the history of `{}`: its path contains a line break", Plain(&path.to_string_lossy()));
        }
        if let [Some(filter)] = &*context.git.filters(&[path.as_os_str().as_encoded_bytes()], None)? {
            let path = Plain(&path.to_string_lossy()).to_string();
            let message = format!("cannot read the history of `{path}`: git stores it through the filter `{filter}`");
            let hint = format!("`git cat-file --filters REV:{}` prints a version of the file", shell_word(&path));
            return Err(Error::with_hint(message, hint));
        }
        let History { mut changes, committed } = history(&context.git, &context.root, path, &self.key)?;
        let record = context.store.lookup(&self.key, context.now())?.record;
        let value = record.as_ref().map_or("", |record| &record.value);
        if StoreFile::of_record(&self.key, value) == StoreFile::Secret && changes.is_empty() {
            let message = format!("`{}` has no history: secrets are not committed", self.key);
            return Err(Error::with_hint(message, "`git trace breadcrumb get` prints its value".to_owned()));
        }
        let uncommitted = self.uncommitted(context, &committed)?;
        changes.truncate(self.limit.unwrap_or(usize::MAX));
        if let Some(state) = &uncommitted {
            self.print(&context.ui, None, state)?;
        }
        for change in &changes {
            self.print(&context.ui, Some(change), &change.state)?;
        }
        if changes.is_empty() && uncommitted.is_none() {
            context.ui.note(format!("no commit has a breadcrumb `{}`", self.key));
            return Ok(ExitStatus::No);
        }
        let mut states = changes.iter().map(|change| &change.state).chain(&uncommitted);
        Ok(ExitStatus::unless_incomplete(states.any(|state| matches!(state, KeyState::Damaged))))
    }

    /// The breadcrumb in the working tree if it differs from that in `HEAD`.
    fn uncommitted(&self, context: &BreadcrumbContext<'_>, committed: &KeyState) -> Result<Option<KeyState>> {
        // An expired breadcrumb still exists, so the lookup is made at the beginning of time.
        let lookup = context.store.lookup(&self.key, Time::from_second(i64::MIN))?;
        context.warn_skipped_lines(&lookup.skipped_lines);
        let now = lookup.into_state(&self.key);
        Ok((!now.means_same(committed)).then_some(now))
    }

    /// Prints a change; without a commit, one that is not committed.
    fn print(&self, ui: &Ui, commit: Option<&KeyChange>, state: &KeyState) -> Result<()> {
        let subject = commit.map_or("not committed", |commit| &commit.subject);
        if self.json {
            let utc = |at: &String| at.parse::<Time>().map_or_else(|_| at.clone(), |at| at.to_string());
            return ui.json(&json!({
                "commit": commit.map(|commit| &commit.commit), "at": commit.map(|commit| utc(&commit.at)),
                "author": commit.map(|commit| &commit.author), "subject": subject,
                "deleted": matches!(state, KeyState::Absent), "damaged": matches!(state, KeyState::Damaged),
                "breadcrumb": state.record(),
            }));
        }
        let value = match state {
            KeyState::Present(record) => shown_value(record, 60),
            KeyState::Absent => "(deleted)".into(),
            KeyState::Damaged => "(damaged)".into(),
        };
        let minute = commit.and_then(|commit| commit.at.get(..16)).map(|at| at.replace('T', " ") + "  ");
        let oid = commit.map_or("-------", |commit| &commit.commit[..7]);
        let minute = minute.unwrap_or_default();
        ui.entry(|| ui.write_content(format!("{oid}  {minute}{value}  [{}]\n", shown_text(subject, 72))))
    }
}
