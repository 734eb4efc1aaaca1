//! `git trace cherry-pick`, `git trace revert` and `git trace rebase`: single changes, brought in, taken back or replayed.

use serde_json::{Value, json};

use super::settle::{SettleArgs, print_conflicts};
use super::ui::{ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::{Result, bail};
use crate::git::short_oid;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::replay::{Outcome, pick, rebase, revert};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::write::{Signature, encoding};
use crate::trace::{Tip, TraceName};

/// Bring single items of another trace into the current one
///
/// They come in at the end, a commit each, and keep their ids; replies, priorities and metadata hang on those. An item that is
/// here already gets what was changed of it there.
#[derive(clap::Args, Debug)]
pub(crate) struct CherryPickArgs {
    /// Trace to take them from: a name, a remote's trace, or a commit of one
    #[arg(value_name = "TRACE")]
    from: String,

    /// Items as they are named there; A..B is all from A to B
    #[arg(required = true, value_name = "ITEM")]
    items: Vec<String>,

    #[command(flatten)]
    settle: SettleArgs,

    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Take back what earlier commits did
///
/// What came in goes out, what went out comes back where it stood, what was edited is as before. History keeps both.
#[derive(clap::Args, Debug)]
pub(crate) struct RevertArgs {
    /// Commits of this trace
    #[arg(required = true, value_name = "COMMIT")]
    commits: Vec<String>,

    #[command(flatten)]
    settle: SettleArgs,

    /// Why
    #[arg(short = 'm', long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Replay what this trace did on top of another
///
/// In a conflict, ours is the trace that is replayed on, as in git. The place before is kept as refs/trace-orig/<trace>.
#[derive(clap::Args, Debug)]
pub(crate) struct RebaseArgs {
    /// Trace to replay on: a name, a remote's trace, or a commit of one
    #[arg(value_name = "TRACE")]
    onto: String,

    #[command(flatten)]
    settle: SettleArgs,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run_pick(session: &mut Session, args: &CherryPickArgs) -> Result<ExitStatus> {
    let name = session.trace(None)?;
    let reason = args.reason.as_deref();
    bring_in(session, &name, &args.from, &args.items, &args.settle, reason, args.json)
}

/// Picks items of the trace `from`.
pub(crate) fn bring_in(
    session: &mut Session,
    name: &TraceName,
    from: &str,
    items: &[String],
    settle: &SettleArgs,
    reason: Option<&str>,
    json: bool,
) -> Result<ExitStatus> {
    let source = session.other_tip(name, from)?;
    let repo = &session.repo;
    let ours = Tip::of_trace(repo, name)?;
    let resolver = Resolver::new(repo, name, &source)?;
    let mut ids = Vec::new();
    for spec in items {
        ids.extend(resolver.range(spec)?.iter().map(|slot| slot.id));
    }
    let settlement = settle.read(session, name, [&ours, &source])?;
    let signature = Signature::take(repo, session.now())?;
    let request = pick::Request { source: &source, items: &ids, settlement: &settlement, reason };
    let outcome = pick::pick(repo, name, &signature, encoding(repo)?, &request)?;
    print(session, name, &outcome, "nothing to pick: all of it is here", json)
}

pub(crate) fn run_revert(session: &mut Session, args: &RevertArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let mut commits = Vec::new();
    for spec in &args.commits {
        match repo.find_commit(spec)? {
            Some(commit) if repo.is_ancestor(commit, tip.commit.oid)? => commits.push(commit),
            _ => bail!("`{}` is not a commit of trace `{name}`", escaped(spec)),
        }
    }
    let settlement = args.settle.read(session, &name, [&tip, &tip])?;
    let signature = Signature::take(repo, session.now())?;
    let (placement, reason) = (Placement::WhereTheyStood, args.reason.as_deref());
    let request = revert::Request { commits: &commits, settlement: &settlement, verb: "revert", placement, reason };
    let outcome = revert::revert(repo, &name, &signature, encoding(repo)?, &request)?;
    print(session, &name, &outcome, "nothing to take back: it was undone already", args.json)
}

pub(crate) fn run_rebase(session: &mut Session, args: &RebaseArgs) -> Result<ExitStatus> {
    let name = session.trace(None)?;
    let onto = session.other_tip(&name, &args.onto)?;
    let repo = &session.repo;
    let tip = Tip::of_trace(repo, &name)?;
    let settlement = args.settle.read(session, &name, [&onto, &tip])?;
    let signature = Signature::take(repo, session.now())?;
    let outcome = rebase::rebase(repo, &name, &signature, encoding(repo)?, &onto, &settlement)?;
    print(session, &name, &outcome, "Already up to date", args.json)
}

/// Tells what came of it.
pub(crate) fn print(
    session: &mut Session,
    name: &TraceName,
    outcome: &Outcome,
    nothing: &str,
    json: bool,
) -> Result<ExitStatus> {
    let made = match outcome {
        Outcome::Conflicts(conflicts) => return print_conflicts(session, conflicts, json),
        Outcome::Nothing => &[][..],
        Outcome::Done(made) => made,
    };
    if json {
        let commits: Vec<Value> =
            made.iter().map(|made| json!({ "commit": made.commit.to_string(), "subject": made.subject })).collect();
        session.ui.json_line(&json!({ "trace": name.as_str(), "commits": commits }))?;
        return Ok(ExitStatus::Success);
    }
    if matches!(outcome, Outcome::Nothing) {
        writeln!(session.ui.out(), "{nothing}")?;
        return Ok(ExitStatus::Success);
    }
    session.ui.settle_colour(&session.repo)?;
    for made in made {
        let oid = session.ui.styled(ID, &short_oid(made.commit));
        writeln!(session.ui.out(), "[{name}] {} {oid}", escaped(&made.subject))?;
    }
    if made.is_empty() {
        writeln!(session.ui.out(), "[{name}] moved on, with nothing to replay")?;
    }
    Ok(ExitStatus::Success)
}
