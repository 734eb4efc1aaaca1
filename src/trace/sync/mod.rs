//! Sharing traces through remotes, by calling git.
//!
//! A push sends traces and, of the record of priorities, the lines of their items; nothing else leaves. What a fetch saw is
//! in `refs/trace-remotes/<remote>/<name>`, its record in `refs/trace-remote-records/<remote>/priority`.
//!
//! - A published prefix never moves: where both sides went on, the published items come first.
//! - Records of priorities merge by the union of their lines, so they never clash; the one that is pushed grows on the
//!   remote's own history and holds no line of an item that was not pushed.

mod pull;
mod push;

pub(crate) use pull::{arrivals, fetch, pull};
pub(crate) use push::{Delivery, Request, push};

use std::collections::BTreeSet;

use super::error::TraceError;
use super::model::name::{TRACES, TraceName};
use crate::git::Repo;

/// Where the shared record is on a remote. Not at [`super::store::priority::RECORD`], since a server takes no ref whose name has
/// only one part behind `refs/`.
const SHARED_RECORD: &str = "refs/trace-records/priority";

/// Where a remote's record was last seen.
fn record_ref(remote: &str) -> String {
    format!("refs/trace-remote-records/{remote}/priority")
}

/// Where a trace was last seen; `name` may be a glob.
fn tracking_ref(remote: &str, name: &str) -> String {
    format!("refs/trace-remotes/{remote}/{name}")
}

/// The refspec that fetches the record. The star lets a remote without one answer with nothing rather than with an error.
fn record_refspec(remote: &str) -> String {
    format!("+refs/trace-records/*:refs/trace-remote-records/{remote}/*")
}

/// Whether a name matches a glob in which `*` stands for any text, slashes too, as in a refspec.
fn matches(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        Some((head, tail)) => name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail),
        None => glob == name,
    }
}

/// Whether a name is the full one of a ref that is shared only when it is asked for by that: forward crumbs of an agent, or
/// what was compressed out of a crumb file.
#[must_use]
pub(crate) fn is_private(name: &str) -> bool {
    let folders = ["refs/crumbs/", "refs/crumb-archive/"];
    folders.iter().any(|folder| name.starts_with(folder)) && Repo::is_refname(name)
}

/// The local traces that names or globs mean.
///
/// # Errors
///
/// [`TraceError::NoSuchTrace`] for a name that is none, [`TraceError::NoMatch`] for a glob that matches none.
pub(crate) fn named(repo: &Repo, patterns: &[String]) -> Result<Vec<TraceName>, TraceError> {
    let all = repo.list_refs(TRACES)?;
    let mut names = BTreeSet::new();
    for pattern in patterns {
        let wanted = pattern.strip_prefix(TRACES).unwrap_or(pattern);
        let found: Vec<TraceName> = all
            .iter()
            .filter_map(|(refname, _)| TraceName::of_ref(refname))
            .filter(|name| matches(wanted, name.as_str()))
            .collect();
        if found.is_empty() {
            return Err(TraceError::NoMatch { pattern: pattern.clone() });
        }
        names.extend(found);
    }
    Ok(names.into_iter().collect())
}

/// Has plain `git fetch` bring a remote's traces along, or no longer.
///
/// # Errors
///
/// Those of changing the configuration.
pub(crate) fn follow(repo: &Repo, remote: &str, follows: bool) -> Result<(), TraceError> {
    let key = format!("remote.{remote}.fetch");
    for refspec in [format!("+{TRACES}*:{}", tracking_ref(remote, "*")), record_refspec(remote)] {
        if follows { repo.add_setting(&key, &refspec)? } else { repo.remove_setting(&key, &refspec)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        for (glob, name, fits) in [
            ("main", "main", true),
            ("main", "mainly", false),
            ("*", "claude-code/6b2e", true),
            ("claude-code/*", "claude-code/6b2e", true),
            ("claude-code/*", "codex/1", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
        ] {
            assert_eq!(matches(glob, name), fits, "{glob} {name}");
        }
    }
}
