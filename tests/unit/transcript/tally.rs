//! Tests of `src/transcript/mod.rs`, in that module.

use super::*;

#[test]
fn at_most_64_kinds_are_counted_separately() {
    let mut tally = Tally::default();
    for number in 0..1000 {
        count(&mut tally.unknown, &format!("kind{number}"));
        count(&mut tally.unknown, "kind3");
        tally.add_damaged(number);
    }
    assert_eq!(tally.unknown.len(), MAX_KINDS + 1);
    assert_eq!(tally.unknown.values().sum::<u64>(), 2000);
    assert_eq!(tally.unknown["…"], 1000 - MAX_KINDS as u64);
    assert_eq!((tally.damaged, tally.damaged_lines.len()), (1000, MAX_LISTED_LINES));
}

#[test]
fn a_position_recognizes_its_bytes() {
    let position = Position { offset: 3, digest: digest_of(b"abc") };
    let find = |bytes: &[u8]| position.find(io::Cursor::new(bytes)).unwrap();
    assert_eq!(find(b"abc").unwrap(), b"abc");
    assert_eq!(find(b"abcdef").unwrap(), b"abc");
    assert_eq!(find(b"ab"), None);
    assert_eq!(find(b"abd"), None);
}
