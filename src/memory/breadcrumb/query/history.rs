//! The history of a key, from git.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::git::{Git, GitError};
use crate::memory::breadcrumb::Record;
use crate::memory::breadcrumb::record::keep_winners;
use crate::memory::breadcrumb::store::lines::{find_key, numbered};

#[derive(Clone, Debug)]
pub(crate) struct KeyChange {
    pub commit: String,
    /// The author time, in RFC 3339 with the author's zone.
    pub at: String,
    pub author: String,
    pub subject: String,
    /// `None` if the commit deleted the breadcrumb.
    pub record: Option<Record<'static>>,
}

#[derive(Default, Debug)]
pub(crate) struct History {
    pub changes: Vec<KeyChange>,
    /// As it is in `HEAD`, which may not be the newest change if branches were merged.
    pub committed: Option<Record<'static>>,
}

/// Lists the commits up to `HEAD` that changed the breadcrumb `key` in the file at `path`, newest first.
///
/// `path` is relative to the worktree root `root`. A merge is listed if its breadcrumb differs from that of each parent. Reads
/// the file once per commit that changed it.
pub(crate) fn history(git: &Git, root: &Path, path: &Path, key: &str) -> Result<History, GitError> {
    if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?.code != Some(0) {
        return Ok(History::default());
    }
    let absolute = root.join(path);
    let args = ["rev-list", "--parents", "--encoding=UTF-8", "--format=%aI%x1f%an%x1f%s", "HEAD", "--"];
    let args = args.map(OsStr::new).into_iter().chain([absolute.as_os_str()]).collect::<Vec<_>>();
    let list = git.run(&args)?;
    let list = String::from_utf8_lossy(&list);
    let commits = parse_list(&list);
    let in_tree = path.to_string_lossy();
    let revs = commits.iter().map(|(oids, _)| oids[0]).chain(["HEAD"]);
    let names: Vec<_> = revs.map(|rev| format!("{rev}:{in_tree}")).collect();
    let mut committed = None;
    let mut states: HashMap<&str, Option<Record<'static>>> = HashMap::with_capacity(commits.len());
    git.blobs::<GitError>(&names, |index, blob| {
        let record = blob.and_then(|blob| winning_record(&blob, key));
        match commits.get(index) {
            Some((oids, _)) => _ = states.insert(oids[0], record),
            None => committed = record,
        }
        Ok(())
    })?;
    let state = |oid: &str| states.get(oid).and_then(Option::as_ref);
    let same = |a: Option<&Record<'_>>, b: Option<&Record<'_>>| match a.zip(b) {
        Some((a, b)) => a.means_same(b),
        None => a.is_none() && b.is_none(),
    };
    let mut changes = Vec::new();
    for (oids, change) in commits {
        let (oid, parents) = (oids[0], &oids[1..]);
        let now = state(oid);
        let is_unchanged = parents.iter().any(|parent| same(state(parent), now)) || parents.is_empty() && now.is_none();
        if !is_unchanged {
            changes.push(KeyChange { record: now.cloned(), ..change });
        }
    }
    Ok(History { changes, committed })
}

/// Parses the line pairs of `git rev-list`. Returns each commit with its parents among the commits that changed the file, and
/// its change without the record.
fn parse_list(list: &str) -> Vec<(Vec<&str>, KeyChange)> {
    let mut lines = list.split('\n');
    let mut commits = Vec::new();
    while let (Some(head), Some(fields)) = (lines.next(), lines.next()) {
        let Some(oids) = head.strip_prefix("commit ") else { continue };
        let oids: Vec<_> = oids.split(' ').collect();
        let mut fields = fields.splitn(3, '\u{1f}').map(str::to_owned);
        let mut field = || fields.next().unwrap_or_default();
        let change =
            KeyChange { commit: oids[0].to_owned(), at: field(), author: field(), subject: field(), record: None };
        commits.push((oids, change));
    }
    commits
}

fn winning_record(text: &[u8], key: &str) -> Option<Record<'static>> {
    let lines = numbered(text).filter(|(_, line)| find_key(line).as_deref() == Some(key.as_bytes()));
    let records = lines.filter_map(|(_, line)| Record::parse(line).ok()).filter(|record| record.key == key);
    let mut records: Vec<_> = records.map(Record::into_owned).collect();
    keep_winners(&mut records);
    records.pop()
}
