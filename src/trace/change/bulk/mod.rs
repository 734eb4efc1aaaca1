//! Bulk writing: many changes at once, a commit each, joined to the trace at the end.
//!
//! Past a score of changes the commits go into one pack; fewer are written one by one. Either way they stand on the tip that was seen at the start, outside of any lock, and the trace takes them up in one
//! step: by moving on to them, or, where somebody else committed meanwhile, by a merge that puts the new items at the end.
//! What fails half-way leaves the trace as it was.

mod writer;

use super::merge;
use super::merge::three_way::Verdict;
pub(crate) use super::running_total::Usage;
use crate::base::merge::Side;
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::secrets::Policy;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::Item;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::store::priority;
use crate::trace::store::secrets::{Found, SecretScanner};
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;
use crate::trace::store::walk::{Parents, Walk};
use writer::Writer;

/// From how many changes on they go into a pack: as many objects as git keeps loose at most when it fetches.
const PACK_FROM: usize = 20;

/// One change that is to be recorded.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// What is done; decides what becomes of `item`.
    pub op: Op,
    /// The item as it is after the change; of a deletion, only its id counts.
    pub item: Item,
    /// Where it stood in the trace it was taken from; counts where this one is new.
    pub seq: Option<u32>,
    /// The commit's first line, in place of a preview.
    pub subject: Option<String>,
    pub reason: Option<String>,
    /// Who, as `Name <email>`; none: whoever imports.
    pub by: Option<String>,
    /// When; moved on where the change before is not earlier. None: right after that.
    pub at: Option<Time>,
    /// The priority it comes in with, and why.
    pub skip: Option<String>,
    /// The items that it takes the place of, as a summary does; the change is a compression then.
    pub replaces: Option<Replaced>,
    /// What a provider said the context took when this came in.
    pub usage: Usage,
    /// The line of the input, for messages.
    pub line: usize,
}

/// What a summary takes the place of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Replaced {
    /// The items. Those that are not live, are pinned or are left out stay as they are, and with them the other half of a
    /// call and its results.
    pub items: Vec<ItemId>,
    /// Whether the summary follows on what stays, and does not stand where the first of them stood.
    pub at_end: bool,
}

impl Incoming {
    /// The error that this change cannot be made.
    fn bad(&self, cause: &str) -> TraceError {
        TraceError::BadLine { line: self.line, cause: cause.to_owned() }
    }

    /// Takes out its secrets, or does what else the policy is, and says what they look like.
    fn screened(&mut self, screen: &SecretScanner<'_>) -> Result<Vec<Found>, TraceError> {
        let found = screen.look(&mut self.item.fields, &mut self.item.body, self.subject.as_mut())?;
        if found.iter().any(|found| found.policy == Policy::Redact) {
            // The count was of another text.
            self.item.tokens = None;
        }
        Ok(found)
    }
}

/// Where changes come from, one at a time.
pub(crate) trait Feed {
    /// The next change; `None` at the end.
    fn next(&mut self) -> Result<Option<Incoming>, TraceError>;

    /// How far the input has been read, once [`Feed::next`] said `None`.
    fn mark(&self) -> Option<ImportPosition>;
}

/// What an import did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub recorded: usize,
    /// Items that the trace has or once had, and that were therefore passed over.
    pub known: usize,
    /// The trace's tip afterwards; `None` if it has no commit.
    pub tip: Option<Oid>,
    /// Secrets that were found, and what was done about them.
    pub secrets: Vec<Found>,
}

/// Records what `feed` gives, in order, on the trace `name`.
///
/// An item that comes in and is live in the trace, or once was, is passed over, so that the same file imported twice brings
/// nothing. Secrets are taken out, unless `trace.secrets` says otherwise. Memory holds the tree and one change at a time.
pub(crate) fn import(trace: &Trace<'_>, feed: &mut dyn Feed) -> Result<Report, TraceError> {
    let (repo, name) = (trace.repo(), trace.name());
    let signature = trace.signature()?;
    let base = Tip::find(repo, name)?;
    let mut writer = Writer::new(trace, &signature, base.as_ref())?;
    let screen = SecretScanner::new(repo, Policy::Redact);
    let mut secrets = Vec::new();
    // A score of changes is held back: whether there are more decides who writes them.
    let mut head: Vec<Incoming> = Vec::with_capacity(PACK_FROM);
    let mut ended = false;
    while head.len() < PACK_FROM && !ended {
        match feed.next()? {
            Some(mut incoming) if writer.is_news(&incoming) => {
                secrets.extend(incoming.screened(&screen)?);
                head.push(incoming);
            }
            Some(_) => {}
            None => ended = true,
        }
    }
    if !ended {
        writer.begin_pack()?;
    }
    // Records without a time, such as a title at the head of a file, are as old as the first that has one.
    writer.assume_time(head.iter().find_map(|incoming| incoming.at));
    let mut waiting: Option<Incoming> = None;
    for incoming in head {
        if let Some(earlier) = waiting.replace(incoming) {
            writer.record(earlier, None)?;
        }
    }
    while !ended {
        match feed.next()? {
            Some(mut incoming) if writer.is_news(&incoming) => {
                secrets.extend(incoming.screened(&screen)?);
                if let Some(earlier) = waiting.replace(incoming) {
                    writer.record(earlier, None)?;
                }
            }
            Some(_) => {}
            None => ended = true,
        }
    }
    // The last commit tells how far the file was read.
    if let Some(last) = waiting {
        writer.record(last, feed.mark())?;
    }
    let written = writer.finish()?;
    // Before the trace takes the items up: once it has, the same import passes them over and would not make up for it.
    priority::set(repo, &signature, &written.priorities)?;
    let tip = match written.last {
        Some(last) => Some(take_up(trace, base.as_ref(), last)?),
        None => base.map(|tip| tip.commit.oid),
    };
    let writer::Written { recorded, known, .. } = written;
    Ok(Report { recorded, known, tip, secrets })
}

/// How far the last import of a session's file into the trace `name` read it.
///
/// Walks history back to that import's last commit.
pub(crate) fn last_mark(repo: &Repo, name: &TraceName, session: &str) -> Result<Option<ImportPosition>, TraceError> {
    let Some(tip) = Tip::find(repo, name)? else { return Ok(None) };
    for tip in Walk::new(repo, tip, Parents::All) {
        let tip = tip?;
        // Plain git's cherry-pick copies trailers to where what was read before is not.
        if tip.is_ours()
            && let Some(mark) = tip.trailers.source.filter(|mark| mark.session == session)
        {
            return Ok(Some(mark));
        }
    }
    Ok(None)
}

/// Moves the trace to `last`, which was written on top of `base`; merges if the trace has moved meanwhile.
fn take_up(trace: &Trace<'_>, base: Option<&Tip>, last: Oid) -> Result<Oid, TraceError> {
    let (to, ()) = trace.change(|change| {
        match change.tip().cloned() {
            Some(ours) if Some(ours.commit.oid) != base.map(|tip| tip.commit.oid) => {
                let theirs = Tip::read(change.repo(), last)?;
                let mut keep_ours = |_: &_| Ok(Verdict::Take(Side::Ours));
                merge::join(change, (&ours, &theirs), "merge what was imported meanwhile", &mut keep_ours)?;
                change.log("import".to_owned());
            }
            _ => change.move_to(last, "import".to_owned()),
        }
        Ok::<_, TraceError>(())
    })?;
    Ok(to.unwrap_or(last))
}
