//! Our refs: everything that git-trace stores in commits. All other refs are the code's.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::git::{GitError, Oid, Ours, Repo};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::TraceError;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::store::priority::{self, tags};
use crate::trace::store::tombstone;
use crate::trace::sync::{ARCHIVED, PREFETCHED, is_of_code};

pub(super) struct World {
    tag_prefix: String,
    /// Refs with our names that do not point to commits: a remote may have any. Their objects are
    /// left alone, and reported.
    strange: HashSet<String>,
}

impl World {
    pub(super) fn of(repo: &Repo) -> Result<Self, TraceError> {
        let mut world = Self { tag_prefix: tags::prefix(repo)?, strange: HashSet::new() };
        for (refname, oid) in world.refs(repo)? {
            if matches!(repo.read_raw_commit(oid), Err(GitError::WrongKind { .. })) {
                world.strange.insert(refname);
            }
        }
        Ok(world)
    }

    /// Whether a ref or a worktree's `TRACE_HEAD` is ours.
    pub(super) fn is_ours(&self, refname: &str) -> bool {
        let moved = unprefetched(refname);
        let ours = [TRACES, "refs/trace-", FORWARD_CRUMBS, ARCHIVES, "TRACE_"];
        !self.strange.contains(refname)
            && (ours.iter().any(|prefix| moved.starts_with(prefix)) || tags::parse(&self.tag_prefix, &moved).is_some())
    }

    /// The same for commits, too.
    pub(super) fn ours<'w>(&'w self, repo: &'w Repo) -> impl Ours + 'w {
        OursIn { repo, world: self }
    }

    /// Our refs and their tips, without symbolic refs.
    pub(super) fn refs(&self, repo: &Repo) -> Result<Vec<(String, Oid)>, GitError> {
        Ok(repo.list_refs("refs/")?.into_iter().filter(|(refname, _)| self.is_ours(refname)).collect())
    }
}

/// Whether a ref is what a remote had: it may lead to anything, and need not be complete.
pub(super) fn is_fetched(refname: &str) -> bool {
    refname.starts_with(PREFETCHED) || refname.starts_with("refs/trace-remote")
}

/// The name of the ref that a fetch would have moved.
fn unprefetched(refname: &str) -> Cow<'_, str> {
    refname.strip_prefix(PREFETCHED).map_or(refname.into(), |rest| format!("refs/{rest}").into())
}

struct OursIn<'w> {
    repo: &'w Repo,
    world: &'w World,
}

impl Ours for OursIn<'_> {
    fn has_ref(&self, refname: &str) -> bool {
        self.world.is_ours(refname)
    }

    fn has_commit(&self, oid: Oid) -> bool {
        let formats = [priority::HISTORY.format, tombstone::HISTORY.format, ARCHIVED];
        !is_of_code(self.repo, oid) || formats.iter().any(|format| format.is_of(self.repo, oid))
    }
}
