//! Conflicts: the flags that resolve them, and how the remaining ones are shown.

use std::collections::HashMap;

use crate::app::cli::{BOLD, Context, ErrorContext as _, ExitStatus, Result, bail, escaped, failure, json};
use crate::base::merge::Side;
use crate::trace::change::merge::json::conflict_to_json;
use crate::trace::change::merge::three_way::Conflict;
use crate::trace::change::merge::{Settlement, Strategy};
use crate::trace::model::trailers::preview;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total::read_item;
use crate::trace::{Tip, TraceName};

#[derive(clap::Args, Debug)]
pub(crate) struct ConflictArgs {
    /// Version to use if both sides changed the same lines of an item
    #[arg(long, value_name = "STRATEGY", value_parser = ["ours", "theirs", "newest"])]
    pub(crate) strategy: Option<String>,
    /// Version to use for one item, as ITEM=ours or ITEM=theirs
    #[arg(long, value_name = "ITEM=SIDE")]
    pub(crate) take: Vec<String>,
}

impl ConflictArgs {
    /// Reads the flags. Items can be named as in either of two tips.
    pub(crate) fn read(&self, context: &Context, name: &TraceName, tips: [&Tip; 2]) -> Result<Settlement> {
        let strategy = self.strategy.as_deref().map(str::parse::<Strategy>).transpose();
        let strategy = strategy.map_err(|error| failure!("{error}"))?;
        let mut by_item = HashMap::new();
        for word in &self.take {
            let Some((spec, side)) = word.rsplit_once('=') else {
                bail!("`--take {word}` is not ITEM=ours or ITEM=theirs");
            };
            let side = match side {
                "ours" => Side::Ours,
                "theirs" => Side::Theirs,
                _ => bail!("`--take {word}`: `{side}` is neither ours nor theirs"),
            };
            let found = tips.iter().map(|tip| Resolver::new(context.repo()?, name, tip)?.item(spec));
            let found = found.reduce(Result::or).context("there are two tips")?;
            by_item.insert(found?, side);
        }
        Ok(Settlement { strategy, by_item })
    }
}

/// Shows unresolved conflicts. Nothing was changed, so the answer is no.
pub(crate) fn print_conflicts(context: &Context, conflicts: &[Conflict], json: bool) -> Result<ExitStatus> {
    if json {
        let repo = context.repo()?;
        let listed = conflicts.iter().map(|conflict| conflict_to_json(repo, conflict));
        context.ui.json(&json!({ "conflicts": listed.collect::<Result<Vec<_>, _>>()? }))?;
        return Ok(ExitStatus::No);
    }
    for conflict in conflicts {
        let what = match (&conflict.ours, &conflict.theirs) {
            (Some(_), Some(_)) if conflict.base.is_none() => "was added on both sides with different texts",
            (Some(_), None) => "edited in ours, taken out in theirs",
            (None, Some(_)) => "taken out in ours, edited in theirs",
            _ => "edited on both sides",
        };
        let id = context.ui.id(conflict.item);
        writeln!(context.ui, "conflict in {id}: {what}")?;
        for (side, slot) in [("base", &conflict.base), ("ours", &conflict.ours), ("theirs", &conflict.theirs)] {
            if let Some(slot) = slot {
                print_version(context, side, slot)?;
            }
        }
    }
    context.ui.note(
        "Nothing was changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours` and \
         `--take ITEM=theirs`, or edit the item on one side first.",
    );
    Ok(ExitStatus::No)
}

fn print_version(context: &Context, side: &str, slot: &ItemEntry) -> Result<()> {
    let item = read_item(context.repo()?, slot)?;
    let head = context.ui.styled(BOLD, &format!("{side}, revision {}", item.revision));
    let text = String::from_utf8_lossy(&item.body);
    writeln!(context.ui, "  {head}: {}", escaped(&preview(&item)))?;
    // The preview is complete if the text is one short line.
    if text.trim_end().lines().count() > 1 || text.len() > 60 {
        writeln!(context.ui, "    complete: git show {}", context.ui.oid(slot.blob))?;
    }
    Ok(())
}
