//! Aligning three lists of chunks: what was added, what was removed, in which order.

use std::collections::{HashMap, HashSet};

use super::chunks::Chunk;

/// A position in a merged list.
pub(crate) enum MergedChunk<'u, 'a> {
    Take(&'u Chunk<'a>),
    Both { base: Option<&'u Chunk<'a>>, ours: &'u Chunk<'a>, theirs: &'u Chunk<'a> },
    Kept(&'u Chunk<'a>),
}

impl<'u, 'a> MergedChunk<'u, 'a> {
    pub(crate) fn ours(&self) -> &'u Chunk<'a> {
        let (Self::Take(one) | Self::Kept(one) | Self::Both { ours: one, .. }) = self;
        one
    }
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
    let by_key =
        |chunks: &'u [Chunk<'a>]| -> HashMap<_, _> { chunks.iter().map(|chunk| (&*chunk.key, chunk)).collect() };
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(by_key);
    let mut merged = Vec::new();
    for key in order(base, ours, theirs) {
        let (base, ours, theirs) = (in_base.get(key).copied(), in_ours.get(key).copied(), in_theirs.get(key).copied());
        let means_base = |one: &Chunk<'_>| base.is_some_and(|base| base.text.trim_end() == one.text.trim_end());
        let reads_base = |one: &Chunk<'_>| base.is_some_and(|base| base.text == one.text);
        merged.extend(match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours.text.trim_end() == theirs.text.trim_end() => {
                // Trailing blank lines belong to the next chunk; the side that changed them wins.
                let takes_ours = match (reads_base(ours), reads_base(theirs)) {
                    (false, true) => true,
                    (true, false) => false,
                    _ => ours.text <= theirs.text,
                };
                Some(MergedChunk::Take(if takes_ours { ours } else { theirs }))
            }
            (Some(ours), Some(theirs)) if means_base(theirs) => Some(MergedChunk::Take(ours)),
            (Some(ours), Some(theirs)) if means_base(ours) => Some(MergedChunk::Take(theirs)),
            (Some(ours), Some(theirs)) => Some(MergedChunk::Both { base, ours, theirs }),
            (Some(one), None) | (None, Some(one)) if base.is_none() => Some(MergedChunk::Take(one)),
            (Some(one), None) | (None, Some(one)) if !means_base(one) => Some(MergedChunk::Kept(one)),
            _ => None,
        });
    }
    merged
}

/// The keys of all three lists, in merged order.
fn order<'u>(base: &'u [Chunk<'_>], ours: &'u [Chunk<'_>], theirs: &'u [Chunk<'_>]) -> Vec<&'u str> {
    let keys = |chunks: &'u [Chunk<'_>]| chunks.iter().map(|chunk| chunk.key.as_str());
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(|chunks| keys(chunks).collect::<HashSet<_>>());
    let common = |chunks, others: &HashSet<&str>| keys(chunks).filter(|key| others.contains(key)).collect::<Vec<_>>();
    let (our_order, their_order) = (common(ours, &in_base), common(theirs, &in_base));
    let mut of_base = if our_order != common(base, &in_ours) {
        our_order
    } else if their_order != common(base, &in_theirs) {
        their_order
    } else {
        Vec::new()
    };
    let mut placed: HashSet<_> = of_base.iter().copied().collect();
    of_base.extend(keys(base).filter(|key| placed.insert(*key)));
    let added = [ours, theirs].map(|chunks| added_by_predecessor(chunks, &in_base));
    let mut order = Vec::new();
    for predecessor in std::iter::once(None).chain(of_base.into_iter().map(Some)) {
        order.extend(predecessor);
        let mut runs = added.each_ref().map(|added| added.get(&predecessor).map_or(&[][..], Vec::as_slice));
        runs.sort_by_cached_key(|run| run.iter().map(|chunk| chunk.text).collect::<String>());
        order.extend(runs.concat().iter().map(|chunk| chunk.key.as_str()).filter(|key| placed.insert(*key)));
    }
    order
}

/// The chunks that a side added, by the key of the base before them.
fn added_by_predecessor<'u, 'a>(
    chunks: &'u [Chunk<'a>],
    in_base: &HashSet<&str>,
) -> HashMap<Option<&'u str>, Vec<&'u Chunk<'a>>> {
    let mut added: HashMap<_, Vec<_>> = HashMap::new();
    let mut predecessor = None;
    for chunk in chunks {
        if in_base.contains(&*chunk.key) {
            predecessor = Some(&*chunk.key);
        } else {
            added.entry(predecessor).or_default().push(chunk);
        }
    }
    added
}
