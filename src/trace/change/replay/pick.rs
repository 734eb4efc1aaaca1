//! Picking: items of another trace are added, one commit per item.

use super::{Outcome, finish, newest};
use crate::trace::change::merge::three_way::{Placement, Sides};
use crate::trace::change::merge::{Settlement, common_tree};
use crate::trace::model::trailers::{Trailers, preview};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::total::read_item;
use crate::trace::{ItemId, Op, Tip, Trace, TraceError};

impl Trace<'_> {
    /// Adds live items of `source` at the end, in this order, with their ids and content. An item that is here already gets the
    /// changes that the other trace made to it.
    pub(crate) fn pick(
        &self,
        source: &Tip,
        items: &[ItemId],
        settlement: &Settlement,
        reason: Option<&str>,
    ) -> Result<Outcome, TraceError> {
        let (repo, name) = (self.repo(), self.name());
        let theirs = tree::list(repo, source.commit.tree)?;
        let find = |id: ItemId| {
            let slot = theirs.iter().find(|slot| slot.id == id);
            slot.ok_or_else(|| TraceError::UnknownItem { spec: id.to_string(), trace: name.clone() })
        };
        let slots = items.iter().map(|id| find(*id)).collect::<Result<Vec<_>, _>>()?;
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            let base = common_tree(repo, name, tip.commit.oid, source.commit.oid)?;
            let base = base.map_or(Ok(Vec::new()), |tree| tree::list(repo, tree))?;
            let ours = change.slots()?;
            let mut conflicts = Vec::new();
            for slot in &slots {
                let ours = ours.iter().find(|here| here.id == slot.id);
                // An item that was deleted here is requested again.
                let before = base.iter().find(|before| before.id == slot.id && ours.is_some());
                let picked = match before {
                    Some(before) => Change::Changed(before.clone(), (*slot).clone()),
                    None => Change::Added((*slot).clone()),
                };
                let sides = Sides::of_change(picked, ours.cloned());
                let onto = newest(change)?;
                let decide = &mut settlement.between(repo, &tip, source);
                let merged = change.three_way(&onto, &sides, Placement::AtEnd, decide)?;
                if merged.conflicts.is_empty() && !merged.is_unchanged() {
                    let from = Some(source.commit.oid.to_string());
                    let trailers = Trailers { from, ..change.trailers(Op::Pick, Some(slot.id), reason)? };
                    change.commit_merged(&merged, &preview(&read_item(repo, slot)?), trailers, None)?;
                }
                conflicts.extend(merged.conflicts);
            }
            Ok(finish(change, "pick", conflicts))
        })?;
        Ok(outcome)
    }
}
