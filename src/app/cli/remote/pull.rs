//! `git trace pull`: merging what others pushed, and saying what it changed.

use std::collections::{BTreeMap, HashMap};

use super::{bad_json, remote_of, removes_purged, report_bad};
use crate::app::cli::flags::QuietArgs;
use crate::app::cli::flags::conflicts::{ConflictArgs, note_unrelated, print_conflicts};
use crate::app::cli::item::priority::{author, dispute, setting_json};
use crate::app::cli::{Context, ExitStatus, Result, Value, Values, bail, error, escaped, json};
use crate::base::escape::shell_word;
use crate::check::purge::{Missing, Received, apply_received, rewrite_fetched};
use crate::git::{Repo, short_oid};
use crate::memory::crumb::archive;
use crate::memory::forward;
use crate::trace::change::merge::{Arrange, FastForward, Outcome, Strategy};
use crate::trace::model::item::Role;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::priority::{ChangedPriority, InForce, Level, RECORD};
use crate::trace::store::total::read_item;
use crate::trace::sync::{
    Arrival, Arrivals, Pulled, arrivals, bring_back_if_archived, fetch, fetched_private, is_private, pull,
    pull_priorities, refuse_fetched,
};
use crate::trace::{AgentName, Fields, ItemEntry, ItemId, ItemType, Tip, TraceName};

/// How many items a line names.
const MAX_CHANGED: usize = 20;

/// Fetch traces of a remote and merge them into the local ones
///
/// If both sides have new items, the published items come first, so that a published prefix never changes. Traces that do not exist
/// locally are created. Forward crumbs and crumb archives are pulled only by their full names. The priorities of merged traces are
/// merged too, and every change of a priority is listed, as is every item that was here and was edited or taken out. If somebody has
/// purged content, local commits that contain it are rewritten first, and listed.
#[derive(clap::Args, Debug)]
pub(crate) struct PullArgs {
    /// Remote [default: trace.contextRemote, the remote of the checked-out branch, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Traces, or globs [default: all]
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
        self.quiet.apply(context);
        let remote = remote_of(context, self.remote.as_deref())?;
        let repo = context.repo()?;
        for name in self.traces.iter().filter_map(|name| name.parse().ok()) {
            if bring_back_if_archived(repo, &context.signature()?, &name)?.is_some() && !self.json {
                writeln!(context.ui, "{name}: was archived, and is here again")?;
            }
        }
        // What the remote no longer has is not pulled.
        let skipped = fetch(repo, &remote, &self.traces, &["--quiet", "--prune"])?;
        let rewritten = rewrite_fetched(repo, &context.signature()?, &remote, Missing::Wait)?;
        let refused = refuse_fetched(repo, &remote)?;
        let Arrivals { mut traces, mut bad } = arrivals(repo, &remote, &self.traces)?;
        bad.extend(refused.into_iter().chain(skipped));
        report_bad(context, &remote, &bad);
        for name in &rewritten {
            let hint = format!("`git trace purge --push {}` replaces it there", shell_word(&remote));
            context.ui.note(format!("{remote}/{name}: pulled without what was purged here; {hint}"));
        }
        // Otherwise a merge would refuse the local traces.
        let received = apply_received(repo, &context.signature()?, &remote)?;
        let mut archives = Vec::new();
        for refname in self.traces.iter().filter(|name| is_private(name)) {
            let Some(tip) = fetched_private(repo, &remote, refname)? else { continue };
            match AgentName::of_ref(refname) {
                Some(agent) => {
                    forward::query::refuse_other_case(repo, &agent)?;
                    traces.push(Arrival { name: TraceName::of_agent(&agent), tip });
                }
                None if refname.starts_with(FORWARD_CRUMBS) => {
                    bail!("no agent can have the ref `{}`", escaped(refname))
                }
                None => archives.push((refname, tip)),
            }
        }
        if !self.json {
            print_received(context, &received)?;
        }
        let mut answers: Vec<Value> = Vec::new();
        let mut merged = Vec::new();
        let mut complete = bad.is_empty();
        let mut failed = None;
        for arrival in traces {
            // One trace that cannot be merged stops no other.
            let pulled = match self.pull(context, &remote, &arrival) {
                Ok(pulled) => pulled,
                Err(failure) => {
                    failed.replace(failure).iter().for_each(error::print);
                    answers.push(json!({ "name": arrival.name.as_str(), "result": "failed", "commit": null }));
                    continue;
                }
            };
            if self.json {
                answers.push(pulled_json(repo, &arrival.name, &pulled)?);
            } else {
                print_pulled(context, &remote, &arrival.name, &pulled)?;
                print_changed(context, &arrival.name, changed(repo, &arrival.name, &pulled)?)?;
            }
            complete &= pulled.is_complete();
            if pulled.is_complete() {
                merged.push((arrival, pulled.before));
            }
        }
        for (refname, tip) in archives {
            let history = archive::history(refname);
            let merged = history.absorb(repo, &context.signature()?, tip, |_| Ok(true), |_, _| Ok(()))?;
            let is_new = !merged.is_empty();
            if self.json {
                let result = if is_new { "merge" } else { "up_to_date" };
                answers.push(json!({ "name": refname, "result": result, "commit": null }));
            } else {
                writeln!(context.ui, "{refname}: {}", if is_new { "merged" } else { "up to date" })?;
            }
        }
        let pulled = pull_priorities(repo, &context.signature()?, &remote, &merged);
        let (priorities, changes) = pulled.unwrap_or_else(|failure| {
            failed.replace(failure.into()).iter().for_each(error::print);
            (0, Vec::new())
        });
        if self.json {
            let changes: Vec<Value> = changes.iter().map(priority_json).collect();
            let answer = json!({ "remote": remote, "traces": answers, "skipped": bad_json(&bad), "priorities": priorities, "changed_priorities": changes, "rewritten": rewritten, "purged": received.iter().map(received_json).collect::<Vec<Value>>() });
            context.ui.json(&answer)?;
        } else {
            print_priorities(context, &changes)?;
            if self.traces.is_empty() && merged.is_empty() && complete && failed.is_none() && !self.quiet.quiet {
                context.ui.note(format!("no traces to fetch from `{}`", escaped(&remote)));
            }
        }
        complete &= removes_purged(context)?;
        failed.map_or(Ok(ExitStatus::of(complete)), Err)
    }

    fn pull(&self, context: &Context, remote: &str, arrival: &Arrival) -> Result<Pulled> {
        let repo = context.repo()?;
        let theirs = Tip::read(repo, arrival.tip)?;
        let ours = Tip::find(repo, &arrival.name)?.unwrap_or_else(|| theirs.clone());
        let mut settlement = self.conflicts.read(context, &arrival.name, [&ours, &theirs])?;
        let is_forward = is_private(&arrival.name.refname());
        if is_forward {
            settlement.strategy.get_or_insert(Strategy::Newest);
        }
        let arrange: Option<Arrange> = is_forward.then_some(forward::merge::arrange);
        let fast_forward = if self.ff_only { FastForward::Only } else { FastForward::Allowed };
        Ok(pull(&context.open(&arrival.name)?, remote, arrival, &settlement, fast_forward, arrange)?)
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
        ui.note("the earlier states are kept for `git trace undo`; to remove them, purge the text here too");
    }
    Ok(())
}

fn received_json(received: &Received) -> Value {
    let Received { refname, old, new, own, items, purge } = received;
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    json!({ "ref": refname, "old": old.to_string(), "new": new.to_string(), "own": own, "items": items, "cause": purge })
}

fn pulled_json(repo: &Repo, name: &TraceName, pulled: &Pulled) -> Result<Value> {
    let (result, commit) = match &pulled.outcome {
        Outcome::UpToDate => ("up_to_date", None),
        Outcome::FastForward(oid) => (if pulled.before.is_none() { "new" } else { "fast_forward" }, Some(*oid)),
        Outcome::Merged(oid, _) => ("merge", Some(*oid)),
        Outcome::Conflicts(_) => ("conflict", None),
        Outcome::Diverged => ("diverged", None),
    };
    let Changed { edited, removed, moved, instructions } = changed(repo, name, pulled)?;
    let commit = commit.map(|oid| oid.to_string());
    Ok(json!({ "name": name.as_str(), "result": result, "commit": commit, "edited": edited, "removed": removed,
        "moved": moved, "instructions": instructions }))
}

fn print_pulled(context: &Context, remote: &str, name: &TraceName, pulled: &Pulled) -> Result<()> {
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
                format!("{added} local items follow theirs, {edited} edited, {removed} removed")
            };
            writeln!(context.ui, "{name}: merged at {}; {counts}", short_oid(*oid))?;
            if !is_private(&name.refname()) {
                note_unrelated(context, name, *oid)?;
            }
        }
        Outcome::Conflicts(conflicts) => {
            writeln!(context.ui, "{name}: not merged; ours is this repository's, theirs is {remote}'s")?;
            print_conflicts(context, conflicts, false)?;
        }
        Outcome::Diverged => writeln!(context.ui, "{name}: not moved, because it has commits that the remote lacks")?,
    }
    Ok(())
}

/// The positions of items that were here before, and that a pull edited, removed, or moved behind a later one, and of instructions that
/// it added; the ids of forward crumbs.
#[derive(Default)]
struct Changed {
    edited: Vec<Value>,
    removed: Vec<Value>,
    moved: Vec<Value>,
    /// A new instruction takes the place of an earlier one of the same name in the prompt.
    instructions: Vec<Value>,
}

/// Compares what the model sees before and after, and not the trees: a remote may have several files for an item, or links.
fn changed(repo: &Repo, name: &TraceName, pulled: &Pulled) -> Result<Changed> {
    let mut found = Changed::default();
    let (Some(before), Outcome::FastForward(after) | Outcome::Merged(after, _)) = (pulled.before, &pulled.outcome)
    else {
        return Ok(found);
    };
    let is_forward = is_private(&name.refname());
    let place = |entry: &ItemEntry| if is_forward { json!(entry.id.to_string()) } else { json!(entry.seq) };
    let [before, after] = [before, *after].map(|oid| tree::list(repo, repo.read_commit(oid)?.tree));
    let (before, after) = (before?, after?);
    if !is_forward {
        let ranks: HashMap<ItemId, usize> = before.iter().enumerate().map(|(rank, entry)| (entry.id, rank)).collect();
        let mut last = 0;
        for (entry, rank) in after.iter().filter_map(|entry| Some((entry, *ranks.get(&entry.id)?))) {
            found.moved.extend((rank < last).then(|| place(entry)));
            last = last.max(rank);
        }
    }
    for change in tree::changes_of_lists(before, after) {
        match change {
            Change::Changed(before, after) => {
                let is_edited = if is_forward {
                    forward::merge::is_edited(repo, &before, &after)?
                } else {
                    (before.blob, &before.item_type) != (after.blob, &after.item_type)
                };
                found.edited.extend(is_edited.then(|| place(&before)));
            }
            Change::Removed(before) => found.removed.push(place(&before)),
            Change::Added(after) => {
                // The header decides if the name of the file says something else.
                let is_instruction = after.item_type == ItemType::instruction() || {
                    let Fields { item_type, role, .. } = read_item(repo, &after)?.fields;
                    item_type == ItemType::instruction() || role == Some(Role::System)
                };
                found.instructions.extend(is_instruction.then(|| place(&after)));
            }
        }
    }
    Ok(found)
}

fn print_changed(context: &Context, name: &TraceName, changed: Changed) -> Result<()> {
    let Changed { edited, removed, moved, instructions } = changed;
    let kinds = [("edited", edited), ("removed", removed), ("moved", moved), ("instructions added", instructions)];
    for (what, places) in kinds {
        if !places.is_empty() {
            let shown = places.iter().take(MAX_CHANGED);
            let shown: Vec<_> = shown.map(|place| place.as_str().map_or(format!("#{place}"), str::to_owned)).collect();
            let more = places.len().saturating_sub(MAX_CHANGED);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            writeln!(context.ui, "{name}: {what} by the pull: {}{more}", shown.join(", "))?;
        }
    }
    Ok(())
}

/// Prints the changes of each author in each trace as one line, and each dispute as another.
pub(crate) fn print_priorities(context: &Context, changes: &[ChangedPriority]) -> Result<()> {
    let mut by_author: BTreeMap<(&TraceName, &str), Vec<String>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.is_changed) {
        let setting = &change.now.setting;
        let reason = setting.reason.as_deref().map(|reason| format!(" ({})", one_line(reason))).unwrap_or_default();
        let text = format!("{} #{}{reason}", verb(change.before, setting.level), change.entry.seq);
        by_author.entry((&change.trace, author(setting))).or_default().push(text);
    }
    let more = by_author.len().saturating_sub(MAX_CHANGED);
    for ((name, author), texts) in by_author.into_iter().take(MAX_CHANGED) {
        let count = if texts.len() == 1 { "1 priority".to_owned() } else { format!("{} priorities", texts.len()) };
        writeln!(context.ui, "{name}: {}", escaped(&format!("{count} changed by {author}: {}", texts.join(", "))))?;
    }
    if more > 0 {
        writeln!(context.ui, "and priorities in other traces: {more} more lines, which --json lists")?;
    }
    for change in changes.iter().filter(|change| !change.now.rivals.is_empty()) {
        writeln!(
            context.ui,
            "{}: #{} {}",
            change.trace,
            change.entry.seq,
            escaped(&dispute(&change.now.setting, &change.now.rivals))
        )?;
    }
    Ok(())
}

fn verb(before: Level, now: Level) -> &'static str {
    match (before, now) {
        (_, Level::Pinned) => "pinned",
        (_, Level::Skip) => "skipped",
        (Level::Skip, Level::Normal) => "unskipped",
        (_, Level::Normal) => "unpinned",
    }
}

pub(crate) fn priority_json(change: &ChangedPriority) -> Value {
    let ChangedPriority { trace, entry, before, now, .. } = change;
    let InForce { setting, rivals } = now;
    json!({
        "trace": trace.as_str(),
        "seq": entry.seq,
        "id": entry.id.to_string(),
        "before": before.as_str(),
        "level": setting.level.as_str(),
        "by": setting.by,
        "reason": setting.reason,
        "rivals": rivals.iter().map(setting_json).collect::<Vec<Value>>(),
    })
}
