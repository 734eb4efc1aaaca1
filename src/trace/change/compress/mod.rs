//! Compressing: many items are replaced by one summary, which says for which items it stands.
//!
//! Pinned items stay word for word where they are, and so do skipped ones, of which no summary sees anything. A call and its
//! results go together or not at all. The summary takes the place of the first item it stands for; [`expand`] puts all of
//! them back where they stood.

mod expand;
mod prompt;
mod select;

pub(crate) use prompt::prompt;
pub(crate) use select::{Extent, Selection, select};

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::git::Oid;
use crate::trace::error::TraceError;
use crate::trace::model::item::{Draft, Item};
use crate::trace::model::name::TraceName;
use crate::trace::model::schema;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total;
use crate::trace::store::trace::Trace;

/// The entry of a summary's open dictionary that lists the ids of the items it stands for, in reading order.
pub(crate) const STANDS_FOR: &str = "stands_for";

/// What is compressed, and into what.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub selection: &'a Selection,
    pub summary: &'a Draft,
    /// The commit's first line, in place of a preview.
    pub subject: Option<&'a str>,
    pub reason: Option<&'a str>,
}

/// What a compression came to.
#[derive(Debug)]
pub(crate) struct Compressed {
    pub summary: Item,
    pub seq: u32,
    pub commit: Oid,
    /// What the items that went out counted for, each as a message of its own.
    pub cost_out: u64,
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

impl Trace<'_> {
    /// Replaces the items of a selection by a summary.
    ///
    /// Fails with [`TraceError::Changed`] if one of them changed since it was selected.
    pub(crate) fn compress(&self, request: &Request<'_>) -> Result<Compressed, TraceError> {
        let Request { selection, subject, reason, .. } = *request;
        let mut draft = request.summary.clone();
        let ids = selection.items.iter().map(|slot| Value::from(slot.id.to_string())).collect();
        draft.fields.meta.insert(STANDS_FOR.to_owned(), Value::Array(ids));
        schema::complete(&mut draft.fields);
        schema::validate(&draft)?;
        let (commit, (summary, seq, cost_in)) = self.change(|change| {
            change.require_tip()?;
            let live: HashSet<ItemEntry> = change.slots()?.into_iter().collect();
            if let Some(slot) = selection.items.iter().find(|slot| !live.contains(slot)) {
                return Err(TraceError::Changed { item: slot.id, trace: self.name().clone() });
            }
            for slot in &selection.items {
                change.remove_file(&slot.path)?;
            }
            change.count(0, selection.cost);
            let summary = change.new_item(draft.clone());
            let seq = selection.items.first().map_or(0, |slot| slot.seq);
            change.put_item(seq, &summary)?;
            let preview = || format!("compress {} items: {}", selection.items.len(), preview(&summary));
            let subject = subject.map_or_else(preview, str::to_owned);
            change.commit_item(Op::Compress, summary.id, &subject, reason)?;
            let cost_in = total::item_cost(&summary, change.encoding);
            Ok((summary, seq, cost_in))
        })?;
        let commit = commit.ok_or_else(|| self.missing())?;
        Ok(Compressed { summary, seq, commit, cost_out: selection.cost, cost_in })
    }
}
