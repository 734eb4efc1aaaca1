//! Traces that a remote keeps instead of this repository: one JSON object per line in `<common dir>/trace/archived`.
//!
//! ```text
//! {"trace":"codex/6b2e…","remote":"archive","tip":"8f3c…","at":"2026-02-10T09:00:00Z","title":"Fix the parser","items":12,"tokens":3400}
//! ```
//!
//! - A line is synced before the ref of its trace is deleted. The line of a trace that exists counts as absent, so a process may be
//!   killed at any moment. It stays, so that an `undo` archives the trace again, until the trace is renamed or deleted.
//! - `sessions` has the other sessions that the trace continues, each by its default trace.
//! - `read` is the length of the transcript that was imported, by which an unchanged one is known.
//! - A line that cannot be read is kept, and names no trace.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::tombstone::{Fate, Tombstones};
use crate::base::bounded;
use crate::base::replace::{Access, put};
use crate::git::{GitError, Oid, Repo};
use crate::trace::model::name::TRACES;
use crate::trace::{Time, TraceError, TraceName};

const LOCK: &str = "the list of archived traces";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Archived {
    pub name: TraceName,
    pub remote: String,
    pub tip: Oid,
    /// The time of its last change.
    pub at: Time,
    pub title: Option<String>,
    pub items: usize,
    pub tokens: u64,
    pub sessions: Vec<TraceName>,
    pub read: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    trace: String,
    remote: String,
    tip: String,
    at: String,
    title: Option<String>,
    items: usize,
    tokens: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<u64>,
}

impl Archived {
    /// Whether it continues the session with this default trace.
    pub(crate) fn is_of(&self, session: &TraceName) -> bool {
        self.name == *session || self.sessions.contains(session)
    }

    /// The tip, or the commit that a purge replaced it by. The tombstones of a remote count too if their commit is given.
    pub(crate) fn newest_tip(&self, repo: &Repo, fetched: Option<Oid>) -> Result<Oid, TraceError> {
        let tombstones = Tombstones::with_fetched(repo, fetched)?.unwrap_or_default();
        Ok(match tombstones.fate(repo, self.tip, &|oid| repo.read_commit(oid).is_ok()) {
            Fate::Replaced(new) => new,
            _ => self.tip,
        })
    }

    fn parse(repo: &Repo, line: &str) -> Option<Self> {
        let Line { trace, remote, tip, at, title, items, tokens, sessions, read } = serde_json::from_str(line).ok()?;
        Some(Self {
            name: trace.parse().ok()?,
            // A remote's name is given to git.
            remote: Some(remote).filter(|remote| !remote.starts_with('-'))?,
            tip: Oid::parse(&tip, repo.object_format())?,
            at: at.parse().ok()?,
            title,
            items,
            tokens,
            sessions: sessions.iter().filter_map(|name| name.parse().ok()).collect(),
            read,
        })
    }

    fn render(&self) -> String {
        let line = Line {
            trace: self.name.to_string(),
            remote: self.remote.clone(),
            tip: self.tip.to_string(),
            at: self.at.to_string(),
            title: self.title.clone(),
            items: self.items,
            tokens: self.tokens,
            sessions: self.sessions.iter().map(ToString::to_string).collect(),
            read: self.read,
        };
        json!(line).to_string()
    }
}

pub(crate) fn path(repo: &Repo) -> PathBuf {
    repo.common_dir().join("trace").join("archived")
}

impl From<Archived> for TraceError {
    fn from(archived: Archived) -> Self {
        Self::Archived { name: archived.name, remote: archived.remote }
    }
}

fn lines(repo: &Repo) -> Result<Vec<String>, TraceError> {
    let path = path(repo);
    let text = bounded::read_if_exists(&path).map_err(|source| GitError::io("read", path, source))?;
    Ok(String::from_utf8_lossy(&text.unwrap_or_default()).lines().map(str::to_owned).collect())
}

/// The lines that have this name. Parsing all of them would take longer than searching.
fn naming(repo: &Repo, name: &TraceName) -> Result<Vec<String>, TraceError> {
    let quoted = json!(name.as_str()).to_string();
    Ok(lines(repo)?.into_iter().filter(|line| line.contains(&quoted)).collect())
}

/// The archived traces that are not here, the most recently changed first.
pub(crate) fn all(repo: &Repo) -> Result<Vec<Archived>, TraceError> {
    let mut found: Vec<Archived> = lines(repo)?.iter().filter_map(|line| Archived::parse(repo, line)).collect();
    if !found.is_empty() {
        let here: HashSet<String> = repo.list_refs(TRACES)?.into_iter().map(|(refname, _)| refname).collect();
        found.retain(|one| !here.contains(&one.name.refname()));
    }
    found.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.name.cmp(&other.name)));
    Ok(found)
}

/// Where a trace that is not here is archived, or the trace that continues the session with this default trace.
pub(crate) fn find(repo: &Repo, name: &TraceName) -> Result<Option<Archived>, TraceError> {
    let named = naming(repo, name)?;
    let mut found = named.iter().filter_map(|line| Archived::parse(repo, line)).filter(|one| one.is_of(name));
    let found = match found.next() {
        Some(first) => found.find(|one| one.name == *name).unwrap_or(first),
        None => return Ok(None),
    };
    Ok(if repo.find_ref(&found.name.refname())?.is_some() { None } else { Some(found) })
}

/// Refuses to give the name of an archived trace to a trace that starts without that one's commits: at `start`, or empty.
pub(crate) fn refuse_name(repo: &Repo, name: &TraceName, start: Option<Oid>) -> Result<(), TraceError> {
    let Some(archived) = find(repo, name)?.filter(|archived| archived.name == *name) else { return Ok(()) };
    let tip = archived.newest_tip(repo, None)?;
    let comes_back = match start {
        Some(start) => repo.read_commit(tip).is_ok() && repo.is_ancestor(tip, start)?,
        None => false,
    };
    if comes_back { Ok(()) } else { Err(archived.into()) }
}

pub(crate) fn add(repo: &Repo, new: &[Archived]) -> Result<(), TraceError> {
    let names: HashSet<&TraceName> = new.iter().map(|one| &one.name).collect();
    change(repo, |name| names.contains(name), new)
}

pub(crate) fn remove(repo: &Repo, names: &[TraceName]) -> Result<(), TraceError> {
    change(repo, |name| names.contains(name), &[])
}

/// Removes the line of a trace that is here, so that another one may have its name later.
pub(crate) fn forget(repo: &Repo, name: &TraceName) -> Result<(), TraceError> {
    if naming(repo, name)?.is_empty() { Ok(()) } else { remove(repo, std::slice::from_ref(name)) }
}

/// Removes the titles of archived traces that a purge replaced or removed: only the remote has those of their replacements.
pub(crate) fn forget_purged_titles(repo: &Repo, tombstones: &Tombstones) -> Result<(), TraceError> {
    let is_kept = |one: &Archived| matches!(tombstones.fate(repo, one.tip, &|_| false), Fate::Kept);
    let listed = lines(repo)?.into_iter().filter_map(|line| Archived::parse(repo, &line));
    let purged = listed.filter(|one| one.title.is_some() && !is_kept(one));
    let untitled: Vec<Archived> = purged.map(|one| Archived { title: None, ..one }).collect();
    if untitled.is_empty() { Ok(()) } else { add(repo, &untitled) }
}

/// The lines with other titles where `replace` returns one, and whether there is one. Of a line that cannot be read, all is replaced.
pub(crate) fn replaced(
    repo: &Repo,
    replace: impl Fn(&str) -> Option<String>,
) -> Result<(Vec<String>, bool), TraceError> {
    let mut is_changed = false;
    let replaced = |line: String| {
        let new = match Archived::parse(repo, &line) {
            Some(one) => {
                one.title.as_deref().and_then(&replace).map(|title| Archived { title: Some(title), ..one }.render())
            }
            None => replace(&line),
        };
        is_changed |= new.is_some();
        new.unwrap_or(line)
    };
    let lines = lines(repo)?.into_iter().map(replaced).collect();
    Ok((lines, is_changed))
}

/// Writes the lines as [`replaced`] returns them.
pub(crate) fn replace(repo: &Repo, replace: impl Fn(&str) -> Option<String>) -> Result<(), TraceError> {
    let _lock = repo.lock(LOCK)?;
    let (lines, is_changed) = replaced(repo, replace)?;
    if is_changed { write(repo, &lines) } else { Ok(()) }
}

/// Removes the lines of some traces, and adds others.
fn change(repo: &Repo, is_old: impl Fn(&TraceName) -> bool, new: &[Archived]) -> Result<(), TraceError> {
    let _lock = repo.lock(LOCK)?;
    let listed = lines(repo)?;
    let is_kept = |line: &&String| Archived::parse(repo, line).is_none_or(|one| !is_old(&one.name));
    let mut kept: Vec<String> = listed.iter().filter(is_kept).cloned().collect();
    if kept.len() == listed.len() && new.is_empty() {
        return Ok(());
    }
    kept.extend(new.iter().map(Archived::render));
    write(repo, &kept)
}

fn write(repo: &Repo, lines: &[String]) -> Result<(), TraceError> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let path = path(repo);
    put(&path, Access::Usual, text.as_bytes()).map_err(|source| GitError::io("write", &path, source))?;
    Ok(repo.share_file(&path)?)
}
