//! Validation across checkpoints: duplicate ids, cycles of parents, several current checkpoints.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::finding::{Finding, Findings};
use crate::memory::checkpoint::document::Document;

/// How many others a finding names.
const MAX_OTHERS: usize = 3;

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
    let span = |at: usize, key: &str| documents[at].1.key_span(key).unwrap_or_default();
    let others = |group: &[usize], at: usize| {
        let others = group.iter().filter(|other| **other != at).take(MAX_OTHERS);
        let mut others: Vec<_> = others.map(|other| documents[*other].0.to_owned()).collect();
        let more = group.len().saturating_sub(1 + others.len());
        others.extend((more > 0).then(|| format!("and {more} more")));
        (!others.is_empty()).then(|| others.join(", "))
    };
    let current: Vec<_> = (0..documents.len()).filter(|at| documents[*at].1.is_current()).collect();
    for (at, report) in reports.iter_mut().enumerate() {
        if let Some(id) = documents[at].1.id()
            && let Some(others) = others(&by_id[id], at)
        {
            let message = format!("the id `{id}` is also used by {others}");
            report.warning("duplicate-id", span(at, "checkpoint"), message, "change one of the ids");
        }
        if documents[at].1.is_current()
            && let Some(others) = others(&current, at)
        {
            let remedy = "choose one with `git trace checkpoint current <id>`";
            report.warning("two-current", span(at, "status"), format!("{others} is also current"), remedy);
        }
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
    let mut visited = HashSet::new();
    for start in parents.keys() {
        let mut path = Vec::new();
        let mut places = HashMap::new();
        let mut at = *start;
        while !visited.contains(at) {
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
        visited.extend(path);
    }
    in_cycle
}
