//! An item of the trace that an import continues.

use super::Removal;
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::trailers::preview;
use crate::trace::model::tree::parse_name;
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::{ItemEntry, ItemId, ItemType, TraceError};

pub(super) struct KnownItem {
    pub(super) seq: u32,
    pub(super) path: String,
    pub(super) blob: Oid,
    /// 0 if it was not added since the base, because the item has not been read.
    pub(super) cost: u64,
    pub(super) revision: u32,
    pub(super) is_skipped: bool,
    /// Empty if the item has not been read.
    pub(super) preview: String,
    /// Why this import removed it.
    pub(super) removal: Option<Removal>,
}

impl KnownItem {
    pub(super) fn of(entry: &ItemEntry) -> Self {
        let (seq, path, blob) = (entry.seq, entry.path.clone(), entry.blob);
        Self { seq, path, blob, cost: 0, revision: 0, is_skipped: false, preview: String::new(), removal: None }
    }

    /// Reads its cost, revision, and preview.
    pub(super) fn read(&mut self, repo: &Repo, id: ItemId, counter: Counter) -> Result<(), TraceError> {
        let (seq, path, blob) = (self.seq, self.path.clone(), self.blob);
        let name = path.rsplit('/').next().and_then(|name| parse_name(name.as_bytes()));
        let item_type = name.map_or_else(ItemType::freeform, |(_, item_type, _)| item_type);
        let item = read_item(repo, &ItemEntry { seq, id, item_type, blob, path })?;
        (self.cost, self.revision, self.preview) = (item_cost(&item, counter), item.revision, preview(&item));
        Ok(())
    }
}
