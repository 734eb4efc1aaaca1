//! `git trace checkpoint list`, `tree`, `status` and `prime`.

use crate::base::error::Result;
use serde_json::{Value, json};

use super::{ExitStatus, Place, brief, day, state};
use crate::app::ui::BOLD;
use crate::memory::checkpoint::CheckpointError;
use crate::memory::checkpoint::folder::{Checkpoint, checkpoints, find};
use crate::memory::checkpoint::lineage::forest;

/// How much of a problem is shown.
const SHOWN_PROBLEM: usize = 60;
/// How much of a line is shown.
const SHOWN_LINE: usize = 200;

/// List checkpoints: those that are active, without more
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// Archived ones too
    #[arg(short, long)]
    all: bool,

    /// Archived ones only
    #[arg(long, conflicts_with = "all")]
    archived: bool,

    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Show checkpoints under those they branched from
#[derive(clap::Args, Debug)]
pub(crate) struct TreeArgs {
    /// As a JSON array, parents before children
    #[arg(long)]
    json: bool,
}

/// Show what each active checkpoint is about and what comes next
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Checkpoint [default: all active ones]
    checkpoint: Option<String>,

    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Print the current checkpoint, byte for byte; nothing where there is none
#[derive(clap::Args, Debug)]
pub(crate) struct PrimeArgs {
    /// As JSON, with its id, its path and its text; null where there is none
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        place.note_unreadable(&files);
        let mut known = checkpoints(&files);
        known.retain(|one| self.all || one.file.is_archived() == self.archived);
        if self.json {
            let all: Vec<_> = known.iter().map(as_json).collect();
            place.ui.json(&Value::Array(all))?;
            return Ok(ExitStatus::Success);
        }
        let mut rows = Vec::with_capacity(known.len());
        for one in &known {
            let problem = brief(one.document.problem_line().unwrap_or_default(), SHOWN_PROBLEM);
            rows.push([brief(one.id(), SHOWN_LINE), state(one).to_owned(), day(one.document.last_change()), problem]);
        }
        let widths = [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        for [id, state, day, problem] in &rows {
            let line = format!("{id:0$}  {state:1$}  {day:2$}  {problem}", widths[0], widths[1], widths[2]);
            writeln!(place.ui, "{}", line.trim_end())?;
        }
        Ok(ExitStatus::Success)
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
        "created": document.created().map(|moment| moment.time.to_string()),
        "last_delta": document.key("last_delta"),
        "last_change": document.last_change().map(|moment| moment.time.to_string()),
        "deltas": document.deltas().len(),
        "breadcrumbs": document.breadcrumbs().len(),
        "problem": document.problem_line(),
        "next_action": document.open_actions().first(),
        "readable": document.front.is_ok(),
    })
}

impl TreeArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        place.note_unreadable(&files);
        let known = checkpoints(&files);
        let nodes = forest(&known);
        if self.json {
            let all = nodes.iter().map(|node| {
                let mut value = as_json(node.checkpoint);
                value["depth"] = node.depth.into();
                value["in_cycle"] = node.in_cycle.into();
                value["missing_parent"] = json!(node.missing_parent);
                value
            });
            let all = Value::Array(all.collect());
            place.ui.json(&all)?;
            return Ok(ExitStatus::Success);
        }
        for node in &nodes {
            let mut line = String::new();
            if let Some((last, above)) = node.followed.split_last() {
                for followed in above {
                    line += if *followed { "│  " } else { "   " };
                }
                line += if *last { "├─ " } else { "└─ " };
            }
            let one = node.checkpoint;
            line.extend([&*brief(one.id(), SHOWN_LINE), "  ", state(one), "  ", &day(one.document.last_change())]);
            if let Some(parent) = &node.missing_parent {
                line.extend(["  (its parent `", &brief(parent, SHOWN_LINE), "` is not there)"]);
            }
            if node.in_cycle {
                let parent = one.document.parent().unwrap_or_default();
                line.extend(["  (in a cycle: its parent is `", &brief(parent, SHOWN_LINE), "`)"]);
            }
            writeln!(place.ui, "{line}")?;
        }
        let cyclic = nodes.iter().filter(|node| node.in_cycle).count();
        if cyclic > 0 {
            place.ui.note(format!(
                "warning: {cyclic} checkpoints are their own ancestors; set the `parent` of one to null"
            ));
        }
        Ok(ExitStatus::Success)
    }
}

impl StatusArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        place.note_unreadable(&files);
        let known = checkpoints(&files);
        let shown: Vec<_> = match &self.checkpoint {
            Some(name) => vec![find(&known, Some(name))?],
            None => known.iter().filter(|one| !one.file.is_archived()).collect(),
        };
        if self.json {
            let all = shown.into_iter().map(as_json).collect();
            place.ui.json(&Value::Array(all))?;
            return Ok(ExitStatus::Success);
        }
        if shown.is_empty() {
            place.ui.note("no active checkpoints");
        }
        for one in shown {
            let id = place.ui.styled(BOLD, &brief(one.id(), SHOWN_LINE));
            writeln!(place.ui, "{id}  {}  {}", state(one), day(one.document.last_change()))?;
            let problem = one.document.problem_line().map_or("-".to_owned(), |line| brief(line, SHOWN_LINE));
            let next = one.document.open_actions().first().map_or("-".to_owned(), |action| brief(action, SHOWN_LINE));
            writeln!(place.ui, "  problem: {problem}\n  next: {next}")?;
            if one.document.front.is_err() {
                place.ui.note(format!("warning: the frontmatter of `{}` cannot be read", one.file.path));
            }
        }
        Ok(ExitStatus::Success)
    }
}

impl PrimeArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        let known = checkpoints(&files);
        match find(&known, None) {
            Ok(one) if self.json => {
                let mut value = as_json(one);
                value["text"] = one.document.text.into();
                place.ui.json(&value)?;
            }
            Ok(one) => place.ui.write_content(&one.file.bytes)?,
            Err(CheckpointError::NoCurrent) if self.json => place.ui.json(&Value::Null)?,
            Err(CheckpointError::NoCurrent) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(ExitStatus::Success)
    }
}
