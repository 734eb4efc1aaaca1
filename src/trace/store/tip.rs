//! A commit of a trace: its trailers and its tree.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::archived;
use super::head;
use super::priority::RECORD;
use super::tombstone::{self, note_purges};
use super::total;
use crate::base::time::Time;
use crate::git::{Commit, Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::trailers::{Basis, Total, Trailers, Vacant};
use crate::trace::model::tree;
use crate::trace::{ItemEntry, ItemId, TraceError, TraceName};

/// A commit of a trace: its tip, or an earlier commit.
#[derive(Clone, Debug)]
pub struct Tip {
    pub(crate) commit: Commit,
    /// Plain git may have copied them from another commit, see [`Tip::is_ours`].
    pub(crate) trailers: Trailers,
}

impl Tip {
    /// The oid of the commit.
    #[must_use]
    pub fn oid(&self) -> Oid {
        self.commit.oid
    }

    /// Reads a commit.
    pub fn read(repo: &Repo, oid: Oid) -> Result<Self, TraceError> {
        let commit = repo.read_commit(oid)?;
        let trailers = Trailers::parse(&commit.message);
        Ok(Self { commit, trailers })
    }

    /// The commit as JSON: its id, parents, time, author, operation, subject, reason, and the commit of the code.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let Self { commit, trailers } = self;
        let parents: Vec<String> = commit.parents.iter().map(ToString::to_string).collect();
        let texts = [
            ("commit", Some(commit.oid.to_string())),
            ("at", Some(self.time().to_string())),
            ("by", Some(commit.author.clone())),
            ("subject", Some(commit.subject().to_owned())),
            ("op", trailers.op.filter(|_| self.is_ours()).map(|op| op.to_string())),
            ("reason", trailers.reason.clone()),
            ("code", trailers.code.clone()),
        ];
        let texts = texts.into_iter().filter_map(|(member, text)| Some((member.to_owned(), text?.into())));
        texts.chain([("parents".to_owned(), json!(parents))]).collect()
    }

    /// The oid of a trace's tip, if the trace exists.
    ///
    /// Notes that it exists, so that a change in this process does not create it again after another process renames or deletes
    /// it.
    pub(crate) fn note(repo: &Repo, name: &TraceName) -> Result<Option<Oid>, TraceError> {
        // A reader of a trace reads the priority record next.
        repo.expect_ref(RECORD);
        repo.expect_ref(tombstone::HISTORY.refname);
        let refname = name.refname();
        let oid = repo.find_ref(&refname)?;
        if oid.is_some() {
            repo.note_there(&refname);
        }
        note_purges(repo)?;
        Ok(oid)
    }

    /// Reads the tip of a trace; `None` if the trace has no commit yet.
    pub fn find(repo: &Repo, name: &TraceName) -> Result<Option<Self>, TraceError> {
        Self::note(repo, name)?.map(|oid| Self::read(repo, oid)).transpose()
    }

    /// Reads the tip of a trace.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`], or [`TraceError::Unborn`] for the current trace, if it has no commit yet.
    pub fn of_trace(repo: &Repo, name: &TraceName) -> Result<Self, TraceError> {
        Self::find(repo, name)?.ok_or_else(|| Self::missing(repo, name))
    }

    /// The error for a trace without a commit.
    pub(crate) fn missing(repo: &Repo, name: &TraceName) -> TraceError {
        let name = name.clone();
        if let Ok(Some(archived)) = archived::find(repo, &name) {
            return archived.into();
        }
        match head::current(repo) {
            Ok(current) if current == name => TraceError::Unborn { name },
            _ => TraceError::NoSuchTrace { name },
        }
    }

    /// Whether the trailers belong to this commit's tree. A cherry-pick by plain git copies those of another tree.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.trailers.tree.as_deref() == Some(self.commit.tree.to_string().as_str())
    }

    /// The same commit, without trailers that are not its own.
    pub(crate) fn into_ours(self) -> Self {
        if self.is_ours() { self } else { Self { trailers: Trailers::default(), ..self } }
    }

    /// The item that the commit touched, if its own trailers name one and no more.
    pub(crate) fn item(&self) -> Option<ItemId> {
        self.trailers.item.filter(|_| self.trailers.more_items.is_empty() && self.is_ours())
    }

    /// The family of sessions that the trace belongs to.
    pub(crate) fn family(&self) -> Option<&TraceName> {
        self.trailers.family.as_ref().filter(|_| self.is_ours())
    }

    /// The time of the commit: to the nanosecond if the trailers are its own, else to the second.
    #[must_use]
    pub fn time(&self) -> Time {
        self.trailers.time.filter(|_| self.is_ours()).unwrap_or_else(|| Time::from_second(self.commit.commit_time))
    }

    /// The position of the next item: the one in the trailers if they are the commit's own, but always after the last file of the tree.
    pub(crate) fn next_seq(&self, repo: &Repo) -> Result<u32, TraceError> {
        Ok(self.next_after(tree::last(repo, self.commit.tree)?.as_ref()))
    }

    /// As [`Self::next_seq`], with the last item of the tree.
    pub(crate) fn next_after(&self, last: Option<&ItemEntry>) -> u32 {
        let next = self.trailers.next.filter(|_| self.is_ours()).unwrap_or_default();
        next.max(last.map_or(0, |slot| slot.seq + 1))
    }

    /// The item that is the title of the recorded session, and its blob. It need not be in the tree.
    pub(crate) fn title(&self, repo: &Repo) -> Option<(ItemId, Oid)> {
        let (item, blob) = self.trailers.title.as_ref().filter(|_| self.is_ours())?;
        Some((*item, repo.find_oid(blob)?))
    }

    /// The positions that imports left empty: those of noise, of rewound items, and of compacted items.
    pub(crate) fn vacant(&self) -> Vacant {
        self.trailers.vacant.filter(|_| self.is_ours()).unwrap_or_default()
    }

    /// The position before which imports left all positions empty that are: 0 if others may have, the maximum if that is so in the complete
    /// trace. `slots` are the items.
    pub(crate) fn vacant_until(&self, slots: &[ItemEntry]) -> u32 {
        let Vacant { count, before } = self.vacant();
        if self.gaps(slots, before) == count { before.unwrap_or(u32::MAX) } else { 0 }
    }

    /// Those of the empty positions that imports left. One to which an item returned is not empty, and must not hide another one.
    pub(crate) fn vacant_gaps(&self, repo: &Repo) -> Result<Vacant, TraceError> {
        match self.vacant() {
            Vacant { count: 0, .. } => Ok(Vacant::default()),
            Vacant { count, before } => {
                let gaps = self.gaps(&tree::list(repo, self.commit.tree)?, before);
                Ok(Vacant { count: count.min(gaps), before })
            }
        }
    }

    fn gaps(&self, slots: &[ItemEntry], before: Option<u32>) -> u32 {
        let end = self.next_after(slots.last()).min(before.unwrap_or(u32::MAX));
        let positions: HashSet<u32> = slots.iter().map(|slot| slot.seq).filter(|seq| *seq < end).collect();
        end.saturating_sub(u32::try_from(positions.len()).unwrap_or(u32::MAX))
    }

    /// The total of the complete tree, including skipped items: the one in the trailers if it is valid, else a new count, which
    /// reads every item.
    pub(crate) fn total(&self, repo: &Repo, counter: Counter) -> Result<Total, TraceError> {
        let reported = self.trailers.total.filter(|total| self.is_ours() && total.basis == Basis::Reported);
        let counted = || Ok(Total { tokens: self.counted(repo, counter)?, basis: Basis::Counted(counter.id()) });
        reported.map_or_else(counted, Ok)
    }

    /// The counted tokens of the complete tree, including skipped items: those in the trailers if they are valid, else a new count,
    /// which reads every item.
    pub(crate) fn counted(&self, repo: &Repo, counter: Counter) -> Result<u64, TraceError> {
        match self.said_count(repo, counter)? {
            Some(tokens) => Ok(tokens),
            None => total::recount(repo, self.commit.tree, counter),
        }
    }

    /// The counted tokens according to the trailers. A total alone is not believed if there may be images, because version 0.1
    /// counted their bytes. [`RunningTotal`](crate::trace::change::running_total::RunningTotal) keeps the tree that is then listed
    /// small.
    pub(crate) fn said_count(&self, repo: &Repo, counter: Counter) -> Result<Option<u64>, TraceError> {
        let Trailers { counted, total, .. } = &self.trailers;
        if !self.is_ours() {
            return Ok(None);
        }
        if let Some(counted) = counted.filter(|counted| counted.counter == counter.id()) {
            return Ok(Some(counted.tokens));
        }
        let Some(total) = total.filter(|total| total.basis == Basis::Counted(counter.id())) else { return Ok(None) };
        let may_be_image = |slot: &ItemEntry| slot.item_type.as_str() == "artifact";
        let has_images = tree::list(repo, self.commit.tree)?.iter().any(may_be_image);
        Ok((!has_images).then_some(total.tokens))
    }
}
