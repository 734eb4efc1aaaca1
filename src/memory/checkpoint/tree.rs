//! The tree of checkpoints and their parents.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::folder::Checkpoint;
use super::validate::cycles;

#[derive(Clone, Debug)]
pub(crate) struct TreeNode<'c, 'f> {
    pub checkpoint: &'c Checkpoint<'f>,
    pub has_next_sibling: Vec<bool>,
    pub missing_parent: Option<String>,
    pub in_cycle: bool,
}

/// All checkpoints, each once, parents before children, siblings by creation time. Takes linear time after sorting.
pub(crate) fn build_tree<'c, 'f>(checkpoints: &'c [Checkpoint<'f>]) -> Vec<TreeNode<'c, 'f>> {
    let mut order: Vec<usize> = (0..checkpoints.len()).collect();
    order.sort_by_key(|at| {
        let one = &checkpoints[*at];
        (one.document.created().map(|timestamp| timestamp.time), one.id().to_owned(), one.file.path.clone())
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
    // Checkpoints that no root reaches are in a cycle or below one.
    let cyclic = order.iter().filter(|at| in_cycle.contains(checkpoints[**at].id()));
    let mut seen = HashSet::new();
    let mut nodes = Vec::new();
    for root in roots.iter().chain(cyclic).chain(&order) {
        // An explicit stack is used because a chain of parents may exceed the call stack.
        let mut open = vec![(*root, Vec::new())];
        while let Some((at, has_next_sibling)) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let checkpoint = &checkpoints[at];
            let children = children.get(&at).into_iter().flatten().copied().filter(|child| !seen.contains(child));
            for (number, child) in children.collect::<Vec<_>>().into_iter().rev().enumerate() {
                open.push((child, [&has_next_sibling[..], &[number > 0]].concat()));
            }
            let missing_parent = checkpoint.document.parent().filter(|id| !by_id.contains_key(id));
            nodes.push(TreeNode {
                checkpoint,
                has_next_sibling,
                missing_parent: missing_parent.map(str::to_owned),
                in_cycle: in_cycle.contains(checkpoint.id()),
            });
        }
    }
    nodes
}
