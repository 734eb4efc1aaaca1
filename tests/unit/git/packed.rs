//! Tests of the private parts of `src/git/refs/packed.rs`: git is the oracle.

use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::git::env::Env;

fn git(folder: &Path, args: &[&str], input: &str) -> String {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(folder)
        .args(args)
        .env_remove("GIT_DIR")
        .env_remove("GIT_DEFAULT_REF_FORMAT")
        .stdin(std::process::Stdio::piped());
    let mut child = git.stdout(std::process::Stdio::piped()).spawn().unwrap();
    io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn refs_are_found_and_listed_as_by_git(
        packed in prop::collection::btree_set("(a|b|é)/[a-c]{1,3}[.-]?[a-z0-9]{1,40}", 0..300),
        loose in prop::collection::btree_set("(a|b|c)/[a-c]{1,3}[.-]?[a-z0-9]{1,2}", 0..20),
        absent in prop::collection::vec("(a|b|d)/[a-c]{1,3}[.-]?[a-z0-9]{1,40}", 0..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        // Here, libgit2 alone reads no repository with reftable or SHA-256.
        git(at, &["init", "-q", "--bare", "--object-format=sha1"], "");
        let tree = git(at, &["mktree"], "");
        let mut oids = Vec::new();
        for text in ["one", "two"] {
            let ident = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
            let oid = git(at, &[&ident[..], &["commit-tree", tree.trim(), "-m", text]].concat(), "");
            oids.push(oid.trim().to_owned());
        }
        let create = |names: &std::collections::BTreeSet<String>, oid: &str| {
            let lines: Vec<String> = names.iter().map(|name| format!("update refs/traces/{name} {oid}\n")).collect();
            git(at, &["update-ref", "--stdin"], &lines.concat());
        };
        create(&packed, &oids[0]);
        git(at, &["pack-refs", "--all"], "");
        create(&loose, &oids[1]);
        git(at, &["symbolic-ref", "refs/traces/zz/current", "refs/traces/a/none"], "");

        let repo = Repo::open(at, Env::default()).unwrap();
        for folder in ["refs/traces/", "refs/traces/a/", "refs/traces/é/", "refs/traces/none/", "refs/tracer/"] {
            let expected = git(at, &["for-each-ref", "--format=%(objectname) %(refname)", folder], "");
            let listed = repo.list_directly(folder).unwrap();
            let render = |(name, target)| match target { Target::Oid(oid) => Some(format!("{oid} {name}\n")), Target::Ref(_) => None };
            let listed: String = listed.into_iter().filter_map(render).collect();
            prop_assert_eq!(listed, expected);
        }
        for name in packed.iter().chain(&loose).chain(&absent) {
            let refname = format!("refs/traces/{name}");
            let expected = if loose.contains(name) { Some(&oids[1]) } else { packed.contains(name).then_some(&oids[0]) };
            let found = repo.find_directly(&refname).unwrap().map(|oid| oid.to_string());
            prop_assert_eq!(found.as_ref(), expected, "{}", refname);
        }
        prop_assert_eq!(repo.find_directly("refs/traces/zz/current"), Some(None));
        let symbolic = repo.list_symbolic_directly("refs/traces/").unwrap();
        prop_assert_eq!(symbolic, [("refs/traces/zz/current".to_owned(), "refs/traces/a/none".to_owned())]);
    }
}

#[test]
fn what_is_unusual_is_left_to_libgit2() {
    let folder = tempfile::tempdir().unwrap();
    git2::Repository::init_bare(folder.path()).unwrap();
    let repo = Repo::open(folder.path(), Env::default()).unwrap();
    let oid = "a".repeat(40);
    let packed = folder.path().join("packed-refs");
    for text in [
        format!("{oid} refs/traces/a\n"),
        format!("# pack-refs with: peeled fully-peeled \n{oid} refs/traces/a\n"),
        "# pack-refs with: peeled fully-peeled sorted \nnonsense\n".to_owned(),
        format!("# pack-refs with: peeled fully-peeled sorted \n{oid} refs/traces/a"),
    ] {
        fs::write(&packed, &text).unwrap();
        assert_eq!(repo.find_directly("refs/traces/a"), None, "{text}");
        assert!(repo.list_directly("refs/traces/").is_none(), "{text}");
    }
    fs::write(&packed, format!("# pack-refs with: peeled fully-peeled sorted \n{oid} refs/traces/a\n^{oid}\n"))
        .unwrap();
    assert_eq!(repo.find_directly("refs/traces/a").flatten().map(|oid| oid.to_string()), Some(oid));
    fs::create_dir_all(folder.path().join("refs/traces")).unwrap();
    fs::write(folder.path().join("refs/traces/a"), "").unwrap();
    assert_eq!(repo.find_directly("refs/traces/a"), None);
    assert_eq!(repo.find_directly("refs/bisect/bad"), None);
}
