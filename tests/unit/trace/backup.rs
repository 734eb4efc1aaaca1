//! Names of backup refs.

use crate::trace::store::backup::backup_refname;

#[test]
fn backups_of_different_traces_have_different_names() {
    let backup = |name: &str| backup_refname(&name.parse().unwrap());
    assert_eq!(backup("main"), "refs/trace-orig/main");
    assert_eq!(backup("a/b"), "refs/trace-orig/a%2Fb");
    assert_eq!(backup("a%2Fb"), "refs/trace-orig/a%252Fb");
}
