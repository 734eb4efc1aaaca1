//! `git trace pull`: merging what others pushed, and saying what it changed.

use std::collections::{HashMap, HashSet};

use super::changed::{Changed, touched};
use super::priorities::{print_priorities, priority_json};
use super::{bad_json, remote_of, removes_purged, report_bad};
use crate::app::cli::flags::QuietArgs;
use crate::app::cli::flags::conflicts::{Choices, ConflictArgs, note_unrelated, print_conflicts};
use crate::app::cli::{Context, Error, ExitStatus, Result, Value, Values, bail, error, escaped, json};
use crate::base::escape::shell_word;
use crate::check::purge::{Missing, Received, Rewritten, apply_received, forget_settled, rewrite_fetched};
use crate::git::{Direction, Oid, Repo, short_oid};
use crate::memory::crumb::archive;
use crate::memory::forward;
use crate::trace::change::merge::{Arrange, FastForward, Outcome, Strategy};
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTES, TRACES};
use crate::trace::model::tree;
use crate::trace::store::archived;
use crate::trace::store::priority::{Before, RECORD, in_traces};
use crate::trace::store::tombstone::note_purges;
use crate::trace::sync::{
    Arrival, Arrivals, Pulled, arrivals, bring_back_if_archived, fetch, fetched_private, is_private, local_items,
    matches, pull, pull_priorities, refuse_fetched, split_tracking, tracking_ref, tracking_ref_of,
};
use crate::trace::{AgentName, ItemId, Tip, TraceName};

/// Fetch traces of a remote and merge them into the local ones
///
/// If both sides have new items, the published items come first, so that a published prefix never changes. Traces that do not exist
/// locally are created. Forward crumbs and crumb archives are pulled only by their full names. The priorities of merged traces are
/// merged too, and every change of a priority is listed, as is every item that was here and was edited or taken out, and every new one
/// that does not follow those of yours that were published. If somebody has purged content, local commits that contain it are
/// rewritten first, and listed.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PullArgs {
    /// Remote [default: trace.contextRemote, the remote of the checked-out branch, the only remote, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Traces, or globs [default: the trace that --trace or `GITTRACE_NAME` names, else all]
    #[arg(value_name = "TRACE", add = Values::Traces)]
    traces: Vec<String>,
    #[command(flatten)]
    conflicts: ConflictArgs,
    /// Only fast-forward
    #[arg(long)]
    ff_only: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl PullArgs {
    /// The arguments that pull a ref by its full name.
    pub(crate) fn of_ref(remote: Option<String>, refname: String, json: bool) -> Self {
        let conflicts = ConflictArgs { strategy: None, take: Vec::new() };
        Self { remote, traces: vec![refname], conflicts, ff_only: false, json, quiet: QuietArgs { quiet: false } }
    }

    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        match context.named_trace()? {
            Some(name) if self.traces.is_empty() => {
                Self { traces: vec![name.to_string()], ..self.clone() }.pull_all(context)
            }
            _ => self.pull_all(context),
        }
    }

    fn pull_all(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let remote = remote_of(context, self.remote.as_deref(), Direction::Fetch)?;
        let repo = context.repo()?;
        self.check_names(repo)?;
        note_purges(repo)?;
        let choices = self.conflicts.parse(context)?;
        self.bring_back(context, &remote)?;
        let known = repo.list_refs(REMOTES)?;
        // What the remote no longer has is not pulled. A fetch that fails may have removed it first.
        let fetched = fetch(repo, &remote, &self.traces, &["--quiet", "--prune"]);
        let pruned = self.report_pruned(context, &remote, &known)?;
        let skipped = fetched?;
        let mut rewritten = rewrite_fetched(repo, &context.signature()?, &remote, Missing::Wait)?;
        let refused = refuse_fetched(repo, &remote)?;
        let Arrivals { mut traces, mut bad } = arrivals(repo, &remote, &self.traces)?;
        bad.extend(refused.into_iter().chain(skipped));
        report_bad(context, &remote, &bad);
        let before = Before::read(repo)?;
        let shown = context.shown_session()?;
        let mut answers: Vec<Value> = Vec::new();
        // One trace that cannot be rewritten or merged stops no other.
        let mut failures = Failures::default();
        let received = self.apply_purges(context, &remote, (&mut traces, &mut rewritten), &mut failures)?;
        let archives = self.add_private(repo, &remote, &mut traces)?;
        if failures.keep(check_takes(context, &choices, &traces)).is_none() {
            traces.clear();
        }
        let mut pulls: Vec<(Arrival, Option<Pulled>)> = Vec::new();
        for arrival in traces {
            let pulled = failures.keep(self.pull(context, (&remote, &arrival), &rewritten, &choices));
            pulls.push((arrival, pulled));
        }
        let (mut merged, mut left) = (Vec::new(), Vec::new());
        for (arrival, pulled) in &pulls {
            match pulled.as_ref().filter(|pulled| pulled.is_complete()) {
                Some(pulled) => merged.push((arrival.clone(), pulled.before)),
                // It keeps its levels, too. `fsck` reports a damaged one.
                None => left.extend(repo.find_ref(&arrival.name.refname()).ok().flatten()),
            }
        }
        let mut complete = bad.is_empty() && merged.len() == pulls.len();
        let priorities = pull_priorities(repo, &context.signature()?, &remote, &merged, &left, &rewritten.tips);
        let priorities = failures.keep(priorities.map_err(Error::from)).unwrap_or_default();
        let (mut own, mut changed) = (HashMap::new(), Vec::new());
        for (arrival, pulled) in pulls {
            let Some(pulled) = pulled else {
                answers.push(answer(arrival.name.as_str(), "failed", None, 0));
                continue;
            };
            let local = failures.keep(local_items(repo, &known, &arrival, &pulled).map_err(Error::from));
            let (name, local) = (arrival.name, local.unwrap_or_default());
            if self.json {
                answers.push(pulled_json(&name, &pulled, local.len()));
            } else {
                print_pulled(context, &remote, &name, (&pulled, local.len()))?;
            }
            let (Outcome::FastForward(now) | Outcome::Merged(now, _)) = &pulled.outcome else { continue };
            if is_private(&name.refname()) {
                let crumbs = pulled.before.map(|before| Changed::of_crumbs(repo, [before, *now])).transpose();
                changed.extend(failures.keep(crumbs).flatten().map(|crumbs| (name, crumbs)));
            } else {
                own.insert(name, local);
            }
        }
        let changes = failures.keep(in_traces(repo, &before).map_err(Error::from)).unwrap_or_default();
        // With the new priorities: what they leave out may let a new item into the middle.
        for touched in failures.keep(touched(repo, &before)).unwrap_or_default() {
            let name = touched.name.clone();
            let own: HashSet<ItemId> = own.remove(&name).unwrap_or_default();
            let found = failures.keep(Changed::between(repo, touched, &before, &changes, &own));
            changed.extend(found.map(|found| (name, found)));
        }
        self.print_changed(context, &mut changed)?;
        for (refname, tip) in archives {
            let (signature, from) = (context.signature()?, (tip, &rewritten.tips));
            let merged = archive::history(refname).absorb(repo, &signature, from, |_| Ok(true));
            let is_new = failures.keep(merged.map_err(Error::from)).map(|merged| !merged.is_empty());
            let result = is_new.map_or("failed", |is_new| if is_new { "merge" } else { "up_to_date" });
            if self.json {
                answers.push(answer(refname, result, None, 0));
            } else if let Some(is_new) = is_new {
                writeln!(context.ui, "{refname}: {}", if is_new { "merged" } else { "up to date" })?;
            }
        }
        failures.keep(forget_settled(repo).map_err(Error::from));
        if self.json {
            let changes: Vec<Value> = changes.iter().map(priority_json).collect();
            let changed: Vec<Value> = changed.iter().map(|(name, changed)| changed.to_json(name)).collect();
            let answer = json!({ "remote": remote, "traces": answers, "skipped": bad_json(&bad),
                "pruned": pruned,
                "priorities": priorities, "changed_priorities": changes, "changed": changed,
                "rewritten": rewritten.names, "purged": received.iter().map(received_json).collect::<Vec<Value>>() });
            context.ui.json(&answer)?;
        } else {
            print_priorities(context, &changes)?;
            let is_empty = merged.is_empty() && complete && failures.0.is_none();
            if self.traces.is_empty() && is_empty && !self.quiet.quiet {
                context.ui.note(format!("no traces to fetch from `{}`", escaped(&remote)));
            }
        }
        note_shown(context, shown.as_ref())?;
        complete &= removes_purged(context)?;
        failures.0.map_or(Ok(ExitStatus::of(complete)), Err)
    }

    /// Keeps the changes that there are, those of the current trace first, and prints them.
    fn print_changed(&self, context: &Context, changed: &mut Vec<(TraceName, Changed)>) -> Result<()> {
        changed.retain(|(_, changed)| !changed.is_empty());
        let current = context.trace_name(None).ok();
        changed.sort_by_key(|(name, _)| Some(name) != current.as_ref());
        let shown = changed.iter().filter(|_| !self.json);
        shown.into_iter().try_for_each(|(name, changed)| changed.print(context, name, "pull"))
    }

    /// Brings traces back that are archived on this remote.
    fn bring_back(&self, context: &Context, remote: &str) -> Result<()> {
        let repo = context.repo()?;
        for name in self.traces.iter().filter_map(|name| name.parse().ok()) {
            let is_elsewhere = archived::find(repo, &name)?.is_some_and(|one| one.remote != remote);
            if !is_elsewhere && bring_back_if_archived(repo, &context.signature()?, &name)?.is_some() && !self.json {
                writeln!(context.ui, "{name}: was archived, and is here again")?;
            }
        }
        Ok(())
    }

    /// Refuses names before anything is fetched or rewritten.
    fn check_names(&self, repo: &Repo) -> Result<()> {
        for refname in self.traces.iter().filter(|name| is_private(name) && name.starts_with(FORWARD_CRUMBS)) {
            match AgentName::of_ref(refname) {
                Some(agent) => forward::query::refuse_other_case(repo, &agent)?,
                None => bail!("no agent can have the ref `{}`", escaped(refname)),
            }
        }
        Ok(())
    }

    /// Reports the traces that the remote had at its last fetch and no longer has, with their last commits.
    fn report_pruned(&self, context: &Context, remote: &str, known: &[(String, Oid)]) -> Result<Vec<Value>> {
        let (remotes, mut pruned) = (context.repo()?.remotes()?, Vec::new());
        let left: HashSet<String> =
            context.repo()?.list_refs(REMOTES)?.into_iter().map(|(refname, _)| refname).collect();
        let is_asked = |name: &str| {
            let mut globs = self.traces.iter().map(|glob| glob.strip_prefix(TRACES).unwrap_or(glob));
            self.traces.is_empty() || globs.any(|glob| matches(glob, name))
        };
        for (refname, oid) in known {
            let Some((_, name)) = split_tracking(&remotes, refname).filter(|(of, _)| *of == remote) else { continue };
            if !is_asked(name) || left.contains(refname) {
                continue;
            }
            if !self.json {
                let name = escaped(name);
                writeln!(context.ui, "{name}: no longer on `{}` (was {})", escaped(remote), short_oid(*oid))?;
            }
            pruned.push(json!({ "name": name, "commit": oid.to_string() }));
        }
        Ok(pruned)
    }

    /// Adds forward crumbs that were fetched by their names to `traces`. Returns the archives that were.
    fn add_private(&self, repo: &Repo, remote: &str, traces: &mut Vec<Arrival>) -> Result<Vec<(&str, Oid)>> {
        let mut archives = Vec::new();
        for refname in self.traces.iter().filter(|name| is_private(name)) {
            let Some(tip) = fetched_private(repo, remote, refname)? else { continue };
            match AgentName::of_ref(refname) {
                Some(agent) => traces.push(Arrival { name: TraceName::of_agent(&agent), tip }),
                None => archives.push((refname.as_str(), tip)),
            }
        }
        Ok(archives)
    }

    /// Applies purges of others: otherwise a merge would refuse the local traces.
    fn apply_purges(
        &self,
        context: &Context,
        remote: &str,
        (traces, rewritten): (&mut [Arrival], &mut Rewritten),
        failures: &mut Failures,
    ) -> Result<Vec<Received>> {
        let (repo, signature, mut received) = (context.repo()?, context.signature()?, Vec::new());
        let applied = apply_received(repo, &signature, (remote, Some(&self.traces)), &mut received);
        for refname in failures.keep(applied.map_err(Error::from)).unwrap_or_default() {
            let name = refname.strip_prefix(TRACES).unwrap_or(&refname);
            let (shown, word, remote_word) = (escaped(name), shell_word(name), shell_word(remote));
            let remedy = if let Some(agent) = AgentName::of_ref(&refname) {
                format!("git trace forward pull --agent {}", shell_word(&agent))
            } else if !self.traces.is_empty() {
                format!("git trace pull {remote_word} '*'")
            } else if repo.find_ref(&tracking_ref(remote, name))?.is_some() {
                format!("git trace purge --push {remote_word}")
            } else {
                format!("git trace --trace {word} purge ITEM")
            };
            context
                .ui
                .note(format!("{shown}: contains what others purged, and no replacement was fetched; `{remedy}`"));
        }
        if !received.is_empty() {
            // The remote still has what was only now taken out of the local traces.
            let again = rewrite_fetched(repo, &signature, remote, Missing::Wait);
            rewritten.extend(failures.keep(again.map_err(Error::from)).unwrap_or_default());
            for Arrival { name, tip } in traces {
                *tip = repo.find_ref(&tracking_ref_of(remote, name))?.unwrap_or(*tip);
            }
        }
        for name in &rewritten.names {
            let hint = format!("`git trace purge --push {}` replaces it there", shell_word(remote));
            context.ui.note(format!("{remote}/{name}: pulled without what was purged here; {hint}"));
        }
        if !self.json {
            print_received(context, &received)?;
        }
        Ok(received)
    }

    fn pull(
        &self,
        context: &Context,
        from: (&str, &Arrival),
        rewritten: &Rewritten,
        choices: &Choices,
    ) -> Result<Pulled> {
        let (repo, (_, arrival)) = (context.repo()?, from);
        let theirs = Tip::read(repo, arrival.tip)?;
        let ours = Tip::find(repo, &arrival.name)?.unwrap_or_else(|| theirs.clone());
        let mut settlement = choices.for_known(context, &arrival.name, [&ours, &theirs]);
        let is_forward = is_private(&arrival.name.refname());
        if is_forward {
            settlement.strategy.get_or_insert(Strategy::Newest);
        }
        let arrange: Option<Arrange> = is_forward.then_some(forward::merge::ARRANGE);
        let fast_forward = if self.ff_only { FastForward::Only } else { FastForward::Allowed };
        Ok(pull(&context.open(&arrival.name)?, from, &rewritten.tips, &settlement, fast_forward, arrange)?)
    }
}

/// Says so if nobody chose a trace and commands are now about another one than before.
fn note_shown(context: &Context, before: Option<&TraceName>) -> Result<()> {
    let now = context.shown_session()?;
    if before.is_some() && now.as_ref() != before {
        let name = now.unwrap_or_else(TraceName::default_name);
        context.ui.note(format!("no trace is chosen; commands are about `{name}` now"));
    }
    Ok(())
}

/// Fails if no trace has an item that is named for a conflict.
fn check_takes(context: &Context, choices: &Choices, traces: &[Arrival]) -> Result<()> {
    let repo = context.repo()?;
    for take in &choices.takes {
        if traces.len() > 1 && take.spec().starts_with('#') {
            let word = &take.word;
            bail!("`--take {word}` names a position, which several traces have: name one trace, or the item by its id");
        }
        let has = |arrival: &Arrival| {
            let theirs = Tip::read(repo, arrival.tip)?;
            let ours = Tip::find(repo, &arrival.name)?.unwrap_or_else(|| theirs.clone());
            take.item(context, &arrival.name, [&ours, &theirs])
        };
        if let Some(missing) = traces.iter().map(has).reduce(Result::or) {
            missing?;
        }
    }
    Ok(())
}

/// The last failure, which is the answer of the command. Earlier ones are printed.
#[derive(Default)]
struct Failures(Option<Error>);

impl Failures {
    fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|failure| self.0.replace(failure).iter().for_each(error::print)).ok()
    }
}

/// Prints the purges by others, and the objects that were rewritten because of them.
pub(crate) fn print_received(context: &Context, all: &[Received]) -> Result<()> {
    let ui = &context.ui;
    for Received { refname, new, own, items, purge, .. } in all {
        if refname == RECORD {
            writeln!(ui, "priorities: {}; reasons rewritten: {}", escaped(purge), items.len())?;
            continue;
        }
        if refname.starts_with(archive::ARCHIVES) {
            writeln!(ui, "{refname}: {}; its lines are replaced by those of the remote", escaped(purge))?;
            continue;
        }
        let listed = tree::list(context.repo()?, Tip::read(context.repo()?, *new)?.commit.tree)?;
        let place = |id| match listed.iter().find(|entry| entry.id == id) {
            Some(entry) => format!("#{}", entry.seq),
            None => id.to_string(),
        };
        let items: Vec<String> = items.iter().copied().map(place).collect();
        let items = if items.is_empty() { "none".to_owned() } else { items.join(", ") };
        let name = refname.strip_prefix(TRACES).unwrap_or(refname);
        writeln!(ui, "{name}: {}", escaped(purge))?;
        writeln!(ui, "{name}: rewrote items: {items}; local commits after it: {own}; now at {}", short_oid(*new))?;
    }
    if !all.is_empty() {
        // Of lines, `undo` restores nothing that was purged.
        let is_undone = |refname: &str| refname != RECORD && !refname.starts_with(archive::ARCHIVES);
        let has_undo = all.iter().any(|received| is_undone(&received.refname));
        let kept = if has_undo { "for `git trace undo`" } else { "below `refs/trace-orig/`" };
        ui.note(format!("the earlier states are kept {kept}; to remove them, purge the text here too"));
    }
    Ok(())
}

pub(crate) fn received_json(received: &Received) -> Value {
    let Received { refname, old, new, own, items, purge } = received;
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    json!({ "ref": refname, "old": old.to_string(), "new": new.to_string(), "own": own, "items": items, "cause": purge })
}

fn pulled_json(name: &TraceName, pulled: &Pulled, local: usize) -> Value {
    let (result, commit) = match &pulled.outcome {
        Outcome::UpToDate => ("up_to_date", None),
        Outcome::FastForward(oid) => (if pulled.before.is_none() { "new" } else { "fast_forward" }, Some(*oid)),
        Outcome::Merged(oid, _) => ("merge", Some(*oid)),
        Outcome::Conflicts(_) => ("conflict", None),
        Outcome::Diverged => ("diverged", None),
    };
    answer(name.as_str(), result, commit, local)
}

fn answer(name: &str, result: &str, commit: Option<Oid>, local: usize) -> Value {
    json!({ "name": name, "result": result, "commit": commit.map(|oid| oid.to_string()), "local_items": local })
}

fn print_pulled(context: &Context, remote: &str, name: &TraceName, (pulled, local): (&Pulled, usize)) -> Result<()> {
    match &pulled.outcome {
        Outcome::UpToDate => writeln!(context.ui, "{name}: up to date")?,
        Outcome::FastForward(oid) => {
            let what = if pulled.before.is_none() { "new, at" } else { "fast-forwarded to" };
            writeln!(context.ui, "{name}: {what} {}", short_oid(*oid))?;
        }
        Outcome::Merged(oid, merged) => {
            let (added, edited, removed) = (merged.added.len(), merged.edited.len(), merged.removed.len());
            // Forward crumbs are sorted by time, and their positions are nowhere shown.
            let counts = if is_private(&name.refname()) {
                format!("local forward crumbs sorted in among theirs: {added}")
            } else {
                let kept = added.saturating_sub(local);
                let kept = if kept > 0 { format!(", {kept} kept that they lack") } else { String::new() };
                format!("{local} local items follow theirs, {edited} edited, {removed} removed{kept}")
            };
            writeln!(context.ui, "{name}: merged at {}; {counts}", short_oid(*oid))?;
            if !is_private(&name.refname()) {
                note_unrelated(context, name, *oid)?;
            }
        }
        Outcome::Conflicts(conflicts) => {
            writeln!(context.ui, "{name}: not merged; ours is this repository's, theirs is {remote}'s")?;
            print_conflicts(context, name, conflicts, false)?;
        }
        Outcome::Diverged => writeln!(context.ui, "{name}: not moved, because it has commits that the remote lacks")?,
    }
    Ok(())
}
