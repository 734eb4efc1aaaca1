//! Writing the commits of an import on top of the tip at the start, before any ref points to them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::time::Time;
use crate::git::{Ident, KeptPack, ObjectsLock, Oid, PackWriter};
use crate::trace::change::bulk::acts::History;
use crate::trace::change::bulk::known::KnownItem;
use crate::trace::change::bulk::{Incoming, Removal, Replaced, Summary, gone};
use crate::trace::change::compress::set_replaced_ids;
use crate::trace::change::pending::PendingChange;
use crate::trace::model::item_file;
use crate::trace::model::trailers::{ImportPosition, Trailers, preview};
use crate::trace::model::tree::item_path;
use crate::trace::model::types::Types;
use crate::trace::store::commit::{ObjectSink, is_signing, sign_again};
use crate::trace::store::priority::{Level, RECORD, SetLevel};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::store::total;
use crate::trace::store::turns::{first_prompt, is_prompt};
use crate::trace::{ItemEntry, ItemId, ItemType, Op, Tip, Trace, TraceError};

#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct Writer<'t> {
    pub(super) change: PendingChange<'t>,
    base: Option<Oid>,
    pub(super) last_author: Option<Ident>,
    /// The time of records without one, before the first change.
    pub(crate) fallback_time: Option<Time>,
    pub(super) live: HashMap<ItemId, KnownItem>,
    pub(super) deleted: HashMap<ItemId, KnownItem>,
    /// The items that the trace has; with [`Self::read_removed`], also those that it had and this import may contain.
    pub(super) known_before: HashSet<ItemId>,
    /// Whether there may be removed items that were not read yet. Positions do not tell: a summary takes one, and a renumbering closes gaps.
    has_unread: bool,
    /// Whether [`Self::known_before`] has all items of the history.
    knows_all: bool,
    /// The commit that recorded the position at which reading continued.
    resumed_at: Option<Oid>,
    /// `None` until it is needed.
    pub(super) history: Option<History>,
    /// Rewinds of items that are not there yet.
    pub(super) ahead: HashMap<ItemId, bool>,
    /// Titles of items that are not there yet.
    titles: HashMap<ItemId, (ItemId, Oid)>,
    /// The first prompt of this input.
    first_prompt: Option<(ItemId, Oid)>,
    pub(crate) recorded: usize,
    pub(crate) known: usize,
    /// How many items summaries replaced.
    pub(crate) replaced: usize,
    pub(crate) removed: BTreeMap<Removal, usize>,
    types: Types,
    /// Whether an instruction was added, which may replace an earlier one.
    has_instruction: bool,
    /// Whether the items of the base are in [`Self::live`].
    is_listed: bool,
    /// The types of a [`Summary`], if the trace has only items of this input.
    pub(super) types_of_own: Option<BTreeMap<String, usize>>,
    objects: Option<ObjectsLock>,
}

/// Keeps the objects of an import until the trace has moved.
pub(crate) type Kept = (Option<ObjectsLock>, Option<KeptPack>);

impl<'t> Writer<'t> {
    /// `resumed_at`: the commit that recorded the position at which reading continued. The summary may be of another commit.
    pub(crate) fn new(
        trace: &'t Trace<'t>,
        signature: &'t Signature,
        base: Option<&Tip>,
        (resumed_at, summary): (Option<Oid>, Option<&Summary>),
    ) -> Result<Self, TraceError> {
        let repo = trace.repo();
        let mut change = PendingChange::new(trace, signature, base.cloned())?;
        let (types, base) = (Types::read(repo)?, base.map(|tip| tip.commit.oid));
        let summary =
            summary.filter(|summary| base == resumed_at && base.is_some_and(|base| summary.tip == base.to_string()));
        if let Some(summary) = summary
            && summary.leaves_none_out(&types)
            && repo.find_ref(RECORD)?.is_none()
        {
            change.total.has_none_skipped();
        }
        let mut writer = Self {
            has_unread: base.is_some(),
            knows_all: base.is_none(),
            types_of_own: summary.map(|summary| summary.types.clone()).or(base.is_none().then(BTreeMap::new)),
            is_listed: false,
            change,
            base,
            last_author: None,
            fallback_time: None,
            live: HashMap::new(),
            deleted: HashMap::new(),
            known_before: HashSet::new(),
            resumed_at,
            history: None,
            ahead: HashMap::new(),
            titles: HashMap::new(),
            first_prompt: None,
            recorded: 0,
            known: 0,
            replaced: 0,
            removed: BTreeMap::new(),
            types,
            has_instruction: false,
            objects: None,
        };
        if writer.types_of_own.is_none() {
            writer.list()?;
        }
        Ok(writer)
    }

    /// Lists the items of the base, once. Totals may need the same view.
    pub(super) fn list(&mut self) -> Result<(), TraceError> {
        if std::mem::replace(&mut self.is_listed, true) {
            return Ok(());
        }
        for slot in self.change.total.base_view()?.map(|view| &view.slots[..]).unwrap_or_default() {
            self.live.insert(slot.id, KnownItem::of(slot));
            self.known_before.insert(slot.id);
        }
        Ok(())
    }

    pub(crate) fn begin_pack(&mut self) -> Result<(), TraceError> {
        self.change.sink = ObjectSink::Pack(PackWriter::start(self.change.repo())?);
        Ok(())
    }

    pub(super) fn lock_objects(&mut self) -> Result<(), TraceError> {
        if self.objects.is_none() {
            self.change.repo().remove_stale_pack_files();
            self.objects = Some(require_no_purge(self.change.repo())?);
        }
        Ok(())
    }

    /// Whether a change is to be recorded; counts the item as known if not.
    pub(crate) fn is_new(&mut self, incoming: &Incoming) -> Result<bool, TraceError> {
        let id = incoming.item.id;
        if !self.known_before.contains(&id) {
            self.read_removed()?;
        }
        let is_known = self.known_before.contains(&id) || (self.live.contains_key(&id) && incoming.adds_item());
        self.known += usize::from(is_known);
        Ok(!is_known)
    }

    /// Adds the removed items to those that are known. After an import that continues where another one ended, only the commits
    /// since then can have any of its items, so a hook does not walk the history of a long session.
    fn read_removed(&mut self) -> Result<(), TraceError> {
        if !std::mem::take(&mut self.has_unread) {
            return Ok(());
        }
        let (repo, Some(tip)) = (self.change.repo(), self.change.tip()) else { return Ok(()) };
        let since = match self.resumed_at {
            Some(mark) => History::items_since(repo, tip, mark)?,
            None => gone::read(repo, self.change.trace.name(), tip)?,
        };
        self.knows_all |= since.is_some() && self.resumed_at.is_none();
        match since {
            Some(items) => self.known_before.extend(items),
            None => drop(self.read_history()?),
        }
        Ok(())
    }

    /// Walks the complete history, once.
    pub(super) fn read_history(&mut self) -> Result<Option<&History>, TraceError> {
        if let (None, Some(tip)) = (&self.history, self.change.tip()) {
            let history = History::read(self.change.repo(), tip)?;
            self.known_before.extend(&history.items);
            self.history = Some(history);
            self.knows_all = true;
        }
        Ok(self.history.as_ref())
    }

    pub(crate) fn record(&mut self, mut incoming: Incoming, mark: Option<ImportPosition>) -> Result<(), TraceError> {
        self.lock_objects()?;
        if incoming.op != Op::Import || incoming.replaces.is_some() || incoming.title_of.is_some() {
            self.list()?;
        }
        let id = incoming.item.id;
        if self.live.contains_key(&id) && incoming.adds_item() {
            // It occurs twice among the changes that waited.
            self.known += 1;
            return Ok(());
        }
        let replaced = if incoming.op == Op::Delete {
            let item = self.live.remove(&id).ok_or_else(|| incoming.bad("it takes out an item that is not there"))?;
            self.remove(id, item)?;
            0
        } else {
            let replaced = self.put_in(&mut incoming)?;
            self.replaced += replaced;
            self.set_title(&incoming);
            replaced
        };
        let Incoming { op, item, subject, reason, by, at, removal, usage, .. } = incoming;
        let at = self.time(at);
        let subject = subject.unwrap_or_else(|| match op {
            Op::Delete => format!("delete {id}"),
            Op::Compress if replaced > 0 => format!("compress {replaced} items: {}", preview(&item)),
            _ => preview(&item),
        });
        let author = match by {
            Some(person) => Ident::of(&person, at.as_second()),
            None => self.change.signature.author.at(at.as_second()),
        };
        let trailers =
            Trailers { op: Some(op), item: Some(id), time: Some(at), source: mark, reason, ..Trailers::default() };
        self.change.usage = usage;
        self.change.commit(&subject, trailers, Some(&author))?;
        self.last_author = Some(author);
        self.recorded += 1;
        match removal {
            Some(reason) => self.delete(id, reason, None),
            None => self.rewind(Vec::new(), None),
        }
    }

    /// Makes an item the title of the trace if it is, or once the item is there that the title is about.
    fn set_title(&mut self, incoming: &Incoming) {
        let id = incoming.item.id;
        if let Some(title) = self.titles.remove(&id) {
            self.change.title = Some(title);
        }
        if incoming.removal == Some(Removal::Title) {
            let title = (id, self.live[&id].blob);
            let is_there = |item: &ItemId| self.live.contains_key(item) || self.known_before.contains(item);
            match incoming.title_of.filter(|item| !is_there(item)) {
                Some(item) => drop(self.titles.insert(item, title)),
                None => self.change.title = Some(title),
            }
        }
    }

    /// Makes the first prompt the title of a trace without one before it leaves the context.
    pub(super) fn keep_title(&mut self, leaving: &HashSet<ItemId>) -> Result<(), TraceError> {
        if self.change.title.is_some() || leaving.is_empty() {
            return Ok(());
        }
        let repo = self.change.repo();
        let slots = self.change.total.base_view()?.map(|view| &view.slots[..]).unwrap_or_default();
        let first = first_prompt(repo, slots.iter()).map(|(slot, _)| (slot.id, slot.blob)).or(self.first_prompt);
        self.change.title = first.filter(|(id, _)| leaving.contains(id));
        Ok(())
    }

    /// Whether the trace has the item, or had it.
    pub(super) fn has(&self, id: ItemId) -> bool {
        self.live.contains_key(&id) || self.deleted.contains_key(&id)
    }

    pub(super) fn remove(&mut self, id: ItemId, item: KnownItem) -> Result<(), TraceError> {
        self.change.remove_file(&item.path)?;
        self.change.total.subtract(item.cost, item.is_skipped);
        self.deleted.insert(id, item);
        Ok(())
    }

    /// Puts an item at the end, or at its known position. Returns the number of items that it replaces.
    fn put_in(&mut self, incoming: &mut Incoming) -> Result<usize, TraceError> {
        let (op, id) = (incoming.op, incoming.item.id);
        let before = self.live.remove(&id);
        let known = before.as_ref().or(self.deleted.get(&id));
        let was_skipped = known.is_some_and(|item| item.is_skipped);
        let known = known.map(|item| (item.seq, item.revision));
        let given = incoming.seq.filter(|_| self.base.is_none());
        let replaced =
            incoming.replaces.take().map(|replaced| self.replace(&replaced)).transpose()?.unwrap_or_default();
        if !replaced.items.is_empty() {
            set_replaced_ids(&mut incoming.item.fields, replaced.items.iter().copied());
            incoming.op = Op::Compress;
        }
        let seq = match (op, known) {
            (Op::Import, _) if replaced.seq.is_some() => replaced.seq.unwrap_or_default(),
            (Op::Edit | Op::Restore, Some((seq, _))) => given.unwrap_or(seq),
            (Op::Edit | Op::Restore, None) => return Err(incoming.bad("it changes an item that was never added")),
            _ => given.map_or_else(|| self.change.free_seq(), Ok)?,
        };
        let item = &mut incoming.item;
        item.keep_token_count(self.change.counter);
        item.revision = item.revision.max(known.map_or(1, |(_, last)| last.saturating_add(u32::from(op == Op::Edit))));
        if let Some(before) = before {
            self.remove(id, before)?;
        }
        self.has_instruction |= item.fields.item_type == ItemType::instruction();
        if let Some(types) = &mut self.types_of_own {
            *types.entry(item.fields.item_type.to_string()).or_default() += 1;
        }
        let by_type = self.types.rules(&item.fields.item_type).priority == Level::Skip;
        let is_skipped = was_skipped || by_type;
        let (path, cost) = (item_path(seq, &item.fields.item_type, id), total::item_cost(item, self.change.counter));
        let blob = self.change.sink.write_blob(item_file::render(item))?;
        if self.first_prompt.is_none() && incoming.removal.is_none() && is_prompt(item) {
            self.first_prompt = Some((id, blob));
        }
        self.change.put_file(&path, blob)?;
        self.change.total.add(cost, is_skipped);
        self.change.next_seq = self.change.next_seq.max(seq + 1);
        self.deleted.remove(&id);
        self.live.insert(
            id,
            KnownItem {
                seq,
                path,
                blob,
                cost,
                revision: item.revision,
                is_skipped,
                preview: preview(item),
                removal: None,
            },
        );
        Ok(replaced.items.len())
    }

    /// The time of a change: its own if that keeps the order, else right after the previous one.
    pub(super) fn time(&self, own: Option<Time>) -> Time {
        match (own.or(self.fallback_time), self.change.last_time) {
            (Some(own), last) => own.after(last),
            (None, Some(last)) => last.after(Some(last)),
            (None, None) => self.change.signature.at,
        }
    }

    /// The items that the trace had and has no more, if all are known and that is news.
    pub(crate) fn gone(&self) -> Option<Vec<ItemId>> {
        let is_news = self.recorded > 0 || self.history.is_some();
        let had = || self.known_before.iter().chain(self.deleted.keys());
        let gone = || had().filter(|id| !self.live.contains_key(id)).copied().collect::<Vec<_>>();
        (self.knows_all && is_news).then(gone).filter(|gone| !gone.is_empty())
    }

    /// What the items that are left out of the context cost, if that is known without reading any.
    pub(crate) fn left_out(&self) -> Option<u64> {
        self.change.total.known_skipped().filter(|_| !self.has_instruction)
    }

    /// Ends writing. Returns the last commit, if any.
    ///
    /// Commits in a pack are not signed. If `trace.sign` is set, the last one is written again with a signature, which covers all
    /// of them, because each commit names its parent.
    pub(crate) fn finish(self) -> Result<(Option<Oid>, Kept), TraceError> {
        let (repo, signature) = (self.change.repo(), self.change.signature);
        let mut last = self.change.last().filter(|last| Some(*last) != self.base);
        let mut pack_kept = None;
        if let ObjectSink::Pack(pack) = self.change.sink {
            pack_kept = pack.finish()?;
            let is_signed = is_signing(repo)?;
            if let (Some(written), Some(author)) = (last, self.last_author.as_ref().filter(|_| is_signed)) {
                last = Some(sign_again(repo, written, author, signature)?);
            }
        }
        Ok((last, (self.objects, pack_kept)))
    }
}

impl Summary {
    /// Whether the context has all items, if nobody set a priority.
    fn leaves_none_out(&self, types: &Types) -> bool {
        let is_in = |name: &String| name.parse().is_ok_and(|name| types.rules(&name).priority != Level::Skip);
        let instructions = self.types.get(ItemType::instruction().as_str());
        instructions.is_none_or(|count| *count < 2) && self.types.keys().all(is_in)
    }
}

#[derive(Default)]
pub(crate) struct Gone {
    /// In reading order.
    pub(crate) items: Vec<ItemId>,
    /// The position of the summary; `None`: at the end.
    pub(crate) seq: Option<u32>,
}

impl Writer<'_> {
    /// Removes the items that a summary replaces. Reads those that the trace had before.
    pub(crate) fn replace(&mut self, replaced: &Replaced) -> Result<Gone, TraceError> {
        let mut ids: HashSet<ItemId> = replaced.items.iter().copied().collect();
        let kept = self.kept(&ids)?;
        ids.retain(|id| !kept.contains(id));
        self.read_live(&ids)?;
        self.keep_title(&ids)?;
        let mut going = Vec::new();
        for id in &ids {
            going.extend(self.live.remove(id).map(|item| (item.seq, *id, item)));
        }
        going.sort_unstable_by_key(|(seq, id, _)| (*seq, *id));
        let seq = going.first().map(|(seq, ..)| *seq).filter(|_| !replaced.at_end);
        let vacated = going.iter().skip(usize::from(seq.is_some()));
        vacated.for_each(|(seq, ..)| self.change.vacant.leave(*seq));
        let mut items = Vec::with_capacity(going.len());
        for (_, id, item) in going {
            items.push(id);
            self.remove(id, item)?;
        }
        Ok(Gone { items, seq })
    }

    /// Reads those of the items that the trace had before, and whether they are left out of its total.
    pub(super) fn read_live(&mut self, ids: &HashSet<ItemId>) -> Result<(), TraceError> {
        let (repo, counter) = (self.change.repo(), self.change.counter);
        let Some(view) = self.change.total.base_view()? else { return Ok(()) };
        for slot in view.slots.iter().filter(|slot| ids.contains(&slot.id)) {
            if let Some(item) = self.live.get_mut(&slot.id).filter(|item| item.cost == 0) {
                item.read(repo, slot.id, counter)?;
                item.is_skipped = view.left_out(slot).is_some();
            }
        }
        Ok(())
    }

    /// The items that a user pinned or skipped, and their calls or results. The default level of a type does not count, because
    /// the agent decided what to compact.
    pub(super) fn kept(&mut self, wanted: &HashSet<ItemId>) -> Result<HashSet<ItemId>, TraceError> {
        let mut kept = HashSet::new();
        let repo = self.change.repo();
        let Some(view) = self.change.total.base_view()? else { return Ok(kept) };
        let stays = |slot: &&ItemEntry| matches!(view.level(slot), SetLevel::Set(set) if set.level != Level::Normal);
        let in_reach = view.slots.iter().filter(|slot| wanted.contains(&slot.id));
        kept.extend(in_reach.clone().filter(stays).map(|slot| slot.id));
        let tools: Vec<&ItemEntry> = in_reach.filter(|slot| slot.item_type == ItemType::tool_io()).collect();
        if tools.iter().any(|slot| kept.contains(&slot.id)) {
            let mut calls = Vec::with_capacity(tools.len());
            for slot in tools {
                calls.push((slot.id, total::read_item(repo, slot)?.fields.call_id));
            }
            let kept_calls: HashSet<String> =
                calls.iter().filter(|(id, _)| kept.contains(id)).filter_map(|(_, call_id)| call_id.clone()).collect();
            calls.retain(|(_, call_id)| call_id.as_ref().is_some_and(|id| kept_calls.contains(id)));
            kept.extend(calls.into_iter().map(|(id, _)| id));
        }
        Ok(kept)
    }
}
