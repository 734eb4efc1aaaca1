//! Tests of the private parts of `src/git/blobs.rs`.

use super::*;
use crate::git::Env;

#[test]
fn many_blobs_come_in_order_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    git2::Repository::init_bare(folder.path()).unwrap();
    let repo = Repo::open(folder.path(), Env::default()).unwrap();
    let texts: Vec<String> = (0..AHEAD_FROM * 3 + 7).map(|number| "x".repeat(number % 300)).collect();
    let mut blobs: Vec<(usize, Oid)> = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        blobs.push((number, repo.write_blob(text.as_bytes()).unwrap()));
    }
    let mut seen = Vec::new();
    let visited = repo.for_each_blob(blobs.clone(), |number, _, bytes| {
        seen.push((number, String::from_utf8(bytes.to_vec()).unwrap()));
        Ok::<_, GitError>(())
    });
    visited.unwrap();
    assert!(seen.into_iter().eq(texts.into_iter().enumerate()));

    let missing = Oid::parse("00000000000000000000000000000000000000ff", repo.object_format()).unwrap();
    blobs.last_mut().unwrap().1 = missing;
    let failed = repo.for_each_blob(blobs.clone(), |_, _, _| Ok::<_, GitError>(()));
    assert!(matches!(failed, Err(GitError::MissingObject { oid }) if oid == missing));
    let stopped = repo.for_each_blob(blobs, |_, _, _| Err(GitError::NotARepository));
    assert!(matches!(stopped, Err(GitError::NotARepository)));
}
