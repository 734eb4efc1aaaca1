//! The stored form of tombstones: their objects, and damage in their files.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{HISTORY, Line, PURGED};
use crate::base::time::Time;
use crate::git::{Entry, Mode, Oid, Repo, TreeStore as _};
use crate::trace::TraceError;

/// The objects of the tombstones of this repository, and of those of remotes as last fetched. A remote may give the name to any other
/// commit, which does not count.
pub(crate) fn objects(repo: &Repo) -> Result<HashSet<Oid>, TraceError> {
    let own = repo.find_ref(PURGED)?.filter(|tip| repo.read_commit(*tip).is_ok());
    let mut objects = HashSet::new();
    for tip in own.into_iter().chain(HISTORY.list_fetched(repo)?) {
        for commit in repo.commits_beyond(tip, None)? {
            let tree = repo.read_commit(commit)?.tree;
            let files = repo.read_tree(tree)?;
            let is_tombstone = |file: &Entry| {
                objects.contains(&file.oid) || repo.read_blob(file.oid).is_ok_and(|bytes| reasons_of(&bytes).is_some())
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

/// The reasons in a file of tombstones; `None` for any other file.
pub(crate) fn reasons_of(bytes: &[u8]) -> Option<Vec<String>> {
    let lines = std::str::from_utf8(bytes).ok()?.lines().map(serde_json::from_str::<Line>);
    let lines: Vec<Line> = lines.collect::<Result<_, _>>().ok()?;
    let reason = |line| if let Line::Purge(purge) = line { Some(purge.reason) } else { None };
    Some(lines.into_iter().filter_map(reason).collect())
}

/// The parts of a file of tombstones that may be text, apart from the reason: all but digests and times. A remote may add members, also
/// twice: a line with any is text.
pub(crate) fn other_texts(bytes: &[u8]) -> Vec<String> {
    let is_digest =
        |value: &Value| value.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_time = |value: &Value| value.as_str().is_some_and(|text| text.parse::<Time>().is_ok());
    let is_text = |(key, value): &(String, Value)| match &**key {
        "reason" => false,
        "joins" => !value.is_boolean(),
        "knew" => !value.as_array().is_some_and(|ids| ids.iter().all(is_digest)),
        "at" => !is_time(value),
        "salt" | "new" | "object" | "item" | "line" | "body" | "content" | "left" => !is_digest(value),
        _ => true,
    };
    let is_ours = |line: &str| {
        let parsed = serde_json::from_str::<Line>(line).ok();
        parsed.and_then(|parsed| serde_json::to_string(&parsed).ok()).is_some_and(|written| written == line)
    };
    let mut texts = Vec::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        match serde_json::from_str::<Map<String, Value>>(line) {
            Ok(members) if is_ours(line) => {
                texts.extend(members.into_iter().filter(is_text).map(|(key, value)| json!({ key: value }).to_string()));
            }
            _ => texts.push(line.to_owned()),
        }
    }
    texts
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
    (purges == 0).then(|| "no line says who purged".to_owned())
}
