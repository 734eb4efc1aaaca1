//! The tree of checkpoints and their parents.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::folder::Checkpoint;
use super::validate::cycles;

/// A checkpoint in the tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeNode<'c, 'f> {
    pub checkpoint: &'c Checkpoint<'f>,
    pub depth: usize,
    pub has_next_sibling: Vec<bool>,
    pub missing_parent: Option<String>,
    pub in_cycle: bool,
}

/// All checkpoints, each once, parents before children, siblings by creation time. Takes linear time after sorting.
pub(crate) fn build_tree<'c, 'f>(checkpoints: &'c [Checkpoint<'f>]) -> Vec<TreeNode<'c, 'f>> {
    let mut order: Vec<usize> = (0..checkpoints.len()).collect();
    order.sort_by_key(|at| {
        let one = &checkpoints[*at];
        (one.document.created().map(|moment| moment.time), one.id().to_owned(), one.file.path.clone())
    });
    // Children belong to the first of several checkpoints with the same id.
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
    let mut builder =
        TreeBuilder { checkpoints, children, in_cycle, known: by_id.keys().copied().collect(), nodes: Vec::new() };
    let mut seen = HashSet::new();
    // Checkpoints that no root reaches are in a cycle or below one.
    let in_cycles =
        order.iter().copied().filter(|at| builder.in_cycle.contains(checkpoints[*at].id())).collect::<Vec<_>>();
    let starts: Vec<_> = roots.iter().copied().chain(in_cycles).chain(order.iter().copied()).collect();
    for start in starts {
        builder.grow(start, &mut seen);
    }
    builder.nodes
}

struct TreeBuilder<'c, 'f> {
    checkpoints: &'c [Checkpoint<'f>],
    children: HashMap<usize, Vec<usize>>,
    in_cycle: HashSet<&'c str>,
    known: HashSet<&'c str>,
    nodes: Vec<TreeNode<'c, 'f>>,
}

impl TreeBuilder<'_, '_> {
    /// Adds a tree. An explicit stack is used because a chain of parents may exceed the call stack.
    fn grow(&mut self, root: usize, seen: &mut HashSet<usize>) {
        let mut open = vec![(root, Vec::new())];
        while let Some((at, has_next_sibling)) = open.pop() {
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
                let mut line: Vec<bool> = has_next_sibling.clone();
                line.push(number + 1 < below.len());
                open.push((*child, line));
            }
            self.nodes.push(TreeNode {
                checkpoint,
                depth: has_next_sibling.len(),
                has_next_sibling,
                missing_parent,
                in_cycle,
            });
        }
    }
}
