//! Tests of the private parts of `src/git/error.rs`.

use super::*;

#[test]
fn a_lock_is_anothers_where_a_folder_was_gone_and_ours_where_the_disk_is_broken() {
    let moved = |code| GitError::moving("refs/x/y", git2::Error::new(code, ErrorClass::Os, "a system's answer"));
    let held = || GitError::moving("refs/x/y", git2::Error::new(ErrorCode::Locked, ErrorClass::Os, "locked"));
    let tried = |answers: Vec<GitError>| {
        let mut answers = answers.into_iter();
        despite_gc(|| answers.next().map_or(Ok(()), Err))
    };
    let (gone, broken) = (|| moved(ErrorCode::NotFound), || moved(ErrorCode::GenericError));
    assert!(matches!(tried(vec![gone(), gone(), broken()]), Ok(())));
    assert!(matches!(tried(vec![gone(), held()]), Err(GitError::RefLocked { .. })));
    assert!(matches!(tried(vec![broken(), held()]), Err(GitError::Store { .. })));
    assert!(matches!(tried(vec![held(), gone()]), Err(GitError::RefLocked { .. })));
    assert!(matches!(tried((0..99).map(|_| gone()).collect()), Err(GitError::Store { .. })));
}
