//! `git trace breadcrumb`: facts that outlive a session, from the command line.

mod change;
mod delete;
mod exchange;
mod history;
mod list;
mod namespaces;
mod resolve;

use crate::base::error::Result;
use std::path::{Path, PathBuf};

use super::ExitStatus;
use crate::app::context::Context;
use crate::app::ui::{Ui, escaped};
use crate::git::Git;
use crate::memory::breadcrumb::store::SkippedLine;
use crate::memory::breadcrumb::{Record, Store, StoreFile, Writer};
use crate::trace::Time;

/// Store facts that outlive a session: a key, a value, and when it was learned
///
/// They are stored in `.synapse/breadcrumbs.jsonl`, one JSON object per line, which you commit with the code. Keys in the
/// namespace `secret` are stored in `.synapse/breadcrumbs-secret.jsonl`, which git must ignore.
#[derive(clap::Args, Debug)]
pub(crate) struct BreadcrumbArgs {
    #[command(subcommand)]
    command: BreadcrumbCommand,
}

commands! {
    BreadcrumbCommand(&Place<'_>) {
        Set(change::SetArgs),
        Get(list::GetArgs),
        List(list::ListArgs),
        Delete(delete::DeleteArgs),
        Rename(change::RenameArgs),
        Import(exchange::ImportArgs),
        Export(exchange::ExportArgs),
        Namespaces(namespaces::NamespacesArgs),
        History(history::HistoryArgs),
        Prune(delete::PruneArgs),
        Resolve(resolve::ResolveArgs),
    }
}

impl BreadcrumbArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let root = context.root()?;
        let (store, git) = (context.breadcrumbs(&root)?, context.git()?);
        self.command.run(&Place { ui: &context.ui, store, root, git })
    }
}

/// What a breadcrumb command works with.
struct Place<'c> {
    ui: &'c Ui,
    store: Store,
    /// Root of the working tree.
    root: PathBuf,
    git: Git,
}

impl Place<'_> {
    #[expect(clippy::unused_self, reason = "commands reach the clock through their place only")]
    fn now(&self) -> Time {
        Time::now()
    }

    /// Calls `write` with a writer of the store.
    fn write<T>(&self, write: impl FnOnce(&Writer<'_>) -> Result<T>) -> Result<T> {
        // If git cannot tell, the path is not ignored.
        let is_ignored = |path: &Path| self.git.is_ignored(path).unwrap_or(false);
        write(&Writer::new(&self.store, &is_ignored))
    }

    /// The path of a store file, relative to the root of the working tree.
    fn shown(&self, file: StoreFile) -> String {
        let path = self.store.path(file);
        path.strip_prefix(&self.root).unwrap_or(&path).display().to_string()
    }

    /// Warns about lines that could not be read.
    fn warn_skipped_lines(&self, skipped_lines: &[SkippedLine]) {
        for SkippedLine { file, invalid } in skipped_lines {
            let (file, line) = (self.shown(*file), invalid.line);
            self.ui.note(format!("warning: {file}:{line}: skipped: {}", invalid.reason));
        }
    }
}

/// A value on one line of at most `width` characters. The value of a secret is not shown.
fn shown_value(record: &Record<'_>, width: usize) -> String {
    if StoreFile::of_key(&record.key) == StoreFile::Secret {
        return "(secret)".to_owned();
    }
    let line = shown_text(&record.value, width + 1);
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

/// At most so many characters of a text on one line, with control characters as escapes.
fn shown_text(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    for c in text.chars().take(max_chars) {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    escaped(&line).into_owned()
}
