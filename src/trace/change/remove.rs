//! Taking an item out of a trace, and putting it back.

use serde_json::{Value, json};

use super::edit::{self, live_item};
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Draft, Item};
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::store::revision::{self, Found};
use crate::trace::store::total;
use crate::trace::store::write::{Accounting, Ground, Signature, Step, record};

/// An item that was taken out, or put back.
#[derive(Debug)]
pub(crate) struct Moved {
    /// The item, as it stood or stands.
    pub item: Item,
    /// Its position.
    pub seq: u32,
    /// The commit; `None` where there was nothing to do.
    pub commit: Option<Oid>,
}

/// What is told of it as JSON: what was done, and the item.
#[must_use]
pub(crate) fn to_json(op: Op, moved: &Moved) -> Value {
    let Moved { item, seq, commit } = moved;
    json!({ "id": item.id.to_string(), "seq": seq, "op": op.as_str(), "revision": item.revision,
        "commit": commit.map(|oid| oid.to_string()) })
}

/// Takes an item out of this trace; other traces keep it, and [`restore`] puts it back.
///
/// # Errors
///
/// [`TraceError::NotLive`] if it is not in this trace.
pub(crate) fn delete(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    id: ItemId,
    reason: Option<&str>,
) -> Result<Moved, TraceError> {
    let (commit, (item, seq)) = record(repo, name, signature, accounting, |ground| {
        let (slot, item) = live_item(repo, ground, id)?;
        // All of them: a second file, which a merge by plain git may have left, would take the place of the first.
        let files = tree::list_files(repo, ground.require_tip()?.commit.tree)?.into_iter();
        let files = files.filter(|file| file.id == id).map(|file| (file.path, None)).collect();
        let step = Step {
            op: Op::Delete,
            item: id,
            subject: format!("delete {}", preview(&item)),
            reason: reason.map(str::to_owned),
            files,
            cost_in: 0,
            cost_out: total::item_cost(&item, ground.encoding),
            next_seq: ground.require_tip()?.next_seq(repo)?,
            charged: true,
            reported_tokens: None,
        };
        Ok((Some(step), (item, slot.seq)))
    })?;
    Ok(Moved { item, seq, commit })
}

/// Puts an item back at its place with its newest text, or an item (live or not) back to the text of an earlier revision,
/// which then is its newest.
///
/// Walks history back to the commit that has the text.
///
/// # Errors
///
/// [`TraceError::AlreadyLive`] if it is live and no revision was named, [`TraceError::NoSuchRevision`] or
/// [`TraceError::UnknownItem`] if history has no such text.
pub(crate) fn restore(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    id: ItemId,
    revision: Option<u32>,
    reason: Option<&str>,
) -> Result<Moved, TraceError> {
    let (commit, (item, seq)) = record(repo, name, signature, accounting, |ground| {
        let tip = ground.require_tip()?;
        let live = tree::list(repo, tip.commit.tree)?.into_iter().find(|slot| slot.id == id);
        if live.is_some() && revision.is_none() {
            return Err(TraceError::AlreadyLive { item: id, trace: ground.name.clone() });
        }
        let found = revision::find(repo, tip, id, revision)?;
        let Found { newest, wanted } = found.ok_or_else(|| match revision {
            Some(revision) => TraceError::NoSuchRevision { item: id, revision, trace: ground.name.clone() },
            None => TraceError::UnknownItem { spec: id.to_string(), trace: ground.name.clone() },
        })?;
        let (mut step, item, seq) = put_back(repo, ground, live, &newest, wanted)?;
        if let Some(step) = &mut step {
            step.reason = reason.map(str::to_owned);
        }
        Ok((step, (item, seq)))
    })?;
    Ok(Moved { item, seq, commit })
}

fn put_back(
    repo: &Repo,
    ground: &Ground<'_>,
    live: Option<ItemEntry>,
    newest: &Item,
    wanted: (ItemEntry, Item),
) -> Result<(Option<Step>, Item, u32), TraceError> {
    let old_revision = wanted.1.revision != newest.revision;
    if let Some(slot) = live {
        let draft = Draft { fields: wanted.1.fields, body: wanted.1.body };
        let mut old = total::read_item(repo, &slot)?;
        old.revision = old.revision.max(newest.revision);
        let revised = edit::revise(repo, ground, &slot, &old, draft, None)?;
        let step = revised.step.map(|step| Step { op: Op::Restore, ..step });
        return Ok((step, revised.item, slot.seq));
    }
    let (slot, mut item) = wanted;
    let mut blob = slot.blob;
    if old_revision {
        item.revision = newest.revision.saturating_add(1);
        blob = repo.write_blob(&file::render(&item))?;
    }
    let next_seq = ground.require_tip()?.next_seq(repo)?.max(slot.seq + 1);
    let step = Step {
        op: Op::Restore,
        item: item.id,
        subject: format!("restore {}", preview(&item)),
        reason: None,
        files: vec![(item_path(slot.seq, &item.fields.item_type, item.id), Some(blob))],
        cost_in: total::item_cost(&item, ground.encoding),
        cost_out: 0,
        next_seq,
        charged: true,
        reported_tokens: None,
    };
    Ok((Some(step), item, slot.seq))
}
