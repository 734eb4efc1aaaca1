//! Commits and tags that nothing leads to, such as a dropped stash or a replaced remote-tracking commit.

use std::collections::{HashMap, HashSet};
use std::iter::successors;

use crate::git::{Mode, Oid, Repo, TreeStore as _};

/// Finds those that lack an object after a purge: git reads unreachable commits too, and fails.
pub(super) struct Dangling<'r> {
    repo: &'r Repo,
    /// Objects that are removed.
    gone: &'r HashSet<Oid>,
    /// Whether a commit leads to one of these.
    commits: HashMap<Oid, bool>,
    trees: HashMap<Oid, bool>,
}

impl<'r> Dangling<'r> {
    /// Divides `commits`, which only commits among them lead to, into those that lead to an object that is `gone`, and the others.
    pub(super) fn divide(repo: &'r Repo, commits: &[Oid], gone: &'r HashSet<Oid>) -> (Vec<Oid>, Vec<Oid>) {
        let mut dangling = Self { repo, gone, commits: HashMap::new(), trees: HashMap::new() };
        let all: HashSet<Oid> = commits.iter().copied().collect();
        let mut waiting = commits.to_vec();
        while let Some(oid) = waiting.last().copied() {
            if dangling.commits.contains_key(&oid) {
                waiting.pop();
                continue;
            }
            // Git has removed a part of it.
            let Ok(commit) = repo.read_raw_commit(oid) else {
                dangling.commits.insert(oid, gone.contains(&oid));
                continue;
            };
            let is_unknown = |parent: &&Oid| all.contains(parent) && !dangling.commits.contains_key(parent);
            let first: Vec<Oid> = commit.parents.iter().filter(is_unknown).copied().collect();
            if !first.is_empty() {
                waiting.extend(first);
                continue;
            }
            let leads = |parent: &Oid| gone.contains(parent) || dangling.commits.get(parent) == Some(&true);
            let leads = gone.contains(&oid) || commit.parents.iter().any(leads) || dangling.tree(commit.tree);
            dangling.commits.insert(oid, leads);
        }
        commits.iter().partition(|oid| dangling.commits[oid])
    }

    /// The annotated tags, each given with its target, that lead to an object that is `gone`, also through other tags.
    pub(super) fn tags(tags: &HashMap<Oid, Oid>, gone: &HashSet<Oid>) -> HashSet<Oid> {
        let leads = |tag: &&Oid| successors(Some(*tag), |oid| tags.get(oid)).any(|oid| gone.contains(oid));
        tags.keys().filter(leads).copied().collect()
    }

    fn tree(&mut self, oid: Oid) -> bool {
        if self.gone.contains(&oid) {
            return true;
        }
        if let Some(known) = self.trees.get(&oid) {
            return *known;
        }
        let entries = self.repo.read_tree(oid).unwrap_or_default();
        let leads = entries.into_iter().any(|entry| match entry.mode() {
            Mode::Folder => self.tree(entry.oid),
            Mode::File | Mode::Other => self.gone.contains(&entry.oid),
        });
        self.trees.insert(oid, leads);
        leads
    }
}
