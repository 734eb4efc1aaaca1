//! Byte-pair merging: the number of tokens in a piece that is not a token itself.
//!
//! A piece starts as single bytes. Of all adjacent pairs that form a token, the pair with the lowest rank is joined, the
//! leftmost of equals first, until no such pair is left.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::vocabulary::{Character, NO_RANK, Vocabulary};

/// Longest piece whose pairs are searched linearly. A heap is faster only for longer pieces.
const SMALL_MAX: usize = 64;

/// A longer part, such as megabytes of one letter, is cut here: its pairs would take 34 bytes of memory per byte of text. Each cut
/// changes the count by a token at most, in texts that no tokenizer of a provider takes either.
const PART_MAX: usize = 1 << 18;

const PLACES: [u8; SMALL_MAX + 1] = {
    let mut places = [0; SMALL_MAX + 1];
    let mut place = 0;
    while place < SMALL_MAX {
        place += 1;
        places[place] = places[place - 1] + 1;
    }
    places
};

/// The low bits of a heap entry, which contain the position of a pair. The rank is above them.
const PLACE_BITS: u32 = 44;

/// Counts the tokens of the piece `text[start..end]`, which consists of complete characters and is not a token itself.
///
/// Takes linear time and at most 34 times [`PART_MAX`] bytes of memory; allocates nothing up to [`SMALL_MAX`] bytes.
pub(super) fn count(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    // No merge crosses two characters that are adjacent in no token, so each side is merged separately. This alone splits
    // prose without spaces, such as Chinese, into words.
    let (mut tokens, mut part_start) = (0, start);
    let mut left = Character::at(text, start);
    let mut at = start + left.length;
    // The last part that was cut, and its count: most long pieces repeat one character.
    let mut cut: (&[u8], u64) = (&[], 0);
    while at < end {
        let right = Character::at(text, at);
        if at - part_start >= PART_MAX {
            let part = &text[part_start..at];
            if part != cut.0 {
                cut = (part, count_part(vocabulary, text, part_start, at));
            }
            tokens += cut.1;
            part_start = at;
        } else if !vocabulary.may_join(left, right) {
            tokens += count_part(vocabulary, text, part_start, at);
            part_start = at;
        }
        left = right;
        at += right.length;
    }
    tokens + count_part(vocabulary, text, part_start, end)
}

fn count_part(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    // The bytes of each token merge into that token; a test checks it.
    if vocabulary.rank(text, start, end) != NO_RANK {
        return 1;
    }
    let parts = if end - start <= SMALL_MAX {
        count_small(vocabulary, text, start, end)
    } else {
        count_large(vocabulary, text, start, end)
    };
    parts as u64
}

fn count_small(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    let piece = &text[start..];
    let mut parts = end - start;
    // Part i begins at starts[i], counted from the start of the piece, and joined with the part after it has ranks[i].
    // One more entry says where the last part ends.
    let mut starts: [u8; SMALL_MAX + 1] = PLACES;
    let mut ranks = [NO_RANK; SMALL_MAX];
    for (place, rank) in ranks[..parts - 1].iter_mut().enumerate() {
        *rank = vocabulary.rank(piece, place, place + 2);
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
        let join = |part: usize| vocabulary.rank(piece, usize::from(starts[part]), usize::from(starts[part + 2]));
        ranks[best] = if best + 1 < parts { join(best) } else { NO_RANK };
        if best > 0 {
            ranks[best - 1] = join(best - 1);
        }
    }
}

/// A part of a long piece, stored at the index of its first byte.
#[derive(Clone, Copy)]
struct Part {
    previous: usize,
    next: usize,
    /// Rank of this part joined with the next. A heap entry with another rank is outdated.
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

#[cfg(test)]
#[path = "../../tests/unit/tokens/merge.rs"]
mod tests;
