//! Many items at once go into one pack, which git holds to be its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::repo::TestRepo;

/// Items as lines of JSON, with texts of very different lengths.
fn lines(count: usize) -> Vec<u8> {
    let line = |number: usize| {
        let text = format!("{number} ").repeat(number * number % 700);
        json!({ "type": "dialogue", "role": "user", "text": text }).to_string() + "\n"
    };
    (0..count).map(line).collect::<String>().into_bytes()
}

fn packs(repo: &TestRepo) -> Vec<PathBuf> {
    fs::read_dir(repo.git_dir().join("objects/pack")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn git_index_pack_writes_the_same_index() {
    for format in ["sha1", "sha256"] {
        let repo = TestRepo::init(&[&format!("--object-format={format}")]);
        repo.bytes_with(&["import", "jsonl", "-"], &lines(250));
        let extensions: BTreeSet<_> = packs(&repo).iter().map(|path| path.extension().unwrap().to_owned()).collect();
        assert_eq!(extensions, BTreeSet::from(["idx".into(), "pack".into()]));
        let pack = packs(&repo).into_iter().find(|path| path.extension().unwrap() == "pack").unwrap();

        let copy = repo.home().join("copy.pack");
        fs::copy(&pack, &copy).unwrap();
        let named = repo.git(&["index-pack", "--strict", "--no-rev-index", copy.to_str().unwrap()]);
        assert!(pack.to_str().unwrap().ends_with(&format!("pack-{}.pack", named.trim())));
        assert_eq!(fs::read(pack.with_extension("idx")).unwrap(), fs::read(copy.with_extension("idx")).unwrap());

        let chains = repo.git(&["verify-pack", "--stat-only", pack.to_str().unwrap()]);
        assert!(chains.contains("chain length = 10:") && !chains.contains("chain length = 11:"), "{chains}");
        repo.fsck();
    }
}

#[test]
fn objects_that_exist_are_written_once() {
    let repo = TestRepo::new();
    repo.bytes_with(&["import", "jsonl", "-"], &lines(30));
    for _ in 0..2 {
        repo.text(&["delete", "#3", "--reason", "away"]);
        repo.text(&["restore", "TRACE_HEAD", "--reason", "back"]);
    }
    // Deleted and restored, an item has the same blob in the same trees.
    let copy = TestRepo::new();
    copy.bytes_with(&["import", "jsonl", "-"], &repo.bytes(&["export"]));
    copy.fsck();
    assert_eq!(copy.text(&["materialize"]), repo.text(&["materialize"]));
}

#[test]
fn a_failed_import_leaves_no_file() {
    let repo = TestRepo::new();
    let mut bytes = lines(60);
    bytes.extend_from_slice(b"{\"type\": 7}\n");
    repo.refused_with(&["import", "jsonl", "-"], &bytes);
    assert_eq!(packs(&repo), Vec::<PathBuf>::new());
}
