//! `git trace status`: the trace at a glance.

use std::collections::BTreeMap;

use crate::app::cli::{BOLD, Context, DIM, ID, Result, columns, escaped};
use crate::git::short_oid;
use crate::tokens::Counter;
use crate::trace::model::item::ItemType;
use crate::trace::model::level::Level;
use crate::trace::query::size::{ContextSize, Report};
use crate::trace::query::status::{nothing_yet_json, to_json};
use crate::trace::store::total::item_cost;
use crate::trace::store::view::View;
use crate::trace::store::{archived, settings};
use crate::trace::{Tip, TraceName};
use crate::transcript::title::title;

/// Columns of a full bar, on a terminal of unknown width.
const BAR: usize = 30;

/// Columns of the longest bar.
const LONGEST_BAR: usize = 60;

/// Show the contents and the size of a trace
///
/// On a terminal, bars show the share of each type and priority, and how much of the budget is used.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Trace to show [default: the current trace]
    name: Option<TraceName>,
    /// Size of the model's context window in tokens [default: `trace.window`, or that of the session's model]
    #[arg(long, value_name = "N")]
    window: Option<u64>,
    /// Print one line: the trace, its items, and its tokens
    #[arg(short, long, conflicts_with = "json")]
    short: bool,
    // For hands that know git: the current trace is always named.
    #[arg(short, hide = true)]
    branch: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

struct Status<'a> {
    name: &'a TraceName,
    view: &'a View,
    size: ContextSize,
    counter: Counter,
    title: Option<String>,
    budget: Option<u64>,
    by_type: BTreeMap<String, Share>,
    by_level: BTreeMap<Level, Share>,
}

#[derive(Clone, Copy, Default)]
struct Share {
    items: usize,
    /// Counted only for a terminal, since it reads every item.
    tokens: u64,
}

impl StatusArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let repo = context.repo()?;
        let name = context.trace_name(self.name.as_ref())?;
        if self.name.is_none() && Tip::find(repo, &name)?.is_none() && archived::find(repo, &name)?.is_none() {
            if self.json {
                return context.ui.json(&nothing_yet_json(&name));
            }
            if self.short {
                return writeln!(context.ui, "{name}: nothing yet");
            }
            return writeln!(
                context.ui,
                "On trace {name}\n  nothing yet: `git trace import claude-code` imports a session, `git trace commit -m TEXT` adds an item"
            );
        }
        let counter = context.counter()?;
        let view = View::open(repo, &name, None)?;
        let mut status = Status {
            name: &name,
            view: &view,
            size: ContextSize::of(repo, &view, counter, self.window)?,
            counter,
            title: title(repo, &name, &view),
            budget: settings::number(repo, "trace.budget")?,
            by_type: BTreeMap::new(),
            by_level: BTreeMap::new(),
        };
        for slot in &view.slots {
            status.by_type.entry(slot.item_type.to_string()).or_default().items += 1;
            status.by_level.entry(view.level(slot).level()).or_default().items += 1;
        }
        if self.json {
            let mut json = to_json(&name, &view, &status.size, status.budget);
            if let Some(title) = status.title {
                json["title"] = title.into();
            }
            return context.ui.json(&json);
        }
        if self.short {
            let of_budget = status.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
            let (items, counted, size) = (view.slots.len(), status.size.counted, status.size.size.tokens);
            return match status.size.overhead() {
                None => writeln!(context.ui, "{name}: {items} items, {counted}{of_budget} tokens"),
                Some(_) => {
                    writeln!(context.ui, "{name}: {items} items, {counted} tokens, size: {size}{of_budget} tokens")
                }
            };
        }
        if context.ui.is_terminal() {
            add_tokens(context, &mut status, counter)?;
        }
        print(context, &status)
    }
}

fn add_tokens(context: &Context, status: &mut Status<'_>, counter: Counter) -> Result<()> {
    let view = status.view;
    let (by_type, by_level) = (&mut status.by_type, &mut status.by_level);
    view.for_each_item(context.repo()?, |slot, reading| {
        let cost = item_cost(&reading.item, counter);
        by_type.entry(slot.item_type.to_string()).or_default().tokens += cost;
        by_level.entry(view.level(slot).level()).or_default().tokens += cost;
        Ok(())
    })?;
    Ok(())
}

fn print(context: &Context, status: &Status<'_>) -> Result<()> {
    let Status { name, view, size, budget, .. } = status;
    let heading = context.ui.styled(BOLD, &format!("On trace {name}"));
    let oid = context.ui.styled(ID, &short_oid(view.tip.commit.oid));
    let counter = context.ui.styled(DIM, &format!("({})", status.counter));
    let items = view.slots.len();
    let of_budget = budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    let of_window = size.window.as_ref().zip(size.percent_text(size.size.tokens)).map(|(window, percent)| {
        let model = window.model.as_ref().map(|model| format!(" of {}", escaped(model))).unwrap_or_default();
        format!(", {percent} of the window{model}, {} tokens{}", window.tokens, size.omission())
    });
    let of_window = of_window.unwrap_or_default();
    let is_terminal = context.ui.is_terminal();
    let out = &context.ui;
    let full = out
        .width()
        .map_or(BAR, |_| out.left(columns(&row("", Share { items: 0, tokens: 0 }, 1, 0)) + 2).min(LONGEST_BAR));
    writeln!(out, "{heading}")?;
    if let Some(title) = &status.title {
        writeln!(out, "  {}", out.fit(2, title))?;
    }
    match size.overhead() {
        None => {
            out.write_wrapped(4, &format!("  {items} items, {}{of_budget} tokens {counter}{of_window}", size.counted))?;
        }
        Some(overhead) => {
            let report = size
                .report
                .as_ref()
                .map(|Report { seq, usage, .. }| format!(", {} reported with #{seq}", usage.context_tokens()));
            writeln!(out, "  {items} items, {} tokens {counter}", size.counted)?;
            out.write_wrapped(4, &format!("  size: {}{of_budget} tokens{of_window}", size.size.tokens))?;
            let report = report.unwrap_or_default();
            out.write_wrapped(4, &format!("  overhead: {overhead} tokens for system prompt and tools{report}"))?;
        }
    }
    if let Some(budget) = budget.filter(|_| is_terminal) {
        writeln!(out, "  [{:-<full$}]", bar(size.size.tokens, budget, full))?;
    }
    let used = "  last:  ".len() + columns(&short_oid(view.tip.commit.oid));
    writeln!(out, "  last: {} {oid}\n", out.fit(used, view.tip.commit.subject()))?;
    let whole = status.by_type.values().map(|share| share.tokens).max().unwrap_or(0);
    let built_in = ItemType::BUILT_IN.iter().filter_map(|word| Some((*word, *status.by_type.get(*word)?)));
    let custom = status.by_type.iter().filter(|(word, _)| !ItemType::BUILT_IN.contains(&word.as_str()));
    for (word, share) in built_in.chain(custom.map(|(word, share)| (word.as_str(), *share))) {
        writeln!(out, "  {}", row(word, share, whole, full))?;
    }
    writeln!(out)?;
    let whole = status.by_level.values().map(|share| share.tokens).max().unwrap_or(0);
    for level in [Level::Pinned, Level::Normal, Level::Skip] {
        let share = status.by_level.get(&level).copied().unwrap_or_default();
        writeln!(out, "  {}", row(level.as_str(), share, whole, full))?;
    }
    match view.disputed() {
        0 => Ok(()),
        1 => writeln!(out, "\n  1 priority was changed concurrently: `git trace priority` shows it"),
        count => writeln!(out, "\n  {count} priorities were changed concurrently: `git trace priority` shows them"),
    }
}

/// A line of the table; without tokens and bar if nothing was counted.
fn row(word: &str, share: Share, whole: u64, full: usize) -> String {
    let Share { items, tokens } = share;
    if whole == 0 {
        format!("{word:<12}{items:>7}")
    } else {
        format!("{word:<12}{items:>7}{tokens:>10}  {}", bar(tokens, whole, full))
    }
}

/// `part` of `total` as a bar of at most `full` columns, and at least one if there is anything.
fn bar(part: u64, total: u64, full: usize) -> String {
    let full = full as u64;
    let length = part.saturating_mul(full).checked_div(total).unwrap_or(0).min(full).max(u64::from(part > 0));
    "#".repeat(usize::try_from(length).unwrap_or(0))
}
