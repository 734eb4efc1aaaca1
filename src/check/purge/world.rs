//! Our refs: everything that git-trace stores in commits. All other refs are the code's.

use crate::git::{GitError, Oid, Repo};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::TraceError;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::store::priority::{RECORD, tags};

/// How the trees below a ref are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Layout {
    Items,
    Record,
    Archive,
}

pub(super) struct World {
    tag_prefix: String,
}

impl World {
    pub(super) fn of(repo: &Repo) -> Result<Self, TraceError> {
        Ok(Self { tag_prefix: tags::prefix(repo)? })
    }

    /// `None` for refs of the code.
    pub(super) fn layout(&self, refname: &str) -> Option<Layout> {
        let is_below = |prefixes: &[&str]| prefixes.iter().any(|prefix| refname.starts_with(prefix));
        // Private refs of a remote are kept beside its record.
        let fetched = refname.strip_prefix("refs/trace-remote-records/");
        let is_fetched = |folder: &str| fetched.is_some_and(|name| name.contains(folder));
        if is_fetched("/crumbs/") {
            Some(Layout::Items)
        } else if is_fetched("/crumb-archive/") {
            Some(Layout::Archive)
        } else if refname == RECORD || is_below(&["refs/trace-records/", "refs/trace-remote-records/"]) {
            Some(Layout::Record)
        } else if refname.starts_with(ARCHIVES) {
            Some(Layout::Archive)
        } else if is_below(&[TRACES, "refs/trace-", FORWARD_CRUMBS, &self.tag_prefix]) {
            Some(Layout::Items)
        } else {
            None
        }
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
