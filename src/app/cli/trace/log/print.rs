//! A commit of a log as text.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use crate::app::cli::trace::branch::NARROW;
use crate::app::cli::trace::diff::text::{self, Style as DiffStyle};
use crate::app::cli::{BOLD, Context, DIM, ID, Result, Ui, columns, escaped};
use crate::git::{Oid, Repo, short_oid};
use crate::tokens::Counter;
use crate::trace::model::tree;
use crate::trace::query::diff::ItemDiff;
use crate::trace::query::log::{Entry, tokens};
use crate::trace::store::total::read_item;
use crate::trace::{ItemEntry, ItemId, Tip};

/// The number of items of a commit that are named.
const NAMED: usize = 3;

pub(super) struct Style {
    pub counter: Counter,
    /// One line per commit.
    pub is_short: bool,
    pub has_patch: bool,
    /// Whether items have the numbers of their revisions.
    pub has_revisions: bool,
    /// The names of traces that are shown with the commits.
    pub names: HashMap<Oid, Vec<String>>,
    pub positions: Positions,
}

/// The positions of items. A merge moves the items of one side, so what is listed below it has the positions of now.
#[derive(Default)]
pub(super) struct Positions {
    /// The newest commit; `None` if several traces are listed.
    tip: Option<Tip>,
    has_merge: Cell<bool>,
    now: OnceCell<HashMap<ItemId, u32>>,
}

impl Positions {
    pub(super) fn of(tip: Option<Tip>) -> Self {
        Self { tip, ..Self::default() }
    }

    pub(super) fn see(&self, entry: &Entry) {
        self.has_merge.set(self.has_merge.get() || entry.tip.commit.parents.len() > 1);
    }

    /// The position of an item with a space behind it; empty if the item was removed and the position may be that of another.
    fn of_item(&self, repo: &Repo, slot: &ItemEntry) -> Result<String> {
        let Some(tip) = self.tip.as_ref().filter(|_| self.has_merge.get()) else {
            return Ok(format!("#{} ", slot.seq));
        };
        if self.now.get().is_none() {
            let slots = tree::list(repo, tip.commit.tree)?;
            let _ = self.now.set(slots.into_iter().map(|slot| (slot.id, slot.seq)).collect());
        }
        let now = self.now.get().and_then(|now| now.get(&slot.id));
        Ok(now.map(|seq| format!("#{seq} ")).unwrap_or_default())
    }
}

/// Prints a commit, to the right of `indent` columns.
pub(super) fn print(context: &Context, style: &Style, entry: &Entry, indent: usize) -> Result<()> {
    style.positions.see(entry);
    if style.is_short {
        one_line(context, style, entry, indent)?;
    } else {
        long(context, style, entry, indent)?;
    }
    if !style.has_patch {
        return Ok(());
    }
    for change in &entry.touched {
        if !style.is_short {
            writeln!(context.ui)?;
        }
        text::item(context, &ItemDiff::of_change(change), DiffStyle { context: 3, words: false })?;
    }
    Ok(())
}

fn one_line(context: &Context, style: &Style, entry: &Entry, indent: usize) -> Result<()> {
    let (ui, oid) = (&context.ui, entry.tip.commit.oid);
    let items = names(context, style, entry, |position, _, short, _| format!("{position}{short}"))?;
    let is_narrow = ui.width().is_some_and(|width| width < NARROW);
    let tokens = if items.is_empty() || is_narrow {
        String::new()
    } else {
        format!("({} tokens)", tokens(context.repo()?, entry, style.counter)?)
    };
    let traces = traces(ui, style, oid);
    let parts: Vec<&str> = [&*items, &*tokens].into_iter().filter(|part| !part.is_empty()).collect();
    let items = parts.join(" ");
    let mut line = ui.oid(oid);
    let mut used = indent + columns(&short_oid(oid)) + 1;
    for (part, styled) in [(&traces, ui.styled(ID, &traces)), (&items, ui.styled(DIM, &items))] {
        if !part.is_empty() {
            line.extend([" ", &styled]);
            used += columns(part) + 1;
        }
    }
    writeln!(ui, "{line} {}", ui.fit(used, entry.tip.commit.subject()))
}

fn long(context: &Context, style: &Style, entry: &Entry, indent: usize) -> Result<()> {
    let (ui, tip) = (&context.ui, &entry.tip);
    let items = names(context, style, entry, |position, item_type, _, id| format!("{position}{item_type} {id}"))?;
    let op = tip.trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    let heading = format!("{} {}", ui.styled(BOLD, op), ui.styled(ID, &items));
    let author = escaped(&tip.commit.author);
    let oid = ui.styled(DIM, &tip.commit.oid.to_string());
    let traces = traces(ui, style, tip.commit.oid);
    let traces = if traces.is_empty() { traces } else { format!(" {}", ui.styled(ID, &traces)) };
    writeln!(ui, "{heading}\nCommit: {oid}{traces}\nAuthor: {author}\nDate:   {}", tip.time())?;
    if let Some(reason) = &tip.trailers.reason {
        writeln!(ui, "Reason: {}", escaped(reason))?;
    }
    for setting in &entry.settings {
        let reason = setting.reason.as_deref().unwrap_or_default();
        writeln!(ui, "Priority: {} since {}: {}", setting.level, setting.at, escaped(reason))?;
    }
    writeln!(ui, "\n    {}", ui.fit(indent + 4, tip.commit.subject()))
}

/// The names of the traces at a commit, in parentheses.
fn traces(ui: &Ui, style: &Style, oid: Oid) -> String {
    let names = style.names.get(&oid).map(|names| names.iter().map(|name| ui.fit_name(name)).collect::<Vec<_>>());
    names.map(|names| format!("({})", names.join(", "))).unwrap_or_default()
}

/// The first items that a commit changed.
fn names(
    context: &Context,
    style: &Style,
    entry: &Entry,
    name: impl Fn(&str, &str, &str, &str) -> String,
) -> Result<String> {
    let mut listed = Vec::new();
    for change in entry.touched.iter().take(NAMED) {
        let slot = change.entry();
        let position = style.positions.of_item(context.repo()?, slot)?;
        let mut named = name(&position, slot.item_type.as_str(), &slot.id.short(), &slot.id.to_string());
        if style.has_revisions {
            named = format!("{named} revision {}", read_item(context.repo()?, slot)?.revision);
        }
        listed.push(named);
    }
    let more = entry.touched.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Ok(listed.join(", ") + &more)
}
