//! Errors of git that moves refs.

use super::*;
use crate::base::error::Diagnostic as _;

#[test]
fn the_lock_of_a_ref_is_named() {
    let failed = |stderr: &str| GitError::Command { command: "update-ref".to_owned(), stderr: stderr.to_owned() };
    let file = "fatal: cannot lock ref 'refs/x': Unable to create '/r/.git/refs/x.lock': File exists.";
    for (stderr, lock) in [
        (file, "`refs/x.lock`"),
        ("fatal: prepare: reftable: transaction prepare: cannot lock references", "`reftable/tables.list.lock`"),
    ] {
        let hint = refused(failed(stderr), "refs/x").hint().unwrap();
        assert!(hint.contains(lock), "{hint}");
    }
}
