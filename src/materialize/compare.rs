//! The effects of a change of a trace on its requests, beyond the items that it edited, removed, or added at the end.

use std::collections::{HashMap, HashSet};

use super::piece::{self, Piece};
use super::{MaterializeError, Options, join};
use crate::git::Repo;
use crate::message::{Content, Message, Role, SentBlock, hash, pair_calls, sent_blocks};
use crate::tokens::Counter;
use crate::trace::ItemId;
use crate::trace::store::view::View;

/// What the built-in rules send of a state.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// For each form of messages.
    requests: Vec<Request>,
    /// The items of system messages.
    pub system: HashSet<ItemId>,
    /// Reasoning and blank texts at the end, and the calls of the last step that wait for a result: they are sent in another way as soon
    /// as something follows.
    unfinished: HashSet<ItemId>,
    /// The call or the result of each call or result that has one.
    partners: HashMap<ItemId, ItemId>,
}

/// The items in the order of a request, each with a hash of how it is sent: as what, by whom, and with which call or result.
type Request = Vec<(ItemId, u64)>;

/// Items that a change of others affected.
#[derive(Debug, Default)]
pub(crate) struct Affected {
    /// Those that follow another one although they preceded it.
    pub moved: HashSet<ItemId>,
    /// New ones that precede one that was there.
    pub inserted: HashSet<ItemId>,
    /// Those that a request no longer contains, and those that it contains again.
    pub dropped: HashSet<ItemId>,
    pub returned: HashSet<ItemId>,
    /// Those that are sent as something else, by another speaker, or with another call or result.
    pub reshaped: HashSet<ItemId>,
}

impl Prompt {
    /// Reads every item, once.
    pub(crate) fn of(repo: &Repo, view: &View) -> Result<Self, MaterializeError> {
        let mut pieces = piece::gather(&Options::default(), repo, view, Counter::default())?.pieces;
        join::sort(&mut pieces);
        let system = pieces.iter().filter(|piece| piece.message.role == Role::System).map(|piece| piece.item).collect();
        let partners = pair_calls(pieces.iter().map(Piece::content));
        let is_result = |piece: &&Piece| matches!(piece.content(), Content::ToolResult { .. });
        let is_call = |piece: &&Piece| matches!(piece.content(), Content::ToolCall { .. });
        let is_open = |piece: &&Piece| match piece.content() {
            Content::Text(text) => text.trim().is_empty(),
            content => matches!(content, Content::Reasoning { .. }),
        };
        let open = pieces.iter().rev().take_while(is_open);
        let calls = pieces.iter().zip(&partners).rev().skip_while(|(piece, _)| is_result(piece));
        let waiting = calls.take_while(|(piece, _)| is_call(piece)).filter(|(_, partner)| partner.is_none());
        let unfinished = open.chain(waiting.map(|(piece, _)| piece)).map(|piece| piece.item).collect();
        let partners: HashMap<ItemId, ItemId> =
            pieces.iter().zip(&partners).filter_map(|(piece, at)| Some((piece.item, pieces[(*at)?].item))).collect();
        let (messages, items): (Vec<Message>, Vec<Vec<Vec<ItemId>>>) =
            join::join(&Options::default(), pieces).into_iter().map(|joined| (joined.message, joined.items)).unzip();
        let request = |blocks: Vec<SentBlock>| {
            let sent = blocks
                .into_iter()
                .flat_map(|(at, how)| items[at.message][at.block].iter().map(move |item| (*item, how)));
            sent.map(|(item, how)| (item, hash((how, partners.get(&item))))).collect()
        };
        Ok(Self { requests: sent_blocks(&messages).into_iter().map(request).collect(), system, unfinished, partners })
    }

    /// What became of the items in a later state. The positions are for other programs, which may send the items in their order.
    ///
    /// `own` are items that only this repository has, and that others may precede.
    pub(crate) fn compare(&self, [before, after]: [&View; 2], later: &Self, own: &HashSet<ItemId>) -> Affected {
        let [old, now] = [before, after].map(|view| view.slots.iter().map(|slot| (slot.id, 0)).collect::<Request>());
        let [known, kept] = [&old, &now].map(|items| items.iter().map(|(item, _)| *item).collect::<HashSet<ItemId>>());
        let earlier = known.difference(own).copied().collect();
        let mut affected = Affected::default();
        for (before, after) in self.requests.iter().chain([&old]).zip(later.requests.iter().chain([&now])) {
            let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
            let [before, after] = [&before[same..], &after[same..]];
            let is_awaited =
                |item: &ItemId| later.partners.get(item).is_some_and(|call| self.unfinished.contains(call));
            let inserted = inserted(after, &known, &earlier).into_iter();
            affected.inserted.extend(inserted.filter(|item| !is_awaited(item)));
            let [forms, forms_now] = [before, after].map(|sent| sent.iter().copied().collect::<HashMap<ItemId, u64>>());
            // A call that becomes a text is sent before the calls of its message.
            let is_same_form = |item: &ItemId| forms.get(item) == forms_now.get(item);
            affected.moved.extend(moved(before, after).into_iter().filter(is_same_form));
            for (item, form) in &forms {
                match forms_now.get(item) {
                    Some(now) if now == form || self.unfinished.contains(item) => {}
                    Some(_) => _ = affected.reshaped.insert(*item),
                    None => affected.dropped.extend(kept.get(item)),
                }
            }
            let returned = forms_now.keys().filter(|item| known.contains(item) && !forms.contains_key(item));
            affected.returned.extend(returned.filter(|item| !self.unfinished.contains(item)));
        }
        affected
    }
}

/// The items that follow another one in `after` although they preceded it in `before`.
fn moved(before: &[(ItemId, u64)], after: &[(ItemId, u64)]) -> Vec<ItemId> {
    let ranks: HashMap<ItemId, usize> = before.iter().map(|(item, _)| *item).zip(0..).collect();
    let mut last = 0;
    let mut is_behind = |item: &ItemId| {
        let Some(rank) = ranks.get(item).copied() else { return false };
        last = last.max(rank);
        rank < last
    };
    after.iter().map(|(item, _)| *item).filter(|item| is_behind(item)).collect()
}

/// The items that are not `known` and precede one of `earlier`.
fn inserted(sent: &[(ItemId, u64)], known: &HashSet<ItemId>, earlier: &HashSet<ItemId>) -> Vec<ItemId> {
    let last = sent.iter().rposition(|(item, _)| earlier.contains(item)).unwrap_or_default();
    sent[..last].iter().map(|(item, _)| *item).filter(|item| !known.contains(item)).collect()
}
