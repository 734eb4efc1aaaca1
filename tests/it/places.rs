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

/// Any bytes may be a name on Linux. A lossy conversion gives both of these names.
#[cfg(target_os = "linux")]
fn twins() -> [std::ffi::OsString; 2] {
    use std::os::unix::ffi::OsStringExt as _;
    [b"r\xff".to_vec(), b"r\xef\xbf\xbd".to_vec()].map(std::ffi::OsString::from_vec)
}

#[test]
#[cfg(target_os = "linux")]
fn in_a_repository_whose_path_is_not_utf8() {
    let mut repo = TestRepo::new();
    let [own, other] = twins().map(|name| repo.home().join(name));
    let linked = repo.home().join("linked");
    for folder in [&own, &other] {
        std::fs::create_dir(folder).unwrap();
        repo.within(folder, |repo| {
            repo.git(&["init", "-q"]);
            repo.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
            let records = "{\"key\":\"api.b\",\"value\":\"1\"}\n{\"key\":\"api.a\",\"value\":\"1\"}\n";
            std::fs::create_dir(folder.join(".synapse")).unwrap();
            std::fs::write(folder.join(".synapse/breadcrumbs.jsonl"), records).unwrap();
        });
    }
    let files = |folder: &PathBuf| {
        let mut find = std::process::Command::new("find");
        find.current_dir(folder).args([".", "-type", "f", "-exec", "cksum", "{}", "+"]);
        String::from_utf8(find.output().unwrap().stdout).unwrap()
    };
    let before = files(&other);
    repo.within(&own, |repo| {
        repo.git(&["add", "."]);
        assert!(repo.trace(&["hook", "pre-commit", "--fix"]).contains("fixed `.synapse/breadcrumbs.jsonl`"));
        assert!(
            std::fs::read_to_string(own.join(".synapse/breadcrumbs.jsonl")).unwrap().starts_with("{\"key\":\"api.a\"")
        );
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "y"]);
        assert_eq!(repo.text(&["breadcrumb", "history", "api.a"]).lines().count(), 1);
        repo.git(&["worktree", "add", "-q", "../linked"]);
    });
    repo.within(&linked, |repo| {
        repo.text(&["install"]);
        repo.text(&["install", "--private"]);
        repo.text(&["breadcrumb", "set", "secret.k", "v"]);
        assert!(own.join(".git/hooks/pre-commit").exists());
        repo.text(&["uninstall"]);
        assert!(!own.join(".git/hooks/pre-commit").exists());
    });
    assert_eq!(files(&other), before);
    repo.git(&["init", "-q", "../main"]);
    let main = repo.home().join("main");
    repo.within(&main, |repo| {
        repo.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        let other = repo.home().join(&twins()[0]).join("tree");
        assert!(run(repo.command("git").args(["worktree", "add", "-q"]).arg(&other), b"").status.success());
        std::fs::write(other.join("note"), "a long text to forget").unwrap();
        repo.say("a long text to forget");
        let said = repo.trace_with(&["purge", "--text", "-", "--yes"], b"a long text to forget");
        assert!(said.contains("stays in a file: "), "{said}");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn with_a_work_tree_whose_path_is_not_utf8_or_ends_with_a_line_break() {
    let mut repo = TestRepo::new();
    let (git_dir, [own, other]) = (repo.git_dir(), twins().map(|name| repo.home().join(name)));
    let (broken, whole) = (repo.home().join("u\n"), repo.home().join("u"));
    for (folder, twin) in [(own, other), (broken, whole)] {
        for folder in [&folder, &twin] {
            std::fs::create_dir(folder).unwrap();
        }
        repo.within(&folder, |repo| {
            let mut command = repo.command("git-trace");
            command.env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", &folder).args(["breadcrumb", "set", "a.b", "1"]);
            assert!(run(&mut command, b"").status.success());
        });
        assert!(folder.join(".synapse/breadcrumbs.jsonl").exists());
        assert_eq!(std::fs::read_dir(&twin).unwrap().count(), 0);
    }
}

#[test]
fn with_an_index_that_is_named_relative_to_the_root() {
    let mut repo = TestRepo::new();
    let sub = folder(&repo, "sub");
    std::fs::write(sub.join("a"), "a").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "x"]);
    std::fs::copy(repo.git_dir().join("index"), sub.join("alt")).unwrap();
    std::fs::copy(repo.git_dir().join("index"), repo.folder().join("alt")).unwrap();
    std::fs::write(sub.join("x.crumb"), "<<<<<<< bad\n").unwrap();
    repo.within(&sub, |repo| {
        let run = |args: &[&str]| run(repo.command(args[0]).env("GIT_INDEX_FILE", "alt").args(&args[1..]), b"");
        assert!(run(&["git", "add", "x.crumb"]).status.success());
        assert!(!run(&["git-trace", "hook", "pre-commit"]).status.success());
    });
}
