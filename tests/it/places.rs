//! Wherever git works, `git trace` works.

use std::path::PathBuf;

use crate::repo::{TestRepo, run};

fn folder(repo: &TestRepo, name: &str) -> PathBuf {
    let folder = repo.folder().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn in_a_subfolder() {
    let mut repo = TestRepo::new();
    let deep = folder(&repo, "a/b");
    repo.within(&deep, |repo| repo.say("from below"));
    std::fs::write(deep.join("note"), "a file beside").unwrap();
    repo.within(&deep, |repo| repo.commit(&["-F", "note"]));
    assert_eq!(repo.bodies("main"), ["from below", "a file beside"]);
}

#[test]
fn with_git_dir_and_git_work_tree() {
    let mut repo = TestRepo::new();
    let git_dir = repo.git_dir();
    let outside = repo.home().join("outside");
    std::fs::create_dir(&outside).unwrap();
    repo.within(&outside, |repo| {
        for (variable, value) in [("GIT_DIR", git_dir.as_os_str()), ("GIT_DIR", "../repo/.git".as_ref())] {
            let output = run(repo.command("git-trace").env(variable, value).args(["commit", "-m", "x"]), b"");
            assert!(output.status.success(), "{}", repo.exact(&output));
        }
        let output = run(repo.command("git").args(["--git-dir", "../repo/.git", "trace", "pin", "#0"]), b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
        let output = run(repo.command("git").args(["-C", "../repo", "trace", "unpin", "#0"]), b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
    });
    assert_eq!(repo.bodies("main").len(), 2);
    let input: String = (0..50).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    let mut command = repo.command("git-trace");
    command.env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", &outside).args(["import", "jsonl", "-"]);
    assert!(run(&mut command, input.as_bytes()).status.success());
    assert_eq!(repo.json(&["status", "--json"])["items"], 52);
    repo.fsck();
}

#[test]
fn in_a_bare_repository() {
    let repo = TestRepo::init(&["--bare"]);
    repo.say("bare");
    repo.text(&["pin", "#0"]);
    repo.text(&["skip", "#0", "--reason", "after all not"]);
    let input: String = (0..50).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    repo.bytes_with(&["import", "jsonl", "-"], input.as_bytes());
    repo.total("main");
    let logged = repo.git(&["reflog", "show", "--format=%gs", "refs/traces/main"]);
    assert_eq!(logged, "import\nappend: dialogue user: bare\n");
    assert_eq!(repo.git(&["reflog", "show", "refs/trace-priority"]).lines().count(), 2);
    repo.fsck();
}

#[test]
fn each_worktree_has_its_own_current_trace() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("in the first");
    let linked = repo.home().join("linked");
    repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    repo.within(&linked, |repo| {
        assert_eq!(repo.json(&["status", "--json"])["trace"], "main");
        repo.text(&["init", "side"]);
        repo.say("in the second");
        repo.text(&["pin", "#0"]);
        assert_eq!(repo.json(&["status", "--json"])["trace"], "side");
    });
    assert_eq!(repo.json(&["status", "--json"])["trace"], "main");
    assert_eq!(repo.json(&["status", "side", "--json"])["by_priority"]["pinned"], 1);
    assert_eq!(repo.bodies("side"), ["in the second"]);
    let logged = repo.git(&["reflog", "show", "refs/traces/side"]);
    assert_eq!(logged.lines().count(), 1, "logs of traces are the repository's, not the worktree's");
    repo.fsck();
}

#[test]
fn with_sha_256() {
    let repo = TestRepo::init(&["--object-format=sha256"]);
    let id = repo.say("long oids");
    assert_eq!(id.len(), 16);
    repo.text(&["edit", "#0", "-m", "longer oids"]);
    repo.text(&["pin", "#0", "--reason", "why"]);
    repo.text(&["delete", "#0"]);
    repo.text(&["restore", "#0", "1"]);
    let input: String = (0..50).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    repo.bytes_with(&["import", "jsonl", "-"], input.as_bytes());
    assert_eq!(repo.json(&["status", "--json"])["items"], 51);
    assert_eq!(repo.json(&["status", "--json"])["commit"].as_str().unwrap().len(), 64);
    let commits = repo.lines(&["log", "--json"]);
    repo.bytes(&["materialize", "--as-of", commits[30]["commit"].as_str().unwrap()]);
    repo.total("main");
    repo.git(&["gc", "-q", "--prune=now"]);
    repo.total("main");
    repo.fsck();

    let bare = TestRepo::init(&["--object-format=sha256", "--bare"]);
    bare.say("bare, too");
    assert_eq!(bare.git(&["reflog", "show", "--format=%gs", "refs/traces/main"]), "append: dialogue user: bare, too\n");
    bare.fsck();
}

#[test]
fn settings_are_read_where_git_reads_them() {
    let repo = TestRepo::new();
    let tags = |repo: &TestRepo| repo.git(&["for-each-ref", "--format=%(refname)"]);
    repo.say("x");
    let id = repo.json(&["show", "#0", "--json"])["id"].as_str().unwrap().to_owned();
    let output = run(repo.command("git").args(["-c", "trace.tagPrefix=refs/tags/here/", "trace", "pin", "#0"]), b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
    assert!(tags(&repo).contains(&format!("refs/tags/here/pinned/{id}")), "{}", tags(&repo));
    let mut command = repo.command("git-trace");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "TRACE.tagprefix");
    command.env("GIT_CONFIG_VALUE_0", "refs/tags/there").args(["pin", "#0"]);
    assert!(run(&mut command, b"").status.success());
    assert!(tags(&repo).contains(&format!("refs/tags/there/pinned/{id}")));
    let global = repo.home().join("global");
    std::fs::write(&global, "[trace]\n\ttagPrefix = refs/tags/global\n").unwrap();
    let mut command = repo.command("git-trace");
    assert!(run(command.env("GIT_CONFIG_GLOBAL", &global).args(["pin", "#0"]), b"").status.success());
    assert!(tags(&repo).contains(&format!("refs/tags/global/pinned/{id}")), "{}", tags(&repo));
}

#[test]
fn trailers_name_the_code_commit() {
    let repo = TestRepo::new();
    repo.say("before there is code");
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let head = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.say("after");
    let logged = repo.lines(&["log", "--json"]);
    assert_eq!(logged[0]["code"], head.as_str());
    assert_eq!(logged[1].get("code"), None);
}
