//! `git trace breadcrumb`: facts that outlive a session, from the command line.

mod change;
mod delete;
mod exchange;
mod history;
mod list;
mod migrate;
mod resolve;

use std::borrow::Cow;
use std::ops::Deref;
use std::path::{Display, Path, PathBuf};

use crate::app::breadcrumbs;
use crate::app::cli::{Context, ExitStatus, Result, escaped};
use crate::git::Git;
use crate::memory::breadcrumb::store::{Lookup, SkippedLine};
use crate::memory::breadcrumb::{Record, Store, StoreFile, Writer};

/// Breadcrumbs: facts of the project, each a key and a value
///
/// They are stored in `.synapse/breadcrumbs.jsonl`, one JSON object per line, which you commit with the code. Keys in the
/// namespace `secret` are stored in `.synapse/breadcrumbs-secret.jsonl`, which git must ignore.
#[derive(clap::Args, Debug)]
pub(crate) struct BreadcrumbArgs {
    #[command(subcommand)]
    command: BreadcrumbCommand,
}

commands! {
    BreadcrumbCommand(&BreadcrumbContext<'_>) {
        Set(change::SetArgs),
        Get(list::GetArgs),
        List(list::ListArgs),
        Delete(delete::DeleteArgs),
        Rename(change::RenameArgs),
        Import(exchange::ImportArgs),
        Export(exchange::ExportArgs),
        Namespaces(list::NamespacesArgs),
        History(history::HistoryArgs),
        Prune(delete::PruneArgs),
        Resolve(resolve::ResolveArgs),
        Migrate(migrate::MigrateArgs),
    }
}

impl BreadcrumbArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let root = context.root()?;
        let (store, git) = (context.breadcrumbs(&root)?, context.git()?);
        self.command.run(&BreadcrumbContext { context, store, root, git })
    }
}

/// The context with the store that serves the folder, the root of the working tree, and git in the folder.
struct BreadcrumbContext<'c> {
    context: &'c Context,
    store: Store,
    root: PathBuf,
    git: Git,
}

impl Deref for BreadcrumbContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
    }
}

impl BreadcrumbContext<'_> {
    fn write<T>(&self, write: impl FnOnce(&Writer<'_>) -> Result<T>) -> Result<T> {
        let (result, notes) = breadcrumbs::write(self.context, &self.store, &self.git, write)?;
        for note in &notes {
            self.ui.note(note);
        }
        Ok(result)
    }

    /// A path as it is shown: relative to the root of the working tree.
    fn relative<'p>(&self, path: &'p Path) -> Display<'p> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }

    fn warn_bad_times<'r>(&self, records: impl IntoIterator<Item = &'r Record<'r>>) {
        for warning in records.into_iter().flat_map(Record::bad_times) {
            self.ui.note(format!("warning: {}", escaped(&warning)));
        }
    }

    /// Warns about lines that cannot be read; returns whether one of them may be the record of the key.
    fn warn_damaged(&self, lookup: &Lookup, key: &str) -> bool {
        self.warn_skipped_lines(&lookup.skipped_lines);
        let is_damaged = lookup.is_damaged(key);
        if is_damaged {
            self.ui.note(format!("breadcrumb `{key}` may be on a line that was skipped"));
        }
        is_damaged
    }

    fn warn_skipped_lines(&self, skipped_lines: &[SkippedLine]) {
        for SkippedLine { file, invalid, .. } in skipped_lines {
            let (path, line) = (self.store.path(*file), invalid.line);
            self.ui.note(format!("warning: {}:{line}: skipped: {}", self.relative(&path), invalid.reason));
        }
    }
}

/// A value on one line of at most `width` characters. The value of a secret is not shown.
fn shown_value<'r>(record: &'r Record<'_>, width: usize) -> Cow<'r, str> {
    if StoreFile::of_key(&record.key) == StoreFile::Secret {
        return "(secret)".into();
    }
    let line = shown_text(&record.value, width + 1);
    if line.len() <= width || line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

/// At most `max_chars` characters of a text on one line, with control characters as escapes.
fn shown_text(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.len() <= max_chars && text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return text.into();
    }
    let mut line = String::new();
    for c in text.chars().take(max_chars) {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    escaped(&line).into_owned().into()
}
