//! The layout of the generated tables, which `build.rs` writes and the counter reads.
//!
//! A vocabulary is a perfect hash over the bytes of its tokens: no two tokens share a slot, so a lookup reads one
//! displacement and one slot whether the token exists or not. Numbers are little-endian.
//!
//! ```text
//! displacements  u16 × buckets      found through the upper half of the hash
//! slots          u128 × slots       found through the lower half and the displacement
//!     bits 0..104    the token's bytes, zero-padded; of a long token: pool offset (32), length (8), digest (64)
//!     bits 104..108  length of the token, 15 for a long one, 0 for an empty slot
//!     bits 108..128  rank
//! pool           bytes of the long tokens; if the slots are not stored, of all tokens by rank, each behind its length, which is 0
//!                for a rank without a token
//! bonds          bit set of hashed pairs of characters that are adjacent in some token; see [`bond`]
//! ```

#![expect(clippy::cast_possible_truncation, reason = "hashing takes words apart on purpose")]

/// Longest token whose bytes are stored in the slot itself.
pub(super) const SHORT_MAX: usize = 13;

/// Bit of a slot where the length begins.
pub(super) const LENGTH_SHIFT: u32 = 104;

/// Bit of a slot where the rank begins.
pub(super) const RANK_SHIFT: u32 = 108;

/// Marks a long token, in place of its length.
pub(super) const LONG: u128 = 15;

/// Upper-case and title-case letters (Lu, Lt).
pub(super) const UPPER: u8 = 1 << 0;
/// Lower-case letters (Ll).
pub(super) const LOWER: u8 = 1 << 1;
/// Letters without case (Lm, Lo).
pub(super) const CASELESS: u8 = 1 << 2;
/// Combining marks (M).
pub(super) const MARK: u8 = 1 << 3;
/// Numbers (N).
pub(super) const NUMBER: u8 = 1 << 4;
/// White space other than [`NEWLINE`].
pub(super) const SPACE: u8 = 1 << 5;
/// Carriage return and line feed.
pub(super) const NEWLINE: u8 = 1 << 6;
/// All other characters.
pub(super) const OTHER: u8 = 1 << 7;

/// Code points that share one entry of the class index.
pub(super) const CLASS_BLOCK: usize = 256;

/// Multiplies two words and folds the double-width product, so that each bit of either affects all bits of the result.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Hash of a slot's lower [`RANK_SHIFT`] bits, or of a long token's digest.
pub(super) fn hash(key: u128, seed: u64) -> u64 {
    fold(key as u64 ^ seed, (key >> 64) as u64 ^ 0x9e37_79b9_7f4a_7c15)
}

/// The number of slots for this many tokens. A sixteenth stays free: without it, the last buckets would search long.
pub(super) fn slot_count(tokens: usize) -> usize {
    tokens + tokens / 16
}

/// The key of a token, and its slot; `offset` is where its bytes are in the pool.
pub(super) fn entry(rank: u32, token: &[u8], offset: u32) -> (u128, u128) {
    let rank = u128::from(rank) << RANK_SHIFT;
    if token.len() > SHORT_MAX {
        let digest = u128::from(digest(token));
        let place = u128::from(offset) | (token.len() as u128) << 32 | digest << 40;
        return (digest, rank | LONG << LENGTH_SHIFT | place);
    }
    let mut bytes = [0; 16];
    bytes[..token.len()].copy_from_slice(token);
    let key = u128::from_le_bytes(bytes) | (token.len() as u128) << LENGTH_SHIFT;
    (key, rank | key)
}

/// Digest of a token longer than [`SHORT_MAX`].
pub(super) fn digest(token: &[u8]) -> u64 {
    let (words, _) = token.as_chunks::<8>();
    let tail = token.last_chunk::<8>().copied().unwrap_or_default();
    let start = token.len() as u64;
    words.iter().chain([&tail]).fold(start, |digest, word| {
        fold(u64::from_le_bytes(*word) ^ 0xa076_1d64_78bd_642f, digest ^ 0xe703_7ed1_a0b4_28db)
    })
}

/// The bucket, of `buckets`, whose displacement a hash uses.
pub(super) fn bucket(hash: u64, buckets: usize) -> usize {
    (((hash >> 32) * buckets as u64) >> 32) as usize
}

/// The slot, of `slots`, that a hash has under its bucket's displacement.
pub(super) fn slot(hash: u64, displacement: u16, slots: usize) -> usize {
    let moved = hash as u32 ^ u32::from(displacement).wrapping_mul(0x85eb_ca6b);
    ((u64::from(moved.wrapping_mul(0x9e37_79b1)) * slots as u64) >> 32) as usize
}

/// The bit, of `bits`, that is set if the characters `left` and `right` are adjacent in some token.
///
/// A character is its UTF-8 bytes as a little-endian number. If a token contains only a part of either, [`broken_bond`] gives
/// the bit.
pub(super) fn bond(left: u32, right: u32, bits: usize) -> usize {
    let pair = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (((pair >> 32) * bits as u64) >> 32) as usize
}

/// The same for tokens that begin or end inside a character: `last` is the last byte on the left, `first` the first on the
/// right.
pub(super) fn broken_bond(last: u8, first: u8, bits: usize) -> usize {
    // No character of UTF-8 ends with this byte.
    bond(0xff00_0000 | u32::from(last), u32::from(first), bits)
}
