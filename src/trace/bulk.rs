//! Bulk writing: many changes at once, a commit each, joined to the trace at the end.
//!
//! Past a score of changes the commits go through `git fast-import`, which writes one pack; fewer are written one by one.
//! Either way they stand on the tip that was seen at the start, outside of any lock, and the trace takes them up in one
//! step: by moving on to them, or, where somebody else committed meanwhile, by a merge that puts the new items at the end.
//! What fails half-way leaves the trace as it was.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use super::error::TraceError;
use super::id::ItemId;
use super::item::Item;
use super::message::{Basis, Op, SourceMark, Total, Trailers, preview};
use super::name::TraceName;
use super::priority::Request;
use super::time::Time;
use super::tip::Tip;
use super::tree::{self, CAPACITY, Slot, TreeEditor, item_path};
use super::view::View;
use super::walk::{Parents, Walk, changes_of};
use super::write::Stamp;
use super::{file, join, total};
use crate::git::{
    Change, Entry, FastImport, GitError, Ident, LOCK_PATIENCE, LogLine, NewCommit, ObjectType, Oid, Repo, TreeStore,
    render_tree,
};
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;

/// From how many changes on `git fast-import` writes them.
const FAST_FROM: usize = 20;

/// One change that is to be recorded.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// What is done; decides what becomes of `item`.
    pub op: Op,
    /// The item as it is after the change; of a deletion, only its id counts.
    pub item: Item,
    /// Where it stood in the trace it was taken from; counts where this one is new.
    pub seq: Option<u32>,
    /// The commit's first line, in place of a preview.
    pub subject: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Who, as `Name <email>`; none: whoever imports.
    pub by: Option<String>,
    /// When; moved on where the change before is not earlier. None: right after that.
    pub at: Option<Time>,
    /// The priority it comes in with, and why.
    pub skip: Option<String>,
    /// What a provider said the context took when this came in.
    pub usage: Usage,
    /// The line of the input, for messages.
    pub line: usize,
}

/// What is known of the context's size when a change comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Usage {
    /// Nothing new.
    #[default]
    Unsaid,
    /// A provider reported so many tokens for the whole of it.
    Reported(u64),
    /// What was reported is no longer of what the trace holds.
    Void,
}

impl Incoming {
    /// The error that this change cannot be made.
    fn bad(&self, cause: &str) -> TraceError {
        TraceError::BadLine { line: self.line, cause: cause.to_owned() }
    }
}

/// Where changes come from, one at a time.
pub trait Feed {
    /// The next change; `None` at the end.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the input; nothing is recorded then.
    fn next(&mut self) -> Result<Option<Incoming>, TraceError>;

    /// How far the input has been read, once [`Feed::next`] said `None`.
    fn mark(&self) -> Option<SourceMark>;
}

/// What an import did.
#[derive(Debug, Default)]
pub struct Report {
    /// Changes that were recorded.
    pub recorded: usize,
    /// Items that the trace has or once had, and that were therefore passed over.
    pub known: usize,
    /// The trace's tip afterwards; `None` if it has no commit.
    pub tip: Option<Oid>,
    /// Priorities that the recorded items come in with; the caller sets them.
    pub priorities: Vec<Request>,
}

/// Records what `feed` gives, in order, on the trace `name`.
///
/// An item that comes in and is live in the trace, or once was, is passed over, so that the same file imported twice brings
/// nothing. Memory holds the tree and one change at a time.
///
/// # Errors
///
/// What `feed` returns, [`TraceError::Full`], and those of the repository; the trace is as it was then.
pub fn import(
    repo: &Repo,
    name: &TraceName,
    stamp: &Stamp,
    encoding: Encoding,
    feed: &mut dyn Feed,
) -> Result<Report, TraceError> {
    let base = Tip::find(repo, name)?;
    let mut writer = Writer::new(repo, name, stamp, encoding, base.as_ref())?;
    // A score of changes is held back: whether there are more decides who writes them.
    let mut head: Vec<Incoming> = Vec::with_capacity(FAST_FROM);
    let mut ended = false;
    while head.len() < FAST_FROM && !ended {
        match feed.next()? {
            Some(incoming) if writer.is_news(&incoming) => head.push(incoming),
            Some(_) => {}
            None => ended = true,
        }
    }
    if !ended {
        writer.fast = Some(FastImport::start(repo)?);
    }
    // Records without a time, such as a title at the head of a file, are as old as the first that has one.
    writer.fallback_time = head.iter().find_map(|incoming| incoming.at);
    let mut waiting: Option<Incoming> = None;
    for incoming in head {
        if let Some(earlier) = waiting.replace(incoming) {
            writer.record(earlier, None)?;
        }
    }
    while !ended {
        match feed.next()? {
            Some(incoming) if writer.is_news(&incoming) => {
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
    let tip = match written.last {
        Some(last) => Some(take_up(repo, name, stamp, encoding, base.as_ref(), last)?),
        None => base.map(|tip| tip.commit.oid),
    };
    Ok(Report { recorded: written.recorded, known: written.known, tip, priorities: written.priorities })
}

/// Trees that are only hashed: `git fast-import` makes them itself, and its commits name the oids found here.
struct HashOnly<'r>(&'r Repo);

impl TreeStore for HashOnly<'_> {
    fn read_tree(&self, oid: Oid) -> Result<Vec<Entry>, GitError> {
        self.0.read_tree(oid)
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.0.hash(ObjectType::Tree, &render_tree(entries))
    }
}

/// Where an item of the trace under construction stands, and what it costs.
struct Place {
    seq: u32,
    path: String,
    cost: u64,
    revision: u32,
}

struct Writer<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    stamp: &'r Stamp,
    encoding: Encoding,
    editor: TreeEditor,
    /// `None`: commits are written one by one.
    fast: Option<FastImport<'r>>,
    base: Option<Oid>,
    last: Option<Oid>,
    last_time: Option<Time>,
    fallback_time: Option<Time>,
    /// What the tree counts for by our own count.
    counted: u64,
    /// What a provider's last report adds to that, or takes off.
    reported_difference: Option<i64>,
    /// What the items that are skipped cost; reports leave them out.
    skipped: u64,
    next_seq: u32,
    live: HashMap<ItemId, Place>,
    /// Where items stood that were taken out.
    gone: HashMap<ItemId, Place>,
    /// Items that the trace had before, live or not.
    known_before: HashSet<ItemId>,
    recorded: usize,
    known: usize,
    priorities: Vec<Request>,
}

/// What was written, not yet taken up by the trace.
struct Written {
    last: Option<Oid>,
    recorded: usize,
    known: usize,
    priorities: Vec<Request>,
}

impl<'r> Writer<'r> {
    fn new(
        repo: &'r Repo,
        name: &'r TraceName,
        stamp: &'r Stamp,
        encoding: Encoding,
        base: Option<&Tip>,
    ) -> Result<Self, TraceError> {
        let slots = base.map_or(Ok(Vec::new()), |tip| tree::list(repo, tip.commit.tree))?;
        let next_seq = base.map_or(Ok(0), |tip| tip.next_seq(repo))?;
        let mut live = HashMap::with_capacity(slots.len());
        let place = |slot: &Slot| Place { seq: slot.seq, path: slot.path.clone(), cost: 0, revision: 0 };
        live.extend(slots.iter().map(|slot| (slot.id, place(slot))));
        let known_before = known_ids(repo, base, &slots, next_seq)?;
        let (mut counted, mut reported_difference, mut skipped) = (PER_REPLY, None, 0);
        if let Some(tip) = base {
            let Total { tokens, basis } = tip.total(repo, encoding)?;
            counted = tokens;
            if basis == Basis::Reported {
                counted = total::recount(repo, tip.commit.tree, encoding)?;
                reported_difference = Some(tokens.cast_signed() - counted.cast_signed());
            }
            skipped = View::at(repo, tip.clone(), None)?.left_out_cost(repo, encoding)?;
        }
        Ok(Self {
            repo,
            name,
            stamp,
            encoding,
            editor: TreeEditor::new(repo, base.map(|tip| tip.commit.tree))?,
            fast: None,
            base: base.map(|tip| tip.commit.oid),
            last: base.map(|tip| tip.commit.oid),
            last_time: base.map(Tip::time),
            fallback_time: None,
            counted,
            reported_difference,
            skipped,
            next_seq,
            live,
            gone: HashMap::new(),
            known_before,
            recorded: 0,
            known: 0,
            priorities: Vec::new(),
        })
    }

    /// Whether a change is to be recorded; one that brings in what was there before is not.
    fn is_news(&mut self, incoming: &Incoming) -> bool {
        let id = incoming.item.id;
        let news = match incoming.op {
            Op::Edit | Op::Delete | Op::Restore => !self.known_before.contains(&id),
            _ => !self.known_before.contains(&id) && !self.live.contains_key(&id),
        };
        self.known += usize::from(!news);
        news
    }

    fn record(&mut self, mut incoming: Incoming, mark: Option<SourceMark>) -> Result<(), TraceError> {
        let id = incoming.item.id;
        if self.live.contains_key(&id) && !matches!(incoming.op, Op::Edit | Op::Delete | Op::Restore) {
            // It came in twice, both times among the changes that were held back.
            self.known += 1;
            return Ok(());
        }
        let files = if incoming.op == Op::Delete { self.take_out(&incoming)? } else { self.put_in(&mut incoming)? };
        let Incoming { op, item, subject, reason, by, at, skip, usage, .. } = incoming;
        if skip.is_some() {
            self.skipped += total::item_cost(&item, self.encoding);
        }
        let total = self.total(usage);
        let at = self.moment(at);
        let subject = subject.unwrap_or_else(|| match op {
            Op::Delete => format!("delete {id}"),
            _ => preview(&item),
        });
        let author = match by {
            Some(person) => Ident::of(&person, at.as_second()),
            None => self.stamp.author.at(at.as_second()),
        };
        let trailers = Trailers {
            op: Some(op),
            item: Some(id),
            time: Some(at),
            total: Some(total),
            next: Some(self.next_seq),
            source: mark,
            reason,
            ..Trailers::default()
        };
        let commit = self.write(&files, &file::render(&item), &author, trailers, &subject)?;
        if let Some(reason) = skip {
            let (seq, reason) = (self.live.get(&id).map(|place| place.seq), Some(reason));
            let level = super::priority::Level::Skip;
            self.priorities.push(Request { item: id, level, reason, seq, at, by: None, introduced: commit });
        }
        self.last = Some(commit);
        self.last_time = Some(at);
        self.recorded += 1;
        Ok(())
    }

    /// Takes an item out; the files that change, with whether they are kept.
    fn take_out(&mut self, incoming: &Incoming) -> Result<Vec<(String, bool)>, TraceError> {
        let id = incoming.item.id;
        let place = self.live.remove(&id).ok_or_else(|| incoming.bad("it takes out an item that is not there"))?;
        self.counted = self.counted.saturating_sub(place.cost);
        let files = vec![(place.path.clone(), false)];
        self.gone.insert(id, place);
        Ok(files)
    }

    /// Puts an item in, at the end or where it stands or stood; the files that change, with whether they are kept.
    fn put_in(&mut self, incoming: &mut Incoming) -> Result<Vec<(String, bool)>, TraceError> {
        let (op, id) = (incoming.op, incoming.item.id);
        let before = self.live.remove(&id);
        let place = before.as_ref().or(self.gone.get(&id)).map(|place| (place.seq, place.revision));
        let given = incoming.seq.filter(|_| self.base.is_none());
        let seq = match (op, place) {
            (Op::Edit | Op::Restore, Some((seq, _))) => given.unwrap_or(seq),
            (Op::Edit | Op::Restore, None) => return Err(incoming.bad("it changes an item that never came in")),
            _ => given.map_or_else(|| self.free_seq(), Ok)?,
        };
        self.next_seq = self.next_seq.max(seq + 1);
        let item = &mut incoming.item;
        item.keep_token_count(self.encoding);
        item.revision = item.revision.max(place.map_or(1, |(_, last)| last + u32::from(op == Op::Edit)));
        let path = item_path(seq, &item.fields.item_type, id);
        let mut files = Vec::with_capacity(2);
        if let Some(before) = before {
            self.counted = self.counted.saturating_sub(before.cost);
            if before.path != path {
                files.push((before.path, false));
            }
        }
        files.push((path.clone(), true));
        let cost = total::item_cost(item, self.encoding);
        self.counted += cost;
        self.gone.remove(&id);
        self.live.insert(id, Place { seq, path, cost, revision: item.revision });
        Ok(files)
    }

    /// What the tree counts for now, skipped items included.
    fn total(&mut self, usage: Usage) -> Total {
        match usage {
            Usage::Unsaid => {}
            Usage::Reported(tokens) => {
                let with_skipped = (tokens + self.skipped).cast_signed();
                self.reported_difference = Some(with_skipped - self.counted.cast_signed());
            }
            Usage::Void => self.reported_difference = None,
        }
        match self.reported_difference {
            Some(difference) => {
                Total { tokens: self.counted.saturating_add_signed(difference), basis: Basis::Reported }
            }
            None => Total { tokens: self.counted, basis: Basis::Counted(self.encoding) },
        }
    }

    fn free_seq(&mut self) -> Result<u32, TraceError> {
        if self.next_seq >= CAPACITY {
            return Err(TraceError::Full { trace: self.name.clone() });
        }
        self.next_seq += 1;
        Ok(self.next_seq - 1)
    }

    /// The moment a change gets: its own where that keeps the order, else right after the one before.
    fn moment(&self, own: Option<Time>) -> Time {
        match (own.or(self.fallback_time), self.last_time) {
            (Some(own), last) => own.after(last),
            (None, Some(last)) => last.after(Some(last)),
            (None, None) => self.stamp.at,
        }
    }

    /// Writes one commit and returns its oid.
    fn write(
        &mut self,
        files: &[(String, bool)],
        bytes: &[u8],
        author: &Ident,
        mut trailers: Trailers,
        subject: &str,
    ) -> Result<Oid, TraceError> {
        let repo = self.repo;
        let blob = match &self.fast {
            Some(_) => repo.hash(ObjectType::Blob, bytes)?,
            None => repo.write_blob(bytes)?,
        };
        for (path, kept) in files {
            if *kept { self.editor.put(repo, path, blob)? } else { self.editor.remove(repo, path)? }
        }
        let tree = match &self.fast {
            Some(_) => self.editor.write(&HashOnly(repo))?,
            None => self.editor.write(repo)?,
        };
        trailers.tree = Some(tree.to_string());
        let message = trailers.render(subject);
        let parents: Vec<Oid> = self.last.into_iter().collect();
        let commit = NewCommit { tree, parents: &parents, author, committer: &self.stamp.committer, message: &message };
        let Some(fast) = &mut self.fast else { return Ok(repo.write_commit(&commit)?) };
        let changes: Vec<Change<'_>> = files
            .iter()
            .map(|(path, kept)| if *kept { Change::Write(path, bytes) } else { Change::Remove(path) })
            .collect();
        fast.commit(&commit, self.last == self.base, &changes)?;
        Ok(repo.hash(ObjectType::Commit, commit.render().as_bytes())?)
    }

    fn finish(self) -> Result<Written, TraceError> {
        let last = self.last.filter(|_| self.recorded > 0);
        if let (Some(fast), Some(last)) = (self.fast, last) {
            fast.finish(last)?;
        }
        Ok(Written { last, recorded: self.recorded, known: self.known, priorities: self.priorities })
    }
}

/// Every item that a trace has or once had. Walks history only where a gap among the positions says that something left.
fn known_ids(repo: &Repo, base: Option<&Tip>, slots: &[Slot], next_seq: u32) -> Result<HashSet<ItemId>, TraceError> {
    let mut known: HashSet<ItemId> = slots.iter().map(|slot| slot.id).collect();
    if let Some(tip) = base.filter(|_| known.len() < next_seq as usize) {
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            let earlier = earlier?;
            match earlier.trailers.item.filter(|_| earlier.is_ours()) {
                Some(item) => drop(known.insert(item)),
                None => known.extend(changes_of(repo, &earlier)?.iter().map(|change| change.slot().id)),
            }
        }
    }
    Ok(known)
}

/// Makes the trace move on to `last`, which stands on `base`; merges where the trace has moved meanwhile.
fn take_up(
    repo: &Repo,
    name: &TraceName,
    stamp: &Stamp,
    encoding: Encoding,
    base: Option<&Tip>,
    last: Oid,
) -> Result<Oid, TraceError> {
    let refname = name.refname();
    let _lock = repo.lock(&refname)?;
    let start = Instant::now();
    loop {
        let seen = Tip::find(repo, name)?;
        let new = match &seen {
            Some(ours) if Some(ours.commit.oid) != base.map(|tip| tip.commit.oid) => {
                join::at_end(repo, stamp, encoding, base, ours, &Tip::read(repo, last)?)?
            }
            _ => last,
        };
        let log = LogLine { who: &stamp.committer, why: "import" };
        match repo.move_ref(&refname, seen.map(|tip| tip.commit.oid), new, log) {
            Ok(()) => return Ok(new),
            Err(GitError::RefMoved { .. } | GitError::RefLocked { .. }) if start.elapsed() < LOCK_PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
