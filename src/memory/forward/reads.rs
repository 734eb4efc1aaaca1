//! When forward crumbs were first read, in this clone: lines `<id> <time>` in `<git dir>/trace/forward-reads/<agent>`.
//!
//! Lines are only added, and only if `trace.forwardStats` is set: otherwise, reading writes nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::crumb::ForwardCrumb;
use crate::base::folders::create_folders;
use crate::git::Repo;
use crate::trace::{AgentName, ItemId, Time, TraceName};

/// The setting.
pub(crate) const SETTING: &str = "trace.forwardStats";

fn path(repo: &Repo, agent: &AgentName) -> PathBuf {
    let name = TraceName::of_agent(agent);
    repo.common_dir().join("trace").join("forward-reads").join(name.as_str())
}

/// Notes that forward crumbs were read now, unless they were read before.
pub(crate) fn mark(repo: &Repo, agent: &AgentName, crumbs: &[ForwardCrumb], now: Time) -> io::Result<()> {
    let known = first(repo, agent);
    let mut lines = String::new();
    for crumb in crumbs.iter().filter(|crumb| !known.contains_key(&crumb.id)) {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{} {now}", crumb.id);
    }
    if lines.is_empty() {
        return Ok(());
    }
    let path = path(repo, agent);
    path.parent().map_or(Ok(()), create_folders)?;
    OpenOptions::new().append(true).create(true).open(&path)?.write_all(lines.as_bytes())?;
    // Other users can read it at least.
    let _ = repo.share_file(&path);
    Ok(())
}

/// The times of first reading; unreadable lines count as none.
pub(crate) fn first(repo: &Repo, agent: &AgentName) -> HashMap<ItemId, Time> {
    let text = fs::read_to_string(path(repo, agent)).unwrap_or_default();
    let mut times = HashMap::new();
    for (id, at) in text.lines().filter_map(|line| line.split_once(' ')) {
        if let (Ok(id), Ok(at)) = (id.parse(), at.parse()) {
            times.entry(id).or_insert(at);
        }
    }
    times
}
