//! Levels that items ask for themselves, by their meta key `priority`.

use super::{Record, Request, set, tags};
use crate::trace::error::TraceError;
use crate::trace::model::item::Item;
use crate::trace::model::types::level_in_meta;
use crate::trace::store::trace::Trace;

/// Sets the level that an edited item's meta key asks for, unless it is in force already.
pub(crate) fn follow_meta(trace: &Trace<'_>, item: &Item, seq: u32) -> Result<(), TraceError> {
    let repo = trace.repo();
    let Some(level) = level_in_meta(&item.fields) else { return Ok(()) };
    if Record::open(repo)?.history(repo, item.id)?.last().is_some_and(|last| last.level == level) {
        return Ok(());
    }
    let (tip, signature) = (trace.tip()?, trace.signature()?);
    let introduced = tags::introduction(repo, &tip, item.id)?.unwrap_or(tip.commit.oid);
    let at = signature.at.after(Some(tip.time()));
    set(repo, &signature, &[Request { item: item.id, level, reason: None, seq: Some(seq), at, by: None, introduced }])
}
