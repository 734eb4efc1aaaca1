//! `git trace reset` and `git trace undo`: a trace goes to another place of its own or of another trace's history.

use crate::base::error::Result;
use serde_json::json;

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::app::ui::{ID, escaped};
use crate::git::short_oid;
use crate::trace::change::undo::{Undone, undo};
use crate::trace::store::place::{self, kept_refname};
use crate::trace::store::resolve::state;

/// Move the current trace to another state
///
/// Nothing is lost: `undo` goes back, and the place it leaves is kept under `refs/trace-orig/<name>` (`%2F` for `/`), also when
/// `git gc` has run. Priorities belong to items and stay as they are.
#[derive(clap::Args, Debug)]
pub(crate) struct ResetArgs {
    /// A trace, a commit, an item (the commit that last touched it) or an RFC 3339 time
    state: String,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Take back what moved the current trace last
///
/// Reads the trace's reflog: a commit, an import, a reset and so on are one move each. Again, it goes further back. The place
/// that is left is kept under `refs/trace-orig/<name>` (`%2F` for `/`). Priorities belong to items and stay as they are.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// How many moves
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    number: usize,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a number from 1 is expected".to_owned())
}

impl ResetArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let to = state(repo, &name, &self.state)?.tip;
        let who = context.signature()?.committer;
        let before = place::reset(repo, &name, &who, to.commit.oid, &self.state)?;
        if self.json {
            let from = before.as_ref().map_or(to.commit.oid, |tip| tip.commit.oid);
            let answer =
                json!({ "trace": name.as_str(), "from": from.to_string(), "commit": to.commit.oid.to_string() });
            context.ui.json(&answer)?;
            return Ok(ExitStatus::Success);
        }
        let oid = context.ui.styled(ID, &short_oid(to.commit.oid));
        let subject = escaped(to.commit.subject()).into_owned();
        let line = match before {
            Some(before) => {
                context.ui.note(format!(
                    "it was at {}, kept as {}: `git trace undo` goes back there",
                    short_oid(before.commit.oid),
                    kept_refname(&name),
                ));
                format!("[{name}] is now at {subject} {oid}")
            }
            None => format!("[{name}] is there already: {subject} {oid}"),
        };
        writeln!(context.ui, "{line}")?;
        Ok(ExitStatus::Success)
    }
}

impl UndoArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let who = context.signature()?.committer;
        let Undone { from, to, moves, kept } = undo(repo, &name, &who, self.number)?;
        if self.json {
            let answer = json!({
                "trace": name.as_str(),
                "from": from.to_string(),
                "commit": to.commit.oid.to_string(),
                "undone": moves,
                "kept": kept,
            });
            context.ui.json(&answer)?;
            return Ok(ExitStatus::Success);
        }
        for undone in &moves {
            writeln!(context.ui, "[{name}] undone: {}", escaped(undone))?;
        }
        let oid = context.ui.styled(ID, &short_oid(to.commit.oid));
        writeln!(context.ui, "[{name}] is now at {} {oid}", escaped(to.commit.subject()))?;
        context
            .ui
            .note(&format!("it was at {}, kept as {kept}: `git trace reset {kept}` goes back there", short_oid(from)));
        Ok(ExitStatus::Success)
    }
}
