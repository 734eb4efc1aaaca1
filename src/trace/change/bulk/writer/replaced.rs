//! A summary that takes the place of items: which of them go.

use std::collections::HashSet;

use super::Writer;
use crate::trace::change::bulk::Replaced;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::ItemType;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::priority::{Level, SetLevel};
use crate::trace::store::total::{self, item_cost};

/// What went.
#[derive(Default)]
pub(crate) struct Gone {
    /// The items, in reading order.
    pub(crate) items: Vec<ItemId>,
    /// Their files, with whether they are kept.
    pub(crate) files: Vec<(String, bool)>,
    /// Where the summary stands; none: at the end.
    pub(crate) seq: Option<u32>,
}

impl Writer<'_> {
    /// Takes out what a summary stands for. Reads of it what was there before this import.
    pub(crate) fn replace(&mut self, replaced: &Replaced) -> Result<Gone, TraceError> {
        let kept = self.kept(&replaced.items)?;
        let mut going = Vec::new();
        for id in replaced.items.iter().filter(|id| !kept.contains(id)) {
            going.extend(self.live.remove(id).map(|place| (place.seq, *id, place)));
        }
        going.sort_unstable_by_key(|(seq, id, _)| (*seq, *id));
        let mut gone =
            Gone { seq: going.first().map(|(seq, ..)| *seq).filter(|_| !replaced.at_end), ..Gone::default() };
        let mut before: HashSet<ItemId> = HashSet::new();
        for (_, id, place) in going {
            if self.known_before.contains(&id) {
                before.insert(id);
            }
            self.count_out(&place);
            gone.items.push(id);
            gone.files.push((place.path.clone(), false));
            self.gone.insert(id, place);
        }
        let (repo, encoding) = (self.repo, self.encoding);
        // What was left out, by its type or by a later instruction of its name, is left out of the tree now.
        let (mut cost, mut left_out) = (0, 0);
        if let Some(view) = self.base_view()? {
            for slot in view.slots.iter().filter(|slot| before.contains(&slot.id)) {
                let item = item_cost(&total::read_item(repo, slot)?, encoding);
                cost += item;
                left_out += if view.left_out(slot).is_some() { item } else { 0 };
            }
        }
        self.counted_change -= cost.cast_signed();
        self.skipped_change -= left_out.cast_signed();
        Ok(gone)
    }

    /// Those of `items` that somebody pinned or skipped, and what belongs to them. What an agent compacts is not what a type
    /// has pinned.
    fn kept(&mut self, items: &[ItemId]) -> Result<HashSet<ItemId>, TraceError> {
        let wanted: HashSet<ItemId> = items.iter().copied().collect();
        let mut kept: HashSet<ItemId> = self.priorities.iter().map(|request| request.item).collect();
        let repo = self.repo;
        let Some(view) = self.base_view()? else { return Ok(kept) };
        let stays = |slot: &&ItemEntry| matches!(view.level(slot), SetLevel::Set(set) if set.level != Level::Normal);
        let in_reach = view.slots.iter().filter(|slot| wanted.contains(&slot.id));
        kept.extend(in_reach.clone().filter(stays).map(|slot| slot.id));
        let tools: Vec<&ItemEntry> = in_reach.filter(|slot| slot.item_type == ItemType::tool_io()).collect();
        if tools.iter().any(|slot| kept.contains(&slot.id)) {
            let mut ties = Vec::with_capacity(tools.len());
            for slot in tools {
                ties.push((slot.id, total::read_item(repo, slot)?.fields.call_id));
            }
            let bound: HashSet<String> =
                ties.iter().filter(|(id, _)| kept.contains(id)).filter_map(|(_, call_id)| call_id.clone()).collect();
            kept.extend(
                ties.into_iter()
                    .filter(|(_, call_id)| call_id.as_ref().is_some_and(|id| bound.contains(id)))
                    .map(|(id, _)| id),
            );
        }
        Ok(kept)
    }
}
