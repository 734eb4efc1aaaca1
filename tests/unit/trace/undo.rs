//! Undo as a stack of moves.

use crate::git::{LogEntry, Oid};
use crate::trace::change::undo::moves_in_force;

#[test]
fn an_undo_takes_off_what_it_says_and_what_follows_it_stands() {
    let oid = |digit: u8| Oid::parse(&digit.to_string().repeat(40), crate::git::ObjectFormat::Sha1).unwrap();
    let entry =
        |old: u8, new: u8, why: &str| LogEntry { old: (old > 0).then(|| oid(old)), new: oid(new), why: why.to_owned() };
    let log = [
        entry(0, 1, "append: a"),
        entry(1, 2, "append: b"),
        entry(2, 3, "append: undo: 9: c"),
        entry(3, 1, "undo: 2: append: c"),
        entry(1, 4, "append: d"),
        entry(4, 4, "rename: x to y"),
    ];
    let whys: Vec<&str> = moves_in_force(&log).iter().map(|entry| entry.why.as_str()).collect();
    assert_eq!(whys, ["append: a", "append: d"]);
    assert!(moves_in_force(&[entry(3, 1, "undo: 2: what expired")]).is_empty());
}
