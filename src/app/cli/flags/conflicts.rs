//! Conflicts: the flags that resolve them, and how the remaining ones are shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Result, bail, escaped, failure, json};
use crate::base::bounded;
use crate::base::merge::diff3::chunks;
use crate::base::merge::{ConflictText, Markers, Side, Style};
use crate::base::worktree_path::check_regular_or_open;
use crate::git::{Oid, merge_tool};
use crate::secrets::Policy;
use crate::trace::change::merge::json::conflict_to_json;
use crate::trace::change::merge::three_way::Conflict;
use crate::trace::change::merge::{Choice, Settlement, Strategy};
use crate::trace::model::tree::ItemEntry;
use crate::trace::query::diff::lines::{Line, diff};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::secrets::SecretScanner;
use crate::trace::store::total::read_item;
use crate::trace::{ItemId, Tip, TraceName};

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ConflictArgs {
    /// Version to use if both sides changed the same lines of an item
    #[arg(long, value_name = "STRATEGY", value_parser = ["ours", "theirs", "newest"])]
    pub(crate) strategy: Option<String>,
    /// Version to use for one item, as ITEM=ours, ITEM=theirs, or ITEM=FILE for the text of a file
    #[arg(long, value_name = "ITEM=SIDE")]
    pub(crate) take: Vec<String>,
}

/// The flags as read.
pub(crate) struct Choices {
    strategy: Option<Strategy>,
    pub(crate) takes: Vec<Take>,
}

/// One `--take`.
pub(crate) struct Take {
    pub(crate) word: String,
    choice: Choice,
}

impl ConflictArgs {
    /// Reads the flags, and each file once: it may be a pipe.
    pub(crate) fn parse(&self, context: &Context) -> Result<Choices> {
        let strategy = self.strategy.as_deref().map(str::parse::<Strategy>).transpose();
        let strategy = strategy.map_err(|error| failure!("{error}"))?;
        let mut takes = Vec::new();
        for word in &self.take {
            let Some((_, side)) = word.rsplit_once('=') else {
                bail!("`--take {word}` is not ITEM=ours, ITEM=theirs, or ITEM=FILE");
            };
            let choice = match side {
                "ours" => Choice::Side(Side::Ours),
                "theirs" => Choice::Side(Side::Theirs),
                path => Choice::Text(read_text(context, path.as_ref()).with_context(|| {
                    format!("`--take {word}`: `{path}` is neither ours, nor theirs, nor a file that can be read")
                })?),
            };
            takes.push(Take { word: word.clone(), choice });
        }
        Ok(Choices { strategy, takes })
    }

    /// The decisions for two tips. Items can be named as in either of them.
    pub(crate) fn read(&self, context: &Context, name: &TraceName, tips: [&Tip; 2]) -> Result<Settlement> {
        let Choices { strategy, takes } = self.parse(context)?;
        let by_item = takes.into_iter().map(|take| Ok((take.item(context, name, tips)?, take.choice)));
        Ok(Settlement { strategy, by_item: by_item.collect::<Result<_>>()? })
    }
}

impl Choices {
    /// As [`ConflictArgs::read`], without choices for items that neither tip has.
    pub(crate) fn for_known(&self, context: &Context, name: &TraceName, tips: [&Tip; 2]) -> Settlement {
        let known = |take: &Take| Some((take.item(context, name, tips).ok()?, take.choice.clone()));
        Settlement { strategy: self.strategy, by_item: self.takes.iter().filter_map(known).collect() }
    }
}

impl Take {
    /// How the item is named.
    pub(crate) fn spec(&self) -> &str {
        self.word.rsplit_once('=').map_or(&self.word, |(spec, _)| spec)
    }

    pub(crate) fn item(&self, context: &Context, name: &TraceName, tips: [&Tip; 2]) -> Result<ItemId> {
        let found = tips.iter().map(|tip| Ok(Resolver::new(context.repo()?, name, tip)?.item(self.spec())?));
        found.reduce(Result::or).context("there are two tips")?
    }
}

/// Shows unresolved conflicts. The trace was not changed, so the answer is no.
pub(crate) fn print_conflicts(
    context: &Context,
    name: &TraceName,
    conflicts: &[Conflict],
    json: bool,
) -> Result<ExitStatus> {
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
        print_hunks(context, conflict)?;
    }
    context.ui.note(format!(
        "`{name}` was not changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours`, \
         `--take ITEM=theirs`, and `--take ITEM=FILE`, or edit the item on one side first."
    ));
    Ok(ExitStatus::No)
}

/// The file's bytes, without the secrets of a text.
fn read_text(context: &Context, path: &Path) -> Result<Vec<u8>> {
    check_regular_or_open(path)?;
    let mut text = match String::from_utf8(bounded::read_file(path)?) {
        Ok(text) => text,
        Err(error) => return Ok(error.into_bytes()),
    };
    for found in SecretScanner::new(context.repo()?, Policy::Warn).scan_texts([&mut text])? {
        context.ui.note(found.to_string());
    }
    Ok(text.into_bytes())
}

/// Resolves conflicts with `tool`, or with git's `merge.tool`. Returns nothing if one is left: then nothing is merged.
pub(crate) fn resolved(
    context: &Context,
    tool: &str,
    conflicts: &[Conflict],
) -> Result<Option<HashMap<ItemId, Choice>>> {
    let mut files = Vec::new();
    // A tool does not start before it is known that all can be resolved by one.
    for conflict in conflicts {
        let texts = bodies(context, conflict)?.map(|body| body.map(String::from_utf8).transpose());
        let [Ok(base), Ok(Some(ours)), Ok(Some(theirs))] = texts else {
            note_left(context, conflict);
            return Ok(None);
        };
        let mut merged = Vec::new();
        let mut differ = false;
        for [base, ours, theirs] in chunks(base.as_deref().unwrap_or_default(), &ours, &theirs) {
            if are_apart([base, ours, theirs]) {
                differ = true;
                let [base, ours, theirs] = [base, ours, theirs].map(|text| Cow::Borrowed(text.as_bytes()));
                Markers::default().write(&mut merged, &ConflictText { base, ours, theirs })?;
            } else {
                merged.extend(if ours == base { theirs } else { ours }.as_bytes());
            }
        }
        if !differ {
            note_left(context, conflict);
            return Ok(None);
        }
        files.push((conflict, base, [ours.into_bytes(), theirs.into_bytes(), merged]));
    }
    let folder = tempfile::Builder::new().prefix("git-trace-").tempdir()?;
    let mut choices = HashMap::new();
    for (conflict, base, [ours, theirs, merged]) in files {
        let path = |name: &str| folder.path().join(format!("{}_{name}.txt", conflict.item));
        let base_text = base.as_deref().unwrap_or_default().as_bytes();
        for (name, text) in [("BASE", base_text), ("LOCAL", &ours), ("REMOTE", &theirs), ("MERGED", &merged)] {
            fs::write(path(name), text)?;
        }
        let is_merged = merge_tool(context.repo()?, tool, base.is_some(), path)?;
        let text = read_text(context, &path("MERGED"))?;
        if !is_merged || text == merged {
            context.ui.note(format!("the conflict in {} is not resolved", context.ui.id(conflict.item)));
            if !choices.is_empty() {
                context.ui.note(format!("the other texts are kept in `{}`", folder.keep().display()));
            }
            return Ok(None);
        }
        choices.insert(conflict.item, Choice::Text(text));
    }
    Ok(Some(choices))
}

fn note_left(context: &Context, conflict: &Conflict) {
    let id = context.ui.id(conflict.item);
    context.ui.note(format!("the conflict in {id} is not between two texts: decide it with `--take` first"));
}

/// The contents in the base, in ours, and in theirs.
fn bodies(context: &Context, conflict: &Conflict) -> Result<[Option<Vec<u8>>; 3]> {
    let body = |slot: &Option<ItemEntry>| -> Result<Option<Vec<u8>>> {
        Ok(slot.as_ref().map(|slot| read_item(context.repo()?, slot)).transpose()?.map(|item| item.body))
    };
    Ok([body(&conflict.base)?, body(&conflict.ours)?, body(&conflict.theirs)?])
}

/// Whether the versions of a part conflict.
fn are_apart([base, ours, theirs]: [&str; 3]) -> bool {
    ours != theirs && ours != base && theirs != base
}

/// Says so if a merge joined two traces that began apart, such as the traces `main` of two people.
pub(crate) fn note_unrelated(context: &Context, name: &TraceName, merge: Oid) -> Result<()> {
    let repo = context.repo()?;
    if let [ours, theirs] = repo.read_commit(merge)?.parents[..]
        && repo.merge_bases(ours, theirs)?.is_empty()
    {
        context.ui.note(format!(
            "warning: two traces that began apart were joined in `{name}`; `git trace undo` separates them"
        ));
    }
    Ok(())
}

/// Lines around a conflict.
const AROUND: usize = 2;

/// Prints where the versions of an item disagree, as git does; of an item that one side removed, what the other changed.
fn print_hunks(context: &Context, conflict: &Conflict) -> Result<()> {
    let [base, ours, theirs] =
        bodies(context, conflict)?.map(|body| String::from_utf8_lossy(&body.unwrap_or_default()).into_owned());
    let mut lines = Vec::new();
    if conflict.ours.is_none() || conflict.theirs.is_none() {
        let left = if conflict.ours.is_none() { &theirs } else { &ours };
        for hunk in diff(&base, left, AROUND).hunks {
            lines.push(format!("@@ -{},{} +{},{} @@", hunk.old.0, hunk.old.1, hunk.new.0, hunk.new.1));
            let text = |line: &Line| line.parts.iter().map(|(_, part)| part.as_str()).collect::<String>();
            lines.extend(hunk.lines.iter().map(|line| format!("{}{}", line.fate.sign(), text(line))));
        }
    } else {
        let markers = Markers { style: Style::Diff3, ..Markers::default() };
        let chunks = chunks(&base, &ours, &theirs);
        for (at, [base, ours, theirs]) in chunks.iter().enumerate().filter(|(_, chunk)| are_apart(**chunk)) {
            let side = |at: Option<usize>| at.and_then(|at| chunks.get(at)).map_or("", |chunk| chunk[1]);
            let (before, after) = (side(at.checked_sub(1)), side(Some(at + 1)));
            let skipped = before.lines().count().saturating_sub(AROUND);
            lines.extend(before.lines().skip(skipped).map(str::to_owned));
            let [base, ours, theirs] = [base, ours, theirs].map(|text| Cow::Borrowed(text.as_bytes()));
            let mut hunk = Vec::new();
            markers.write(&mut hunk, &ConflictText { base, ours, theirs })?;
            lines.extend(String::from_utf8_lossy(&hunk).lines().map(str::to_owned));
            lines.extend(after.lines().take(AROUND).map(str::to_owned));
        }
        if lines.is_empty() {
            lines.push("the texts agree, but the headers do not: `git trace merge --json` shows them".to_owned());
        }
    }
    lines.iter().try_for_each(|line| writeln!(context.ui, "  {}", escaped(line)))
}
