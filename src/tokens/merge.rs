//! Byte-pair merging: how many tokens a piece becomes that is no token itself.
//!
//! A piece starts as its single bytes. Again and again, of all neighbours that together are a token, the pair of the
//! lowest rank is joined, the leftmost of equals first, until no pair is left.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::vocabulary::{NO_RANK, Vocabulary};

/// Longest piece whose pairs are searched one by one; a heap pays only beyond.
const SMALL_MAX: usize = 64;

/// Bits of a heap entry that hold the place of a pair; the rank stands above them.
const PLACE_BITS: u32 = 44;

/// Counts the tokens that `text[start..end]` merges into; the range is not empty.
///
/// Takes O(n log n) time for n bytes; up to [`SMALL_MAX`] bytes nothing is allocated.
pub(super) fn count(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    let parts = if end - start <= SMALL_MAX {
        count_small(vocabulary, text, start, end)
    } else {
        count_large(vocabulary, text, start, end)
    };
    parts as u64
}

fn count_small(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    // Part i begins at starts[i] and with the part after it has ranks[i].
    let mut starts = [end; SMALL_MAX + 1];
    let mut ranks = [NO_RANK; SMALL_MAX];
    let mut parts = end - start;
    for (part, place) in (start..end).enumerate() {
        starts[part] = place;
        if place + 1 < end {
            ranks[part] = vocabulary.rank(text, place, place + 2);
        }
    }
    loop {
        let (mut best, mut lowest) = (0, NO_RANK);
        for (part, &rank) in ranks[..parts].iter().enumerate() {
            if rank < lowest {
                (best, lowest) = (part, rank);
            }
        }
        if lowest == NO_RANK {
            return parts;
        }
        starts.copy_within(best + 2..=parts, best + 1);
        ranks.copy_within(best + 1..parts, best);
        parts -= 1;
        // The entry past the last part says where the piece ends and joins with nothing.
        if best + 1 < parts {
            ranks[best] = vocabulary.rank(text, starts[best], starts[best + 2]);
        } else {
            ranks[best] = NO_RANK;
        }
        if best > 0 {
            ranks[best - 1] = vocabulary.rank(text, starts[best - 1], starts[best + 1]);
        }
    }
}

/// A part of a long piece, kept at the place where it begins, counted from the start of the piece.
#[derive(Clone, Copy)]
struct Part {
    previous: usize,
    next: usize,
    /// Rank of this part joined with the next; an entry of the heap with another rank is out of date.
    joined_rank: u32,
}

fn count_large(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    let piece = &text[start..end];
    let last = piece.len() - 1;
    let mut parts: Vec<Part> = (0..piece.len())
        .map(|place| Part {
            previous: place.saturating_sub(1),
            next: place + 1,
            joined_rank: if place < last { vocabulary.rank(piece, place, place + 2) } else { NO_RANK },
        })
        .collect();
    let mut heap: BinaryHeap<_> = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| part.joined_rank != NO_RANK)
        .map(|(place, part)| entry(part.joined_rank, place))
        .collect::<Vec<_>>()
        .into();

    let mut count = piece.len();
    while let Some(Reverse(lowest)) = heap.pop() {
        let (rank, left) = ((lowest >> PLACE_BITS) as u32, (lowest & ((1 << PLACE_BITS) - 1)) as usize);
        if parts[left].joined_rank != rank {
            continue;
        }
        let right = parts[left].next;
        let next = parts[right].next;
        parts[right].joined_rank = NO_RANK;
        parts[left].next = next;
        count -= 1;
        if next < piece.len() {
            parts[next].previous = left;
        }

        let previous = parts[left].previous;
        for place in [previous, left].into_iter().skip(usize::from(left == 0)) {
            // A joined pair has the rank of the two together: `part` is what follows, and its end theirs.
            let rank = match parts.get(parts[place].next) {
                Some(part) => vocabulary.rank(piece, place, part.next),
                None => NO_RANK,
            };
            parts[place].joined_rank = rank;
            if rank != NO_RANK {
                heap.push(entry(rank, place));
            }
        }
    }
    count
}

fn entry(rank: u32, place: usize) -> Reverse<u64> {
    Reverse(u64::from(rank) << PLACE_BITS | place as u64)
}
