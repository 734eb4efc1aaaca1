//! Walking a trace's history, newest first, one commit at a time.

use std::collections::{BinaryHeap, HashSet};

use super::tip::Tip;
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::tree::{self, Change};

/// Which parents a walk follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parents {
    /// The first of each commit: the line the trace itself took.
    First,
    /// All of them: everything that ever flowed in.
    All,
}

/// An iterator over the commits that a tip holds, newest first, each once.
///
/// Streams: a commit's parents are read when the commit has been taken.
pub(crate) struct Walk<'r> {
    repo: &'r Repo,
    parents: Parents,
    waiting: BinaryHeap<Waiting>,
    seen: HashSet<Oid>,
}

/// A commit that is to come, ordered by when it was committed and then by when it was met.
struct Waiting {
    tip: Tip,
    met: usize,
}

impl Waiting {
    fn rank(&self) -> (i64, std::cmp::Reverse<usize>) {
        (self.tip.commit.commit_time, std::cmp::Reverse(self.met))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<'r> Walk<'r> {
    /// Starts at `tip`, which comes first.
    #[must_use]
    pub(crate) fn new(repo: &'r Repo, tip: Tip, parents: Parents) -> Self {
        let seen = HashSet::from([tip.commit.oid]);
        Self { repo, parents, waiting: BinaryHeap::from([Waiting { tip, met: 0 }]), seen }
    }

    fn enqueue_parents_of(&mut self, tip: &Tip) -> Result<(), TraceError> {
        let followed = match self.parents {
            Parents::First => &tip.commit.parents[..tip.commit.parents.len().min(1)],
            Parents::All => &tip.commit.parents[..],
        };
        for parent in followed {
            if self.seen.insert(*parent) {
                self.waiting.push(Waiting { tip: Tip::read(self.repo, *parent)?, met: self.seen.len() });
            }
        }
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Tip, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Waiting { tip, .. } = self.waiting.pop()?;
        match self.enqueue_parents_of(&tip) {
            Ok(()) => Some(Ok(tip)),
            Err(error) => {
                self.waiting.clear();
                Some(Err(error))
            }
        }
    }
}

/// What a commit changed against its first parent, by item.
pub(crate) fn changes_of(repo: &Repo, tip: &Tip) -> Result<Vec<Change>, TraceError> {
    let before = match tip.commit.parents.first() {
        Some(parent) => Some(repo.read_commit(*parent)?.tree),
        None => None,
    };
    Ok(tree::changes(repo, before, tip.commit.tree)?)
}
