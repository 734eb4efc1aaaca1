//! Tests of the private parts of `src/git/refs/update.rs`.

use super::*;
use crate::git::commit::NewCommit;
use crate::git::env::Env;
use crate::git::tree::Entry;

const REFNAME: &str = "refs/traces/main";

fn who() -> Ident {
    Ident::of("Test <test@example.com>", 1_700_000_000)
}

fn moved(repo: &Repo, to: Oid) -> Result<(), GitError> {
    let lock = repo.lock(REFNAME)?;
    repo.update_ref(&lock, &who(), |_| Ok::<_, GitError>(RefUpdate::Move { to, log: "test".to_owned(), value: () }))
}

#[test]
fn a_ref_does_not_move_to_a_commit_that_is_missing_or_whose_tree_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    git2::Repository::init_bare(folder.path()).unwrap();
    let repo = Repo::open(folder.path(), Env::default()).unwrap();
    let missing = Oid::parse(&"f".repeat(40), repo.object_format()).unwrap();
    let who = who();
    let commit = |tree| {
        let new = NewCommit { tree, parents: &[], author: &who, committer: &who, message: "test" };
        repo.write_commit(&new).unwrap()
    };
    let blob = repo.write_blob(b"text").unwrap();
    let tree = repo.write_tree(&mut [Entry::file("file", blob)]).unwrap();
    let whole = commit(tree);

    for before in [None, Some(whole)] {
        if let Some(to) = before {
            moved(&repo, to).unwrap();
        }
        let no_commit = moved(&repo, missing);
        assert!(matches!(no_commit, Err(GitError::MissingObject { oid }) if oid == missing), "{no_commit:?}");
        let no_tree = moved(&repo, commit(missing));
        assert!(matches!(no_tree, Err(GitError::MissingObject { oid }) if oid == missing), "{no_tree:?}");
        for other in [tree, blob, commit(blob)] {
            assert!(matches!(moved(&repo, other), Err(GitError::WrongKind { .. })), "{other}");
        }
        assert_eq!(repo.find_ref(REFNAME).unwrap(), before);
        assert_eq!(repo.read_reflog(REFNAME).unwrap().len(), usize::from(before.is_some()));
    }
}

#[test]
fn a_ref_does_not_move_to_a_commit_that_this_process_has_read_and_removed() {
    for is_packed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        git2::Repository::init_bare(folder.path()).unwrap();
        let repo = Repo::open(folder.path(), Env::default()).unwrap();
        let who = who();
        let tree = repo.write_tree(&mut []).unwrap();
        let new = NewCommit { tree, parents: &[], author: &who, committer: &who, message: "test" };
        let commit = repo.write_commit(&new).unwrap();
        moved(&repo, commit).unwrap();
        if is_packed {
            let packed =
                std::process::Command::new("git").arg("-C").arg(folder.path()).args(["repack", "-adq"]).status();
            assert!(packed.unwrap().success());
        }
        // libgit2 now has the pack open, and the commit is one of the last that were read.
        assert!(repo.find_commit(REFNAME).unwrap().is_some() && repo.read_commit(commit).is_ok());
        assert!(repo.remove_objects(&[commit].into()).unwrap().is_empty());
        let gone = moved(&repo, commit);
        assert!(matches!(gone, Err(GitError::MissingObject { oid }) if oid == commit), "{gone:?}");
        assert_eq!(repo.write_commit(&new).unwrap(), commit);
        moved(&repo, commit).unwrap();
    }
}
