//! Tests of the private parts of `src/git/config.rs`.

use super::*;

#[test]
fn remotes_are_promisors_by_either_setting() {
    let find = |listed: &str| Config::listed(listed.as_bytes()).promisors();
    assert_eq!(find("remote.a.promisor\nfalse\0remote.a.url\nx\0"), [""; 0]);
    assert_eq!(find("remote.a.promisor\ntrue\0remote.b.c.promisor\0remote.a.promisor\nno\0"), ["a", "b.c"]);
    assert_eq!(find("remote.a.promisor\nfalse\0remote.a.partialclonefilter\nblob:none\0"), ["a"]);
}
