//! Bulk writing: many changes, one commit each, that move the trace once.
//!
//! Twenty or more changes are written to one pack, fewer as loose objects. The commits are based on the tip at the start and written
//! without a lock. Then the trace moves to the last one, or, if another process committed meanwhile, merges it, with the new items
//! at the end. An import that fails leaves the trace unchanged.

mod acts;
mod gone;
mod known;
mod writer;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::merge;
use super::merge::three_way::Verdict;
pub(crate) use super::running_total::Usage;
use crate::base::merge::Side;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::secrets::Policy;
use crate::trace::model::trailers::ImportPosition;
use crate::trace::store::priority::ChangedPriority;
use crate::trace::store::secrets::{Found, SecretScanner};
use crate::trace::store::tombstone::Tombstones;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{Item, ItemId, Op, Tip, Trace, TraceError, TraceName};
use writer::Writer;

/// The number of changes from which a pack is written: the number of objects that git keeps loose when it fetches.
const PACK_FROM: usize = 20;

string_enum! {
    /// Why an import removes an item that it adds: the reason of the deletion.
    Removal {
        /// The user went back to an earlier point of the session.
        Rewound = "rewound",
        /// It is shown to the user, not sent to the model.
        Interface = "interface",
        /// It is the title of a session.
        Title = "title",
        /// Another item has the same text.
        Repeated = "repeated",
        /// It is the summary of a compaction whose originals stay.
        Compaction = "compaction",
    }
}

/// An item, and whether the session rewound it (true) or brought it back (false).
pub(crate) type Rewind = (ItemId, bool);

#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub op: Op,
    /// The item after the change; for a deletion, only its id counts.
    pub item: Item,
    /// Its position in the trace that was exported, which counts only in a new trace.
    pub seq: Option<u32>,
    /// The subject of the commit; `None`: a preview of the item.
    pub subject: Option<String>,
    pub reason: Option<String>,
    /// `Name <email>`; `None` for the author of the import.
    pub by: Option<String>,
    /// The time, which becomes later if the previous change is not earlier. `None`: right after that change.
    pub at: Option<Time>,
    /// Why it is deleted in this trace as soon as it is added. It stays in history and can be restored.
    pub removal: Option<Removal>,
    /// The item that must be in the trace for a title to be that of the trace; `None`: it is in any case.
    pub title_of: Option<ItemId>,
    /// The items that it replaces if it is a summary; the change is a compression then.
    pub replaces: Option<Replaced>,
    /// The size of the context that a provider reported after this item.
    pub usage: Usage,
    pub line: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Replaced {
    /// Items that are not live, pinned, or left out do not change, nor does the other half of a call and its results.
    pub items: Vec<ItemId>,
    /// Whether the summary is at the end instead of at the position of the first of them.
    pub at_end: bool,
}

impl Incoming {
    /// The import of an item at the time of its record.
    pub(crate) fn new(item: Item) -> Self {
        Self {
            op: Op::Import,
            at: item.fields.created,
            item,
            seq: None,
            subject: None,
            reason: None,
            by: None,
            removal: None,
            title_of: None,
            replaces: None,
            usage: Usage::Unsaid,
            line: 0,
        }
    }

    /// Whether the change adds an item, which is possible only once.
    fn adds_item(&self) -> bool {
        !matches!(self.op, Op::Edit | Op::Delete | Op::Restore)
    }

    fn bad(&self, cause: &str) -> TraceError {
        TraceError::BadLine { line: self.line, cause: cause.to_owned() }
    }
}

pub(crate) trait Feed {
    /// The next change; `None` at the end.
    fn next(&mut self) -> Result<Option<Incoming>, TraceError>;

    /// What the session rewound or brought back since the last call, before the change that [`Feed::next`] returned last. It may
    /// name items of that change or of the next ones.
    fn rewinds(&mut self) -> Vec<Rewind> {
        Vec::new()
    }

    /// The commit of the trace that recorded the position at which reading continued, if it did: the changes before it are known.
    fn resumed_at(&self) -> Option<Oid> {
        None
    }

    /// What the import before found out about the trace.
    fn summary(&self) -> Option<&Summary> {
        None
    }

    /// The position up to which the input was read, after [`Feed::next`] returned `None`.
    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}

impl Feed for VecDeque<Incoming> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.pop_front())
    }
}

/// A trace at a commit, in which all items are from one input that yields none twice. With it, an import of a few changes need not
/// list a long trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    tip: String,
    /// How many items of each type it had at most.
    types: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub recorded: usize,
    /// The number of ignored items, which the trace has or had before.
    pub known: usize,
    /// The number of items that summaries replaced.
    pub replaced: usize,
    /// The number of items that were removed, by reason.
    pub removed: BTreeMap<Removal, usize>,
    /// The tip of the trace afterwards; `None` if it has no commit.
    pub tip: Option<Oid>,
    /// What the items cost that the context of that tip leaves out, if that became known.
    pub left_out: Option<u64>,
    /// What the next import need not find out again.
    pub summary: Option<Summary>,
    pub secrets: Vec<Found>,
    /// The priorities that changed in traces that were there before.
    pub priorities: Vec<ChangedPriority>,
    /// The number of items that were refused, by the purge that removed them.
    pub purged: BTreeMap<String, usize>,
    /// The items of priorities that were not set, because the trace never had these items.
    pub without_item: BTreeSet<ItemId>,
}

impl Report {
    /// Whether no item or priority was refused.
    pub(crate) fn is_complete(&self) -> bool {
        self.purged.is_empty() && self.without_item.is_empty()
    }
}

/// Records the changes of `feed` in order.
///
/// Ignores items that the trace has or had before, so a repeated import adds nothing. Removes secrets unless `trace.secrets` says
/// otherwise. Keeps the tree and a few changes in memory. Fails if something was purged since the input was opened, for which the caller calls
/// [`note_purges`](crate::trace::store::tombstone::note_purges) before it.
pub(crate) fn import(trace: &Trace<'_>, feed: &mut dyn Feed) -> Result<Report, TraceError> {
    let (repo, name) = (trace.repo(), trace.name());
    let signature = trace.signature()?;
    let base = Tip::find(repo, name)?;
    let (tombstones, mut purged) = (Tombstones::find(repo)?, BTreeMap::new());
    let is_purged = |text: &str| tombstones.as_ref().is_some_and(|known| known.of_line(text).is_some());
    let trace = &trace.clone().without_family_if(|family| is_purged(family.as_str()));
    let mut writer = Writer::new(trace, &signature, base.as_ref(), (feed.resumed_at(), feed.summary()))?;
    let scanner = SecretScanner::new(repo, Policy::Redact);
    let mut secrets = Vec::new();
    // The ids of purged items: those with a refused revision, and those with another one.
    let (mut refused, mut kept) = (HashSet::new(), HashSet::new());
    // Rewinds that come before a change.
    let mut rewinds = Vec::new();
    let mut next_new = |writer: &mut Writer<'_>| -> Result<(Vec<Rewind>, Option<Incoming>), TraceError> {
        loop {
            let next = feed.next()?;
            rewinds.append(&mut feed.rewinds());
            let Some(mut incoming) = next else { return Ok((std::mem::take(&mut rewinds), None)) };
            if writer.is_new(&incoming)? {
                let Incoming { item, subject, reason, by, .. } = &mut incoming;
                let lines = subject.iter_mut().chain(reason).chain(by);
                let found = scanner.scan(&mut item.fields, &mut item.body, lines)?;
                let item = &incoming.item;
                // A deletion has no content, but after a refused line there may be nothing to delete or to edit.
                let has_content = incoming.op != Op::Delete;
                let is_later = matches!(incoming.op, Op::Edit | Op::Restore | Op::Delete) && refused.contains(&item.id);
                let of_content = || tombstones.as_ref().filter(|_| has_content)?.of_incoming(item);
                let of_id = || tombstones.as_ref()?.of_id(item.id);
                let is_here = || kept.contains(&item.id) || writer.has(item.id);
                if let Some(purge) = of_content().or_else(|| of_id().filter(|_| is_later && !is_here())) {
                    if refused.insert(item.id) {
                        *purged.entry(purge.to_string()).or_default() += 1;
                    }
                    continue;
                }
                if let Some(tombstones) = &tombstones {
                    let id = item.id;
                    if tombstones.of_id(id).is_some() {
                        kept.insert(id);
                    }
                    incoming.reason = incoming.reason.map(|reason| tombstones.reason(id, reason));
                    incoming.subject.take_if(|subject| is_purged(subject));
                    if let Some(source) =
                        incoming.item.fields.source.as_mut().filter(|source| is_purged(&source.to_string()))
                    {
                        *source = source.without_record();
                    }
                }
                if found.iter().any(|found| found.policy == Policy::Redact) {
                    // The count belongs to the text with the secret.
                    incoming.item.tokens = None;
                }
                secrets.extend(found);
                return Ok((std::mem::take(&mut rewinds), Some(incoming)));
            }
        }
    };
    // The first changes wait, because their number decides whether a pack is written.
    let mut first = VecDeque::with_capacity(PACK_FROM);
    while first.len() < PACK_FROM && first.back().is_none_or(|(_, incoming): &(_, Option<Incoming>)| incoming.is_some())
    {
        first.push_back(next_new(&mut writer)?);
    }
    if first.iter().any(|(_, incoming)| incoming.is_some()) {
        // From now on, no purge runs.
        writer.lock_objects()?;
    }
    if first.back().is_some_and(|(_, incoming)| incoming.is_some()) {
        writer.begin_pack()?;
    }
    // Records without a time, such as a title at the start of a file, have the time of the first record with one.
    writer.fallback_time = first.iter().find_map(|(_, incoming)| incoming.as_ref()?.at);
    let mut waiting: Option<Incoming> = None;
    let last_rewinds = loop {
        let (rewinds, incoming) = match first.pop_front() {
            Some(next) => next,
            None => next_new(&mut writer)?,
        };
        let Some(incoming) = incoming else { break rewinds };
        if let Some(earlier) = waiting.replace(incoming) {
            writer.record(earlier, None)?;
        }
        writer.rewind(rewinds, None)?;
    };
    // The last change records the position in the file.
    let mut mark = feed.mark().filter(|mark| !is_purged(&mark.session));
    if let Some(last) = waiting {
        writer.record(last, mark.take())?;
    }
    writer.rewind(last_rewinds, mark)?;
    let (recorded, known, replaced) = (writer.recorded, writer.known, writer.replaced);
    let removed = std::mem::take(&mut writer.removed);
    let (left_out, types, gone) = (writer.left_out(), writer.types_of_own.take(), writer.gone());
    let (last, kept) = writer.finish()?;
    let tip = match last {
        Some(last) => Some(move_or_merge(trace, base.as_ref(), last)?),
        None => base.map(|tip| tip.commit.oid),
    };
    drop(kept);
    let tip_as_written = last.filter(|_| tip == last);
    if let Some((tip, gone)) = tip_as_written.or(tip.filter(|_| last.is_none())).zip(gone) {
        gone::write(repo, name, tip, gone.into_iter());
    }
    let left_out = left_out.filter(|_| tip_as_written.is_some());
    let summary = tip_as_written.zip(types).map(|(tip, types)| Summary { tip: tip.to_string(), types });
    let priorities = Vec::new();
    let without_item = BTreeSet::new();
    Ok(Report { recorded, known, replaced, removed, tip, left_out, summary, secrets, priorities, purged, without_item })
}

/// The position up to which the last import of a session read its file, and the commit that records it.
pub(crate) fn last_mark(
    repo: &Repo,
    name: &TraceName,
    session: &str,
) -> Result<Option<(Oid, ImportPosition)>, TraceError> {
    Tip::find(repo, name)?.map_or(Ok(None), |tip| last_mark_at(repo, tip, session))
}

/// As [`last_mark`], in the history of a tip. Walks it back to that import.
pub(crate) fn last_mark_at(repo: &Repo, tip: Tip, session: &str) -> Result<Option<(Oid, ImportPosition)>, TraceError> {
    for tip in Walk::new(repo, tip, Parents::All) {
        let tip = tip?;
        // A cherry-pick by plain git copies trailers to a trace without the items.
        if tip.is_ours()
            && let Some(mark) = tip.trailers.source.filter(|mark| mark.session == session)
        {
            return Ok(Some((tip.commit.oid, mark)));
        }
    }
    Ok(None)
}

/// Moves the trace to `last`, which was written on top of `base`; merges if the trace has moved meanwhile. It may have moved back, by an undo, which
/// is then a change like any other.
fn move_or_merge(trace: &Trace<'_>, base: Option<&Tip>, last: Oid) -> Result<Oid, TraceError> {
    let (to, ()) = trace.change(|change| {
        match change.tip().cloned() {
            Some(ours) if Some(ours.commit.oid) != base.map(|tip| tip.commit.oid) => {
                let theirs = Tip::read(change.repo(), last)?;
                let mut keep_ours = |_: &_| Ok(Verdict::Take(Side::Ours));
                let (base, subject) = (base.map(|tip| tip.commit.tree), "merge what was imported meanwhile");
                merge::join(change, base, [&ours, &theirs], subject, None, &mut keep_ours)?;
                change.log("import".to_owned());
            }
            _ => change.move_to(last, "import".to_owned()),
        }
        Ok(())
    })?;
    Ok(to.unwrap_or(last))
}
