//! Picking: single items of another trace come in, each by a commit of its own.

use super::{Chain, Outcome};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::change::merge::three_way::{Placement, Sides, three_way};
use crate::trace::change::merge::{Settlement, common_tree};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, Trailers, preview};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::advance::advance;
use crate::trace::store::tip::Tip;
use crate::trace::store::total::read_item;
use crate::trace::store::write::Signature;

/// Which items are picked, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// The other trace's tip.
    pub source: &'a Tip,
    /// Items that are live there, in the order in which they come in.
    pub items: &'a [ItemId],
    /// Who settles conflicts.
    pub settlement: &'a Settlement,
    /// Why.
    pub reason: Option<&'a str>,
}

/// Brings items of another trace in at the end, with their ids, their texts, and all that hangs on an id.
///
/// One that is here already gets what was changed of it there.
///
/// # Errors
///
/// [`TraceError::UnknownItem`] if one is not live in the other trace, and those of [`three_way`]; nothing was changed then.
pub(crate) fn pick(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    request: &Request<'_>,
) -> Result<Outcome, TraceError> {
    let source = request.source;
    let theirs = tree::list(repo, source.commit.tree)?;
    let find = |id: ItemId| {
        let slot = theirs.iter().find(|slot| slot.id == id);
        slot.ok_or_else(|| TraceError::UnknownItem { spec: id.to_string(), trace: name.clone() })
    };
    let slots = request.items.iter().map(|id| find(*id)).collect::<Result<Vec<_>, _>>()?;
    let (_, outcome) = advance(repo, name, &signature.committer, |tip| {
        let tip = tip.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
        let base = match common_tree(repo, name, tip.commit.oid, source.commit.oid)? {
            Some(tree) => tree::list(repo, tree)?,
            None => Vec::new(),
        };
        let ours = tree::list(repo, tip.commit.tree)?;
        let mut chain = Chain::new(repo, signature, encoding, tip.clone());
        let mut conflicts = Vec::new();
        for slot in &slots {
            let ours = ours.iter().find(|here| here.id == slot.id);
            // What was taken out here is asked for now.
            let before = base.iter().find(|before| before.id == slot.id && ours.is_some());
            let change = match before {
                Some(before) => Change::Changed(before.clone(), (*slot).clone()),
                None => Change::Added((*slot).clone()),
            };
            let sides = Sides::of_change(change, ours.cloned());
            let mut decide = |conflict: &_| request.settlement.settle(repo, conflict, tip, source);
            let merged = three_way(repo, name, encoding, &chain.tip, &sides, Placement::AtEnd, &mut decide)?;
            if merged.conflicts.is_empty() && !merged.is_unchanged() {
                let trailers = Trailers {
                    op: Some(Op::Pick),
                    item: Some(slot.id),
                    code: repo.find_ref("HEAD")?.map(|oid| oid.to_string()),
                    from: Some(source.commit.oid.to_string()),
                    reason: request.reason.map(str::to_owned),
                    ..Trailers::default()
                };
                chain.add(&merged, trailers, &signature.author, &preview(&read_item(repo, slot)?))?;
            }
            conflicts.extend(merged.conflicts);
        }
        if conflicts.is_empty() { Ok(chain.finish("pick")) } else { Ok((None, Outcome::Conflicts(conflicts))) }
    })?;
    Ok(outcome)
}
