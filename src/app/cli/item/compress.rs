//! `git trace compress` and `git trace expand`: many items become one summary, and come back.

use crate::app::cli::flags::content::ContentOptions;
use crate::app::cli::flags::items::{ItemsArgs, ReasonArgs};
use crate::app::cli::trace::pick;
use serde_json::Value;

use crate::app::cli::{Context, ExitStatus, Result, Values, bail, escaped, json};
use crate::clean::{Choice, Parameters, Plan, Session};
use crate::tokens::framing::message_cost;
use crate::tokens::{DEFAULT_MARGIN, Grouping, MAX_MARGIN};
use crate::trace::Draft;
use crate::trace::change::compress::{
    self, Compressed, Extent, Limit, Material, Scope, Selection, Summary, prompt, select,
};
use crate::trace::model::trailers::preview;
use crate::trace::query::select::{self as items, Among};
use crate::trace::store::tombstone::note_purges;
use crate::trace::{TraceName, View};

/// Replace several items with one summary
///
/// Without items, all that match the filters are replaced; without filters, the entire trace.
///
/// Pinned and skipped items stay, and a tool call is replaced only together with its results. Give the summary with -m, -F or
/// stdin (`-`), or set `trace.compressor` to a command that reads the prompt and prints the summary. Without any, the summary
/// counts the tool calls and lists the subjects of the other items. `git trace expand` restores the items.
#[derive(clap::Args, Debug)]
pub(crate) struct CompressArgs {
    #[command(flatten)]
    items: ItemsArgs,
    /// Compress all but this number of the last items
    #[arg(long, value_name = "COUNT", conflicts_with = "to")]
    keep: Option<usize>,
    /// Compress the oldest items that compress best, until the trace has at most this number of tokens
    #[arg(long, value_name = "TOKENS")]
    to: Option<u64>,
    /// With --to: percent of TOKENS to leave free, if the pinned items allow it
    #[arg(long, value_name = "PERCENT", default_value_t = DEFAULT_MARGIN, requires = "to", value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_MARGIN)))]
    margin: u8,
    /// With --to: `type` starts with the types that compress best, oldest items first; `task` replaces all items of a task
    /// together, the task that was active least recently first
    #[arg(long, value_name = "UNIT", default_value_t, requires = "to", add = Values::OneOf(Grouping::VALUES))]
    group: Grouping,
    /// With --to: first cut what these presets and bundles of `git trace clean` select, in place. A summary is made only if that is
    /// not enough
    #[arg(long, value_name = "P,…", value_delimiter = ',', requires = "to", conflicts_with_all = ["print_prompt", "dry_run"], add = Values::OneOf(&Choice::NAMES))]
    preset: Vec<Choice>,
    #[command(flatten)]
    content: ContentOptions,
    /// Print the prompt for the summary, and change nothing
    #[arg(long)]
    print_prompt: bool,
    /// Print what would be replaced, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// First line of the commit message
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,
    /// Reason
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Restore the items that a summary replaced
///
/// `git trace restore` brings back items that were deleted.
#[derive(clap::Args, Debug)]
pub(crate) struct ExpandArgs {
    /// Summary item
    #[arg(add = Values::Items)]
    item: String,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CompressArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let name = context.trace_name(None)?;
        // `-` is no item but stdin.
        let (names, from_stdin) = match self.items.names.as_slice() {
            [only] if only == "-" => (&[][..], true),
            [names @ .., last] if last == "-" => (names, true),
            names => (names, false),
        };
        if !names.is_empty() && (self.keep.is_some() || self.to.is_some()) {
            bail!("--keep and --to choose items themselves, so none can be named");
        }
        if from_stdin && self.content.is_given() {
            bail!("`-` reads the summary from stdin, so -m and -F cannot be given");
        }
        let is_preview = self.print_prompt || self.dry_run;
        note_purges(context.repo()?)?;
        let body = if is_preview { None } else { self.content.read(from_stdin)? };
        let writes = body.is_none() && !is_preview;
        let _lock = writes.then(|| context.repo()?.lock_compression(&name.refname())).transpose()?;
        let (repo, name, mut view) = context.view(Some(&name), None)?;
        let counter = context.counter()?;
        let filter = self.items.filter.read(context)?;
        let is_all = names.is_empty() && filter.is_empty();
        if !is_all && !self.preset.is_empty() {
            bail!("--preset selects in the entire trace, so no filter can be given");
        }
        let only = (!is_all).then(|| items::select(repo, &name, &view.tip, names, &filter, Among::Live)).transpose()?;
        let scope = Scope {
            extent: self.keep.map_or(Extent::All, Extent::AllButLast),
            only: only.as_deref(),
            limit: self.to.map(|max| Limit::new(max, self.margin)),
            grouping: self.group,
            summary: body.as_ref().map(|body| message_cost(counter.count(body), false)),
            spared: None,
        };
        let cut = self.cut(context, &name, &view, &scope)?;
        if cut.is_some() {
            view = View::open(repo, &name, None)?;
        }
        let selection = select(repo, &name, &view, counter, &scope)?;
        if let Some(max) = self.to.filter(|max| selection.total <= *max) {
            match cut.filter(|_| self.json) {
                Some(cut) => context.ui.json(&json!({ "trace": name.as_str(), "items": 0, "cut": cut }))?,
                None => {
                    context.ui.note(format!("Nothing to compress: the trace has {} of {max} tokens", selection.total));
                }
            }
            return Ok(ExitStatus::Success);
        }
        if selection.items.is_empty() {
            context.ui.note("Nothing to compress: these items are pinned or skipped, or belong to a call that is");
            return Ok(ExitStatus::No);
        }
        if self.print_prompt {
            let material = Material::read(repo, view.types(), &selection, counter)?;
            context.ui.write_content(prompt(&material, selection.summary))?;
            return Ok(ExitStatus::Success);
        }
        if self.dry_run {
            return print_plan(context, &name, &selection, self.json).map(ExitStatus::from);
        }
        let body = match body {
            Some(body) => body,
            None => {
                let Summary { text, notice } = compress::write(repo, view.types(), &selection, counter)?;
                if let Some(notice) = notice {
                    context.ui.note(&notice);
                }
                text
            }
        };
        let summary = Draft::dialogue(body);
        let (subject, reason) = (self.subject.as_deref(), self.reason.as_deref());
        let warn = |warning: &str| context.ui.note(warning);
        let done = context.open(&name)?.with_warnings(&warn).compress(&selection, summary, subject, reason)?;
        if self.json {
            let mut report = compress::to_json(&name, &selection, &done);
            if let Some(cut) = cut {
                report["cut"] = cut;
            }
            return context.ui.json(&report).map(ExitStatus::from);
        }
        print_done(context, &name, &selection, &done).map(ExitStatus::from)
    }

    /// Cuts what the presets select, if the trace is too large, and says so. If no summary could do the rest, nothing is cut.
    fn cut(&self, context: &Context, name: &TraceName, view: &View, scope: &Scope<'_>) -> Result<Option<Value>> {
        let (repo, counter, ui) = (context.repo()?, context.counter()?, &context.ui);
        let total = view.total(repo, counter)?.tokens;
        let Some(limit) = scope.limit.filter(|limit| !self.preset.is_empty() && total > limit.max) else {
            return Ok(None);
        };
        let plan = Plan::new(Session::read(repo, view, counter)?, Parameters::new(&self.preset, None));
        if total.saturating_sub(plan.saved()) > limit.max {
            select(repo, name, view, counter, scope)?;
        }
        let Some(done) = plan.apply(&context.open(name)?, None)? else { return Ok(None) };
        let (items, before, after) = (plan.changed().count(), plan.before, plan.after());
        if !self.json {
            let commit = ui.oid(done.commit);
            writeln!(ui, "[{name}] {commit} cut {items} items: {before} → {after} tokens")?;
            writeln!(ui, "  `git trace revert {commit}` restores them")?;
        }
        Ok(Some(json!({ "commit": done.commit.to_string(), "items": items, "before": before, "after": after })))
    }
}

fn print_plan(context: &Context, name: &TraceName, selection: &Selection, json: bool) -> Result<()> {
    let Selection { cost, total, summary, .. } = selection;
    let ids: Vec<String> = selection.items.iter().map(|slot| slot.id.to_string()).collect();
    if json {
        let tokens = json!({ "before": total, "selected": cost, "summary": summary.max });
        return context.ui.json(&json!({ "trace": name.as_str(), "items": ids, "tokens": tokens }));
    }
    let (count, max) = (ids.len(), summary.max);
    writeln!(context.ui, "Would replace {count} items, {cost} of {total} tokens, by a summary of at most {max}:")?;
    for slot in &selection.items {
        writeln!(context.ui, "  #{} {} {}", slot.seq, slot.item_type, context.ui.id(slot.id))?;
    }
    Ok(())
}

fn print_done(context: &Context, name: &TraceName, selection: &Selection, done: &Compressed) -> Result<()> {
    let (items, before) = (selection.items.len(), selection.total);
    let (after, Compressed { summary, seq, .. }) = (done.after(before), done);
    let id = context.ui.id(summary.id);
    let out = &context.ui;
    writeln!(out, "[{name} #{seq}] {items} items became one: {} {id}", escaped(&preview(summary)))?;
    writeln!(
        out,
        "  {before} → {after} tokens; `git trace undo` reverses this now, `git trace expand {}` at any time",
        summary.id
    )?;
    Ok(())
}

impl ExpandArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let (repo, name, view) = context.view(None, None)?;
        let summary = items::select_one(repo, &name, &view.tip, &self.item)?;
        let outcome = context.open(&name)?.expand(summary, self.reason.get(context)?.as_deref())?;
        pick::print(context, &name, (&outcome, None), "nothing to restore: every item is live", self.json)
    }
}
