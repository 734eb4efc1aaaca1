//! `git trace checkpoint new`, `current`, `delta` and `archive`.

use super::CheckpointContext;
use crate::app::cli::flags::content::read;
use crate::app::cli::{ExitStatus, Plain, Result, bail, json, one_line};
use crate::app::secrets::{Caller, refuse_secret_text};
use crate::memory::checkpoint::CheckpointError;
use crate::memory::checkpoint::document::edit::{Completion, NewDelta};
use crate::memory::checkpoint::folder::{checkpoints, find};
use crate::memory::checkpoint::lifecycle::{NewCheckpoint, add_delta, archive, clear_current, create, set_current};

/// Create a checkpoint with all headings, and list it in INDEX.md
#[derive(clap::Args, Debug)]
pub(crate) struct NewArgs {
    /// Name; the file and the id are `chk-<name>`
    name: String,
    /// The problem: what is wrong, for whom, and why it matters
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    problem: String,
    /// The goal
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    intent: String,
    /// Point in the work that it belongs to
    #[arg(short, long, value_name = "TEXT", default_value = "start")]
    anchor: String,
    /// Checkpoint it branches from
    #[arg(long, value_name = "CHECKPOINT")]
    parent: Option<String>,
    /// Make it the current checkpoint
    #[arg(short, long)]
    current: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Show or set the current checkpoint
///
/// Without a name, the exit status is 1 if no checkpoint is current.
#[derive(clap::Args, Debug)]
pub(crate) struct CurrentArgs {
    /// Checkpoint to make current
    #[arg(conflicts_with = "clear")]
    checkpoint: Option<String>,
    /// Make no checkpoint current
    #[arg(long)]
    clear: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Append a delta to a checkpoint
///
/// Sets `last_delta` to the time of the delta and keeps every other byte.
#[derive(clap::Args, Debug)]
pub(crate) struct DeltaArgs {
    /// Checkpoint [default: the current one]
    checkpoint: Option<String>,
    /// What changed
    #[arg(short, long, value_name = "TEXT", required_unless_present = "file", allow_hyphen_values = true)]
    message: Option<String>,
    /// Read what changed from a file (`-` is stdin)
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "message")]
    file: Option<std::path::PathBuf>,
    /// A file, what happened to it (created, modified, deleted), and a description
    #[arg(long, num_args = 3, value_names = ["FILE", "ACTION", "TEXT"])]
    artifact: Vec<String>,
    /// An item, its state before, and its state now
    #[arg(long, num_args = 3, value_names = ["ITEM", "BEFORE", "AFTER"])]
    transition: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Move a completed checkpoint to the archive
///
/// It needs a section Completion with Status, Outcome, Learnings and Date, and no active checkpoint may have it as a
/// parent. One that is in the archive and still current becomes active. The learnings are added to LEARNINGS.md, and its row and section are removed from INDEX.md.
#[derive(clap::Args, Debug)]
pub(crate) struct ArchiveArgs {
    /// Checkpoint [default: the current one]
    checkpoint: Option<String>,
    /// Write the section Completion with this outcome
    #[arg(short, long, value_name = "TEXT", requires = "learnings", allow_hyphen_values = true)]
    outcome: Option<String>,
    /// Write the section Completion with these learnings
    #[arg(short, long, value_name = "TEXT", requires = "outcome", allow_hyphen_values = true)]
    learnings: Option<String>,
    /// Archive it although active checkpoints have it as a parent
    #[arg(short, long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl NewArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        for text in [&self.name, &self.problem, &self.intent, &self.anchor] {
            refuse_secret_text(Caller::Person, text)?;
        }
        let new = NewCheckpoint {
            name: self.name.clone(),
            problem: self.problem.clone(),
            intent: self.intent.clone(),
            anchor: self.anchor.clone(),
            parent: self.parent.clone(),
            is_current: self.current,
        };
        let path = create(&context.folder, &new, context.now())?;
        if self.json {
            return context.ui.json(&json!({ "path": path, "current": self.current }));
        }
        writeln!(context.ui, "{}", Plain(&path))
    }
}

impl CurrentArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<ExitStatus> {
        if self.clear {
            for path in clear_current(&context.folder)? {
                context.ui.note(format!("changed {path}"));
            }
            return Ok(ExitStatus::Success);
        }
        if let Some(name) = &self.checkpoint {
            let changed = set_current(&context.folder, name)?;
            if !self.json {
                for path in &changed {
                    context.ui.note(format!("changed {path}"));
                }
            }
        }
        let files = context.folder.files()?;
        let known = checkpoints(&files);
        match find(&known, None) {
            Ok(one) if self.json => context.ui.json(&json!({ "id": one.id(), "path": one.file.path }))?,
            Ok(one) => writeln!(context.ui, "{}  {}", one_line(one.id(), 200), Plain(&one.file.path))?,
            Err(CheckpointError::NoCurrent) => {
                if self.json {
                    context.ui.json(&())?;
                }
                context.ui.note("no checkpoint is current");
                return Ok(ExitStatus::No);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(ExitStatus::Success)
    }
}

impl DeltaArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        let triples =
            |words: &[String]| words.chunks_exact(3).filter_map(|three| three.to_vec().try_into().ok()).collect();
        let delta = NewDelta {
            what_changed: what_changed(self)?,
            artifacts: triples(&self.artifact),
            transitions: triples(&self.transition),
        };
        for text in [&delta.what_changed].into_iter().chain(&self.artifact).chain(&self.transition) {
            refuse_secret_text(Caller::Person, text)?;
        }
        let (path, at) = add_delta(&context.folder, self.checkpoint.as_deref(), &delta, context.now())?;
        if self.json {
            return context.ui.json(&json!({ "path": path, "time": at.to_string() }));
        }
        writeln!(context.ui, "{}  delta of {at}", Plain(&path))
    }
}

fn what_changed(args: &DeltaArgs) -> Result<String> {
    if let Some(message) = &args.message {
        return Ok(message.clone());
    }
    let bytes = read(args.file.as_deref().unwrap_or("-".as_ref()))?;
    let Ok(text) = String::from_utf8(bytes) else { bail!("the text is not UTF-8") };
    Ok(text)
}

impl ArchiveArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        for text in self.outcome.iter().chain(&self.learnings) {
            refuse_secret_text(Caller::Person, text)?;
        }
        let completion = self.outcome.clone().zip(self.learnings.clone());
        let completion = completion.map(|(outcome, learnings)| Completion { outcome, learnings });
        let archived =
            archive(&context.folder, self.checkpoint.as_deref(), completion.as_ref(), self.force, context.now())?;
        if self.json {
            return context.ui.json(&json!(archived));
        }
        if archived.from == archived.to {
            return writeln!(context.ui, "{} is archived, and no longer current", Plain(&archived.to));
        }
        writeln!(context.ui, "{} -> {}", Plain(&archived.from), Plain(&archived.to))
    }
}
