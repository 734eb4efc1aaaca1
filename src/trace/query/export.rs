//! A trace as JSON Lines: one line per operation, oldest first.
//!
//! Each line is the item as it was after the operation (see [`crate::trace::model::json`]) with `op`, `at`, `by`, `subject` and `reason`.
//! If a provider reported the total of the trace, the last line of the operation has it, and our own count, by which an import sees
//! whether the report is still true.
//! A change of priority is a line with `op` priority, `id` and `priority`. [`crate::trace::change::jsonl`] reads it back.

use std::collections::HashSet;
use std::io::Write;

use serde_json::{Value, json};

use crate::git::{Oid, Repo};
use crate::trace::model::json::{COUNTED_TOTAL, REPORTED_TOTAL, to_json};
use crate::trace::model::trailers::Basis;
use crate::trace::model::tree::Change;
use crate::trace::store::priority::{Record, Setting};
use crate::trace::store::total::read_item;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, Op, Tip, TraceError};

/// Writes the operations on the items `only` (none: all) along the first parents of `tip`, with the priorities of the items.
///
/// Items from a merge are written as additions at the time of the merge.
pub(crate) fn export(
    repo: &Repo,
    tip: Tip,
    only: Option<&HashSet<ItemId>>,
    out: &mut dyn Write,
) -> Result<(), TraceError> {
    let record = Record::open(repo)?;
    let mut oldest_first: Vec<Oid> = Vec::new();
    for earlier in Walk::new(repo, tip, Parents::First) {
        oldest_first.push(earlier?.commit.oid);
    }
    oldest_first.reverse();
    // The changes of priority that are not written yet, of items that are.
    let mut pending: Vec<(ItemId, Setting)> = Vec::new();
    let mut asked: HashSet<ItemId> = HashSet::new();
    for oid in oldest_first {
        let tip = Tip::read(repo, oid)?;
        let at = tip.time();
        let due = pending.partition_point(|(_, setting)| setting.at < at);
        for (id, setting) in pending.drain(..due) {
            write_line(out, &setting_line(id, &setting))?;
        }
        // Some of the items have another total than all of them.
        let of_all = only.is_none() && tip.is_ours();
        let reported = tip.trailers.total.filter(|total| of_all && total.basis == Basis::Reported);
        let reported = reported.zip(tip.trailers.counted);
        let changes = changes_of(repo, &tip)?;
        for (number, change) in changes.iter().enumerate() {
            let id = change.entry().id;
            if only.is_some_and(|only| !only.contains(&id)) {
                continue;
            }
            let mut line = change_line(repo, &tip, change)?;
            if let Some((total, counted)) = reported.filter(|_| number + 1 == changes.len()) {
                line[REPORTED_TOTAL] = total.tokens.into();
                line[COUNTED_TOTAL] = counted.tokens.into();
            }
            write_line(out, &line)?;
            if asked.insert(id) {
                pending.extend(record.history(repo, id)?.into_iter().map(|setting| (id, setting)));
            }
        }
        pending.sort_by_key(|(id, setting)| (setting.at, *id));
    }
    for (id, setting) in pending {
        write_line(out, &setting_line(id, &setting))?;
    }
    Ok(())
}

fn write_line(out: &mut dyn Write, line: &Value) -> Result<(), TraceError> {
    let text = format!("{line}\n");
    out.write_all(text.as_bytes()).map_err(|source| TraceError::Stream { action: "write the export", source })
}

fn change_line(repo: &Repo, tip: &Tip, change: &Change) -> Result<Value, TraceError> {
    let own = tip.trailers.op.filter(|_| tip.is_ours());
    let op = match (change, own) {
        (Change::Added(_), Some(op @ (Op::Append | Op::Import | Op::Pick | Op::Compress)))
        | (Change::Added(_) | Change::Changed(..), Some(op @ Op::Restore)) => op,
        (Change::Added(_), _) => Op::Merge,
        (Change::Changed(..), _) => Op::Edit,
        (Change::Removed(_), _) => Op::Delete,
    };
    let slot = change.entry();
    let mut line = match change {
        Change::Removed(_) => json!({ "id": slot.id.to_string() }),
        _ => to_json(&read_item(repo, slot)?).into(),
    };
    line["op"] = op.as_str().into();
    line["seq"] = slot.seq.into();
    line["commit"] = tip.commit.oid.to_string().into();
    line["at"] = tip.time().to_string().into();
    line["by"] = tip.commit.author.as_str().into();
    line["subject"] = tip.commit.subject().into();
    if let Some(reason) = &tip.trailers.reason {
        line["reason"] = reason.as_str().into();
    }
    Ok(line)
}

fn setting_line(id: ItemId, setting: &Setting) -> Value {
    let Setting { at, by, level, seq, reason, after } = setting;
    let mut line =
        json!({ "op": "priority", "id": id.to_string(), "priority": level.as_str(), "at": at.to_string(), "by": by });
    if let Some(reason) = reason {
        line["reason"] = reason.as_str().into();
    }
    if let Some(seq) = seq {
        line["seq"] = (*seq).into();
    }
    // Null in a line of version 0.1.
    line["after"] = json!(after);
    line
}
