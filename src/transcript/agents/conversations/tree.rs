//! The tree of a conversation's messages. An edited prompt, or an answer that was generated anew, starts a branch.

use std::collections::{HashMap, HashSet};

/// The numbers of the nodes in the order in which they are read. If there are branches, each with whether it is on the current one:
/// the path from a root to `leaf`, or to the last node. Where branches part, the current one comes last.
///
/// `nodes` are ids, each with that of its parent. Nodes in a cycle are read, too; of several with one id, the first is the parent.
pub(super) fn branches(nodes: &[(&str, Option<&str>)], leaf: Option<&str>) -> Vec<(usize, Option<bool>)> {
    let mut numbers = HashMap::new();
    for (number, (id, _)) in nodes.iter().enumerate() {
        numbers.entry(*id).or_insert(number);
    }
    let parent_of = |number: usize| nodes[number].1.and_then(|parent| numbers.get(parent)).copied();
    let mut path = HashSet::new();
    let mut at = leaf.and_then(|leaf| numbers.get(leaf)).copied().or(nodes.len().checked_sub(1));
    while let Some(number) = at.filter(|number| path.insert(*number)) {
        at = parent_of(number);
    }
    let mut children = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for number in 0..nodes.len() {
        parent_of(number).map_or(&mut roots, |parent| &mut children[parent]).push(number);
    }
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    roots.sort_by_key(|number| path.contains(number));
    // Last are those that no root leads to.
    for start in roots.into_iter().chain(0..nodes.len()) {
        let mut open = vec![start];
        while let Some(number) = open.pop() {
            if seen.insert(number) {
                order.push((number, path.contains(&number)));
                children[number].sort_by_key(|child| path.contains(child));
                open.extend(children[number].iter().rev());
            }
        }
    }
    let has_branches = order.iter().any(|(_, is_current)| !is_current);
    order.into_iter().map(|(number, is_current)| (number, has_branches.then_some(is_current))).collect()
}
