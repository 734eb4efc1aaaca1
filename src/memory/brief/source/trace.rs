//! What happened last in the trace.

use super::cause;
use crate::git::Repo;
use crate::memory::brief::Request;
use crate::memory::brief::section::{Kind, Section};
use crate::trace::model::trailers::preview;
use crate::trace::model::tree;
use crate::trace::store::priority::Record;
use crate::trace::store::total;
use crate::trace::{Tip, TraceError};

/// How many items are told.
const ITEMS: usize = 10;

/// Reads the last items that are not skipped, the newest first.
pub(crate) fn read(repo: &Repo, request: &Request) -> Result<Vec<Section>, String> {
    section(repo, request).map(|section| vec![section]).map_err(|error| cause(&error))
}

fn section(repo: &Repo, request: &Request) -> Result<Section, TraceError> {
    let mut section = Section::new(Kind::Trace);
    let Some(tip) = Tip::find(repo, &request.trace)? else { return Ok(section) };
    let slots = tree::list(repo, tip.commit.tree)?;
    // Three times as many, since some may be skipped; no more, since every one is looked up.
    let last = &slots[slots.len().saturating_sub(3 * ITEMS)..];
    let levels = Record::open(repo)?.levels(repo, last, None)?;
    let told = last.iter().rev().filter(|slot| !levels.is_skipped(slot.id, &slot.item_type));
    for slot in told.take(ITEMS) {
        let item = total::read_item(repo, slot)?;
        section.push(&format!("#{} {}", slot.seq, preview(&item)), "");
    }
    Ok(section)
}
