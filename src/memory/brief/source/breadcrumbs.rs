//! The breadcrumbs that are asked for.

use super::cause;
use crate::git::Repo;
use crate::memory::breadcrumb::{Query, Record, Store, StoreFile};
use crate::memory::brief::Request;
use crate::memory::brief::section::{Kind, Section};
use crate::trace::Time;

/// Reads the breadcrumbs of the keys that are asked for, in that order, and of each prefix (`auth.`) in the order of their
/// keys. Secrets are never told.
pub(crate) fn read(
    repo: &Repo,
    request: &Request,
    now: Time,
    warnings: &mut Vec<String>,
) -> Result<Vec<Section>, String> {
    let (Some(root), false) = (repo.worktree(), request.breadcrumbs.is_empty()) else { return Ok(Vec::new()) };
    let store = Store::find(&request.folder, &root);
    let mut section = Section::new(Kind::Breadcrumbs);
    for asked in &request.breadcrumbs {
        let records: Vec<Record<'_>> = if asked.ends_with('.') {
            let query = Query { prefix: asked.clone(), ..Query::default() };
            store.list(&query, now).map_err(|error| cause(&error))?.records
        } else {
            store.lookup(asked, now).map_err(|error| cause(&error))?.record.into_iter().collect()
        };
        if records.is_empty() {
            warnings.push(format!("breadcrumbs: there is no `{asked}`"));
        }
        for record in records.iter().filter(|record| StoreFile::of_key(&record.key) == StoreFile::Shared) {
            section.push(&format!("{} = {}", record.key, record.value), "");
        }
    }
    Ok(vec![section])
}
