//! Walking a trace's history, newest first, one commit at a time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::git::{Oid, Repo};
use crate::trace::model::tree::{self, Change};
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parents {
    /// The first parent of each commit: the trace's own line.
    First,
    All,
}

/// An iterator over the history of one or several tips, newest commit first, each commit once.
///
/// The parents of a commit are read when the commit is taken. Commits of the same second keep the order in which they were met.
pub(crate) struct Walk<'r> {
    repo: &'r Repo,
    parents: Parents,
    waiting: BTreeMap<(i64, Reverse<usize>), Tip>,
    seen: HashSet<Oid>,
    /// The only commits that are taken.
    only: Option<HashSet<Oid>>,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(repo: &'r Repo, tip: Tip, parents: Parents) -> Self {
        Self::of_all(repo, vec![tip], parents)
    }

    pub(crate) fn of_all(repo: &'r Repo, tips: Vec<Tip>, parents: Parents) -> Self {
        let (mut seen, mut waiting) = (HashSet::new(), BTreeMap::new());
        for tip in tips {
            if seen.insert(tip.commit.oid) {
                waiting.insert((tip.commit.commit_time, Reverse(seen.len())), tip);
            }
        }
        Self { repo, parents, waiting, seen, only: None }
    }

    /// The history of `tip` without that of `other`.
    pub(crate) fn beyond(repo: &'r Repo, tip: Tip, other: Oid) -> Result<Self, TraceError> {
        let only: HashSet<Oid> = repo.commits_beyond(tip.commit.oid, Some(other))?.into_iter().collect();
        let tips = if only.contains(&tip.commit.oid) { vec![tip] } else { Vec::new() };
        Ok(Self { only: Some(only), ..Self::of_all(repo, tips, Parents::All) })
    }

    fn enqueue_parents_of(&mut self, tip: &Tip) -> Result<(), TraceError> {
        let followed = if self.parents == Parents::First { 1 } else { usize::MAX };
        for parent in tip.commit.parents.iter().take(followed) {
            if self.only.as_ref().is_none_or(|only| only.contains(parent)) && self.seen.insert(*parent) {
                let parent = Tip::read(self.repo, *parent)?;
                self.waiting.insert((parent.commit.commit_time, Reverse(self.seen.len())), parent);
            }
        }
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Tip, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (_, tip) = self.waiting.pop_last()?;
        let enqueued = self.enqueue_parents_of(&tip);
        if enqueued.is_err() {
            self.waiting.clear();
        }
        Some(enqueued.map(|()| tip))
    }
}

/// The changes of a commit compared with its first parent, by item.
pub(crate) fn changes_of(repo: &Repo, tip: &Tip) -> Result<Vec<Change>, TraceError> {
    let before = tip.commit.parents.first().map(|parent| repo.read_commit(*parent)).transpose()?;
    Ok(tree::changes(repo, before.map(|commit| commit.tree), tip.commit.tree)?)
}

/// The files of items that a commit has and none of its parents, each with the files of its item in the parents. A merge takes most of
/// its changes from a parent.
pub(crate) fn new_files_of(repo: &Repo, tip: &Tip) -> Result<HashMap<Oid, Vec<Oid>>, TraceError> {
    let mut files: Option<HashMap<Oid, Vec<Oid>>> = None;
    let parents = tip.commit.parents.iter().map(|parent| repo.read_commit(*parent).map(|commit| Some(commit.tree)));
    for parent in parents.chain(tip.commit.parents.is_empty().then_some(Ok(None))) {
        let changes = tree::changes(repo, parent?, tip.commit.tree)?;
        let is_new = |(before, after): (Option<&ItemEntry>, Option<&ItemEntry>)| {
            let (before, after) = (before.map(|before| before.blob), after?.blob);
            (before != Some(after)).then(|| (after, Vec::from_iter(before)))
        };
        let mut new: HashMap<Oid, Vec<Oid>> = changes.iter().map(Change::sides).filter_map(is_new).collect();
        if let Some(files) = files {
            new.retain(|blob, before| files.get(blob).map(|others| before.extend(others)).is_some());
        }
        files = Some(new);
    }
    Ok(files.unwrap_or_default())
}

/// The items that a commit touched: the one that its trailers name, else those that differ from its first parent.
pub(crate) fn touched_by(repo: &Repo, tip: &Tip) -> Result<Vec<ItemId>, TraceError> {
    match tip.item() {
        Some(item) => Ok(vec![item]),
        None => Ok(changes_of(repo, tip)?.iter().map(|change| change.entry().id).collect()),
    }
}

/// The item whose content a commit gives, if it names one.
fn content_of(tip: &Tip) -> Option<ItemId> {
    let op = tip.trailers.op;
    let gives_content = matches!(op, Some(Op::Append | Op::Edit | Op::Import | Op::Compress | Op::Pick));
    tip.item().filter(|_| gives_content)
}

/// The items with these files in both states whose subjects differ: a commit that came between them may name a file that was there. The
/// complete history is walked only if one does.
pub(crate) fn renamed(
    repo: &Repo,
    [before, after]: [&Tip; 2],
    files: &HashMap<ItemId, Oid>,
) -> Result<HashSet<ItemId>, TraceError> {
    let mut named = HashMap::new();
    for commit in repo.commits_beyond(after.commit.oid, Some(before.commit.oid))? {
        let tip = Tip::read(repo, commit)?;
        if let Some(item) = content_of(&tip)
            && let Some(file) = files.get(&item)
            && new_files_of(repo, &tip)?.contains_key(file)
        {
            named.insert(item, *file);
        }
    }
    if named.is_empty() {
        return Ok(HashSet::new());
    }
    let [before, after] = [subjects(repo, before, &named)?, subjects(repo, after, &named)?];
    Ok(named.into_keys().filter(|item| before.get(item) != after.get(item)).collect())
}

/// The items that commits between two states delete or restore, whether these differ in them or not, each with whether one does not only take it
/// out. An import decides by such acts; see `History` of the imports.
pub(crate) fn touched_between(repo: &Repo, [before, after]: [&Tip; 2]) -> Result<HashMap<ItemId, bool>, TraceError> {
    let mut touched: HashMap<ItemId, bool> = HashMap::new();
    for commit in repo.commits_beyond(after.commit.oid, Some(before.commit.oid))? {
        let tip = Tip::read(repo, commit)?.into_ours();
        if !matches!(tip.trailers.op, Some(Op::Delete | Op::Restore | Op::Clean)) {
            continue;
        }
        let changes = changes_of(repo, &tip)?;
        let is_moved = |change: &&Change| match change {
            Change::Changed(old, new) => (old.blob, &old.item_type) == (new.blob, &new.item_type),
            Change::Added(_) | Change::Removed(_) => false,
        };
        let changed = changes.iter().filter(|change| !is_moved(change));
        let changed = changed.map(|change| (change.entry().id, !matches!(change, Change::Removed(_))));
        let gives = tip.trailers.op != Some(Op::Delete);
        let named = tip.trailers.item.into_iter().chain(tip.trailers.more_items).map(|item| (item, gives));
        for (item, gives) in changed.chain(named) {
            *touched.entry(item).or_default() |= gives;
        }
    }
    Ok(touched)
}

/// The subjects of items with their present files: those of the first commits that name them and wrote these files. A later commit may
/// have restored a file, with any subject. The first one is that with the shortest history, then with the least oid, so that neither dates
/// nor merges change it. Walks the complete history.
pub(crate) fn subjects(
    repo: &Repo,
    tip: &Tip,
    wanted: &HashMap<ItemId, Oid>,
) -> Result<HashMap<ItemId, String>, TraceError> {
    let mut found: HashMap<ItemId, Vec<(Oid, String)>> = HashMap::with_capacity(wanted.len());
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if let Some(item) = content_of(&earlier)
            && let Some(file) = wanted.get(&item)
            && new_files_of(repo, &earlier)?.contains_key(file)
        {
            found.entry(item).or_default().push((earlier.commit.oid, earlier.commit.subject().to_owned()));
        }
    }
    let is_ambiguous = found.values().any(|named| named.len() > 1);
    let depths = if is_ambiguous { depths(repo, tip.commit.oid)? } else { HashMap::new() };
    let first = |named: Vec<(Oid, String)>| named.into_iter().min_by_key(|(oid, _)| (depths.get(oid).copied(), *oid));
    Ok(found.into_iter().filter_map(|(item, named)| Some((item, first(named)?.1))).collect())
}

/// The commits of a history, each with the number of those on the longest way to one without parents.
fn depths(repo: &Repo, tip: Oid) -> Result<HashMap<Oid, usize>, TraceError> {
    let mut depths: HashMap<Oid, usize> = HashMap::new();
    for oid in repo.commits_beyond(tip, None)? {
        let commit = repo.read_commit(oid)?;
        let below = commit.parents.iter().filter_map(|parent| depths.get(parent)).max();
        depths.insert(oid, below.map_or(0, |depth| depth + 1));
    }
    Ok(depths)
}
