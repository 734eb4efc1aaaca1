//! Validation across checkpoints: duplicate ids, cycles of parents, several current checkpoints.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::finding::{Finding, Findings};
use crate::memory::checkpoint::document::Document;

/// Validates checkpoints against one another; returns the findings of each, in order. Linear in their number.
///
/// Archived checkpoints are included because their ids must not be reused.
pub(crate) fn validate_set(documents: &[(&str, &Document<'_>)]) -> Vec<Vec<Finding>> {
    let mut reports: Vec<_> = documents.iter().map(|(_, document)| Findings::new(document.text.as_bytes())).collect();
    let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (_, document)) in documents.iter().enumerate() {
        if let Some(id) = document.id() {
            by_id.entry(id).or_default().push(at);
        }
    }
    let span = |at: usize, key: &str| {
        let front = documents[at].1.frontmatter.as_ref().ok();
        front.and_then(|front| front.entry(key)).map_or(0..0, |entry| entry.span.clone())
    };
    for (id, places) in &by_id {
        for at in places.iter().filter(|_| places.len() > 1) {
            let others: Vec<_> = places.iter().filter(|other| *other != at).map(|other| documents[*other].0).collect();
            let message = format!("the id `{id}` is also used by {}", others.join(", "));
            reports[*at].warning("duplicate-id", span(*at, "checkpoint"), message, "change one of the ids");
        }
    }
    let current: Vec<_> = (0..documents.len()).filter(|at| documents[*at].1.is_current()).collect();
    for at in current.iter().filter(|_| current.len() > 1) {
        let others: Vec<_> = current.iter().filter(|other| *other != at).map(|other| documents[*other].0).collect();
        let message = format!("{} is also current", others.join(", "));
        reports[*at].warning(
            "two-current",
            span(*at, "status"),
            message,
            "choose one with `git trace checkpoint current <id>`",
        );
    }
    let parents = documents.iter().filter_map(|(_, document)| Some((document.id()?, document.parent()?))).collect();
    let in_cycle = cycles(&parents);
    for (at, (_, document)) in documents.iter().enumerate() {
        if let Some(id) = document.id().filter(|id| in_cycle.contains(id)) {
            let message = format!("`{id}` is its own ancestor");
            reports[at].warning("cycle", span(at, "parent"), message, "set the `parent` of one of them to null");
        }
    }
    reports.into_iter().map(Findings::finish).collect()
}

/// The ids that are their own ancestors.
pub(crate) fn cycles<'i>(parents: &BTreeMap<&'i str, &'i str>) -> HashSet<&'i str> {
    let mut in_cycle = HashSet::new();
    let mut settled = HashSet::new();
    for start in parents.keys() {
        let mut path = Vec::new();
        let mut places = HashMap::new();
        let mut at = *start;
        while !settled.contains(at) {
            if let Some(place) = places.get(at) {
                in_cycle.extend(path[*place..].iter().copied());
                break;
            }
            places.insert(at, path.len());
            path.push(at);
            match parents.get(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        settled.extend(path);
    }
    in_cycle
}

#[cfg(test)]
#[path = "../../../../tests/unit/checkpoint/consistency.rs"]
mod tests;
