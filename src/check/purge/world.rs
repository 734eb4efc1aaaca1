//! Our refs: everything that git-trace stores in commits. All other refs are the code's.

use std::collections::HashSet;

use crate::git::{GitError, Oid, Repo};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::model::level::Level;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::store::priority::{RECORD, tags};
use crate::trace::{ItemId, TraceError};

/// How the trees below a ref are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Layout {
    Items,
    Record,
    Archive,
}

pub(super) struct World {
    tag_prefix: String,
    /// Refs with our names that do not point to commits: a remote may have any. Their objects are
    /// left alone, and reported.
    strange: HashSet<String>,
}

impl World {
    pub(super) fn of(repo: &Repo) -> Result<Self, TraceError> {
        let mut world = Self { tag_prefix: tags::prefix(repo)?, strange: HashSet::new() };
        for (refname, oid, _) in world.refs(repo)? {
            if matches!(repo.read_raw_commit(oid), Err(GitError::WrongKind { .. })) {
                world.strange.insert(refname);
            }
        }
        Ok(world)
    }

    /// `None` for refs of the code.
    pub(super) fn layout(&self, refname: &str) -> Option<Layout> {
        let is_below = |prefixes: &[&str]| prefixes.iter().any(|prefix| refname.starts_with(prefix));
        // Private refs of a remote are kept beside its record.
        let fetched = refname.strip_prefix("refs/trace-remote-records/");
        let is_fetched = |folder: &str| fetched.is_some_and(|name| name.contains(folder));
        if self.strange.contains(refname) {
            None
        } else if is_fetched("/crumbs/") {
            Some(Layout::Items)
        } else if is_fetched("/crumb-archive/") {
            Some(Layout::Archive)
        } else if refname == RECORD || is_below(&["refs/trace-records/", "refs/trace-remote-records/"]) {
            Some(Layout::Record)
        } else if refname.starts_with(ARCHIVES) {
            Some(Layout::Archive)
        } else if is_below(&[TRACES, "refs/trace-", FORWARD_CRUMBS]) || self.is_priority_tag(refname) {
            Some(Layout::Items)
        } else {
            None
        }
    }

    /// The prefix alone does not tell: it may be `refs/tags/`, where the code has its tags.
    fn is_priority_tag(&self, refname: &str) -> bool {
        let name = refname.strip_prefix(&*self.tag_prefix).and_then(|name| name.split_once('/'));
        name.is_some_and(|(level, item)| level.parse::<Level>().is_ok() && item.parse::<ItemId>().is_ok())
    }

    /// Whether a ref or a worktree's `TRACE_HEAD` is ours.
    pub(super) fn is_ours(&self, refname: &str) -> bool {
        self.layout(refname).is_some() || refname.starts_with("TRACE_")
    }

    /// Our refs and their tips, without symbolic refs.
    pub(super) fn refs(&self, repo: &Repo) -> Result<Vec<(String, Oid, Layout)>, GitError> {
        let listed = repo.list_refs("refs/")?.into_iter();
        Ok(listed.filter_map(|(refname, oid)| self.layout(&refname).map(|layout| (refname, oid, layout))).collect())
    }
}
