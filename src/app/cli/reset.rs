//! `git trace reset` and `git trace undo`: a trace goes to another place of its own or of another trace's history.

use serde_json::json;

use super::ui::{ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::Result;
use crate::git::short_oid;
use crate::trace::change::undo::{Undone, undo};
use crate::trace::store::place::{self, kept_refname};
use crate::trace::store::resolve::state;
use crate::trace::store::write::Signature;

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

pub(crate) fn run_reset(session: &mut Session, args: &ResetArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let to = state(repo, &name, &args.state)?.tip;
    let who = Signature::take(repo, session.now())?.committer;
    let before = place::reset(repo, &name, &who, to.commit.oid, &args.state)?;
    session.ui.settle_colour(repo)?;
    if args.json {
        let from = before.as_ref().map_or(to.commit.oid, |tip| tip.commit.oid);
        let answer = json!({ "trace": name.as_str(), "from": from.to_string(), "commit": to.commit.oid.to_string() });
        session.ui.json_line(&answer)?;
        return Ok(ExitStatus::Success);
    }
    let oid = session.ui.styled(ID, &short_oid(to.commit.oid));
    let subject = escaped(to.commit.subject()).into_owned();
    let line = match before {
        Some(before) => {
            session.ui.note(&format!(
                "it was at {}, kept as {}: `git trace undo` goes back there",
                short_oid(before.commit.oid),
                kept_refname(&name),
            ));
            format!("[{name}] is now at {subject} {oid}")
        }
        None => format!("[{name}] is there already: {subject} {oid}"),
    };
    writeln!(session.ui.out(), "{line}")?;
    Ok(ExitStatus::Success)
}

pub(crate) fn run_undo(session: &mut Session, args: &UndoArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let who = Signature::take(repo, session.now())?.committer;
    let Undone { from, to, moves, kept } = undo(repo, &name, &who, args.number)?;
    session.ui.settle_colour(repo)?;
    if args.json {
        let answer = json!({
            "trace": name.as_str(),
            "from": from.to_string(),
            "commit": to.commit.oid.to_string(),
            "undone": moves,
            "kept": kept,
        });
        session.ui.json_line(&answer)?;
        return Ok(ExitStatus::Success);
    }
    for undone in &moves {
        writeln!(session.ui.out(), "[{name}] undone: {}", escaped(undone))?;
    }
    let oid = session.ui.styled(ID, &short_oid(to.commit.oid));
    writeln!(session.ui.out(), "[{name}] is now at {} {oid}", escaped(to.commit.subject()))?;
    session
        .ui
        .note(&format!("it was at {}, kept as {kept}: `git trace reset {kept}` goes back there", short_oid(from)));
    Ok(ExitStatus::Success)
}
