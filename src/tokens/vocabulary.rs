//! Vocabularies: the rank of each token, from the tables that `build.rs` made.
//!
//! The slots of `o200k`, the default, are in the binary, ready to use. Those of the others, which few use, are computed from their
//! tokens by the first count; that saves 1.5 MB.

use std::sync::LazyLock;

use super::layout::{self, LENGTH_SHIFT, LONG, RANK_SHIFT, SHORT_MAX};

/// The rank of bytes that are not a token; greater than all ranks.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The tokens of an encoding; see [`layout`] for the tables.
#[derive(Clone, Copy)]
pub(super) struct Vocabulary {
    displacements: &'static [[u8; 2]],
    slots: &'static [[u8; 16]],
    pool: &'static [u8],
    bonds: &'static [u8],
    seed: u64,
    /// Higher ranks belong to a larger vocabulary that shares the tables.
    limit: u32,
}

/// Keeps a slot within one cache line.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

macro_rules! table {
    ($($name:literal),+) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $($name),+))
    };
}

macro_rules! vocabulary {
    ($name:literal, $slots:expr) => {
        Vocabulary {
            displacements: table!($name, ".displacements").as_chunks().0,
            slots: $slots,
            pool: table!($name, ".pool"),
            bonds: table!($name, ".bonds"),
            seed: u64::from_le_bytes(*table!($name, ".seed")),
            limit: NO_RANK,
        }
    };
}

static O200K_SLOTS: &Aligned<[u8]> = &Aligned(*table!("o200k.slots"));

pub(super) static O200K: Vocabulary = vocabulary!("o200k", O200K_SLOTS.0.as_chunks().0);
pub(super) static CL100K: LazyLock<Vocabulary> = LazyLock::new(|| vocabulary!("cl100k", &[]).with_slots());
pub(super) static P50K: LazyLock<Vocabulary> = LazyLock::new(|| vocabulary!("p50k", &[]).with_slots());
/// Of `r50k_base`: the tokens of `p50k_base` before `<|endoftext|>`; the others are 24 runs of spaces.
pub(super) static R50K: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary { limit: 50_256, ..*P50K });

/// The tokens of a pool that has all: rank, offset, and bytes.
fn tokens(pool: &[u8]) -> impl Iterator<Item = (u32, usize, &[u8])> {
    let mut at = 0;
    let all = (0..).map_while(move |rank| {
        let start = at + 1;
        at = start + usize::from(*pool.get(at)?);
        Some((rank, start, &pool[start..at]))
    });
    all.filter(|(_, _, token)| !token.is_empty())
}

impl Vocabulary {
    /// Computes the slots of a pool with all tokens.
    fn with_slots(self) -> Self {
        let tokens = || tokens(self.pool);
        let mut slots = vec![[0; 16]; layout::slot_count(tokens().count())];
        for (rank, offset, token) in tokens() {
            let (key, slot) = layout::entry(rank, token, u32::try_from(offset).unwrap_or_default());
            let place = self.place(key, slots.len());
            slots[place] = slot.to_le_bytes();
        }
        Self { slots: slots.leak(), ..self }
    }

    /// Rank of the token that is `text[start..end]`, or [`NO_RANK`]; the range is not empty.
    #[inline]
    pub(super) fn rank(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let length = end - start;
        if length > SHORT_MAX {
            return self.long_rank(&text[start..end]);
        }
        let bytes = match text.get(start..).and_then(<[u8]>::first_chunk) {
            Some(window) => u128::from_le_bytes(*window) & ((1 << (8 * length)) - 1),
            None => padded(&text[start..end]),
        };
        let key = bytes | (length as u128) << LENGTH_SHIFT;
        let slot = self.slot(key);
        let found = (slot ^ key) << (u128::BITS - RANK_SHIFT) == 0;
        if found { self.checked(slot) } else { NO_RANK }
    }

    /// Whether these two characters may be adjacent in some token. If not, no merge joins them.
    #[inline]
    pub(super) fn may_join(&self, left: Character, right: Character) -> bool {
        let bits = self.bonds.len() * 8;
        let is_set = |bit: usize| self.bonds[bit / 8] & 1 << (bit % 8) != 0;
        let (last, first) = (left.last_byte(), right.first_byte());
        is_set(layout::bond(left.bytes, right.bytes, bits))
            || !(last.is_ascii() && first.is_ascii()) && is_set(layout::broken_bond(last, first, bits))
    }

    fn long_rank(&self, token: &[u8]) -> u32 {
        let digest = layout::digest(token);
        let slot = self.slot(u128::from(digest));
        let [o0, o1, o2, o3, length, d0, d1, d2, d3, d4, d5, d6, d7, tag, ..] = slot.to_le_bytes();
        let same_digest = u64::from_le_bytes([d0, d1, d2, d3, d4, d5, d6, d7]) == digest;
        if u128::from(tag & 15) != LONG || usize::from(length) != token.len() || !same_digest {
            return NO_RANK;
        }
        let offset = u32::from_le_bytes([o0, o1, o2, o3]) as usize;
        if self.pool[offset..].starts_with(token) { self.checked(slot) } else { NO_RANK }
    }

    #[inline]
    fn slot(&self, key: u128) -> u128 {
        u128::from_le_bytes(self.slots[self.place(key, self.slots.len())])
    }

    /// The place of the slot, of `count`, that a key has.
    #[inline]
    fn place(&self, key: u128, count: usize) -> usize {
        let hash = layout::hash(key, self.seed);
        let displacement = u16::from_le_bytes(self.displacements[layout::bucket(hash, self.displacements.len())]);
        layout::slot(hash, displacement, count)
    }

    #[inline]
    fn checked(&self, slot: u128) -> u32 {
        let rank = (slot >> RANK_SHIFT) as u32;
        if rank < self.limit { rank } else { NO_RANK }
    }
}

/// A character, for [`Vocabulary::may_join`].
#[derive(Clone, Copy)]
pub(super) struct Character {
    bytes: u32,
    pub(super) length: usize,
}

impl Character {
    /// The character at `at`, which is a boundary before the end of `text`.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Self {
        let length = match text[at] {
            ..0xc0 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0.. => 4,
        };
        let window = text[at..].first_chunk().copied().unwrap_or_else(|| {
            let mut window = [0; 4];
            window[..length].copy_from_slice(&text[at..at + length]);
            window
        });
        Self { bytes: u32::from_le_bytes(window) & (u32::MAX >> (32 - 8 * length)), length }
    }

    fn first_byte(self) -> u8 {
        self.bytes.to_le_bytes()[0]
    }

    fn last_byte(self) -> u8 {
        self.bytes.to_le_bytes()[self.length - 1]
    }
}

fn padded(token: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..token.len()].copy_from_slice(token);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/vocabulary.rs"]
mod tests;
