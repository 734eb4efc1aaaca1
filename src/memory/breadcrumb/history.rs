//! The history of a key, as git has it.

use std::collections::HashMap;
use std::path::Path;

use super::lines::{find_key, split_bom};
use super::record::Record;
use super::store::keep_what_counts;
use crate::git::{Git, GitError};

/// One commit that changed a breadcrumb.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Its oid.
    pub commit: String,
    /// When its author made it, RFC 3339 with the author's zone.
    pub at: String,
    /// Who made it.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// What became of the breadcrumb; `None` if it was deleted.
    pub record: Option<Record<'static>>,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// Lists the commits up to `HEAD` that changed the breadcrumb of `key` in the file at `path`, newest first.
///
/// `path` is within the working tree, relative to its root. A merge is listed if it left the breadcrumb as none of its
/// parents had it. Reads the file once for each commit that touched it.
///
/// # Errors
///
/// What keeps git from telling.
pub(crate) fn history(git: &Git, root: &Path, path: &Path, key: &str) -> Result<Vec<Change>, GitError> {
    if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?.code != Some(0) {
        return Ok(Vec::new());
    }
    let absolute = root.join(path).to_string_lossy().into_owned();
    let format = "--format=%aI%x1f%an%x1f%s";
    let list = git.run(&["rev-list", "--parents", "--encoding=UTF-8", format, "HEAD", "--", &absolute])?;
    let list = String::from_utf8_lossy(&list);
    let commits = parse_list(&list);
    let in_tree = path.to_string_lossy();
    let names: Vec<_> = commits.iter().map(|commit| format!("{}:{in_tree}", commit.oids[0])).collect();
    let mut states: HashMap<&str, Option<Record<'static>>> = HashMap::with_capacity(commits.len());
    git.blobs::<GitError>(&names, |index, blob| {
        states.insert(commits[index].oids[0], blob.and_then(|blob| counting_record(&blob, key)));
        Ok(())
    })?;
    let state = |oid: &str| states.get(oid).and_then(Option::as_ref);
    let same = |a: Option<&Record<'_>>, b: Option<&Record<'_>>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.means_same(b),
        _ => false,
    };
    let changes = commits.iter().filter_map(|commit| {
        let (oid, parents) = commit.oids.split_first()?;
        let now = state(oid);
        let is_as_before = parents.iter().any(|parent| same(state(parent), now)) || parents.is_empty() && now.is_none();
        (!is_as_before).then(|| Change {
            commit: (*oid).to_owned(),
            at: commit.at.to_owned(),
            author: commit.author.to_owned(),
            subject: commit.subject.to_owned(),
            record: now.cloned(),
            is_new: parents.iter().all(|parent| state(parent).is_none()),
        })
    });
    Ok(changes.collect())
}

/// A commit and its parents among those that touched the file.
struct Listed<'l> {
    oids: Vec<&'l str>,
    at: &'l str,
    author: &'l str,
    subject: &'l str,
}

fn parse_list(list: &str) -> Vec<Listed<'_>> {
    let mut lines = list.split('\n');
    let mut commits = Vec::new();
    while let (Some(head), Some(told)) = (lines.next(), lines.next()) {
        let mut told = told.splitn(3, '\u{1f}');
        commits.push(Listed {
            oids: head.split(' ').skip(1).collect(),
            at: told.next().unwrap_or_default(),
            author: told.next().unwrap_or_default(),
            subject: told.next().unwrap_or_default(),
        });
    }
    commits
}

/// The record of a key that counts in a text; lines that cannot be read do not.
fn counting_record(text: &[u8], key: &str) -> Option<Record<'static>> {
    let (_, text) = split_bom(text);
    let lines = text.split(|b| *b == b'\n').filter(|line| find_key(line).as_deref() == Some(key.as_bytes()));
    let mut records: Vec<_> =
        lines.filter_map(|line| Record::parse(line).ok()).filter(|r| r.key == key).map(Record::into_owned).collect();
    keep_what_counts(&mut records);
    records.pop()
}
