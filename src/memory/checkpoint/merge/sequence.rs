//! Merging lists of units: what came, what went, in which order.

use std::collections::{HashMap, HashSet};

use super::units::Unit;

/// A place in a merged list.
pub(crate) enum Slot<'u, 'a> {
    /// Taken as it stands.
    Take(&'u Unit<'a>),
    /// Changed by both sides, or brought by both.
    Both { base: Option<&'u Unit<'a>>, ours: &'u Unit<'a>, theirs: &'u Unit<'a> },
    /// Deleted by one side and changed by the other: kept.
    Kept(&'u Unit<'a>),
}

/// Merges three lists, unit by unit.
///
/// What one side deleted is gone if the other left it alone, and kept if the other changed it. The order is that of the side
/// that changed it, ours where both did; what came stands behind what it stood behind on its side, and of what both brought
/// to one place the lesser text goes first, so that the result is the same from either side.
pub(crate) fn merge<'u, 'a>(base: &'u [Unit<'a>], ours: &'u [Unit<'a>], theirs: &'u [Unit<'a>]) -> Vec<Slot<'u, 'a>> {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(by_key);
    let mut slots = Vec::new();
    for key in order(base, ours, theirs) {
        let (base, ours, theirs) = (in_base.get(key).copied(), in_ours.get(key).copied(), in_theirs.get(key).copied());
        let means_base = |one: &Unit<'_>| base.is_some_and(|base| base.text.trim_end() == one.text.trim_end());
        let reads_base = |one: &Unit<'_>| base.is_some_and(|base| base.text == one.text);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours.text.trim_end() == theirs.text.trim_end() => {
                // Blank lines at the end are of what stands behind; the side that changed them has its way.
                let takes_ours = match (reads_base(ours), reads_base(theirs)) {
                    (false, true) => true,
                    (true, false) => false,
                    _ => ours.text <= theirs.text,
                };
                slots.push(Slot::Take(if takes_ours { ours } else { theirs }));
            }
            (Some(ours), Some(theirs)) if means_base(theirs) => slots.push(Slot::Take(ours)),
            (Some(ours), Some(theirs)) if means_base(ours) => slots.push(Slot::Take(theirs)),
            (Some(ours), Some(theirs)) => slots.push(Slot::Both { base, ours, theirs }),
            (Some(one), None) | (None, Some(one)) if base.is_none() => slots.push(Slot::Take(one)),
            (Some(one), None) | (None, Some(one)) if !means_base(one) => slots.push(Slot::Kept(one)),
            _ => {}
        }
    }
    slots
}

fn by_key<'u, 'a>(units: &'u [Unit<'a>]) -> HashMap<&'u str, &'u Unit<'a>> {
    units.iter().map(|unit| (unit.key.as_str(), unit)).collect()
}

/// The keys of all three lists, in the order of the merged one.
fn order<'u>(base: &'u [Unit<'_>], ours: &'u [Unit<'_>], theirs: &'u [Unit<'_>]) -> Vec<&'u str> {
    let keys = |units: &'u [Unit<'_>]| -> Vec<&'u str> { units.iter().map(|unit| unit.key.as_str()).collect() };
    let (base_keys, our_keys, their_keys) = (keys(base), keys(ours), keys(theirs));
    let common = |one: &[&'u str], other: &[&'u str]| -> Vec<&'u str> {
        let other: HashSet<_> = other.iter().copied().collect();
        one.iter().copied().filter(|key| other.contains(key)).collect()
    };
    let ours_moved = common(&our_keys, &base_keys) != common(&base_keys, &our_keys);
    let theirs_moved = common(&their_keys, &base_keys) != common(&base_keys, &their_keys);
    let mut skeleton: Vec<&'u str> = match (ours_moved, theirs_moved) {
        (false, false) => base_keys.clone(),
        (false, true) => common(&their_keys, &base_keys),
        (true, _) => common(&our_keys, &base_keys),
    };
    let in_skeleton: HashSet<_> = skeleton.iter().copied().collect();
    skeleton.extend(base_keys.iter().copied().filter(|key| !in_skeleton.contains(key)));
    let in_base: HashSet<_> = base_keys.iter().copied().collect();
    let [our_units, their_units] = [ours, theirs].map(by_key);
    let (from_ours, from_theirs) = (runs(&our_keys, &in_base), runs(&their_keys, &in_base));
    let mut keys = Vec::new();
    let mut placed = HashSet::new();
    for anchor in std::iter::once(None).chain(skeleton.into_iter().map(Some)) {
        keys.extend(anchor);
        let empty = Vec::new();
        let (ours, theirs) = (from_ours.get(&anchor).unwrap_or(&empty), from_theirs.get(&anchor).unwrap_or(&empty));
        let joined = |run: &[&'u str], units: &HashMap<&str, &Unit<'_>>| -> String {
            run.iter().filter_map(|key| units.get(key)).map(|unit| unit.text).collect()
        };
        let ours_first = joined(ours, &our_units) <= joined(theirs, &their_units);
        let (first, second) = if ours_first { (ours, theirs) } else { (theirs, ours) };
        keys.extend(first.iter().chain(second).copied().filter(|key| placed.insert(*key)));
    }
    keys
}

/// What a side brought, by the unit of the base that it stands behind.
fn runs<'u>(keys: &[&'u str], in_base: &HashSet<&str>) -> HashMap<Option<&'u str>, Vec<&'u str>> {
    let mut runs: HashMap<Option<&'u str>, Vec<&'u str>> = HashMap::new();
    let mut anchor = None;
    for key in keys {
        if in_base.contains(key) {
            anchor = Some(*key);
        } else {
            runs.entry(anchor).or_default().push(key);
        }
    }
    runs
}
