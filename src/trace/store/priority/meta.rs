//! Levels that items ask for themselves, by their meta key `priority`.

use super::{Record, Request, set, tags};
use crate::git::Repo;
use crate::trace::error::TraceError;
use crate::trace::model::item::Item;
use crate::trace::model::name::TraceName;
use crate::trace::model::types::level_in_meta;
use crate::trace::store::tip::Tip;
use crate::trace::store::write::Signature;

/// Takes the level that an edited item's meta key asks for into the record, where it is not the one in force already.
///
/// # Errors
///
/// As [`set`].
pub(crate) fn follow_meta(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    item: &Item,
    seq: u32,
) -> Result<(), TraceError> {
    let Some(level) = level_in_meta(&item.fields) else { return Ok(()) };
    if Record::open(repo)?.history(repo, item.id)?.last().is_some_and(|last| last.level == level) {
        return Ok(());
    }
    let tip = Tip::of_trace(repo, name)?;
    let introduced = tags::introduction(repo, &tip, item.id)?.unwrap_or(tip.commit.oid);
    let at = signature.at.after(Some(tip.time()));
    set(repo, signature, &[Request { item: item.id, level, reason: None, seq: Some(seq), at, by: None, introduced }])
}
