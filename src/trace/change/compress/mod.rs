//! Compressing: many items are replaced by one summary, which says for which items it stands.
//!
//! Pinned items stay word for word where they are, and so do skipped ones, of which no summary sees anything. A call and its
//! results go together or not at all. The summary takes the place of the first item it stands for; [`expand`] puts all of
//! them back where they stood.

mod expand;
mod prompt;
mod select;

pub(crate) use expand::expand;
pub(crate) use prompt::prompt;
pub(crate) use select::{Extent, Selection, select};

use std::collections::HashSet;

use serde_json::{Value, json};

use super::append::new_item;
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::item::{Draft, Fields, Item, ItemType, Role};
use crate::trace::model::name::TraceName;
use crate::trace::model::schema;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::store::total;
use crate::trace::store::write::{Accounting, Signature, Step, record};

/// The entry of a summary's open dictionary that lists the ids of the items it stands for, in reading order.
pub(crate) const STANDS_FOR: &str = "stands_for";

/// What is compressed, and into what.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// The items that go out.
    pub selection: &'a Selection,
    /// What comes in for them.
    pub summary: &'a Draft,
    /// The commit's first line, in place of a preview.
    pub subject: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
}

/// A summary as an item: dialogue of the user, since it tells the model what was.
#[must_use]
pub(crate) fn summary(body: Vec<u8>) -> Draft {
    let mut fields = Fields::new(ItemType::dialogue());
    fields.role = Some(Role::User);
    Draft { fields, body }
}

/// What a compression came to.
#[derive(Debug)]
pub(crate) struct Compressed {
    /// The summary.
    pub summary: Item,
    /// Its position.
    pub seq: u32,
    /// The commit.
    pub commit: Oid,
    /// What the items that went out counted for, each as a message of its own.
    pub cost_out: u64,
    /// What the summary counts for.
    pub cost_in: u64,
}

impl Compressed {
    /// What the trace counts for now, if it counted for `before`.
    #[must_use]
    pub(crate) fn after(&self, before: u64) -> u64 {
        (before + self.cost_in).saturating_sub(self.cost_out)
    }
}

/// What is told of a compression that replaced `items` items of a trace that counted for `before`, as JSON.
#[must_use]
pub(crate) fn to_json(name: &TraceName, items: usize, done: &Compressed, before: u64) -> Value {
    let Compressed { summary, seq, commit, cost_in, cost_out } = done;
    let tokens = json!({ "before": before, "after": done.after(before), "out": cost_out, "in": cost_in });
    json!({ "trace": name.as_str(), "id": summary.id.to_string(), "seq": seq, "items": items,
        "commit": commit.to_string(), "tokens": tokens })
}

/// Replaces the items of a selection by a summary.
///
/// # Errors
///
/// [`TraceError::Changed`] if one of them is not as it was when it was selected, [`TraceError::Schema`] if the summary is
/// not what its type asks for, [`TraceError::OverBudget`] if the trace is still over the accounting's budget; nothing was
/// changed then.
pub(crate) fn compress(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    request: &Request<'_>,
) -> Result<Compressed, TraceError> {
    let Request { selection, subject, reason, .. } = *request;
    let mut draft = request.summary.clone();
    let ids = selection.items.iter().map(|slot| Value::from(slot.id.to_string())).collect();
    draft.fields.meta.insert(STANDS_FOR.to_owned(), Value::Array(ids));
    schema::complete(&mut draft.fields);
    schema::validate(&draft)?;
    let (commit, (summary, seq, cost_in)) = record(repo, name, signature, accounting, |ground| {
        let tip = ground.require_tip()?;
        let live: HashSet<ItemEntry> = tree::list(repo, tip.commit.tree)?.into_iter().collect();
        if let Some(slot) = selection.items.iter().find(|slot| !live.contains(slot)) {
            return Err(TraceError::Changed { item: slot.id, trace: name.clone() });
        }
        let summary = new_item(ground, signature, draft.clone());
        let seq = selection.items.first().map_or(0, |slot| slot.seq);
        let blob = repo.write_blob(&file::render(&summary))?;
        let mut files: Vec<_> = selection.items.iter().map(|slot| (slot.path.clone(), None)).collect();
        files.push((item_path(seq, &summary.fields.item_type, summary.id), Some(blob)));
        let cost_in = total::item_cost(&summary, ground.encoding);
        let step = Step {
            op: Op::Compress,
            item: summary.id,
            subject: subject.map_or_else(
                || format!("compress {} items: {}", selection.items.len(), preview(&summary)),
                str::to_owned,
            ),
            reason: reason.map(str::to_owned),
            files,
            cost_in,
            cost_out: selection.cost,
            next_seq: tip.next_seq(repo)?,
            charged: true,
            reported_tokens: None,
        };
        Ok((Some(step), (summary, seq, cost_in)))
    })?;
    let commit = commit.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
    Ok(Compressed { summary, seq, commit, cost_out: selection.cost, cost_in })
}
