//! Objects that are missing or damaged: one clear error that names the object, nothing written, and no waiting.

use std::fs;
use std::path::{Path, PathBuf};

use crate::repo::TestRepo;

fn loose(repo: &TestRepo, rev: &str) -> (String, PathBuf) {
    let oid = repo.git(&["rev-parse", rev]).trim().to_owned();
    let path = repo.git_dir().join("objects").join(&oid[..2]).join(&oid[2..]);
    (oid, path)
}

type Way = (&'static str, fn(&Path));

/// Ways to lose an object.
const WAYS: [Way; 4] = [
    ("missing", |path| fs::remove_file(path).unwrap()),
    ("empty", |path| rewrite(path, Vec::clear)),
    ("cut off", |path| rewrite(path, |bytes| bytes.truncate(bytes.len() / 2))),
    ("changed", |path| {
        rewrite(path, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
        });
    }),
];

fn rewrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_missing_object_is_reported_and_nothing_changes() {
    let repo = TestRepo::classic(&[]);
    for n in 0..3 {
        repo.say(&format!("item {n}"));
    }
    let blob = repo.git(&["ls-tree", "-r", "--format=%(objectname)", "refs/traces/main"]);
    let blob = blob.lines().nth(1).unwrap().to_owned();
    let everything: &[&[&str]] = &[
        &["commit", "-m", "more"],
        &["edit", "#1", "-m", "more"],
        &["delete", "#1"],
        &["pin", "#1"],
        &["materialize"],
        &["status"],
        &["log"],
        &["show", "#1"],
        &["export"],
    ];
    let content: &[&[&str]] = &[&["edit", "#1", "-m", "more"], &["materialize"], &["show", "#1"], &["export"]];
    let asked = [("refs/traces/main", everything), ("refs/traces/main^{tree}", everything), (blob.as_str(), content)];
    for (rev, commands) in asked {
        let (oid, path) = loose(&repo, rev);
        let whole = fs::read(&path).unwrap();
        for (way, lose) in WAYS {
            lose(&path);
            for command in commands {
                let refs = fs::read(repo.git_dir().join("refs/traces/main")).unwrap();
                let output = repo.run(command, b"");
                let said = repo.exact(&output);
                assert_eq!(output.status.code(), Some(2), "{way} {rev}: {command:?}: {said}");
                assert!(
                    said.contains(&oid) && said.contains("hint: `git trace fsck`"),
                    "{way} {rev}: {command:?}: {said}"
                );
                assert_eq!(fs::read(repo.git_dir().join("refs/traces/main")).unwrap(), refs);
            }
            if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            fs::write(&path, &whole).unwrap();
        }
    }
    // A lost item stops nobody who does not need it.
    let (_, path) = loose(&repo, &blob);
    fs::remove_file(path).unwrap();
    repo.say("and on");
    repo.text(&["status"]);
}

#[test]
fn a_damaged_pack_is_reported() {
    let repo = TestRepo::classic(&[]);
    for n in 0..20 {
        repo.say(&format!("item {n}, of which every word is another: {}", "x".repeat(n * 7)));
    }
    repo.git(&["gc", "-q"]);
    let packs = repo.git_dir().join("objects/pack");
    let pack = fs::read_dir(packs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "pack");
    let pack = pack.unwrap();
    let whole = fs::read(&pack).unwrap();
    let refs = repo.refs();
    let mut told = 0;
    for at in (12..whole.len() - 20).step_by(whole.len() / 24) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::remove_file(&pack).unwrap();
        fs::write(&pack, &bytes).unwrap();
        for command in
            [&["export"][..], &["edit", "#3", "-m", "item 3, of which every word is another: xxxxxxxxxxxxxxxxxxxxx"]]
        {
            let output = repo.run(command, b"");
            let said = repo.exact(&output);
            match output.status.code() {
                Some(0) => {}
                Some(2) => {
                    assert!(said.contains("error: "), "{said}");
                    told += 1;
                }
                _ => panic!("byte {at}: {command:?}: {said}"),
            }
        }
    }
    fs::remove_file(&pack).unwrap();
    fs::write(&pack, &whole).unwrap();
    assert!(told > 0, "some byte matters");
    assert_eq!(repo.refs(), refs);
    // Cut off, it is no pack at all.
    fs::remove_file(&pack).unwrap();
    fs::write(&pack, &whole[..whole.len() / 2]).unwrap();
    let output = repo.run(&["materialize"], b"");
    assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
}
