//! `git trace checkpoint list`, `tree`, `status` and `prime`.

use std::cmp::Reverse;

use super::{CheckpointContext, day, state};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{BOLD, Result, Value, escaped, json, one_line};
use crate::memory::checkpoint::CheckpointError;
use crate::memory::checkpoint::folder::{Checkpoint, checkpoints, find, is_current};
use crate::memory::checkpoint::tree::build_tree;

/// Most characters that are shown of a problem.
const SHOWN_PROBLEM: usize = 60;
/// Most characters that are shown of any other text.
const SHOWN_LINE: usize = 200;

/// List active checkpoints
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// Include archived checkpoints
    #[arg(short, long)]
    all: bool,
    /// List only archived checkpoints
    #[arg(long, conflicts_with = "all")]
    archived: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Show checkpoints as a tree of parents and children
#[derive(clap::Args, Debug)]
pub(crate) struct TreeArgs {
    /// Show the next action of each active checkpoint
    #[arg(short, long)]
    status: bool,
    /// Print a JSON array, parents before children
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Show the problem and the next action of each active checkpoint, the current one first, then the others, newest first
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Checkpoint [default: all active ones]
    checkpoint: Option<String>,
    /// Include archived checkpoints
    #[arg(short, long, conflicts_with = "checkpoint")]
    all: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Print the current checkpoint unchanged, or nothing if there is none
///
/// `git trace brief` prints its next actions together with the other memories, within a token budget.
#[derive(clap::Args, Debug)]
pub(crate) struct PrimeArgs {
    /// Print JSON with id, path and text, or null if there is none
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let files = context.readable_files()?;
        let mut known = checkpoints(&files);
        context.warn(&files, &known);
        known.retain(|one| self.all || one.file.is_archived() == self.archived);
        if self.json {
            return context.ui.json(&known.iter().map(as_json).collect::<Vec<_>>());
        }
        let rows = known.iter().map(|one| {
            let problem = one_line(one.document.problem_line().unwrap_or_default(), SHOWN_PROBLEM);
            [one_line(one.id(), SHOWN_LINE), state(one).to_owned(), day(one.document.last_change()), problem]
        });
        context.ui.table(&rows.collect::<Vec<_>>())
    }
}

fn as_json(one: &Checkpoint<'_>) -> Value {
    let document = &one.document;
    json!({
        "id": one.id(),
        "path": one.file.path,
        "state": state(one),
        "anchor": document.key("anchor"),
        "parent": document.parent(),
        "created": document.created().map(|timestamp| timestamp.time.to_string()),
        "last_delta": document.key("last_delta"),
        "last_change": document.last_change().map(|timestamp| timestamp.time.to_string()),
        "deltas": document.deltas().count(),
        "breadcrumbs": document.breadcrumbs().len(),
        "problem": document.problem_line(),
        "next_action": document.open_actions().first(),
        "readable": document.frontmatter.is_ok(),
    })
}

impl TreeArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let files = context.readable_files()?;
        let known = checkpoints(&files);
        context.warn(&files, &known);
        let nodes = build_tree(&known);
        if self.json {
            let all = nodes.iter().map(|node| {
                let mut value = as_json(node.checkpoint);
                value["depth"] = node.has_next_sibling.len().into();
                value["in_cycle"] = node.in_cycle.into();
                value["missing_parent"] = json!(node.missing_parent);
                value
            });
            return context.ui.json(&all.collect::<Vec<_>>());
        }
        for node in &nodes {
            let mut line = String::new();
            if let Some((last, above)) = node.has_next_sibling.split_last() {
                for followed in above {
                    line += if *followed { "│  " } else { "   " };
                }
                line += if *last { "├─ " } else { "└─ " };
            }
            let one = node.checkpoint;
            line.extend([&*one_line(one.id(), SHOWN_LINE), "  ", state(one), "  ", &day(one.document.last_change())]);
            if let Some(parent) = &node.missing_parent {
                line.extend(["  (its parent `", &one_line(parent, SHOWN_LINE), "` is missing)"]);
            }
            if node.in_cycle {
                let parent = one.document.parent().unwrap_or_default();
                line.extend(["  (in a cycle: its parent is `", &one_line(parent, SHOWN_LINE), "`)"]);
            }
            if self.status
                && !one.file.is_archived()
                && let Some(action) = one.document.open_actions().first()
            {
                line.extend(["  next: ", &one_line(action, SHOWN_LINE)]);
            }
            writeln!(context.ui, "{line}")?;
        }
        let cyclic = nodes.iter().filter(|node| node.in_cycle).count();
        if cyclic > 0 {
            context.ui.note(format!(
                "warning: {cyclic} checkpoints are their own ancestors; set the `parent` of one to null"
            ));
        }
        Ok(())
    }
}

impl StatusArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let files = context.readable_files()?;
        let known = checkpoints(&files);
        context.warn(&files, &known);
        let mut shown: Vec<_> = match &self.checkpoint {
            Some(name) => vec![find(&known, Some(name))?],
            None => known.iter().filter(|one| self.all || !one.file.is_archived()).collect(),
        };
        shown.sort_by_key(|one| {
            (one.file.is_archived(), !is_current(one), Reverse(one.document.last_change().map(|last| last.time)))
        });
        if self.json {
            return context.ui.json(&shown.into_iter().map(as_json).collect::<Vec<_>>());
        }
        if shown.is_empty() {
            context.ui.note("no active checkpoints");
        }
        for one in shown {
            let id = context.ui.styled(BOLD, &one_line(one.id(), SHOWN_LINE));
            let heading = format!("{id}  {}  {}", state(one), day(one.document.last_change()));
            let problem = one.document.problem_line().map_or("-".to_owned(), |line| one_line(line, SHOWN_LINE));
            let next =
                one.document.open_actions().first().map_or("-".to_owned(), |action| one_line(action, SHOWN_LINE));
            context.ui.entry(|| writeln!(context.ui, "{heading}\n  problem: {problem}\n  next: {next}"))?;
            if one.document.frontmatter.is_err() {
                context.ui.note(format!("warning: the frontmatter of `{}` cannot be read", one.file.path));
            }
        }
        Ok(())
    }
}

impl PrimeArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        let files = context.folder.files()?;
        let known = checkpoints(&files);
        match find(&known, None) {
            Ok(one) if self.json => {
                let mut value = as_json(one);
                value["text"] = one.document.text.into();
                context.ui.json(&value)?;
            }
            // A model reads it, also through a pipe.
            Ok(one) => {
                context.ui.write_content(&*escaped(&String::from_utf8_lossy(&one.file.bytes)))?;
                if one.file.has_conflict() {
                    context.ui.note(format!("warning: `{}` has conflict markers", one.file.path));
                }
            }
            Err(CheckpointError::NoCurrent) if self.json => context.ui.json(&Value::Null)?,
            Err(CheckpointError::NoCurrent) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
