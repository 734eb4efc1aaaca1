//! What `benches/breadcrumb.rs` measures.

use std::path::{Path, PathBuf};

use super::store::write::{Expiry, SetRequest};
use super::{Query, Store, StoreFile, Writer};
use crate::base::merge::{Markers, MergeInput};
use crate::base::time::Time;

/// A breadcrumb store. Its methods panic on errors.
#[derive(Debug)]
pub struct BreadcrumbStore(Store);

impl BreadcrumbStore {
    /// The store in a folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self(Store::in_folder(folder))
    }

    /// The file of the records that are not secret.
    #[must_use]
    pub fn shared_file(&self) -> PathBuf {
        self.0.path(StoreFile::Shared)
    }

    /// Looks up a key; false if it is missing.
    #[must_use]
    pub fn contains(&self, key: &str, now: Time) -> bool {
        self.0.lookup(key, now).expect("the store is readable").record.is_some()
    }

    /// Lists up to `limit` records by key prefix; returns their number.
    #[must_use]
    pub fn list(&self, prefix: &str, limit: usize, now: Time) -> usize {
        let query = Query { prefix: prefix.to_owned(), limit: Some(limit), ..Query::default() };
        self.0.list(&query, now).expect("the store is readable").records.len()
    }

    /// Sets a key.
    pub fn set(&self, key: &str, value: &str, now: Time) {
        let key = key.parse().expect("the key is valid");
        let request = SetRequest { key: &key, value, task_id: None, expiry: Expiry::Kept, metadata: &[] };
        Writer::new(&self.0, &|_| true).set(&request, now).expect("the store is writable");
    }
}

/// Merges three versions of a store's file.
#[must_use]
pub fn merge_breadcrumbs(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    super::merge(MergeInput { base, ours, theirs }).to_bytes(&Markers::default())
}
