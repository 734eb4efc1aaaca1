//! Tests of the private parts of `src/trace/store/trace_index.rs`: a list must never differ from what the tips say.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::git::Env;

fn git(folder: &Path, args: &[&str], input: &str) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(args).env_remove("GIT_DIR").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = git.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A bare repository, and the id of its empty tree.
fn repository() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "--bare", "--object-format=sha1"], "");
    let tree = git(folder.path(), &["mktree"], "").trim().to_owned();
    (folder, tree)
}

/// A commit of an empty trace.
fn commit(folder: &Path, tree: &str, second: u32, family: Option<&str>) -> String {
    let family = family.map(|family| format!("Trace-Family: {family}\n")).unwrap_or_default();
    let message =
        format!("one\n\nTrace-Op: append\nTrace-Time: 2026-01-01T00:00:{second:02}Z\nTrace-Tree: {tree}\n{family}");
    let ident = ["-c", "user.name=T\tT", "-c", "user.email=t@example.com", "commit-tree", tree];
    git(folder, &ident, &message).trim().to_owned()
}

fn groups(repo: &Repo) -> Vec<Group> {
    TraceIndex::open(repo).unwrap().groups(repo).collect()
}

const NAMES: [&str; 8] =
    ["main", "a", "codex/1", "codex/1.agent-x", "codex/2", "codex/2.fork", "codex/3.agent-y", "idea"];
const FAMILIES: [Option<&str>; 3] = [None, Some("codex/1"), Some("codex/2")];

#[derive(Clone, Debug)]
enum Act {
    Move { name: usize, second: u32, family: usize },
    Delete(usize),
    Pack,
    Look,
}

fn act() -> impl Strategy<Value = Act> {
    let moves = (0..NAMES.len(), 0_u32..6, 0..FAMILIES.len());
    prop_oneof![
        6 => moves.prop_map(|(name, second, family)| Act::Move { name, second, family }),
        1 => (0..NAMES.len()).prop_map(Act::Delete),
        1 => Just(Act::Pack),
        3 => Just(Act::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_list_says_the_same_as_the_tips(acts in prop::collection::vec(act(), 1..14)) {
        let (folder, tree) = repository();
        let at = folder.path();
        for act in acts.into_iter().chain([Act::Look]) {
            match act {
                Act::Move { name, second, family } => {
                    let oid = commit(at, &tree, second, FAMILIES[family]);
                    git(at, &["update-ref", &format!("refs/traces/{}", NAMES[name]), &oid], "");
                }
                Act::Delete(name) => {
                    git(at, &["update-ref", "-d", &format!("refs/traces/{}", NAMES[name])], "");
                }
                Act::Pack => {
                    git(at, &["pack-refs", "--all"], "");
                }
                Act::Look => {
                    let repo = Repo::open(at, Env::default()).unwrap();
                    let (listed, again) = (groups(&repo), groups(&repo));
                    let newest: Vec<_> = TraceIndex::open(&repo).unwrap().newest_first(&repo).collect();
                    let kept = fs::read(path(&repo)).ok();
                    let _ = fs::remove_file(path(&repo));
                    let read = groups(&repo);
                    prop_assert_eq!(&listed, &read);
                    prop_assert_eq!(&again, &read);
                    let mut traces: Vec<ListedTrace> = read.into_iter().flat_map(|group| group.traces).collect();
                    traces.retain(|trace| !trace.name.is_of_sub_agent());
                    traces.sort_by(|one, other| other.time.cmp(&one.time).then_with(|| one.name.cmp(&other.name)));
                    prop_assert_eq!(newest, traces);
                    // Continue with the older list.
                    if let Some(kept) = kept {
                        fs::write(path(&repo), kept).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn a_trace_moves_from_another_family_to_the_one_named_after_it() {
    let (folder, tree) = repository();
    let at = folder.path();
    let put = |name: &str, second, family| {
        let oid = commit(at, &tree, second, Some(family));
        git(at, &["update-ref", &format!("refs/traces/{name}"), &oid], "");
    };
    put("main", 0, "codex/2");
    put("codex/2", 2, "codex/1");
    let repo = Repo::open(at, Env::default()).unwrap();
    assert_eq!(groups(&repo).len(), 2);
    put("codex/2", 3, "codex/2");
    let joined = groups(&repo);
    assert_eq!(joined.len(), 1);
    let names: Vec<&str> = joined[0].traces.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names, ["codex/2", "main"]);
}

#[test]
fn a_damaged_list_is_made_again() {
    let (folder, tree) = repository();
    let at = folder.path();
    let oid = commit(at, &tree, 1, None);
    git(at, &["update-ref", "refs/traces/main", &oid], "");
    let repo = Repo::open(at, Env::default()).unwrap();
    let expected = groups(&repo);
    assert_eq!(expected.len(), 1);
    for text in ["", "x", "git-trace traces 1 none\n7\n", "git-trace traces 0 none\n0\n"] {
        fs::write(path(&repo), text).unwrap();
        assert_eq!(groups(&repo), expected, "{text}");
    }
}
