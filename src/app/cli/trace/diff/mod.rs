//! `git trace diff`: what differs between two states, by item.

mod cache;
pub(crate) mod text;

use crate::app::cli::flags::NulArgs;
use crate::app::cli::{BOLD, Context, DIM, ExitStatus, Result, Values, bail, escaped};
use crate::trace::query::diff::json::{diff_to_json, revision_to_json};
use crate::trace::query::diff::markdown::markdown;
use crate::trace::query::diff::revisions::{Revision, revisions};
use crate::trace::query::diff::{Diff, Target, between, target};
use crate::trace::store::resolve::State;
use crate::trace::{ItemId, Tip, TraceName};
use text::Style;

/// Show the differences between two states, by item
///
/// Without an argument, shows what the last commit changed, and priorities set since. With one, compares that state with now.
/// `A..B` and `A B` compare A with B, `A...B` their common ancestor with B. A state is a trace (or `origin/main`), a commit,
/// an item (the commit that last changed it), a turn (@3, as it ended) or a time, such as `yesterday`. A single item shows its
/// revisions.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct DiffArgs {
    /// States to compare, or an item
    #[arg(value_name = "STATE", num_args = 0..=2, add = Values::States)]
    states: Vec<String>,
    /// Lines of context
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context: usize,
    /// Mark words as [-removed-] and {+added+} instead of with colors
    #[arg(long)]
    word_diff: bool,
    /// Print one line per item, with the number of added and removed lines
    #[arg(long, conflicts_with_all = ["name_only", "json", "markdown"])]
    stat: bool,
    /// Print only item ids
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    name_only: bool,
    /// Print JSON with both versions of each item
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
    /// Print Markdown for a pull request comment
    #[arg(long)]
    markdown: bool,
    /// Show how much of the request's beginning is equal, and what the change costs with the provider's prompt cache
    #[arg(long, conflicts_with_all = ["stat", "name_only", "markdown", "word_diff"])]
    cache: bool,
    /// Exit with status 1 if there is a difference
    #[arg(long)]
    exit_code: bool,
    /// Print nothing, and exit with status 1 if there is a difference
    #[arg(long)]
    quiet: bool,
}

impl DiffArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.nul.apply(context);
        if self.quiet {
            context.ui.silence();
        }
        let (repo, name) = (context.repo()?, context.trace_name(None)?);
        let differs = match target(repo, &name, || State::of_trace(repo, &name), &self.states)? {
            Target::States(states) => {
                let (before, after) = *states;
                if self.cache {
                    return cache::show(context, before, after, self.json).map(|differs| self.status(differs));
                }
                let diff = between(repo, before, after, context.counter()?)?;
                show(context, self, &diff)?;
                !diff.items.is_empty()
            }
            Target::Item(id) => show_revisions(context, self, &name, id)?,
        };
        Ok(self.status(differs))
    }

    fn status(&self, differs: bool) -> ExitStatus {
        ExitStatus::of(!differs || !(self.exit_code || self.quiet))
    }
}

fn show(context: &Context, args: &DiffArgs, diff: &Diff) -> Result<()> {
    if args.json {
        return context.ui.json(&diff_to_json(context.repo()?, diff)?);
    }
    if args.markdown {
        return context.ui.write_content(&markdown(context.repo()?, diff, args.context)?);
    }
    if diff.items.is_empty() {
        return Ok(());
    }
    if args.name_only {
        let mut entries = diff.items.iter().filter_map(|item| item.entry());
        return entries.try_for_each(|slot| writeln!(context.ui, "{}", slot.id));
    }
    let summary = context.ui.styled(BOLD, &diff.summary());
    if args.stat {
        diff.items.iter().try_for_each(|item| text::stat(context, item))?;
        return if context.ui.ends_with_nul() { Ok(()) } else { writeln!(context.ui, "{summary}") };
    }
    if !context.ui.ends_with_nul() {
        writeln!(context.ui, "{summary}")?;
    }
    let style = Style { context: args.context, words: args.word_diff };
    for item in &diff.items {
        if !context.ui.ends_with_nul() {
            writeln!(context.ui)?;
        }
        context.ui.entry(|| text::item(context, item, style))?;
    }
    Ok(())
}

/// Shows the revisions of an item, newest first; whether it has more than one.
fn show_revisions(context: &Context, args: &DiffArgs, name: &TraceName, id: ItemId) -> Result<bool> {
    let tip = Tip::of_trace(context.repo()?, name)?;
    let revisions = revisions(context.repo()?, &tip, id)?;
    if args.cache {
        bail!("--cache compares two states: an item's revisions are not requests");
    }
    if args.markdown {
        bail!("--markdown is for two states: an item's revisions are shown as text or JSON");
    }
    for (number, revision) in revisions.iter().enumerate() {
        if args.json {
            context.ui.json(&revision_to_json(context.repo()?, revision)?)?;
            continue;
        }
        let Revision { tip, item } = revision;
        if args.name_only {
            writeln!(context.ui, "{}", tip.commit.oid)?;
            continue;
        }
        if number > 0 && !args.stat && !context.ui.ends_with_nul() {
            writeln!(context.ui)?;
        }
        context.ui.entry(|| {
            let oid = context.ui.id(tip.commit.oid);
            let by = context.ui.styled(DIM, &escaped(&format!("{}, {}", tip.time(), tip.commit.author)));
            writeln!(context.ui, "commit {oid} {by}")?;
            if args.stat {
                text::stat(context, item)
            } else {
                text::item(context, item, Style { context: args.context, words: args.word_diff })
            }
        })?;
    }
    Ok(revisions.len() > 1)
}
