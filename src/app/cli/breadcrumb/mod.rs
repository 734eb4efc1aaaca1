//! `git trace breadcrumb`: facts that outlive a session, from the command line.

mod change;
mod delete;
mod exchange;
mod history;
mod list;
mod namespaces;
mod resolve;

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::ExitStatus;
use super::ui::Ui;
use crate::base::error::{Context as _, Result};
use crate::git::{Env, Git, worktree_root};
use crate::memory::breadcrumb::store::SkippedLine;
use crate::memory::breadcrumb::{Record, Store, StoreFile};
use crate::trace::Time;

/// Keep facts that outlive a session: a key, a value, and when it was learnt
///
/// They are kept in `.synapse/breadcrumbs.jsonl`, one JSON object a line, to be committed with the code. Keys in the
/// namespace `secret` are kept in `.synapse/breadcrumbs-secret.jsonl`, which git must ignore.
#[derive(clap::Args, Debug)]
pub(crate) struct BreadcrumbArgs {
    #[command(subcommand)]
    command: BreadcrumbCommand,
}

#[derive(Subcommand, Debug)]
enum BreadcrumbCommand {
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

/// What a breadcrumb command works with.
struct Place<'u> {
    ui: &'u mut Ui,
    store: Store,
    /// Root of the working tree.
    root: PathBuf,
    git: Git,
}

impl Place<'_> {
    /// The clock, read now.
    #[expect(clippy::unused_self, reason = "commands reach the clock through their place only")]
    fn now(&self) -> Time {
        Time::now()
    }

    /// What tells whether git ignores a path; where it cannot tell, it does not.
    fn is_ignored(&self) -> impl Fn(&Path) -> bool + use<> {
        let git = self.git.clone();
        move |path| git.is_ignored(path).unwrap_or(false)
    }

    /// A file as people know it: relative to the root of the working tree.
    fn shown(&self, half: StoreFile) -> String {
        let path = self.store.path(half);
        path.strip_prefix(&self.root).unwrap_or(&path).display().to_string()
    }

    /// Says which lines were passed over in reading.
    fn warn_skipped_lines(&self, skipped_lines: &[SkippedLine]) {
        for SkippedLine { half, unreadable } in skipped_lines {
            let (file, line) = (self.shown(*half), unreadable.line);
            self.ui.note(&format!("warning: {file}:{line}: passed over: {}", unreadable.reason));
        }
    }

    /// Writes a value as JSON on many lines.
    fn write_pretty(&mut self, value: &impl serde::Serialize) -> Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        Ok(self.ui.write_content(text.as_bytes())?)
    }
}

pub(crate) fn run(args: &BreadcrumbArgs, env: Env, ui: &mut Ui) -> Result<ExitStatus> {
    let folder = std::env::current_dir().context("cannot tell which folder this is")?;
    let root = worktree_root(&folder, env)?;
    let root = root.canonicalize().unwrap_or(root);
    let store = Store::find(&folder, &root);
    let mut place = Place { ui, store, root, git: Git::in_folder(folder) };
    match &args.command {
        BreadcrumbCommand::Set(args) => change::run_set(&mut place, args),
        BreadcrumbCommand::Get(args) => list::run_get(&mut place, args),
        BreadcrumbCommand::List(args) => list::run(&mut place, args),
        BreadcrumbCommand::Delete(args) => delete::run(&mut place, args),
        BreadcrumbCommand::Rename(args) => change::run_rename(&mut place, args),
        BreadcrumbCommand::Import(args) => exchange::run_import(&mut place, args),
        BreadcrumbCommand::Export(args) => exchange::run_export(&mut place, args),
        BreadcrumbCommand::Namespaces(args) => namespaces::run(&mut place, args),
        BreadcrumbCommand::History(args) => history::run(&mut place, args),
        BreadcrumbCommand::Prune(args) => delete::run_prune(&mut place, args),
        BreadcrumbCommand::Resolve(args) => resolve::run(&mut place, args),
    }
}

/// A value on one line, cut to `width` characters; that of a secret is not shown.
fn brief_value(record: &Record<'_>, width: usize) -> String {
    if StoreFile::of_key(&record.key) == StoreFile::Secret {
        return "(secret)".to_owned();
    }
    let line = one_line(&record.value, width + 1);
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

/// A text on one line, at most so many characters of it, with control characters as escapes.
fn one_line(text: &str, max_chars: usize) -> String {
    let visible = text.chars().take(max_chars).flat_map(|c| {
        let escape = c.is_control().then(|| c.escape_default());
        let plain = escape.is_none().then_some(c);
        escape.into_iter().flatten().chain(plain)
    });
    let line: String = visible.collect();
    super::ui::escaped(&line).into_owned()
}

/// Minute of a time as written, in UTC; `?` where it cannot be read, `-` where there is none.
fn minute(text: Option<&str>, time: Option<Time>) -> String {
    match (text, time.map(|time| time.to_string())) {
        (_, Some(time)) if time.len() >= 16 => time[..16].replace('T', " "),
        (None, _) => "-".to_owned(),
        _ => "?".to_owned(),
    }
}

/// Writes rows in columns two spaces apart.
fn write_table(ui: &mut Ui, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<_> =
        (0..columns).map(|n| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(ui.out(), "{}", line.trim_end())?;
    }
    Ok(())
}
