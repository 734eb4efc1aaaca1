//! `git trace show`: the content of items.

use std::collections::HashMap;

use crate::app::cli::flags::NulArgs;
use crate::app::cli::flags::items::ItemsArgs;
use crate::app::cli::{BOLD, Context, DIM, Result, bail, escaped, minute};
use crate::git::short_oid;
use crate::tokens::TokenUsage;
use crate::trace::model::tree;
use crate::trace::query::diff::revisions::Revision;
use crate::trace::query::select::Among;
use crate::trace::query::show::{self, Shown, read, to_json};
use crate::trace::store::resolve::Resolver;
use crate::trace::{ItemEntry, ItemId, Tip, TraceError, TraceName};

/// Print the content of items unchanged
///
/// On a terminal, and if there are several items, lines that describe each item and its last change come first. On a terminal,
/// control characters are shown as escapes. Through a pipe, a single item is its content and nothing else, as `git show` prints a blob,
/// so `git trace show ITEM > FILE` writes the exact bytes. A deleted item is shown too. Of a commit, the items that it changed are shown as they were
/// then. Without an item, shows the last one of the trace.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    items: ItemsArgs,
    /// Revision to show, of one item [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Print the entire item file: header, empty line, content
    #[arg(long, conflicts_with = "json")]
    header: bool,
    /// Print everything known about each item as JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl ShowArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let (repo, name, tip) = context.current(None)?;
        let live = tree::list(repo, tip.commit.tree)?;
        let ids = if self.items.names.is_empty() && self.items.filter.read(context)?.is_empty() {
            let last = live.last().map(|slot| slot.id);
            vec![last.ok_or_else(|| TraceError::NothingSelected { trace: name.clone() })?]
        } else {
            self.items.select(context, &name, &tip, Among::LiveOrNamed)?
        };
        if self.revision.is_some() && ids.len() > 1 {
            bail!("--revision belongs to one item, and {} were named", ids.len());
        }
        let commits = self.commits(context, &name, &tip)?;
        let of_commit = |id: &ItemId| commits.iter().find_map(|(commit, slots)| Some((commit, slots.get(id)?)));
        let is_exact = context.ui.ends_with_nul();
        let has_caption = !is_exact && (ids.len() > 1 || (context.ui.is_terminal() && !self.header));
        let mut histories = HashMap::new();
        if has_caption || self.json {
            let of_now: Vec<ItemId> = ids.iter().filter(|id| of_commit(id).is_none()).copied().collect();
            histories = show::histories(repo, &tip, &of_now)?;
            for (commit, slots) in &commits {
                histories.extend(show::histories(repo, commit, &slots.keys().copied().collect::<Vec<_>>())?);
            }
        }
        ids.iter().enumerate().try_for_each(|(number, id)| {
            let shown = match of_commit(id).filter(|_| self.revision.is_none()) {
                Some((_, slot)) => Shown::of(repo, slot, live.iter().any(|slot| slot.id == *id))?,
                None => read(repo, &name, &tip, *id, self.revision)?,
            };
            let history = histories.get(id).map_or(&[][..], Vec::as_slice);
            if self.json {
                return context.ui.json(&to_json(repo, &shown, history, context.counter()?)?);
            }
            let gap = if number > 0 { "\n" } else { "" };
            if has_caption {
                writeln!(context.ui, "{gap}{}{}\n", caption(context, &shown)?, last_change(context, history))?;
            }
            let bytes = if self.header { repo.read_blob(shown.slot.blob)? } else { shown.item.body };
            if is_exact {
                return context.ui.write_raw(&[&*bytes, b"\0"].concat());
            }
            context.ui.write_content(&bytes)?;
            // Only the content of a single item is exact.
            let is_exact = ids.len() == 1 && (self.header || !context.ui.is_terminal());
            if is_exact || bytes.ends_with(b"\n") { Ok(()) } else { writeln!(context.ui) }
        })
    }

    /// The commits that are named, with the items that they changed.
    fn commits(
        &self,
        context: &Context,
        name: &TraceName,
        tip: &Tip,
    ) -> Result<Vec<(Tip, HashMap<ItemId, ItemEntry>)>> {
        let repo = context.repo()?;
        let resolver = Resolver::new(repo, name, tip)?;
        let mut commits = Vec::new();
        for spec in &self.items.names {
            if let Some(commit) = resolver.commit(spec)? {
                let slots = show::of_commit(repo, &commit)?;
                commits.push((commit, slots));
            }
        }
        Ok(commits)
    }
}

/// The last change of an item as a line: what was done, the commit, who made it, when, and the reason.
fn last_change(context: &Context, history: &[Revision]) -> String {
    let Some(Revision { tip, item }) = history.first() else { return String::new() };
    let op = tip.trailers.op.filter(|_| tip.is_ours()).map_or_else(|| item.changes().join(", "), |op| op.to_string());
    let reason = tip.trailers.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let author = tip.commit.author.split(" <").next().unwrap_or_default();
    let line = format!("{op} {} by {author}, {}{reason}", short_oid(tip.commit.oid), minute(tip.time()));
    let changes = if history.len() > 1 { format!(" ({} changes)", history.len()) } else { String::new() };
    format!("\n{}", context.ui.styled(DIM, &(escaped(&line).into_owned() + &changes)))
}

pub(crate) fn caption(context: &Context, shown: &Shown) -> Result<String> {
    let Shown { slot, item, is_live } = shown;
    let fields = &item.fields;
    let mut line = context.ui.styled(BOLD, &format!("#{} {}", slot.seq, fields.item_type));
    let words =
        [fields.direction.map(|word| word.to_string()), fields.role.map(|word| word.to_string()), fields.name.clone()];
    for word in words.into_iter().flatten() {
        line.push(' ');
        line.push_str(&escaped(&word));
    }
    let mut details = format!(" revision {}", item.revision);
    details = format!("{details}, {} tokens", item.token_count(context.counter()?));
    if let Some(usage) = item.reported_usage() {
        let TokenUsage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = usage;
        details = format!(
            "{details}, {} reported ({input_tokens} input, {cache_read_tokens} read from and {cache_write_tokens} written to the \
             cache, {output_tokens} output)",
            usage.context_tokens()
        );
    }
    if !is_live {
        details.push_str(", not in this trace any more");
    }
    line.push_str(&context.ui.styled(DIM, &details));
    line.push(' ');
    line.push_str(&context.ui.id(item.id));
    Ok(line)
}
