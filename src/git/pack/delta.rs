//! Deltas, in the form of git's packs (gitformat-pack, "Deltified representation").

/// Most bytes that one instruction copies.
const LONGEST_COPY: usize = 0x1_0000;

/// Most bytes that one instruction inserts.
const LONGEST_INSERT: usize = 0x7f;

const CHUNK: usize = 32;

/// The common prefix, the new bytes, the common suffix; `None` if that saves less than half of `target`.
pub(super) fn between(base: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    let start = common_start(base, target);
    let end = common_end(&base[start..], &target[start..]);
    let middle = &target[start..target.len() - end];
    // This excludes an empty target: git rejects deltas of fewer than four bytes.
    if middle.len() * 2 >= target.len() {
        return None;
    }
    let mut delta = Vec::with_capacity(middle.len() + 32);
    push_size(&mut delta, base.len());
    push_size(&mut delta, target.len());
    push_copy(&mut delta, 0, start);
    for part in middle.chunks(LONGEST_INSERT) {
        delta.push(u8::try_from(part.len()).ok()?);
        delta.extend_from_slice(part);
    }
    push_copy(&mut delta, base.len() - end, end);
    Some(delta)
}

/// How many bytes at the start of both are the same.
pub(in crate::git) fn common_start(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.chunks_exact(CHUNK).zip(other.chunks_exact(CHUNK));
    let whole = chunks.take_while(|(one, other)| one == other).count() * CHUNK;
    whole + one[whole..].iter().zip(&other[whole..]).take_while(|(one, other)| one == other).count()
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.rchunks_exact(CHUNK).zip(other.rchunks_exact(CHUNK));
    let whole = chunks.take_while(|(one, other)| one == other).count() * CHUNK;
    let (one, other) = (&one[..one.len() - whole], &other[..other.len() - whole]);
    whole + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// A length: seven bits per byte, the lowest first.
fn push_size(delta: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        delta.push(0x80 | low_byte(size));
        size >>= 7;
    }
    delta.push(low_byte(size));
}

fn push_copy(delta: &mut Vec<u8>, mut from: usize, mut length: usize) {
    while length > 0 {
        let part = length.min(LONGEST_COPY);
        let at = delta.len();
        delta.push(0x80);
        for place in 0..4 {
            push_part(delta, at, from >> (8 * place), 1 << place);
        }
        // The length 0x1_0000 is written as no bytes.
        for place in 0..2 {
            push_part(delta, at, (part & 0xffff) >> (8 * place), 0x10 << place);
        }
        from += part;
        length -= part;
    }
}

/// Adds the lowest byte unless it is zero, and sets its flag in the instruction at `at`.
fn push_part(delta: &mut Vec<u8>, at: usize, value: usize, flag: u8) {
    let byte = low_byte(value);
    if byte != 0 {
        delta.push(byte);
        delta[at] |= flag;
    }
}

pub(super) fn low_byte(value: usize) -> u8 {
    value.to_le_bytes()[0]
}

#[cfg(test)]
#[path = "../../../tests/unit/git/pack/delta.rs"]
mod tests;
