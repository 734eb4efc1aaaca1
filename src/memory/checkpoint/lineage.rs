//! Checkpoints under those they branched from.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::folder::Checkpoint;
use super::set::cycles;

/// A checkpoint at its place among its kin.
#[derive(Clone, Debug)]
pub(crate) struct Node<'c, 'f> {
    /// The checkpoint.
    pub checkpoint: &'c Checkpoint<'f>,
    /// How many stand above it.
    pub depth: usize,
    /// Of it and each one above it, the root first: whether a sibling follows.
    pub followed: Vec<bool>,
    /// The parent that is named and not there.
    pub missing_parent: Option<String>,
    /// Whether it is its own ancestor; its cycle is cut where the tree comes to it first.
    pub in_cycle: bool,
}

/// The checkpoints as a forest, parents before children, siblings by creation. Each comes once; linear in their number but
/// for the sorting.
#[must_use]
pub(crate) fn forest<'c, 'f>(checkpoints: &'c [Checkpoint<'f>]) -> Vec<Node<'c, 'f>> {
    let mut order: Vec<usize> = (0..checkpoints.len()).collect();
    order.sort_by_key(|at| {
        let one = &checkpoints[*at];
        (one.document.created().map(|moment| moment.time), one.id().to_owned(), one.file.path.clone())
    });
    // Of several with one id the first is the one that is branched from.
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for at in &order {
        by_id.entry(checkpoints[*at].id()).or_insert(*at);
    }
    let parents: BTreeMap<&str, &str> =
        by_id.iter().filter_map(|(id, at)| Some((*id, checkpoints[*at].document.parent()?))).collect();
    let in_cycle = cycles(&parents);
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut roots = Vec::new();
    for at in &order {
        let parent = checkpoints[*at].document.parent().and_then(|id| by_id.get(id)).filter(|parent| *parent != at);
        match parent {
            Some(parent) => children.entry(*parent).or_default().push(*at),
            None => roots.push(*at),
        }
    }
    let mut forest =
        Forest { checkpoints, children, in_cycle, known: by_id.keys().copied().collect(), nodes: Vec::new() };
    let mut seen = HashSet::new();
    // What no root leads to is in a cycle, or below one.
    let in_cycles =
        order.iter().copied().filter(|at| forest.in_cycle.contains(checkpoints[*at].id())).collect::<Vec<_>>();
    let starts: Vec<_> = roots.iter().copied().chain(in_cycles).chain(order.iter().copied()).collect();
    for start in starts {
        forest.grow(start, &mut seen);
    }
    forest.nodes
}

struct Forest<'c, 'f> {
    checkpoints: &'c [Checkpoint<'f>],
    children: HashMap<usize, Vec<usize>>,
    in_cycle: HashSet<&'c str>,
    known: HashSet<&'c str>,
    nodes: Vec<Node<'c, 'f>>,
}

impl Forest<'_, '_> {
    /// Adds a tree. It is walked with a list of our own: a line of parents may be longer than the stack.
    fn grow(&mut self, root: usize, seen: &mut HashSet<usize>) {
        let mut open = vec![(root, Vec::new())];
        while let Some((at, followed)) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let checkpoint = &self.checkpoints[at];
            let parent = checkpoint.document.parent();
            let missing_parent = parent.filter(|id| !self.known.contains(id)).map(str::to_owned);
            let in_cycle = self.in_cycle.contains(checkpoint.id());
            let below: Vec<_> =
                self.children.get(&at).into_iter().flatten().copied().filter(|at| !seen.contains(at)).collect();
            for (number, child) in below.iter().enumerate().rev() {
                let mut line: Vec<bool> = followed.clone();
                line.push(number + 1 < below.len());
                open.push((*child, line));
            }
            self.nodes.push(Node { checkpoint, depth: followed.len(), followed, missing_parent, in_cycle });
        }
    }
}
