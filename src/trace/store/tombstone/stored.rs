//! The stored form of tombstones: their objects, and damage in their files.

use std::collections::HashSet;

use super::{HISTORY, Line, PURGED, Purge};
use crate::git::{Entry, Mode, Oid, Repo, TreeStore as _};
use crate::trace::TraceError;

/// The objects of the tombstones of this repository, and of those of remotes as last fetched. A remote may give the name to any other
/// commit, which does not count.
pub(crate) fn objects(repo: &Repo) -> Result<HashSet<Oid>, TraceError> {
    let suffix = format!("/{}", HISTORY.shared);
    let fetched = repo.list_refs("refs/trace-remote-records/")?.into_iter();
    let fetched = fetched.filter(|(refname, _)| refname.ends_with(&suffix)).map(|(_, tip)| tip);
    let mut objects = HashSet::new();
    for tip in repo.find_ref(PURGED)?.into_iter().chain(fetched).filter(|tip| repo.read_commit(*tip).is_ok()) {
        for commit in repo.commits_beyond(tip, None)? {
            let tree = repo.read_commit(commit)?.tree;
            let files = repo.read_tree(tree)?;
            let is_tombstone = |file: &Entry| {
                objects.contains(&file.oid) || repo.read_blob(file.oid).is_ok_and(|bytes| reason_of(&bytes).is_some())
            };
            let is_file = |file: &Entry| {
                file.mode() == Mode::File && std::str::from_utf8(&file.name).is_ok_and(HISTORY.format.is_path)
            };
            if files.iter().all(|file| is_file(file) && is_tombstone(file)) {
                objects.extend(files.iter().map(|file| file.oid).chain([commit, tree]));
            }
        }
    }
    Ok(objects)
}

/// The reason in a file of tombstones; `None` for any other file.
pub(crate) fn reason_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| find_damage(text).is_none())?;
    text.lines().find_map(|line| serde_json::from_str::<Purge>(line).ok()).map(|purge| purge.reason)
}

/// A defect of a file of tombstones. An unreadable line protects from nothing.
pub(crate) fn find_damage(text: &str) -> Option<String> {
    let mut purges = 0;
    for (index, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(Line::Purge(_)) => purges += 1,
            Ok(_) => {}
            Err(_) => return Some(format!("line {} cannot be read", index + 1)),
        }
    }
    (purges != 1).then(|| format!("{purges} lines say who purged, not 1"))
}
