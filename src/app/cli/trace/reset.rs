//! `git trace reset` and `git trace undo`: a trace goes to another place of its own or of another trace's history.

use crate::app::cli::{Context, Result, Values, escaped, json};
use crate::git::short_oid;
use crate::trace::change::undo::Undone;
use crate::trace::store::backup::backup_refname;
use crate::trace::store::resolve::state;

/// Reset the current trace to another state
///
/// `undo` restores the old tip, which is kept in `refs/trace-orig/<name>` (`%2F` for `/`) even after `git gc`. Priorities
/// belong to items and stay as they are.
#[derive(clap::Args, Debug)]
pub(crate) struct ResetArgs {
    /// Trace, commit, item (the commit that last changed it) or RFC 3339 time
    #[arg(add = Values::States)]
    state: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Undo the last change of the current trace
///
/// Reads the reflog of the trace, in which each commit, import or reset is one move. Another `undo` goes further back. The
/// old tip is kept in `refs/trace-orig/<name>` (`%2F` for `/`). Priorities belong to items and stay as they are.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// Number of moves to undo
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    number: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a number from 1 is expected".to_owned())
}

impl ResetArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let to = state(repo, &name, &self.state)?.tip;
        let before = context.open(&name)?.reset(to.commit.oid, &self.state)?;
        if self.json {
            let from = before.unwrap_or(to.commit.oid);
            let (from, commit) = (from.to_string(), to.commit.oid.to_string());
            return context.ui.json(&json!({ "trace": name.as_str(), "from": from, "commit": commit }));
        }
        let oid = context.ui.oid(to.commit.oid);
        let subject = escaped(to.commit.subject());
        let line = match before {
            Some(before) => {
                context.ui.note(format!(
                    "it was at {}, kept as {}: `git trace undo` goes back there",
                    short_oid(before),
                    backup_refname(&name),
                ));
                format!("[{name}] is now at {subject} {oid}")
            }
            None => format!("[{name}] is there already: {subject} {oid}"),
        };
        writeln!(context.ui, "{line}")
    }
}

impl UndoArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let name = context.trace_name(None)?;
        let Undone { from, to, moves, backup } = context.open(&name)?.undo(self.number)?;
        if self.json {
            let (trace, from, commit) = (name.as_str(), from.to_string(), to.commit.oid.to_string());
            return context
                .ui
                .json(&json!({ "trace": trace, "from": from, "commit": commit, "undone": moves, "kept": backup }));
        }
        for undone in &moves {
            writeln!(context.ui, "[{name}] undone: {}", escaped(undone))?;
        }
        writeln!(context.ui, "[{name}] is now at {} {}", escaped(to.commit.subject()), context.ui.oid(to.commit.oid))?;
        context.ui.note(format!(
            "it was at {}, kept as {backup}: `git trace reset {backup}` goes back there",
            short_oid(from)
        ));
        Ok(())
    }
}
