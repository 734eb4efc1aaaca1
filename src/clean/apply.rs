//! Carries out a plan: one commit of edits and deletions.

use std::collections::HashMap;

use super::plan::{Action, Plan, Row};
use super::rules::Replacement;
use super::summarize::Replaced;
use crate::base::error::Result;
use crate::git::{Oid, Repo};
use crate::trace::change::pending::PendingChange;
use crate::trace::model::name::TRACES;
use crate::trace::model::schema;
use crate::trace::store::priority::{Level, Record};
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::{Draft, ItemEntry, ItemId, ItemType, Op, Tip, Trace, TraceError, TraceName};

/// The result of a clean.
pub(crate) struct Cleaned {
    pub(crate) name: TraceName,
    pub(crate) commit: Oid,
    /// The summaries, with the number of items that each replaced.
    pub(crate) summaries: Vec<(usize, ItemId)>,
    /// Whether an earlier clean of the same state had this result already, so that nothing was written.
    pub(crate) is_known: bool,
}

/// The name of a new branch for a cleaned trace: `<name>.clean`, then `<name>.clean-2`.
pub(crate) fn branch_name(repo: &Repo, name: &TraceName) -> Result<TraceName> {
    for candidate in branch_names(name) {
        let candidate = candidate?;
        if repo.find_ref(&candidate.refname())?.is_none() {
            return Ok(candidate);
        }
    }
    unreachable!("there are endless names")
}

/// The newest branch of a trace that begins with a clean of its present state. A remote may give the name to anything.
pub(crate) fn newest_branch(repo: &Repo, name: &TraceName) -> Result<Option<TraceName>> {
    let Some(original) = Tip::find(repo, name)? else { return Ok(None) };
    let mut newest = None;
    let prefix = format!("{TRACES}{}.clean", uncleaned(name));
    let is_branch = |refname: &str| refname.strip_prefix(&prefix).is_some_and(is_number);
    for (refname, tip) in repo.list_refs(TRACES)?.into_iter().filter(|(refname, _)| is_branch(refname)) {
        let tip = Tip::read(repo, tip)?;
        let Some(first) = repo.commits_beyond(tip.commit.oid, Some(original.commit.oid))?.first().copied() else {
            continue;
        };
        let first = Tip::read(repo, first)?;
        let is_clean = first.commit.parents == [original.commit.oid]
            && matches!(first.trailers.op, Some(Op::Clean | Op::Compress));
        if is_clean {
            // The longer of two numbers is the greater one.
            newest = newest.max(Some((tip.time(), refname.len(), refname)));
        }
    }
    newest.map(|(.., refname)| Ok(refname[TRACES.len()..].parse()?)).transpose()
}

fn is_number(text: &str) -> bool {
    text.is_empty() || text.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The name of the trace that a branch with this name is a clean of, else the name itself.
fn uncleaned(name: &TraceName) -> &str {
    let name = name.as_str();
    name.rsplit_once(".clean").filter(|(_, rest)| is_number(rest)).map_or(name, |(base, _)| base)
}

fn branch_names(name: &TraceName) -> impl Iterator<Item = Result<TraceName>> {
    let base = uncleaned(name);
    (1_u64..).map(move |number| {
        let name = if number == 1 { format!("{base}.clean") } else { format!("{base}.clean-{number}") };
        Ok(name.parse()?)
    })
}

impl Plan {
    /// Writes the plan as one commit on top of `tip`, to `trace`: the trace of the plan, or a new branch of it. Each summary is another
    /// commit, as `git trace expand` needs it; the trace moves once.
    ///
    /// `None` if the plan changes nothing. Fails with [`TraceError::Changed`] if an item changed since it was read, with
    /// [`TraceError::PurgedMeanwhile`] if something was purged since, and with [`TraceError::TraceExists`] if the new branch was
    /// created meanwhile.
    pub(crate) fn apply(&self, trace: &Trace<'_>, branch_from: Option<&Tip>) -> Result<Option<Cleaned>, TraceError> {
        if self.changed().next().is_none() {
            return Ok(None);
        }
        let _no_purge = require_no_purge(trace.repo())?;
        let edits = || self.changed().filter(|row| row.action != Action::Summarize);
        let (commit, summaries) = trace.change(|change| {
            if let Some(tip) = branch_from {
                if change.tip().is_some() {
                    return Err(TraceError::TraceExists { name: trace.name().clone() });
                }
                change.restart_on(tip.clone())?;
            }
            change.require_tip()?;
            let live: HashMap<ItemId, ItemEntry> = change.slots()?.into_iter().map(|slot| (slot.id, slot)).collect();
            let slots: Vec<ItemEntry> = edits().map(|row| row.entry.slot.clone()).collect();
            let levels = Record::open(trace.repo())?.levels(trace.repo(), &slots, None)?;
            for row in edits() {
                let slot = &row.entry.slot;
                let is_pinned = levels.of(slot.id, &slot.item_type).level() == Level::Pinned;
                if live.get(&slot.id) != Some(slot) || (is_pinned && !row.entry.is_fixed) {
                    return Err(TraceError::Changed { item: row.entry.slot.id, trace: trace.name().clone() });
                }
                replace(change, row)?;
            }
            let mut items = edits().map(|row| row.entry.slot.id);
            if let Some(first) = items.next() {
                let mut trailers = change.trailers(Op::Clean, Some(first), Some(&self.reason()))?;
                trailers.more_items = items.collect();
                change.commit(&self.subject(edits().count()), trailers, None)?;
            }
            let replace = |replaced: &Replaced| {
                let (summary, ..) = change.compress(&replaced.selection, &replaced.summary, None, Some("by hand"))?;
                Ok((replaced.selection.items.len(), summary.id))
            };
            self.summaries.iter().map(replace).collect::<Result<Vec<_>, TraceError>>()
        })?;
        let commit = commit.ok_or_else(|| trace.missing())?;
        Ok(Some(Cleaned { name: trace.name().clone(), commit, summaries, is_known: false }))
    }

    /// The branch of an earlier clean of `tip` with the same result, which nothing has changed since. A result with summaries is new,
    /// because a model may have written them.
    pub(crate) fn earlier(&self, repo: &Repo, name: &TraceName, tip: &Tip) -> Result<Option<Cleaned>> {
        let mut items: Vec<ItemId> = self.changed().map(|row| row.entry.slot.id).collect();
        items.sort();
        for candidate in branch_names(name) {
            let candidate = candidate?;
            let Some(found) = Tip::find(repo, &candidate)? else { break };
            let Tip { commit, trailers, .. } = &found;
            let mut cut: Vec<ItemId> = trailers.item.iter().chain(&trailers.more_items).copied().collect();
            cut.sort();
            if self.summaries.is_empty()
                && trailers.op == Some(Op::Clean)
                && commit.parents == [tip.commit.oid]
                && trailers.reason.as_deref() == Some(&*self.reason())
                && commit.subject() == self.subject(items.len())
                && cut == items
            {
                let commit = commit.oid;
                return Ok(Some(Cleaned { name: candidate, commit, summaries: Vec::new(), is_known: true }));
            }
        }
        Ok(None)
    }

    fn subject(&self, items: usize) -> String {
        let items = if items == 1 { "1 item".to_owned() } else { format!("{items} items") };
        format!("clean {items}: {} → {} tokens", self.before, self.after())
    }

    /// The presets that selected something, so that a search for reasons finds them.
    fn reason(&self) -> String {
        let presets = self.shares().into_iter().map(|share| share.preset.map_or("by hand", |preset| preset.as_str()));
        format!("{}; keep {}", presets.collect::<Vec<_>>().join(", "), self.parameters.keep)
    }
}

fn replace(change: &mut PendingChange<'_>, row: &Row) -> Result<(), TraceError> {
    let (slot, old) = (&row.entry.slot, &row.entry.item);
    match row.replacement.as_deref() {
        None => {}
        Some(Replacement::Nothing) => {
            change.remove_file(&slot.path)?;
            change.count(0, row.entry.tokens);
        }
        Some(Replacement::Text(text)) => {
            let mut fields = old.fields.clone();
            fields.signature = None;
            if fields.item_type == ItemType::artifact() {
                // A text in place of an image is not an image.
                fields.item_type = ItemType::freeform();
                (fields.kind, fields.path, fields.language, fields.media_type) = (None, None, None, None);
            }
            let mut draft = Draft { fields, body: text.clone() };
            schema::complete(&mut draft.fields);
            schema::validate(&draft)?;
            change.revise(slot, old, draft)?;
        }
    }
    Ok(())
}
