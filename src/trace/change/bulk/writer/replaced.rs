//! The items that an imported summary replaces.

use std::collections::HashSet;

use super::Writer;
use crate::trace::change::bulk::Replaced;
use crate::trace::store::priority::{Level, SetLevel};
use crate::trace::store::total::{self, item_cost};
use crate::trace::{ItemEntry, ItemId, ItemType, TraceError};

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
        let kept = self.kept(&replaced.items)?;
        let mut going = Vec::new();
        for id in replaced.items.iter().filter(|id| !kept.contains(id)) {
            going.extend(self.live.remove(id).map(|item| (item.seq, *id, item)));
        }
        going.sort_unstable_by_key(|(seq, id, _)| (*seq, *id));
        let seq = going.first().map(|(seq, ..)| *seq).filter(|_| !replaced.at_end);
        let mut items = Vec::with_capacity(going.len());
        for (_, id, item) in going {
            items.push(id);
            self.remove(id, item)?;
        }
        let (repo, encoding) = (self.change.repo(), self.change.encoding);
        let before: HashSet<ItemId> = items.iter().copied().filter(|id| self.known_before.contains(id)).collect();
        let mut costs = Vec::new();
        if let Some(view) = self.change.total.base_view()? {
            for slot in view.slots.iter().filter(|slot| before.contains(&slot.id)) {
                costs.push((item_cost(&total::read_item(repo, slot)?, encoding), view.left_out(slot).is_some()));
            }
        }
        for (cost, is_left_out) in costs {
            self.change.total.subtract(cost, is_left_out);
        }
        Ok(Gone { items, seq })
    }

    /// The items that a user pinned or skipped, and their calls or results. The default level of a type does not count, because
    /// the agent decided what to compact.
    fn kept(&mut self, items: &[ItemId]) -> Result<HashSet<ItemId>, TraceError> {
        let wanted: HashSet<ItemId> = items.iter().copied().collect();
        let mut kept: HashSet<ItemId> = self.priorities.iter().map(|request| request.item).collect();
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
