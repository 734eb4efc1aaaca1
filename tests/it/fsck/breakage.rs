//! Breaking a repository by plain git plumbing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::repo::{TestRepo, run};

/// A repository with a bit of everything, in which fsck finds nothing.
pub(super) fn sound() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be careful."]);
    repo.say("Where is the limit set?");
    repo.commit(&["-r", "assistant", "-m", "In the settings.", "-p", "pinned"]);
    repo.text(&["edit", "#1", "-m", "Where is the limit kept?"]);
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "Look at the limit."]);
    repo
}

/// What fsck finds, as `weight rule`, with its exit status.
pub(super) fn found(repo: &TestRepo, args: &[&str]) -> (Option<i32>, Vec<String>, Value) {
    let output = repo.run(&[&["fsck", "--json"], args].concat(), b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", repo.exact(&output)));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap();
    let rules = findings.iter().map(|finding| text(finding, "weight") + " " + &text(finding, "rule"));
    (output.status.code(), rules.collect(), report)
}

/// The files of a tree: path to mode and object.
pub(super) type Files = BTreeMap<String, (String, String)>;

pub(super) fn files(repo: &TestRepo, rev: &str) -> Files {
    let listed = repo.git(&["ls-tree", "-r", "-z", rev]);
    let entry = |line: &str| {
        let (meta, path) = line.split_once('\t').unwrap();
        let mut words = meta.split(' ');
        let (mode, oid) = (words.next().unwrap(), words.next_back().unwrap());
        (path.to_owned(), (mode.to_owned(), oid.to_owned()))
    };
    listed.split_terminator('\0').map(entry).collect()
}

pub(super) fn blob(repo: &TestRepo, bytes: &str) -> String {
    let output = run(repo.command("git").args(["hash-object", "-w", "--stdin"]), bytes.as_bytes());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes a tree of these files, and a commit of it on the ref, whose message `{tree}` is replaced in.
pub(super) fn publish(repo: &TestRepo, refname: &str, files: &Files, message: &str) -> String {
    let index = repo.home().join("index");
    let _ = std::fs::remove_file(&index);
    let input: String = files.iter().map(|(path, (mode, oid))| format!("{mode} {oid}\t{path}\n")).collect();
    let with_index = |args: &[&str], input: &str| {
        let output = run(repo.command("git").args(args).env("GIT_INDEX_FILE", &index), input.as_bytes());
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    with_index(&["read-tree", "--empty"], "");
    with_index(&["update-index", "--index-info"], &input);
    let tree = with_index(&["write-tree"], "");
    let message = message.replace("{tree}", &tree);
    let parent = repo.run_git(&["rev-parse", "--verify", "-q", refname]);
    let parents = parent.as_deref().map_or(vec![], |parent| vec!["-p", parent]);
    let commit = with_index(&[&["commit-tree", &tree, "-m", &message], parents.as_slice()].concat(), "");
    repo.git(&["update-ref", refname, &commit]);
    commit
}

/// Replaces something in the file of the item at a position of `main`.
pub(super) fn change(repo: &TestRepo, seq: usize, from: &str, to: &str) {
    let mut files = files(repo, "refs/traces/main");
    let (path, text) = item(repo, seq);
    assert!(text.contains(from), "{text}");
    files.insert(path, ("100644".to_owned(), blob(repo, &text.replacen(from, to, 1))));
    publish(repo, "refs/traces/main", &files, "by hand");
}

/// Path and text of the item at a position of `main`.
pub(super) fn item(repo: &TestRepo, seq: usize) -> (String, String) {
    let files = files(repo, "refs/traces/main");
    let (path, (_, oid)) = files.into_iter().nth(seq).unwrap();
    (path, repo.git(&["cat-file", "blob", &oid]))
}

/// Commits the tree of `main` once more with these trailers.
pub(super) fn claim(repo: &TestRepo, trailers: &str) {
    let files = files(repo, "refs/traces/main");
    publish(repo, "refs/traces/main", &files, &format!("by hand\n\nTrace-Tree: {{tree}}\n{trailers}"));
}

/// The file of a loose object.
pub(super) fn loose(repo: &TestRepo, rev: &str) -> PathBuf {
    let oid = repo.git(&["rev-parse", rev]);
    let (folder, file) = oid.trim().split_at(2);
    let path = repo.git_dir().join("objects").join(folder).join(file);
    let mut mode = std::fs::metadata(&path).unwrap().permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "in a temporary folder")]
    mode.set_readonly(false);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}

impl TestRepo {
    /// The trimmed output of git; `None` if it fails.
    fn run_git(&self, args: &[&str]) -> Option<String> {
        let output = run(self.command("git").args(args), b"");
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}
