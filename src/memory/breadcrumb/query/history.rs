//! The history of a key, from git.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::git::{Git, GitError};
use crate::memory::breadcrumb::record::keep_winners;
use crate::memory::breadcrumb::store::lines::{find_key, numbered};
use crate::memory::breadcrumb::{Lookup, Record};

#[derive(Clone, Debug)]
pub(crate) struct KeyChange {
    pub commit: String,
    /// The author time, in RFC 3339 with the author's zone.
    pub at: String,
    pub author: String,
    pub subject: String,
    pub state: KeyState,
}

/// The state of a key in a version of the file.
#[derive(Clone, Default, Debug)]
pub(crate) enum KeyState {
    #[default]
    Absent,
    /// A line that cannot be read may be the record.
    Damaged,
    Present(Record<'static>),
}

#[derive(Default, Debug)]
pub(crate) struct History {
    pub changes: Vec<KeyChange>,
    /// As it is in `HEAD`, which may not be the newest change if branches were merged.
    pub committed: KeyState,
}

impl KeyState {
    pub(crate) fn record(&self) -> Option<&Record<'static>> {
        match self {
            Self::Present(record) => Some(record),
            Self::Absent | Self::Damaged => None,
        }
    }

    pub(crate) fn means_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Present(a), Self::Present(b)) => a.means_same(b),
            (Self::Absent, Self::Absent) | (Self::Damaged, Self::Damaged) => true,
            _ => false,
        }
    }
}

impl Lookup {
    pub(crate) fn into_state(self, key: &str) -> KeyState {
        match self.record {
            Some(record) => KeyState::Present(record),
            None if self.is_damaged(key) => KeyState::Damaged,
            None => KeyState::Absent,
        }
    }
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
    let mut committed = KeyState::Absent;
    let mut states: HashMap<&str, KeyState> = HashMap::with_capacity(commits.len());
    git.blobs::<GitError>(&names, |index, blob| {
        let state = blob.map_or(KeyState::Absent, |blob| state_in(&blob, key));
        match commits.get(index) {
            Some((oids, _)) => _ = states.insert(oids[0], state),
            None => committed = state,
        }
        Ok(())
    })?;
    let state = |oid: &str| states.get(oid).unwrap_or(&KeyState::Absent);
    let mut changes = Vec::new();
    for (oids, change) in commits {
        let (now, parents) = (state(oids[0]), &oids[1..]);
        let is_absent = parents.is_empty() && now.means_same(&KeyState::Absent);
        if !is_absent && !parents.iter().any(|parent| state(parent).means_same(now)) {
            changes.push(KeyChange { state: now.clone(), ..change });
        }
    }
    Ok(History { changes, committed })
}

/// Parses the line pairs of `git rev-list`. Returns each commit with its parents among the commits that changed the file, and
/// its change without the state.
fn parse_list(list: &str) -> Vec<(Vec<&str>, KeyChange)> {
    let mut lines = list.split('\n');
    let mut commits = Vec::new();
    while let (Some(head), Some(fields)) = (lines.next(), lines.next()) {
        let Some(oids) = head.strip_prefix("commit ") else { continue };
        let oids: Vec<_> = oids.split(' ').collect();
        let mut fields = fields.splitn(3, '\u{1f}').map(str::to_owned);
        let mut field = || fields.next().unwrap_or_default();
        let (at, author, subject) = (field(), field(), field());
        let change = KeyChange { commit: oids[0].to_owned(), at, author, subject, state: KeyState::Absent };
        commits.push((oids, change));
    }
    commits
}

fn state_in(text: &[u8], key: &str) -> KeyState {
    let is_or_may_be = |line: &[u8]| find_key(line).is_none_or(|found| *found == *key.as_bytes());
    let (mut records, mut is_damaged) = (Vec::new(), false);
    for (_, line) in numbered(text).filter(|(_, line)| is_or_may_be(line)) {
        match Record::parse(line) {
            Ok(record) if record.key == key => records.push(record.into_owned()),
            Ok(_) => {}
            Err(_) => is_damaged = true,
        }
    }
    keep_winners(&mut records);
    match records.pop() {
        Some(record) => KeyState::Present(record),
        None if is_damaged => KeyState::Damaged,
        None => KeyState::Absent,
    }
}
