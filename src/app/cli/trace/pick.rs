//! `git trace cherry-pick`, `git trace revert` and `git trace rebase`: single changes, brought in, taken back or replayed.

use std::collections::HashSet;

use crate::app::cli::flags::QuietArgs;
use crate::app::cli::flags::conflicts::{ConflictArgs, print_conflicts};
use crate::app::cli::flags::items::{ItemsArgs, ReasonArgs};
use crate::app::cli::{Context, Effects, Error, ExitStatus, Result, Value, Values, escaped, json};
use crate::base::escape::shell_word;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::replay::Outcome;
use crate::trace::model::tree;
use crate::trace::query::select::Among;
use crate::trace::store::priority::Before;
use crate::trace::store::resolve::{State, state};
use crate::trace::sync::refuse_unapplied;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// Copy single items of another trace into the current one
///
/// The items are appended, one commit each, and keep their ids, replies, priorities and metadata. An item that is already
/// present gets the changes made in the other trace.
#[derive(clap::Args, Debug)]
pub(crate) struct CherryPickArgs {
    /// Trace to copy from: a name, a remote's trace, or a commit of a trace
    #[arg(value_name = "TRACE", add = Values::Traces)]
    from: String,
    #[command(flatten)]
    items: ItemsArgs,
    #[command(flatten)]
    conflicts: ConflictArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Revert earlier commits
///
/// Added items are removed, removed items return to their position, and edited items return to their old content.
#[derive(clap::Args, Debug)]
pub(crate) struct RevertArgs {
    /// Commits of this trace
    #[arg(required = true, value_name = "COMMIT", add = Values::States)]
    commits: Vec<String>,
    #[command(flatten)]
    conflicts: ConflictArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Replay the commits of this trace on top of another
///
/// In a conflict, `ours` is the trace that is replayed onto, as in git. `undo` restores the old tip.
#[derive(clap::Args, Debug)]
pub(crate) struct RebaseArgs {
    /// Trace to replay onto: a name, a remote's trace, or a commit of a trace
    #[arg(value_name = "TRACE", add = Values::Traces)]
    onto: String,
    #[command(flatten)]
    conflicts: ConflictArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl CherryPickArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let name = context.trace_name(None)?;
        if self.from.starts_with(['#', '@']) && !self.items.are_named() {
            let hint = format!("name it first: `git trace cherry-pick TRACE {}`", shell_word(&self.from));
            return Err(Error::with_hint("no trace was named to pick from", hint));
        }
        let reason = self.reason.get(context)?;
        let select = |name: &TraceName, tip: &Tip| self.items.select(context, name, tip, Among::Live);
        bring_in(context, &name, (&self.from, "cherry-pick"), &self.conflicts, reason.as_deref(), self.json, select)
    }
}

/// Picks the items that `select` selects in the trace `from`, and prints the result. `act` is the name of the command.
pub(crate) fn bring_in(
    context: &Context,
    name: &TraceName,
    (from, act): (&str, &str),
    conflicts: &ConflictArgs,
    reason: Option<&str>,
    json: bool,
    select: impl FnOnce(&TraceName, &Tip) -> Result<Vec<ItemId>>,
) -> Result<ExitStatus> {
    let repo = context.repo()?;
    let State { tip: source, refname, .. } = state(repo, name, from)?;
    let ours = Tip::of_trace(repo, name)?;
    // An earlier state is one of this trace.
    let source_name = refname.map_or_else(|| Ok(name.clone()), |_| from.parse())?;
    let ids = select(&source_name, &source)?;
    let settlement = conflicts.read(context, name, [&ours, &source])?;
    let before = Before::read(repo)?;
    let outcome = context.open(name)?.pick(&source, &ids, &settlement, reason)?;
    let effects = Effects::of(repo, name.clone(), &before)?;
    print(context, name, (&outcome, Some((&effects, act))), "nothing to pick: the trace has every change", json)
}

impl RevertArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let (repo, name, tip) = context.current(None)?;
        let mut commits = Vec::new();
        for spec in &self.commits {
            match repo.find_commit(spec)? {
                Some(commit) if repo.is_ancestor(commit, tip.commit.oid)? => commits.push(commit),
                _ => return Err(TraceError::NotACommit { spec: spec.clone(), trace: name }.into()),
            }
        }
        let settlement = self.conflicts.read(context, &name, [&tip, &tip])?;
        let (placement, reason) = (Placement::WhereTheyStood, self.reason.get(context)?);
        let outcome = context.open(&name)?.revert(&commits, &settlement, "revert", placement, reason.as_deref())?;
        print(context, &name, (&outcome, None), "nothing to revert: it has already been undone", self.json)
    }
}

impl RebaseArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let name = context.trace_name(None)?;
        let onto = context.tip(&name, &self.onto)?;
        let repo = context.repo()?;
        let tip = Tip::of_trace(repo, &name)?;
        refuse_unapplied(repo, &name, onto.commit.oid)?;
        let settlement = self.conflicts.read(context, &name, [&onto, &tip])?;
        let before = Before::read(repo)?;
        let outcome = context.open(&name)?.rebase(&onto, &settlement)?;
        let [ours, theirs] = [tip, onto].map(|tip| tree::list(repo, tip.commit.tree));
        let theirs: HashSet<ItemId> = theirs?.iter().map(|slot| slot.id).collect();
        let own = ours?.iter().map(|slot| slot.id).filter(|id| !theirs.contains(id)).collect();
        let effects = Effects::without(repo, name.clone(), &before, &own)?;
        print(context, &name, (&outcome, Some((&effects, "rebase"))), "Already up to date", self.json)
    }
}

/// With effects, also prints what an act has changed in requests.
pub(crate) fn print(
    context: &Context,
    name: &TraceName,
    (outcome, effects): (&Outcome, Option<(&Effects, &str)>),
    nothing: &str,
    json: bool,
) -> Result<ExitStatus> {
    let made = match outcome {
        Outcome::Conflicts(conflicts) => return print_conflicts(context, name, conflicts, json),
        Outcome::Nothing => &[][..],
        Outcome::Done(made) => made,
    };
    if json {
        let commits: Vec<Value> =
            made.iter().map(|made| json!({ "commit": made.commit.to_string(), "subject": made.subject })).collect();
        let answer = json!({ "trace": name.as_str(), "commits": commits });
        context.ui.json(&match effects {
            Some((effects, _)) => effects.add_to(answer),
            None => answer,
        })?;
        return Ok(ExitStatus::Success);
    }
    if matches!(outcome, Outcome::Nothing) {
        writeln!(context.ui, "{nothing}")?;
        return Ok(ExitStatus::Success);
    }
    for made in made {
        writeln!(context.ui, "[{name}] {} {}", escaped(&made.subject), context.ui.oid(made.commit))?;
    }
    if made.is_empty() {
        writeln!(context.ui, "[{name}] fast-forwarded, with nothing to replay")?;
    }
    if let Some((effects, act)) = effects {
        effects.print(context, act)?;
    }
    Ok(ExitStatus::Success)
}
