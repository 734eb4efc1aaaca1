//! Merge bases and ancestry.
//!
//! libgit2's own walks are not used: they never return from a truncated loose object. As in git, both histories are painted
//! from their tips down, newest first, until only common commits are left. Dates affect the speed, not the answers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;

/// Reached from the first commit.
const ONE: u8 = 1;
const TWO: u8 = 2;
const BOTH: u8 = ONE | TWO;
/// Reached from a common commit.
const BELOW: u8 = 4;

impl Repo {
    /// The best common ancestors of two commits, newest first: several after criss-cross merges, none for unrelated histories.
    /// Walks back from both commits to their merge bases.
    pub(crate) fn merge_bases(&self, one: Oid, two: Oid) -> Result<Vec<Oid>, GitError> {
        if one == two {
            return Ok(vec![one]);
        }
        let mut paint = Paint::new(self, one, Some(two))?;
        paint.meet()?;
        paint.bases()
    }

    /// Whether `older` is `newer` or in its history.
    pub(crate) fn is_ancestor(&self, older: Oid, newer: Oid) -> Result<bool, GitError> {
        let mut paint = Paint::new(self, older, Some(newer))?;
        // If it is, it is the only merge base, and every path to a merge base is painted.
        paint.meet()?;
        Ok(paint.met[&older].paint & BOTH == BOTH)
    }

    /// The commits of `tip` that are not in `other`, parents before children, as `git rev-list --topo-order --reverse` lists them.
    /// Walks both back to their merge bases, or to the root if `tip` has merged a branch that forked earlier.
    pub(crate) fn commits_beyond(&self, tip: Oid, other: Option<Oid>) -> Result<Vec<Oid>, GitError> {
        let mut paint = Paint::new(self, tip, other)?;
        paint.meet()?;
        let beyond = paint.only_one(tip);
        if paint.waiting.is_empty() {
            return Ok(beyond);
        }
        // A commit with a merge base in its history is not an ancestor of one. For others, only a complete walk can tell.
        let mut above: HashSet<Oid> = paint.bases()?.into_iter().collect();
        let mut all_above = true;
        for oid in &beyond {
            if paint.met[oid].parents.iter().any(|parent| above.contains(parent)) {
                above.insert(*oid);
            } else {
                all_above = false;
            }
        }
        if all_above {
            return Ok(beyond);
        }
        while paint.step()? {}
        Ok(paint.only_one(tip))
    }
}

struct Met {
    parents: Vec<Oid>,
    time: i64,
    paint: u8,
    is_waiting: bool,
}

struct Paint<'r> {
    repo: &'r Repo,
    met: HashMap<Oid, Met>,
    /// Commits whose parents are not painted yet, newest first. Within one second, commits below a common one come first, to
    /// catch up with what was painted too far.
    waiting: BinaryHeap<(i64, bool, Oid)>,
    /// Number of waiting commits that are not below a common one.
    undecided: usize,
}

impl<'r> Paint<'r> {
    fn new(repo: &'r Repo, one: Oid, two: Option<Oid>) -> Result<Self, GitError> {
        let mut paint = Self { repo, met: HashMap::new(), waiting: BinaryHeap::new(), undecided: 0 };
        paint.brush(one, ONE)?;
        two.map_or(Ok(()), |two| paint.brush(two, TWO))?;
        Ok(paint)
    }

    fn brush(&mut self, oid: Oid, paint: u8) -> Result<(), GitError> {
        if !self.met.contains_key(&oid) {
            let commit = self.repo.read_commit(oid)?;
            let met = Met { parents: commit.parents, time: commit.commit_time, paint: 0, is_waiting: false };
            self.met.insert(oid, met);
        }
        let Some(met) = self.met.get_mut(&oid).filter(|met| met.paint & paint != paint) else { return Ok(()) };
        let was_undecided = met.is_waiting && met.paint & BELOW == 0;
        met.paint |= paint;
        let is_undecided = met.paint & BELOW == 0;
        self.undecided = self.undecided + usize::from(is_undecided) - usize::from(was_undecided);
        if !met.is_waiting {
            met.is_waiting = true;
            self.waiting.push((met.time, !is_undecided, oid));
        }
        Ok(())
    }

    /// Passes the paint of the newest waiting commit on to its parents; `false` if none is waiting.
    fn step(&mut self) -> Result<bool, GitError> {
        let Some((.., oid)) = self.waiting.pop() else { return Ok(false) };
        let Some(met) = self.met.get_mut(&oid) else { return Ok(true) };
        met.is_waiting = false;
        let mut paint = met.paint;
        self.undecided -= usize::from(paint & BELOW == 0);
        if paint & BOTH == BOTH {
            paint |= BELOW;
        }
        for parent in met.parents.clone() {
            self.brush(parent, paint)?;
        }
        Ok(true)
    }

    /// Paints until only common commits are waiting. Then each merge base has both colors, and each path from it to a tip has
    /// the color of that tip.
    fn meet(&mut self) -> Result<(), GitError> {
        while self.undecided > 0 {
            self.step()?;
        }
        Ok(())
    }

    fn bases(&self) -> Result<Vec<Oid>, GitError> {
        let common = self.met.iter().filter(|(_, met)| met.paint & (BOTH | BELOW) == BOTH);
        let found: Vec<Oid> = common.map(|(oid, _)| *oid).collect();
        let mut bases = Vec::with_capacity(found.len());
        for &base in &found {
            // If dates do not increase from parent to child, paint may not have reached an ancestor of another one yet.
            let mut is_best = true;
            for &other in found.iter().filter(|&&other| other != base) {
                is_best = is_best && !self.repo.is_ancestor(base, other)?;
            }
            if is_best {
                bases.push(base);
            }
        }
        bases.sort_by_key(|oid| (Reverse(self.met[oid].time), *oid));
        Ok(bases)
    }

    /// The commits of `tip` with the first color only, in the order of [`Repo::commits_beyond`].
    fn only_one(&self, tip: Oid) -> Vec<Oid> {
        let is_one = |oid: &Oid| self.met.get(oid).is_some_and(|met| met.paint & BOTH == ONE);
        let mut children: HashMap<Oid, usize> = HashMap::new();
        for (_, met) in self.met.iter().filter(|(oid, _)| is_one(oid)) {
            for parent in met.parents.iter().filter(|parent| is_one(parent)) {
                *children.entry(*parent).or_default() += 1;
            }
        }
        let mut listed = Vec::new();
        let mut ready: Vec<Oid> = is_one(&tip).then_some(tip).into_iter().collect();
        while let Some(oid) = ready.pop() {
            listed.push(oid);
            for parent in &self.met[&oid].parents {
                if let Some(left) = children.get_mut(parent) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push(*parent);
                    }
                }
            }
        }
        listed.reverse();
        listed
    }
}
