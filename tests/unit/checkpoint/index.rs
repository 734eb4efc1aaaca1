//! Edits of INDEX.md.

use crate::memory::checkpoint::index::edit::{IndexEntry, add, remove, set_date};
use crate::memory::checkpoint::validate_index;

#[test]
fn removing_undoes_adding() {
    let at = "2026-02-10T09:00:00Z".parse().unwrap();
    let listed = |name| IndexEntry { name, description: "a | b", problem: "p\nq", scope: "", status: "new" };
    let one = add(None, &listed("chk-a"), at).unwrap();
    let two = add(Some(&one), &listed("chk-b"), at).unwrap();
    assert_eq!(validate_index(two.as_bytes(), None), []);
    assert_eq!(remove(&two, "chk-b"), one);
    assert_eq!(add(Some(&two), &listed("chk-b"), at).unwrap(), two, "what was added already is so once");
    assert_eq!(add(Some(&one), &listed("chk-a"), at).unwrap(), one);
    let empty = remove(&one, "chk-a");
    assert_eq!(validate_index(empty.as_bytes(), None), []);
    assert_eq!(add(Some(&empty), &listed("chk-a"), at).unwrap(), one);
    let other = remove(&two, "chk-a");
    assert_eq!(validate_index(other.as_bytes(), None), []);
    assert!(!other.contains("chk-a"));
    assert_eq!(remove(&one, "chk-z"), one);
    let later = "2026-03-01T00:00:00Z".parse().unwrap();
    assert!(set_date(&two, "chk-b", later).contains("| chk-b | a \\| b | 2026-03-01 |"));
    assert_eq!(validate_index(two.replace('\n', "\r\n").as_bytes(), None), []);
    assert_eq!(remove(&two.replace('\n', "\r\n"), "chk-b"), one.replace('\n', "\r\n"));
}
