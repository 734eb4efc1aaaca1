//! Tests of the private parts of `src/git/network.rs`.

use super::*;

#[test]
fn refspecs_are_split_so_that_each_part_fits() {
    let outgoing =
        |length: usize, lease: Option<&str>| Outgoing { refspec: "x".repeat(length), lease: lease.map(str::to_owned) };
    let all =
        [outgoing(11, None), outgoing(11, None), outgoing(500, None), outgoing(2, Some("lease")), outgoing(2, None)];
    let sizes = |limit| batches(&all, limit).into_iter().map(<[_]>::len).collect::<Vec<_>>();
    assert_eq!(sizes(40), [2, 1, 2]);
    assert_eq!(sizes(39), [1, 1, 1, 2]);
    assert_eq!(sizes(0), [1; 5]);
    assert_eq!(sizes(10_000), [5]);
    assert!(batches(&[], 10).is_empty());
}
