//! Clones that have not everything: shallow, partial, borrowing; and git's other version.

use crate::repo::{TestRepo, run};

/// A repository with a trace of five items, as one to clone from; its address.
fn lender() -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    for n in 0..5 {
        repo.say(&format!("item {n}"));
    }
    repo.text(&["pin", "#1", "--reason", "why"]);
    let url = format!("file://{}", repo.folder().display());
    (repo, url)
}

const TRACES: &str = "+refs/traces/*:refs/traces/*";

#[test]
fn commands_stop_at_the_boundary_of_a_shallow_clone() {
    let (lender, url) = lender();
    let clone = TestRepo::new();
    clone.git(&["remote", "add", "origin", &url]);
    clone.git(&["fetch", "-q", "--depth", "2", "origin", TRACES]);
    assert_eq!(clone.text(&["materialize"]), lender.text(&["materialize"]));
    assert_eq!(clone.lines(&["log", "--json"]).len(), 2);
    clone.say("more");
    clone.text(&["edit", "#1", "-m", "changed"]);
    clone.text(&["pin", "#0", "#5"]);
    clone.text(&["blame", "#1"]);
    clone.text(&["undo", "-n", "2"]);
    clone.text(&["delete", "#2"]);
    clone.text(&["restore", "#2"]);
    clone.text(&["export"]);
    lender.git(&["config", "receive.denyCurrentBranch", "ignore"]);
    clone.text(&["push"]);
    assert_eq!(lender.bodies("main"), ["item 0", "item 1", "item 2", "item 3", "item 4", "more"]);
    clone.fsck();
    lender.fsck();
}

#[test]
fn a_partial_clone_fetches_only_what_it_needs() {
    let (lender, url) = lender();
    let items = lender.text(&["materialize"]);
    for filter in ["blob:none", "tree:0"] {
        let clone = TestRepo::without_git();
        clone.git(&["clone", "-q", &format!("--filter={filter}"), &url, "."]);
        clone.git(&["fetch", "-q", "origin", TRACES]);
        let missing = |clone: &TestRepo| {
            let listed = clone.git(&["rev-list", "--objects", "--missing=print", "refs/traces/main"]);
            listed.lines().filter(|line| line.starts_with('?')).count()
        };
        assert!(missing(&clone) >= 5, "{filter}");
        let unasked = run(clone.command("git-trace").env("GIT_NO_LAZY_FETCH", "1").arg("export"), b"");
        assert!(clone.exact(&unasked).contains("is not in this repository"), "{}", clone.exact(&unasked));
        assert_eq!(clone.text(&["materialize"]), items);
        assert_eq!(missing(&clone) > 0, filter == "tree:0", "{filter}: all items came at once, and no old tree");
        clone.say("more");
        clone.text(&["edit", "#1", "-m", "changed"]);
        clone.text(&["log", "--json"]);
        assert_eq!(missing(&clone), 0);
        clone.fsck();
    }
    let clone = TestRepo::without_git();
    clone.git(&["clone", "-q", "--filter=blob:none", &url, "."]);
    clone.git(&["fetch", "-q", "origin", TRACES]);
    clone.git(&["remote", "set-url", "origin", "../gone"]);
    let said = clone.refused(&["materialize"]);
    assert!(said.starts_with("--- stderr\nerror: `git fetch` failed: "), "{said}");
    // Git asks each remote that promises objects.
    clone.git(&["config", "remote.other.url", &url]);
    clone.git(&["config", "remote.other.partialCloneFilter", "blob:none"]);
    assert_eq!(clone.text(&["materialize"]), items);
}

#[test]
fn a_clone_takes_the_objects_of_traces_from_a_bundle() {
    let (lender, url) = lender();
    lender.git(&["bundle", "create", "-q", "../bundle", "--all"]);
    let clone = TestRepo::without_git();
    let bundle = lender.folder().join("../bundle");
    clone.git(&["clone", "-q", "--bundle-uri", bundle.to_str().unwrap(), &url, "."]);
    let objects = || clone.git(&["count-objects", "-v"]);
    let before = objects();
    // The priorities that were set in the lender stay there.
    clone.trace(&["fetch", "-q", "origin"]);
    assert_eq!(objects(), before, "the traces came with the bundle");
    clone.trace(&["pull"]);
    assert_eq!(clone.bodies("main"), lender.bodies("main"));
    clone.fsck();
}

#[test]
fn a_repository_with_alternates_writes_to_its_objects() {
    let (lender, _) = lender();
    let borrower = TestRepo::without_git();
    borrower.git(&["clone", "-q", "--shared", lender.folder().to_str().unwrap(), "."]);
    borrower.git(&["fetch", "-q", "origin", TRACES]);
    let refs = lender.refs();
    borrower.say("its own");
    borrower.text(&["edit", "#1", "-m", "changed"]);
    let input: String = (0..30).map(|n| format!("{{\"text\":\"many {n}\"}}\n")).collect();
    borrower.bytes_with(&["import", "jsonl", "-"], input.as_bytes());
    borrower.git(&["gc", "-q"]);
    // Reachable objects stay in the lender, so its maintenance takes nothing from the borrower.
    lender.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(borrower.bodies("main").len(), 36);
    borrower.total("main");
    borrower.fsck();
    lender.fsck();
    assert_eq!(lender.refs(), refs);
    // Without the lender, the borrower reports what is missing.
    std::fs::write(borrower.git_dir().join("objects/info/alternates"), "/nowhere/objects\n").unwrap();
    let output = borrower.run(&["materialize"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(borrower.exact(&output).contains("is not in this repository"), "{}", borrower.exact(&output));
}

/// Other versions of git may be on the path behind the first; they work on one repository in turns.
#[test]
fn two_versions_of_git_alternate() {
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut versions: Vec<(String, std::path::PathBuf)> = Vec::new();
    for folder in folders.iter().filter(|folder| folder.join("git").is_file()) {
        let output = std::process::Command::new(folder.join("git")).arg("--version").output();
        let Ok(output) = output else { continue };
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !version.is_empty() && versions.iter().all(|(known, _)| *known != version) {
            versions.push((version, folder.clone()));
        }
    }
    println!("{versions:?}");
    let repo = TestRepo::classic(&[]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_git-trace")).parent().unwrap();
    for (round, (_, folder)) in versions.iter().chain(&versions).enumerate() {
        let path = std::env::join_paths([binary, folder, "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        let work = |args: &[&str], input: &str| {
            let output = run(repo.command("git").env("PATH", &path).arg("trace").args(args), input.as_bytes());
            assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
        };
        let many: String = (0..25).map(|n| format!("{{\"text\":\"round {round}, {n}\"}}\n")).collect();
        work(&["commit", "-m", &format!("round {round}")], "");
        work(&["pin", "TRACE_HEAD"], "");
        work(&["unpin", "TRACE_HEAD"], "");
        work(&["import", "jsonl", "-"], &many);
        work(&["branch", &format!("b{round}")], "");
        work(&["branch", "-D", &format!("b{round}")], "");
        let packed = run(repo.command("git").env("PATH", &path).args(["gc", "-q"]), b"");
        assert!(packed.status.success(), "{}", repo.exact(&packed));
        work(&["materialize"], "");
    }
    assert_eq!(repo.bodies("main").len(), 26 * 2 * versions.len());
    repo.total("main");
    repo.fsck();
}
