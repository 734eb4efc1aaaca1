//! Picking: items of another trace are added, one commit per item.

use super::{Outcome, finish, newest};
use crate::trace::change::merge::three_way::{Placement, Sides, three_way};
use crate::trace::change::merge::{Settlement, common_tree};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::trailers::{Op, Trailers, preview};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::tip::Tip;
use crate::trace::store::total::read_item;
use crate::trace::store::trace::Trace;

/// Which items are picked, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub source: &'a Tip,
    /// Items that are live there, in the order in which they come in.
    pub items: &'a [ItemId],
    pub settlement: &'a Settlement,
    pub reason: Option<&'a str>,
}

impl Trace<'_> {
    /// Adds items of another trace at the end, with their ids and content. An item that is here already gets the changes that
    /// the other trace made to it.
    pub(crate) fn pick(&self, request: &Request<'_>) -> Result<Outcome, TraceError> {
        let (repo, name, source) = (self.repo(), self.name(), request.source);
        let theirs = tree::list(repo, source.commit.tree)?;
        let find = |id: ItemId| {
            let slot = theirs.iter().find(|slot| slot.id == id);
            slot.ok_or_else(|| TraceError::UnknownItem { spec: id.to_string(), trace: name.clone() })
        };
        let slots = request.items.iter().map(|id| find(*id)).collect::<Result<Vec<_>, _>>()?;
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            let base = match common_tree(repo, name, tip.commit.oid, source.commit.oid)? {
                Some(tree) => tree::list(repo, tree)?,
                None => Vec::new(),
            };
            let ours = change.slots()?;
            let mut conflicts = Vec::new();
            for slot in &slots {
                let ours = ours.iter().find(|here| here.id == slot.id);
                // An item that was deleted here is asked for again now.
                let before = base.iter().find(|before| before.id == slot.id && ours.is_some());
                let picked = match before {
                    Some(before) => Change::Changed(before.clone(), (*slot).clone()),
                    None => Change::Added((*slot).clone()),
                };
                let sides = Sides::of_change(picked, ours.cloned());
                let mut decide = |conflict: &_| request.settlement.settle(repo, conflict, &tip, source);
                let onto = newest(change)?;
                let merged = three_way(repo, name, change.encoding, &onto, &sides, Placement::AtEnd, &mut decide)?;
                if merged.conflicts.is_empty() && !merged.is_unchanged() {
                    let trailers = Trailers {
                        op: Some(Op::Pick),
                        item: Some(slot.id),
                        code: repo.find_ref("HEAD")?.map(|oid| oid.to_string()),
                        from: Some(source.commit.oid.to_string()),
                        reason: request.reason.map(str::to_owned),
                        ..Trailers::default()
                    };
                    change.commit_merged(&merged, &preview(&read_item(repo, slot)?), trailers, None)?;
                }
                conflicts.extend(merged.conflicts);
            }
            Ok::<_, TraceError>(finish(change, "pick", conflicts))
        })?;
        Ok(outcome)
    }
}
