//! Aligning three lists of chunks: what was added, what was removed, in which order.

use std::collections::{HashMap, HashSet};

use super::chunks::Chunk;

/// A position in a merged list.
pub(crate) enum MergedChunk<'u, 'a> {
    Take(&'u Chunk<'a>),
    Both {
        base: Option<&'u Chunk<'a>>,
        ours: &'u Chunk<'a>,
        theirs: &'u Chunk<'a>,
    },
    /// Deleted by one side and changed by the other.
    Kept(&'u Chunk<'a>),
}

/// Merges three lists chunk by chunk.
///
/// A chunk that one side deleted is removed if the other side did not change it, and kept otherwise. The order is that of the
/// side that changed it, or ours if both did. An added chunk keeps its predecessor. If both sides add chunks at one position,
/// the lesser text comes first, so that the result does not depend on the side.
pub(crate) fn merge<'u, 'a>(
    base: &'u [Chunk<'a>],
    ours: &'u [Chunk<'a>],
    theirs: &'u [Chunk<'a>],
) -> Vec<MergedChunk<'u, 'a>> {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(by_key);
    let mut merged = Vec::new();
    for key in order(base, ours, theirs) {
        let (base, ours, theirs) = (in_base.get(key).copied(), in_ours.get(key).copied(), in_theirs.get(key).copied());
        let means_base = |one: &Chunk<'_>| base.is_some_and(|base| base.text.trim_end() == one.text.trim_end());
        let reads_base = |one: &Chunk<'_>| base.is_some_and(|base| base.text == one.text);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours.text.trim_end() == theirs.text.trim_end() => {
                // Trailing blank lines belong to the next chunk; the side that changed them wins.
                let takes_ours = match (reads_base(ours), reads_base(theirs)) {
                    (false, true) => true,
                    (true, false) => false,
                    _ => ours.text <= theirs.text,
                };
                merged.push(MergedChunk::Take(if takes_ours { ours } else { theirs }));
            }
            (Some(ours), Some(theirs)) if means_base(theirs) => merged.push(MergedChunk::Take(ours)),
            (Some(ours), Some(theirs)) if means_base(ours) => merged.push(MergedChunk::Take(theirs)),
            (Some(ours), Some(theirs)) => merged.push(MergedChunk::Both { base, ours, theirs }),
            (Some(one), None) | (None, Some(one)) if base.is_none() => merged.push(MergedChunk::Take(one)),
            (Some(one), None) | (None, Some(one)) if !means_base(one) => merged.push(MergedChunk::Kept(one)),
            _ => {}
        }
    }
    merged
}

fn by_key<'u, 'a>(chunks: &'u [Chunk<'a>]) -> HashMap<&'u str, &'u Chunk<'a>> {
    chunks.iter().map(|chunk| (chunk.key.as_str(), chunk)).collect()
}

/// The keys of all three lists, in merged order.
fn order<'u>(base: &'u [Chunk<'_>], ours: &'u [Chunk<'_>], theirs: &'u [Chunk<'_>]) -> Vec<&'u str> {
    let keys = |chunks: &'u [Chunk<'_>]| -> Vec<&'u str> { chunks.iter().map(|chunk| chunk.key.as_str()).collect() };
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
        let joined = |run: &[&'u str], chunks: &HashMap<&str, &Chunk<'_>>| -> String {
            run.iter().filter_map(|key| chunks.get(key)).map(|chunk| chunk.text).collect()
        };
        let ours_first = joined(ours, &our_units) <= joined(theirs, &their_units);
        let (first, second) = if ours_first { (ours, theirs) } else { (theirs, ours) };
        keys.extend(first.iter().chain(second).copied().filter(|key| placed.insert(*key)));
    }
    keys
}

/// The keys that a side added, by the key of the base before them.
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
