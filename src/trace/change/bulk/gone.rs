//! The items that a trace had and has no more, so that an import of a file from its start need not walk the history for them.
//!
//! One file per trace in `<git dir>/trace/transcripts`: the oid of a commit and a line break, then the numbers of the items, eight
//! bytes each. It is a cache: what changed after that commit is read from history, and without it, the complete history is.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use super::acts::History;
use crate::base::replace::{Access, put};
use crate::git::{Oid, Repo};
use crate::trace::model::tree;
use crate::trace::store::session::cache_path;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

fn path(repo: &Repo, name: &TraceName) -> PathBuf {
    cache_path(repo.common_dir(), format!("{}.gone", &blake3::hash(name.as_str().as_bytes()).to_hex()[..32]))
}

/// The items that the trace had or has, but those at its tip need not be among them; `None` if the history has to be read.
pub(super) fn read(repo: &Repo, name: &TraceName, tip: &Tip) -> Result<Option<HashSet<ItemId>>, TraceError> {
    let Some((mark, gone)) = fs::read(path(repo, name)).ok().and_then(|file| parse(repo, &file)) else {
        return Ok(None);
    };
    let Some(mut items) = History::items_since(repo, tip, mark)? else { return Ok(None) };
    items.extend(gone);
    if mark != tip.commit.oid {
        // A compression removes items that its commit does not name.
        items.extend(tree::list(repo, repo.read_commit(mark)?.tree)?.iter().map(|entry| entry.id));
    }
    Ok(Some(items))
}

fn parse(repo: &Repo, file: &[u8]) -> Option<(Oid, Vec<ItemId>)> {
    let end = memchr::memchr(b'\n', file)?;
    let oid = Oid::parse(std::str::from_utf8(&file[..end]).ok()?, repo.object_format())?;
    let (numbers, []) = file[end + 1..].as_chunks::<8>() else { return None };
    Some((oid, numbers.iter().map(|number| ItemId::of_number(u64::from_le_bytes(*number))).collect()))
}

/// Stores the items that are gone at a tip. If that fails, the next import takes longer and has the same result.
pub(super) fn write(repo: &Repo, name: &TraceName, tip: Oid, gone: impl Iterator<Item = ItemId>) {
    let mut file = format!("{tip}\n").into_bytes();
    file.extend(gone.flat_map(|item| item.number().to_le_bytes()));
    let _ = put(&path(repo, name), Access::Cache, &file);
}
