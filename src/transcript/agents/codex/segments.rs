//! The files of a session that was reverted or forked.
//!
//! When the user returns to an earlier turn, the agent ends the file and starts another one, a segment:
//!
//! ```text
//! rollout-<time>-<session id>.jsonl                 {"ordinal":0,"type":"session_meta",…} …
//! rollout-<time>-<session id>_<segment id>.jsonl    {"ordinal":14,"type":"session_meta","payload":{"history_base":{…},…}} …
//! ```
//!
//! The ordinal of its head is that of the first record that was reverted. A fork is another session, whose base is the first
//! bytes of a segment of another one, and whatever that segment is based on:
//!
//! ```text
//! "history_base":{"thread_id":"<id at the end of the file's name>","end_ordinal_exclusive":25,"end_byte_offset":53975}
//! ```
//!
//! A session is read as the head of a fork, then its base, then all of its segments in the order of their ids, so that what was
//! reverted is in the trace's history, and an import continues where the one before ended.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::files::{files_around, head_line};
use super::records::{Base, Head, Record};
use crate::transcript::agents::FilePart;
use crate::transcript::agents::search::is_own_file;
use crate::transcript::read::json;

/// The number of characters of an id.
const ID: usize = 36;

/// The id of the session and of the segment, which is the session's in its first file.
pub(super) fn ids(path: &Path) -> Option<(&str, &str)> {
    let stem = path.file_stem()?.to_str()?.strip_prefix("rollout-")?;
    let (rest, last) = stem.split_at_checked(stem.len().checked_sub(ID)?)?;
    match rest.strip_suffix('_') {
        Some(before) => Some((before.get(before.len().checked_sub(ID)?..)?, last)),
        None => Some((last, last)),
    }
}

pub(super) fn parts(path: &Path) -> io::Result<Vec<FilePart>> {
    let whole = || Ok(vec![path.into()]);
    let Some((session, segment)) = ids(path) else { return whole() };
    if session == segment && base_of(path).is_none() {
        return whole();
    }
    let others = files_around(path)?;
    let others: Vec<&Path> = others.iter().map(PathBuf::as_path).filter(|path| is_own_file(path)).collect();
    let is_earlier = |other: &&&Path| ids(other).is_some_and(|(of, id)| of == session && id < segment);
    let mut own: Vec<&Path> = others.iter().filter(is_earlier).copied().collect();
    own.sort_by_key(|path| ids(path));
    own.push(path);
    let mut base = Vec::new();
    let mut seen = HashSet::new();
    let mut next = base_of(own[0]);
    while let Some((id, length)) = next
        && seen.insert(id.clone())
        && let Some(file) = others.iter().find(|path| ids(path).is_some_and(|(_, segment)| segment == id))
    {
        base.push(FilePart { path: (*file).to_owned(), length: Some(length) });
        next = base_of(file);
    }
    if !base.is_empty() {
        // The session is the one of the first head.
        let length = head_line(own[0]).map_or(0, |line| line.len() as u64 + 1);
        base.push(FilePart { path: own[0].to_owned(), length: Some(length) });
    }
    base.reverse();
    base.extend(own.into_iter().map(FilePart::from));
    Ok(base)
}

/// Only the last segment of each session: with it, the others are read, too.
pub(super) fn last_segments(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut last: HashMap<String, String> = HashMap::new();
    for (session, id) in paths.iter().filter_map(|path| ids(path)).filter(|(session, id)| session != id) {
        let last = last.entry(session.to_owned()).or_default();
        *last = id.max(last).to_owned();
    }
    paths.retain(|path| ids(path).is_none_or(|(session, id)| last.get(session).is_none_or(|last| id >= last.as_str())));
    paths
}

fn base_of(path: &Path) -> Option<(String, u64)> {
    let line = head_line(path)?;
    let record: Record<'_> = serde_json::from_slice(&line).ok()?;
    let base: Base<'_> = json::view_of(json::view_of::<Head<'_>>(record.payload?).base?);
    Some((json::text(base.file?)?.into(), base.length?.get().parse().ok()?))
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/codex/segments.rs"]
mod tests;
