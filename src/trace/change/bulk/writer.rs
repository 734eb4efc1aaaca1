//! Writing an import's commits aside: a chain on the tip that was seen at the start, which no ref holds yet.

mod replaced;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Incoming, Usage};
use crate::base::time::Time;
use crate::git::{GitError, Ident, NewCommit, Oid, PackWriter, Repo, TreeStore};
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;
use crate::trace::change::compress::STANDS_FOR;
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Basis, ImportPosition, Op, Total, Trailers, preview};
use crate::trace::model::tree::{self, CAPACITY, ItemEntry, TreeEditor, item_path};
use crate::trace::model::types::Types;
use crate::trace::store::priority::{Level, Request};
use crate::trace::store::tip::Tip;
use crate::trace::store::view::View;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::store::write::Signature;
use crate::trace::store::{sign, total};

/// Where the objects go.
enum Store<'r> {
    /// One by one into files of their own.
    Loose(&'r Repo),
    /// All into one pack.
    Pack(PackWriter<'r>),
}

impl Store<'_> {
    fn write_blob(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        match self {
            Self::Loose(repo) => repo.write_blob(&bytes),
            Self::Pack(pack) => pack.write_blob(bytes),
        }
    }

    fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Oid, TraceError> {
        match self {
            Self::Loose(repo) => sign::write_commit(repo, commit),
            Self::Pack(pack) => Ok(pack.write_commit(commit)?),
        }
    }

    fn trees(&self) -> &dyn TreeStore {
        match self {
            Self::Loose(repo) => *repo,
            Self::Pack(pack) => pack,
        }
    }
}

/// Where an item of the trace under construction stands, and what it costs.
struct Place {
    seq: u32,
    path: String,
    cost: u64,
    revision: u32,
    /// Whether it came in skipped since the base.
    is_skipped: bool,
}

pub(crate) struct Writer<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    signature: &'r Signature,
    encoding: Encoding,
    editor: TreeEditor,
    store: Store<'r>,
    base: Option<Oid>,
    last: Option<Oid>,
    last_author: Option<Ident>,
    last_time: Option<Time>,
    fallback_time: Option<Time>,
    /// What the tree counts for now.
    total: Total,
    /// What our own count of it is, where it is known without counting.
    counted: Option<u64>,
    /// What came in and went out since the base, as counted.
    counted_change: i64,
    base_tip: Option<Tip>,
    /// The base's items, until [`Self::base_view`] takes them.
    base_slots: Vec<ItemEntry>,
    base_view: Option<View>,
    /// What the items that are skipped cost, once it was asked for; reports leave them out.
    skipped: Option<u64>,
    /// What those of them cost that came in since the base, less those that went out.
    skipped_change: i64,
    next_seq: u32,
    live: HashMap<ItemId, Place>,
    /// Where items stood that were taken out.
    gone: HashMap<ItemId, Place>,
    /// Items that the trace had before, live or not.
    known_before: HashSet<ItemId>,
    recorded: usize,
    known: usize,
    priorities: Vec<Request>,
    types: Types,
}

/// What was written, not yet taken up by the trace.
pub(crate) struct Written {
    pub(crate) last: Option<Oid>,
    pub(crate) recorded: usize,
    pub(crate) known: usize,
    pub(crate) priorities: Vec<Request>,
}

impl<'r> Writer<'r> {
    /// Starts on `base`.
    pub(crate) fn new(
        repo: &'r Repo,
        name: &'r TraceName,
        signature: &'r Signature,
        encoding: Encoding,
        base: Option<&Tip>,
    ) -> Result<Self, TraceError> {
        let slots = base.map_or(Ok(Vec::new()), |tip| tree::list(repo, tip.commit.tree))?;
        let next_seq = base.map_or(Ok(0), |tip| tip.next_seq(repo))?;
        let mut live = HashMap::with_capacity(slots.len());
        let place = |slot: &ItemEntry| Place {
            seq: slot.seq,
            path: slot.path.clone(),
            cost: 0,
            revision: 0,
            is_skipped: false,
        };
        live.extend(slots.iter().map(|slot| (slot.id, place(slot))));
        let known_before = known_ids(repo, base, &slots, next_seq)?;
        let total = match base {
            Some(tip) => tip.total(repo, encoding)?,
            None => Total { tokens: PER_REPLY, basis: Basis::Counted(encoding) },
        };
        Ok(Self {
            repo,
            name,
            signature,
            encoding,
            editor: TreeEditor::new(repo, base.map(|tip| tip.commit.tree))?,
            store: Store::Loose(repo),
            base: base.map(|tip| tip.commit.oid),
            last: base.map(|tip| tip.commit.oid),
            last_author: None,
            last_time: base.map(Tip::time),
            fallback_time: None,
            total,
            counted: (total.basis != Basis::Reported).then_some(total.tokens),
            counted_change: 0,
            base_tip: base.cloned(),
            base_slots: slots,
            base_view: None,
            skipped: base.is_none().then_some(0),
            skipped_change: 0,
            next_seq,
            live,
            gone: HashMap::new(),
            known_before,
            recorded: 0,
            known: 0,
            priorities: Vec::new(),
            types: Types::read(repo)?,
        })
    }

    /// Puts what is written from here on into a pack.
    pub(crate) fn begin_pack(&mut self) -> Result<(), TraceError> {
        self.store = Store::Pack(PackWriter::start(self.repo)?);
        Ok(())
    }

    /// The time of records without one of their own, while nothing came before them.
    pub(crate) fn assume_time(&mut self, time: Option<Time>) {
        self.fallback_time = time;
    }

    /// Whether a change is to be recorded; one that brings in what was there before is not.
    pub(crate) fn is_news(&mut self, incoming: &Incoming) -> bool {
        let id = incoming.item.id;
        let news = match incoming.op {
            Op::Edit | Op::Delete | Op::Restore => !self.known_before.contains(&id),
            _ => !self.known_before.contains(&id) && !self.live.contains_key(&id),
        };
        self.known += usize::from(!news);
        news
    }

    /// Writes the commit of one change.
    pub(crate) fn record(&mut self, mut incoming: Incoming, mark: Option<ImportPosition>) -> Result<(), TraceError> {
        let id = incoming.item.id;
        if self.live.contains_key(&id) && !matches!(incoming.op, Op::Edit | Op::Delete | Op::Restore) {
            // It came in twice, both times among the changes that were held back.
            self.known += 1;
            return Ok(());
        }
        let before = self.counted_change;
        let files = if incoming.op == Op::Delete { self.take_out(&incoming)? } else { self.put_in(&mut incoming)? };
        self.total.tokens = self.total.tokens.saturating_add_signed(self.counted_change - before);
        let Incoming { op, item, subject, reason, by, at, skip, usage, .. } = incoming;
        let stands_for = files.len() - 1;
        let total = self.total(usage)?;
        let at = self.moment(at);
        let subject = subject.unwrap_or_else(|| match op {
            Op::Delete => format!("delete {id}"),
            Op::Compress if stands_for > 0 => format!("compress {stands_for} items: {}", preview(&item)),
            _ => preview(&item),
        });
        let author = match by {
            Some(person) => Ident::of(&person, at.as_second()),
            None => self.signature.author.at(at.as_second()),
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
        let commit = self.write(&files, file::render(&item), &author, trailers, &subject)?;
        if let Some(reason) = skip {
            let (seq, reason) = (self.live.get(&id).map(|place| place.seq), Some(reason));
            let level = Level::Skip;
            self.priorities.push(Request { item: id, level, reason, seq, at, by: None, introduced: commit });
        }
        self.last = Some(commit);
        self.last_author = Some(author);
        self.last_time = Some(at);
        self.recorded += 1;
        Ok(())
    }

    /// Takes an item out; the files that change, with whether they are kept.
    fn take_out(&mut self, incoming: &Incoming) -> Result<Vec<(String, bool)>, TraceError> {
        let id = incoming.item.id;
        let place = self.live.remove(&id).ok_or_else(|| incoming.bad("it takes out an item that is not there"))?;
        self.count_out(&place);
        let files = vec![(place.path.clone(), false)];
        self.gone.insert(id, place);
        Ok(files)
    }

    /// Puts an item in, at the end or where it stands or stood; the files that change, with whether they are kept.
    fn put_in(&mut self, incoming: &mut Incoming) -> Result<Vec<(String, bool)>, TraceError> {
        let (op, id) = (incoming.op, incoming.item.id);
        let before = self.live.remove(&id);
        let known = before.as_ref().or(self.gone.get(&id));
        let was_skipped = known.is_some_and(|place| place.is_skipped);
        let place = known.map(|place| (place.seq, place.revision));
        let given = incoming.seq.filter(|_| self.base.is_none());
        let replaced =
            incoming.replaces.take().map(|replaced| self.replace(&replaced)).transpose()?.unwrap_or_default();
        if !replaced.items.is_empty() {
            let ids = replaced.items.iter().map(|id| Value::from(id.to_string())).collect();
            incoming.item.fields.meta.insert(STANDS_FOR.to_owned(), Value::Array(ids));
            incoming.op = Op::Compress;
        }
        let seq = match (op, place) {
            (Op::Import, _) if replaced.seq.is_some() => replaced.seq.unwrap_or_default(),
            (Op::Edit | Op::Restore, Some((seq, _))) => given.unwrap_or(seq),
            (Op::Edit | Op::Restore, None) => return Err(incoming.bad("it changes an item that never came in")),
            _ => given.map_or_else(|| self.free_seq(), Ok)?,
        };
        self.next_seq = self.next_seq.max(seq + 1);
        let item = &mut incoming.item;
        item.keep_token_count(self.encoding);
        item.revision = item.revision.max(place.map_or(1, |(_, last)| last.saturating_add(u32::from(op == Op::Edit))));
        let path = item_path(seq, &item.fields.item_type, id);
        let mut files = replaced.files;
        if let Some(before) = before {
            self.count_out(&before);
            if before.path != path {
                files.push((before.path, false));
            }
        }
        files.push((path.clone(), true));
        let cost = total::item_cost(item, self.encoding);
        let by_type = self.types.rules(&item.fields.item_type).priority == Level::Skip;
        let is_skipped = incoming.skip.is_some() || was_skipped || by_type;
        self.counted_change += cost.cast_signed();
        self.skipped_change += if is_skipped { cost.cast_signed() } else { 0 };
        self.gone.remove(&id);
        self.live.insert(id, Place { seq, path, cost, revision: item.revision, is_skipped });
        Ok(files)
    }

    /// Takes off what an item counted for that came in since the base.
    fn count_out(&mut self, place: &Place) {
        self.counted_change -= place.cost.cast_signed();
        self.skipped_change -= if place.is_skipped { place.cost.cast_signed() } else { 0 };
    }

    /// What the tree counts for now, skipped items included.
    fn total(&mut self, usage: Usage) -> Result<Total, TraceError> {
        match usage {
            Usage::Unsaid => {}
            Usage::Reported(tokens) => {
                let skipped = self.skipped()?.saturating_add_signed(self.skipped_change);
                self.total = Total { tokens: tokens.saturating_add(skipped), basis: Basis::Reported };
            }
            Usage::Void => {
                let tokens = self.counted()?.saturating_add_signed(self.counted_change);
                self.total = Total { tokens, basis: Basis::Counted(self.encoding) };
            }
        }
        Ok(self.total)
    }

    /// What the base's skipped items cost. Reads them, once.
    fn skipped(&mut self) -> Result<u64, TraceError> {
        if self.skipped.is_none() {
            let (repo, encoding) = (self.repo, self.encoding);
            self.skipped = self.base_view()?.map(|view| view.left_out_cost(repo, encoding)).transpose()?;
        }
        Ok(self.skipped.unwrap_or_default())
    }

    /// The trace as it was at the start.
    fn base_view(&mut self) -> Result<Option<&View>, TraceError> {
        if self.base_view.is_none()
            && let Some(tip) = &self.base_tip
        {
            let slots = std::mem::take(&mut self.base_slots);
            self.base_view = Some(View::of_slots(self.repo, tip.clone(), slots, None)?);
        }
        Ok(self.base_view.as_ref())
    }

    /// What the base counts for by our own count. Reads all of it, once, where its total is a report.
    fn counted(&mut self) -> Result<u64, TraceError> {
        if self.counted.is_none()
            && let Some(tip) = &self.base_tip
        {
            self.counted = Some(total::recount(self.repo, tip.commit.tree, self.encoding)?);
        }
        Ok(self.counted.unwrap_or(PER_REPLY))
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
            (None, None) => self.signature.at,
        }
    }

    /// Writes one commit and returns its oid.
    fn write(
        &mut self,
        files: &[(String, bool)],
        bytes: Vec<u8>,
        author: &Ident,
        mut trailers: Trailers,
        subject: &str,
    ) -> Result<Oid, TraceError> {
        for (path, _) in files.iter().filter(|(_, kept)| !kept) {
            self.editor.remove(self.repo, path)?;
        }
        // An item is in one file.
        if let Some((path, _)) = files.iter().find(|(_, kept)| *kept) {
            let blob = self.store.write_blob(bytes)?;
            self.editor.put(self.repo, path, blob)?;
        }
        let tree = self.editor.write(self.store.trees())?;
        trailers.tree = Some(tree.to_string());
        let message = trailers.render(subject);
        let parents: Vec<Oid> = self.last.into_iter().collect();
        let commit =
            NewCommit { tree, parents: &parents, author, committer: &self.signature.committer, message: &message };
        self.store.write_commit(&commit)
    }

    /// Ends writing, and says what the last commit is.
    ///
    /// A pack's commits are not signed. Where that is asked for, the last one is made once more, signed: as it names its
    /// parent, the signature is of all of them.
    pub(crate) fn finish(self) -> Result<Written, TraceError> {
        let mut last = self.last.filter(|_| self.recorded > 0);
        let mut priorities = self.priorities;
        if let Store::Pack(pack) = self.store {
            pack.finish()?;
            let is_signed = sign::is_asked(self.repo)?;
            if let (Some(written), Some(author)) = (last, self.last_author.as_ref().filter(|_| is_signed)) {
                let signed = sign::again(self.repo, written, author, &self.signature.committer)?;
                for request in priorities.iter_mut().filter(|request| request.introduced == written) {
                    request.introduced = signed;
                }
                last = Some(signed);
            }
        }
        Ok(Written { last, recorded: self.recorded, known: self.known, priorities })
    }
}

/// Every item that a trace has or once had. Walks history only where a gap among the positions says that something left.
fn known_ids(
    repo: &Repo,
    base: Option<&Tip>,
    slots: &[ItemEntry],
    next_seq: u32,
) -> Result<HashSet<ItemId>, TraceError> {
    let mut known: HashSet<ItemId> = slots.iter().map(|slot| slot.id).collect();
    if let Some(tip) = base.filter(|_| known.len() < next_seq as usize) {
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            let earlier = earlier?;
            match earlier.trailers.item.filter(|_| earlier.is_ours()) {
                Some(item) => drop(known.insert(item)),
                None => known.extend(changes_of(repo, &earlier)?.iter().map(|change| change.entry().id)),
            }
        }
    }
    Ok(known)
}
