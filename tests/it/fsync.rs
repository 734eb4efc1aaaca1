//! What reaches the disk before success is reported: `core.fsync`, `core.fsyncMethod`, and `core.fsyncObjectFiles`, compared with
//! git's system calls.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::repo::{TestRepo, run};

/// The calls that sync a file, with the kind of the file; `None` if processes cannot be traced here.
fn synced(repo: &TestRepo, args: &[&str], input: &str) -> Option<BTreeSet<String>> {
    let log = repo.home().join("calls");
    let mut command = repo.command("strace");
    command.args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o"]);
    let output = run(command.arg(&log).arg("git").args(args), input.as_bytes());
    let calls = fs::read_to_string(&log).ok()?;
    assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    let kinds =
        [("/tmp_obj_", "loose object"), ("/tmp_pack_", "pack"), ("/tmp_idx_", "index of a pack"), ("/refs/", "ref")];
    let call = |line: &str| {
        let (call, file) = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').split_once('(')?;
        // Ours has no reverse index.
        if file.contains("/tmp_rev_") {
            return None;
        }
        let kind = kinds.iter().find(|(part, _)| file.contains(part)).map_or(file, |(_, kind)| kind);
        Some(format!("{call}: {kind}"))
    };
    Some(calls.lines().filter_map(call).collect())
}

fn union(sets: impl IntoIterator<Item = BTreeSet<String>>) -> String {
    let calls: BTreeSet<String> = sets.into_iter().flatten().collect();
    calls.into_iter().collect::<Vec<_>>().join(", ")
}

/// Compares the files that git syncs for a loose object, refs, and a pack with ours for a commit, a new trace, and an import.
fn compare(settings: &[(&str, &str)]) -> Option<String> {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    for (key, value) in settings {
        repo.git(&["config", key, value]);
    }
    let by_git = union([
        synced(&repo, &["hash-object", "-w", "--stdin"], "new\n")?,
        synced(&repo, &["update-ref", "refs/heads/new", &tip], "")?,
        synced(&repo, &["symbolic-ref", "-m", "x", "OTHER_HEAD", "refs/heads/new"], "")?,
        synced(&repo, &["pack-objects", "-q", ".git/objects/pack/pack"], &format!("{tip}\n"))?,
    ]);
    let items: String = (0..50).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    let by_us = union([
        synced(&repo, &["trace", "commit", "-m", "y"], "")?,
        synced(&repo, &["trace", "switch", "-c", "other"], "")?,
        synced(&repo, &["trace", "import", "jsonl", "-"], &items)?,
    ]);
    assert_eq!(by_us, by_git, "{settings:?}");
    Some(by_us)
}

#[test]
fn the_same_files_are_synced_as_by_git() {
    if !Command::new("strace").arg("true").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: strace cannot trace processes here");
        return;
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |name: &str, settings: &[(&str, &str)]| {
        found.entry(compare(settings).unwrap()).or_default().push(name.to_owned());
    };
    add("unset", &[]);
    for value in [
        "none",
        "loose-object",
        "pack",
        "pack-metadata",
        "commit-graph",
        "index",
        "objects",
        "reference",
        "derived-metadata",
        "committed",
        "added",
        "all",
        "default",
        "",
        "-pack",
        "-pack-metadata",
        "all,-reference",
        "loose-object,none",
        "none,pack",
        "none,reference",
        "x,reference",
    ] {
        add(&format!("{value:?}"), &[("core.fsync", value)]);
    }
    for method in ["writeout-only", "batch", "unknown"] {
        add(&format!("\"all\" with {method}"), &[("core.fsync", "all"), ("core.fsyncMethod", method)]);
    }
    add("\"none\" with core.fsyncObjectFiles", &[("core.fsync", "none"), ("core.fsyncObjectFiles", "true")]);
    let lines = found.iter().map(|(calls, values)| format!("[{calls}]\n{}\n", values.join("\n")));
    insta::assert_snapshot!(lines.collect::<String>(), @r#"
    []
    "none"
    "-pack"
    [fsync: index of a pack, fsync: loose object, fsync: pack]
    "loose-object"
    "objects"
    [fsync: index of a pack, fsync: loose object, fsync: pack, fsync: ref]
    "committed"
    "added"
    "all"
    "all,-reference"
    "all" with batch
    "all" with unknown
    [fsync: index of a pack, fsync: pack]
    unset
    "pack"
    "pack-metadata"
    "commit-graph"
    "index"
    "derived-metadata"
    "default"
    ""
    "none,pack"
    [fsync: index of a pack, fsync: pack, fsync: ref]
    "reference"
    "none,reference"
    "x,reference"
    [fsync: loose object]
    "loose-object,none"
    "none" with core.fsyncObjectFiles
    [fsync: pack]
    "-pack-metadata"
    [sync_file_range: index of a pack, sync_file_range: loose object, sync_file_range: pack, sync_file_range: ref]
    "all" with writeout-only
    "#);
}
