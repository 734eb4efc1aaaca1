//! Tests of the private parts of `src/git/pack/delta.rs`.

use proptest::prelude::*;

use super::between;

/// Follows a delta as gitformat-pack describes it.
fn apply(base: &[u8], delta: &[u8]) -> Vec<u8> {
    let mut bytes = delta.iter().copied();
    let mut size = || {
        let (mut size, mut shift) = (0, 0);
        loop {
            let byte = bytes.next().unwrap();
            size |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return size;
            }
        }
    };
    assert_eq!(size(), base.len());
    let length = size();
    let mut target = Vec::new();
    while let Some(instruction) = bytes.next() {
        if instruction & 0x80 == 0 {
            target.extend(bytes.by_ref().take(usize::from(instruction)));
            continue;
        }
        let mut read = |flags: std::ops::Range<u32>| {
            let first = flags.start;
            flags
                .filter(|bit| instruction & (1 << bit) != 0)
                .map(|bit| usize::from(bytes.next().unwrap()) << (8 * (bit - first)))
                .sum::<usize>()
        };
        let (from, part) = (read(0..4), read(4..7));
        let part = if part == 0 { 0x1_0000 } else { part };
        target.extend_from_slice(&base[from..from + part]);
    }
    assert_eq!(target.len(), length);
    target
}

proptest! {
    #[test]
    fn a_delta_makes_the_target(
        start in proptest::collection::vec(0u8..3, 0..400),
        old in proptest::collection::vec(0u8..3, 0..40),
        new in proptest::collection::vec(0u8..3, 0..300),
        end in proptest::collection::vec(0u8..3, 0..400),
        times in prop_oneof![Just(1usize), Just(300)],
    ) {
        let end = end.repeat(times);
        let base = [start.clone(), old, end.clone()].concat();
        let target = [start, new, end].concat();
        if let Some(delta) = between(&base, &target) {
            prop_assert!(delta.len() >= 4);
            prop_assert_eq!(apply(&base, &delta), target);
        }
    }
}

#[test]
fn an_entry_more_costs_little_and_other_bytes_are_no_delta() {
    let base = vec![7; 200_000];
    let target = [&base[..150_000], b"an entry", &base[150_000..]].concat();
    let delta = between(&base, &target).unwrap();
    assert!(delta.len() < 64, "{}", delta.len());
    assert_eq!(apply(&base, &delta), target);
    assert_eq!(between(b"one", b"two"), None);
    assert_eq!(between(b"one", b""), None);
}
