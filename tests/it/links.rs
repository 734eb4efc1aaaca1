//! Links and special files that a clone may contain: nothing outside of the work tree or in a git directory is read or written.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::repo::{TestRepo, run};

const CHECKPOINT: &str = "---\ncheckpoint: chk-a\ncreated: 2026-02-10T09:00:00Z\nanchor: start\n\
    last_delta: 2026-02-10T09:00:00Z\nparent: null\nstatus: active\n---\n\n## Problem\n\nIt fails.\n";

const ARCHIVE: [&str; 7] = ["checkpoint", "archive", "chk-a", "--outcome", "done", "--learnings", "much"];

/// A repository with a link, whose folder exists, in its work tree.
fn with_link(link: &str, target: &str) -> TestRepo {
    let repo = TestRepo::new();
    add_link(&repo, link, target);
    repo
}

fn add_link(repo: &TestRepo, link: &str, target: &str) {
    let link = repo.folder().join(link);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
}

fn add_checkpoint(repo: &TestRepo) {
    fs::create_dir_all(repo.folder().join("checkpoints/active")).unwrap();
    fs::write(repo.folder().join("checkpoints/active/chk-a.md"), CHECKPOINT).unwrap();
}

/// The end of the error, which names the link and where it leads.
fn cause(repo: &TestRepo, args: &[&str]) -> String {
    let output = repo.run(args, b"");
    assert_eq!(output.status.code(), Some(2), "git trace {args:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    said.split_once("`: ").map_or(said.clone(), |(_, cause)| cause.to_owned())
}

fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The stderr of a command that must not wait.
fn prompt(repo: &TestRepo, args: &[&str], input: &[u8]) -> String {
    let mut command = repo.command("git-trace");
    let command = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("git trace {args:?} waits for a FIFO");
        }
        std::thread::yield_now();
    }
    let output = child.wait_with_output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn breadcrumbs_are_not_written_into_the_git_directory() {
    let repo = with_link(".synapse/breadcrumbs.jsonl", "../.git/hooks/post-commit");
    insta::assert_snapshot!(cause(&repo, &["breadcrumb", "set", "a.b", "x"]), @"`.synapse/breadcrumbs.jsonl` is a link to `../.git/hooks/post-commit`, which enters a git directory");
    assert!(!repo.git_dir().join("hooks/post-commit").exists());
}

#[test]
fn a_store_that_is_a_link_out_of_the_work_tree_is_refused() {
    let repo = with_link(".synapse", "../outside");
    fs::create_dir(repo.home().join("outside")).unwrap();
    for args in [&["breadcrumb", "set", "a.b", "x"][..], &["breadcrumb", "get", "a.b"], &["breadcrumb", "list"]] {
        assert_eq!(cause(&repo, args), "`.synapse` is a link to `../outside`, which leaves the work tree\n");
    }
    assert_eq!(fs::read_dir(repo.home().join("outside")).unwrap().count(), 0);
}

#[test]
fn links_that_stay_in_the_work_tree_are_followed() {
    let repo = with_link(".synapse", "docs/../memory");
    fs::create_dir(repo.folder().join("docs")).unwrap();
    repo.text(&["breadcrumb", "set", "a.b", "x"]);
    assert_eq!(repo.text(&["breadcrumb", "get", "a.b"]), "x\n");
    assert!(repo.folder().join("memory/breadcrumbs.jsonl").is_file());
}

#[test]
fn secrets_are_not_written_through_a_link_into_a_file_that_git_tracks() {
    let repo = with_link(".synapse/breadcrumbs-secret.jsonl", "../public");
    fs::write(repo.folder().join(".gitignore"), "breadcrumbs-secret.jsonl\n").unwrap();
    repo.refused(&["breadcrumb", "set", "secret.token", "x"]);
    assert!(!repo.folder().join("public").exists());
}

#[test]
fn secrets_are_written_only_where_the_work_tree_that_they_are_in_ignores_them() {
    let repo = with_link(".synapse/breadcrumbs-secret.jsonl", "../.worktrees/release/log");
    fs::write(repo.folder().join(".gitignore"), ".worktrees\n").unwrap();
    fs::write(repo.folder().join("log"), "").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "code"]);
    repo.git(&["worktree", "add", "-q", ".worktrees/release"]);
    repo.refused(&["breadcrumb", "set", "secret.token", "x"]);
    assert_eq!(fs::read_to_string(repo.folder().join(".worktrees/release/log")).unwrap(), "");
    // A clone in an ignored folder.
    let repo = TestRepo::new();
    fs::write(repo.folder().join(".gitignore"), ".synapse\n").unwrap();
    repo.git(&["init", "-q", ".synapse"]);
    repo.text(&["breadcrumb", "set", "secret.token", "x"]);
    assert_eq!(repo.git(&["-C", ".synapse", "status", "--porcelain"]), "");
    // The project may track a file of it.
    repo.git(&["add", "-f", ".gitignore"]);
    let blob = repo.git(&["hash-object", "-w", ".gitignore"]);
    let entry = format!("100644,{},.synapse/breadcrumbs-secret.jsonl", blob.trim());
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.refused(&["breadcrumb", "set", "secret.token", "y"]);
}

#[test]
fn checkpoints_are_not_archived_outside_of_the_work_tree() {
    for (link, target) in [
        ("checkpoints/archive", "../../home/.claude"),
        ("checkpoints/LEARNINGS.md", "../../home"),
        ("checkpoints/active/INDEX.md", "../../../home"),
    ] {
        let repo = TestRepo::new();
        add_checkpoint(&repo);
        add_link(&repo, link, target);
        let expected = format!("`{link}` is a link to `{target}`, which leaves the work tree\n");
        assert_eq!(cause(&repo, &ARCHIVE), expected);
        assert!(!repo.home().join("home").exists());
        assert!(repo.folder().join("checkpoints/active/chk-a.md").exists());
    }
}

#[test]
fn checkpoints_are_not_created_outside_of_the_work_tree() {
    for (link, target) in [("checkpoints/active", "../../outside"), ("checkpoints", "../outside")] {
        let repo = with_link(link, target);
        fs::create_dir(repo.home().join("outside")).unwrap();
        let said = cause(&repo, &["checkpoint", "new", "a", "--problem", "p", "--intent", "i"]);
        assert_eq!(said, format!("`{link}` is a link to `{target}`, which leaves the work tree\n"));
        assert_eq!(fs::read_dir(repo.home().join("outside")).unwrap().count(), 0);
    }
}

#[test]
fn settings_of_agents_and_clients_are_not_written_outside_of_the_work_tree() {
    for (option, name, link) in
        [("--agent", "claude-code", ".claude/settings.json"), ("--mcp", "cursor", ".cursor/mcp.json")]
    {
        let repo = with_link(link, "../../settings.json");
        let said = cause(&repo, &["install", option, name]);
        assert_eq!(said, format!("`{link}` is a link to `../../settings.json`, which leaves the work tree\n"));
        assert!(!repo.home().join("settings.json").exists());
    }
}

#[test]
fn hooks_are_not_written_outside_of_the_work_tree() {
    for (link, target, why) in [
        ("hooks", "../outside", "leaves the work tree"),
        ("hooks", ".git/hooks", "enters a git directory"),
        ("hooks/pre-commit", "../../outside/pre-commit", "leaves the work tree"),
    ] {
        let repo = with_link(link, target);
        let outside = repo.home().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("pre-commit"), "theirs\n").unwrap();
        symlink(repo.home(), repo.home().join("way")).unwrap();
        let [full, linked] =
            [repo.folder().to_owned(), repo.home().join("way").join(repo.folder().file_name().unwrap())]
                .map(|root| root.join("hooks").display().to_string());
        for path in ["hooks".to_owned(), "./hooks/../hooks".to_owned(), full, linked] {
            repo.git(&["config", "core.hooksPath", &path]);
            for command in ["install", "uninstall"] {
                assert_eq!(cause(&repo, &[command]), format!("`{link}` is a link to `{target}`, which {why}\n"));
            }
            assert!(repo.exact(&repo.run(&["doctor"], b"")).contains(why));
        }
        assert_eq!(fs::read_to_string(outside.join("pre-commit")).unwrap(), "theirs\n");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert!(!repo.git_dir().join("hooks/pre-commit").exists());
    }
    // A folder that `install` would create must not change the way.
    let repo = with_link("hooks", "../outside");
    fs::create_dir(repo.home().join("outside")).unwrap();
    for path in ["missing/../hooks", "a/b/../../hooks"] {
        repo.git(&["config", "core.hooksPath", path]);
        assert!(cause(&repo, &["install"]).starts_with("`..` follows `"), "{path}");
    }
    assert_eq!(fs::read_dir(repo.home().join("outside")).unwrap().count(), 0);
    // Git's own folder may be the user's link to a committed one.
    let repo = with_link("hooks", "../outside");
    fs::create_dir(repo.home().join("outside")).unwrap();
    let own = repo.git_dir().join("hooks");
    let _ = fs::remove_dir_all(&own);
    symlink("../hooks", &own).unwrap();
    for command in ["install", "uninstall"] {
        assert_eq!(cause(&repo, &[command]), "`hooks` is a link to `../outside`, which leaves the work tree\n");
    }
    assert_eq!(fs::read_dir(repo.home().join("outside")).unwrap().count(), 0);
    fs::remove_file(repo.folder().join("hooks")).unwrap();
    add_link(&repo, "hooks/pre-commit", "/dev/zero");
    for command in ["install", "uninstall", "doctor"] {
        assert!(prompt(&repo, &[command], b"").contains("which leaves the work tree"), "{command}");
    }
    fs::remove_file(repo.folder().join("hooks/pre-commit")).unwrap();
    repo.text(&["install"]);
    assert!(repo.folder().join("hooks/pre-commit").is_file());
    // The git directory may be in the work tree under another name.
    let repo = TestRepo::new();
    fs::rename(repo.git_dir(), repo.folder().join(".dotfiles")).unwrap();
    for command in ["install", "uninstall"] {
        let args = ["--git-dir=.dotfiles", "--work-tree=.", "trace", command];
        assert!(repo.command("git").args(args).output().unwrap().status.success(), "{command}");
    }
    // A tool that manages hooks calls this one.
    let repo = with_link("hooks/pre-commit.old", "../../other/.git/hooks/pre-commit");
    repo.git(&["init", "--quiet", "../other"]);
    repo.git(&["config", "core.hooksPath", "hooks"]);
    let hook = repo.home().join("other/.git/hooks/pre-commit");
    fs::write(&hook, "theirs\n").unwrap();
    for command in ["install", "uninstall"] {
        assert!(cause(&repo, &[command]).ends_with("which leaves the work tree\n"), "{command}");
    }
    assert!(hook.is_file());
    let repo = with_link("hooks", "tools/../scripts");
    fs::create_dir_all(repo.folder().join("tools")).unwrap();
    fs::create_dir_all(repo.folder().join("scripts")).unwrap();
    repo.git(&["config", "core.hooksPath", "hooks"]);
    repo.text(&["install"]);
    assert!(repo.folder().join("scripts/pre-commit").is_file());
    let outside = repo.home().join("outside");
    for path in ["../outside", outside.to_str().unwrap(), ".git/mine"] {
        repo.git(&["config", "core.hooksPath", path]);
        repo.text(&["install"]);
    }
    assert!(outside.join("pre-commit").is_file(), "the user may configure any folder");
}

#[test]
fn a_brief_does_not_contain_a_file_outside_of_the_work_tree() {
    let repo = with_link("TEAM.md", "../private");
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    repo.git(&["config", "trace.briefTeam", "TEAM.md"]);
    let said = prompt(&repo, &["brief"], b"");
    assert!(!said.contains("private text"), "{said}");
    assert!(said.contains("`TEAM.md` is a link to `../private`, which leaves the work tree"), "{said}");
    repo.git(&["config", "trace.briefTeam", "../private"]);
    assert!(prompt(&repo, &["brief"], b"").contains("private text"), "the user may configure any path");
}

#[test]
fn a_link_on_the_way_to_a_configured_file_does_not_lead_out_of_the_work_tree() {
    let repo = with_link("me.crumb", "../me.crumb");
    fs::write(repo.home().join("me.crumb"), "∴CRUMB2 SPARK s1\n").unwrap();
    fs::create_dir(repo.folder().join("docs")).unwrap();
    add_link(&repo, "folder", "..");
    symlink(repo.folder().join("me.crumb"), repo.home().join("way.crumb")).unwrap();
    symlink(repo.folder().join("folder"), repo.home().join("way")).unwrap();
    repo.git(&["config", "trace.crumbStart", "true"]);
    let secret = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxC\n-----END AGE ENCRYPTED FILE-----";
    fs::write(repo.folder().join(".gitignore"), ".synapse\n").unwrap();
    repo.text(&["breadcrumb", "set", "secret.a", secret]);
    let input = br#"{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}"#;
    let full = |folder: &Path, name: &str| folder.join(name).display().to_string();
    for path in [
        "me.crumb".to_owned(),
        "docs/../me.crumb".to_owned(),
        "folder/me.crumb".to_owned(),
        full(repo.folder(), "me.crumb"),
        full(repo.home(), "way.crumb"),
        full(repo.home(), "way/me.crumb"),
    ] {
        for (key, args) in [
            ("briefCrumb", &["brief"][..]),
            ("briefInbox", &["brief"]),
            ("ageIdentity", &["breadcrumb", "get", "secret.a"]),
            ("tokenizer", &["count", ".gitignore"]),
        ] {
            repo.git(&["config", &format!("trace.{key}"), &path]);
            let said = prompt(&repo, args, b"");
            assert!(said.contains("which leaves the work tree"), "{args:?} with {path}: {said}");
            assert!(!said.contains("SPARK"), "{args:?} with {path}: {said}");
        }
        repo.git(&["config", "trace.tokenizer", ""]);
        repo.run(&["hook", "claude-code", "--brief"], input);
        assert_eq!(fs::read_to_string(repo.home().join("me.crumb")).unwrap(), "∴CRUMB2 SPARK s1\n", "{path}");
    }
    // The user's own link may lead anywhere.
    fs::remove_file(repo.home().join("way.crumb")).unwrap();
    symlink("me.crumb", repo.home().join("way.crumb")).unwrap();
    repo.git(&["config", "trace.briefCrumb", "../way.crumb"]);
    repo.run(&["hook", "claude-code", "--brief"], input);
    assert_ne!(fs::read_to_string(repo.home().join("me.crumb")).unwrap(), "∴CRUMB2 SPARK s1\n");
}

#[test]
fn a_page_does_not_complete_a_link_of_another_page_into_the_git_directory() {
    let repo = with_link("docs/man1/git-trace.1", "x/y/page.1");
    add_link(&repo, "docs/man1/l", "x/y/../../../../.git");
    add_link(&repo, "docs/man1/git-trace-commit.1", "l/shallow");
    let said = cause(&repo, &["install", "--man", "docs"]);
    assert!(said.starts_with("`..` follows `") && said.ends_with("/x/y`, which is no folder\n"), "{said}");
    assert!(!repo.git_dir().join("shallow").exists() && !repo.folder().join("docs/man1/x").exists());
}

#[test]
fn settings_of_the_user_in_a_clone_are_not_written_outside_of_it() {
    let repo = TestRepo::new();
    repo.git(&["init", "-q", "../dot"]);
    let dot = repo.home().join("dot");
    symlink("../victim", dot.join("attributes")).unwrap();
    fs::create_dir(dot.join("claude")).unwrap();
    symlink("../.git/hooks/post-commit", dot.join("claude/settings.json")).unwrap();
    symlink("dot/claude", repo.home().join(".claude")).unwrap();
    repo.git(&["-C", "../dot", "add", "."]);
    repo.git(&["config", "--global", "core.attributesFile", dot.join("attributes").to_str().unwrap()]);
    for args in [&["install", "--global"][..], &["uninstall", "--global"]] {
        assert_eq!(cause(&repo, args), "`attributes` is a link to `../victim`, which leaves the work tree\n");
    }
    let entered = "`claude/settings.json` is a link to `../.git/hooks/post-commit`, which enters a git directory\n";
    assert_eq!(cause(&repo, &["install", "--agent", "claude-code", "--global"]), entered);
    assert!(!repo.home().join("victim").exists() && !dot.join(".git/hooks/post-commit").exists());
    // Its data may be there, too.
    fs::create_dir_all(dot.join("share/git-trace")).unwrap();
    fs::create_dir_all(dot.join("share/bash-completion")).unwrap();
    symlink("../../../victim", dot.join("share/bash-completion/completions")).unwrap();
    symlink("../../.git/hooks", dot.join("share/git-trace/installed")).unwrap();
    symlink("../../victims", dot.join("share/man")).unwrap();
    repo.git(&["-C", "../dot", "add", "."]);
    fs::create_dir(repo.home().join(".local")).unwrap();
    symlink("../dot/share", repo.home().join(".local/share")).unwrap();
    for args in [&["install", "--completions", "bash"][..], &["install", "--man"], &["uninstall", "--completions"]] {
        assert!(cause(&repo, args).ends_with(", which leaves the work tree\n"), "{args:?}");
    }
    // The user's own links may lead anywhere.
    fs::remove_file(dot.join("claude/settings.json")).unwrap();
    assert!(cause(&repo, &["install", "--agent", "claude-code", "--global"]).ends_with("enters a git directory\n"));
    fs::remove_file(dot.join("share/git-trace/installed")).unwrap();
    repo.git(&["-C", "../dot", "rm", "-q", "--cached", "claude/settings.json"]);
    fs::create_dir(repo.home().join("elsewhere")).unwrap();
    symlink("../../elsewhere/settings.json", dot.join("claude/settings.json")).unwrap();
    repo.text(&["install", "--agent", "claude-code", "--global"]);
    assert!(repo.home().join("elsewhere/settings.json").exists());
    // A file that is left out of a sparse checkout is not replaced.
    fs::remove_file(dot.join("claude/settings.json")).unwrap();
    fs::write(dot.join("claude/settings.json"), "{}").unwrap();
    repo.git(&["-C", "../dot", "add", "claude/settings.json"]);
    repo.git(&["-C", "../dot", "update-index", "--skip-worktree", "claude/settings.json"]);
    fs::remove_file(dot.join("claude/settings.json")).unwrap();
    assert!(repo.refused(&["install", "--agent", "claude-code", "--global"]).contains("leaves it out"));
}

#[test]
fn a_fifo_in_place_of_a_folder_or_of_the_settings_of_an_agent_is_not_waited_for() {
    let repo = TestRepo::new();
    fifo(&repo.folder().join("memory"));
    for args in [&["crumb", "note", "memory/a.crumb", "hi"][..], &["crumb", "new", "memory/a.crumb"]] {
        assert!(prompt(&repo, args, b"").contains("is not a regular file"), "{args:?}");
    }
    repo.say("x");
    fifo(&repo.home().join(".codex/config.toml"));
    fifo(&repo.home().join(".claude/plugins/installed_plugins.json"));
    prompt(&repo, &["doctor"], b"");
    prompt(&repo, &["enable"], b"");
}

#[test]
fn pages_are_written_and_removed_below_the_folder_that_the_user_named() {
    let repo = with_link("docs/man1", "../../pages");
    let pages = repo.home().join("pages");
    fs::create_dir_all(&pages).unwrap();
    repo.git(&["add", "docs"]);
    let refused = "`docs/man1` is a link to `../../pages`, which leaves the work tree\n";
    assert_eq!(cause(&repo, &["install", "--man", "docs"]), refused);
    assert_eq!(fs::read_dir(&pages).unwrap().count(), 0);
    // The user's own link may lead anywhere.
    symlink("pages", repo.home().join("man1")).unwrap();
    repo.text(&["install", "--man", repo.home().to_str().unwrap()]);
    assert_eq!(cause(&repo, &["uninstall", "--man", "docs"]), refused);
    assert!(pages.join("git-trace.1").exists());
}

/// With `TEAM.md` as a link out of its work tree.
fn refuses_team(repo: &TestRepo, path: &str) {
    repo.git(&["config", "trace.briefTeam", path]);
    let said = prompt(repo, &["brief"], b"");
    assert!(!said.contains("private text"), "{said}");
    assert!(said.contains("`TEAM.md` is a link to `../private`, which leaves the work tree"), "{said}");
}

#[test]
fn links_of_other_work_trees_and_of_the_superproject_are_not_followed() {
    let mut repo = with_link("TEAM.md", "../private");
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    add_link(&repo, "to-outside", "../outside");
    add_link(&repo, "to-git", ".git/info");
    fs::create_dir(repo.home().join("outside")).unwrap();
    repo.git(&["init", "--quiet", "../module"]);
    repo.git(&["-C", "../module", "commit", "--quiet", "--allow-empty", "-m", "a"]);
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../module", "sub"]);
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "links"]);
    repo.git(&["worktree", "add", "--quiet", "../linked"]);
    let main = repo.folder().to_owned();
    let team = main.join("TEAM.md").display().to_string();
    repo.within(&main.with_file_name("linked"), |repo| {
        refuses_team(repo, &team);
        let places = [("GIT_DIR", main.join(".git")), ("GIT_WORK_TREE", repo.folder().to_owned())];
        let output = repo.command("git-trace").arg("brief").envs(places).output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains("private text"));
        for (link, target, why) in
            [("to-outside", "../outside", "leaves the work tree"), ("to-git", ".git/info", "enters a git directory")]
        {
            repo.git(&["config", "core.hooksPath", main.join(link).to_str().unwrap()]);
            for command in ["install", "uninstall"] {
                assert_eq!(cause(repo, &[command]), format!("`{link}` is a link to `{target}`, which {why}\n"));
            }
        }
        assert_eq!(fs::read_dir(main.with_file_name("outside")).unwrap().count(), 0);
        assert!(!main.join(".git/info/pre-commit").exists());
    });
    repo.within(&main.join("sub"), |repo| refuses_team(repo, "../TEAM.md"));
    // A bare repository has no work tree.
    repo.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    repo.git(&["-C", "../bare.git", "worktree", "add", "--quiet", "../of-bare"]);
    repo.within(&main.with_file_name("bare.git"), |repo| refuses_team(repo, "../of-bare/TEAM.md"));
    // Links of another repository are the user's, such as those of one with settings.
    repo.git(&["clone", "--quiet", ".", "../other"]);
    repo.git(&["config", "trace.briefTeam", "../other/TEAM.md"]);
    assert!(prompt(&repo, &["brief"], b"").contains("private text"));
}

#[test]
fn links_of_a_superproject_are_not_followed_from_a_submodule_with_its_own_git_directory() {
    let mut repo = with_link("TEAM.md", "../private");
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    repo.git(&["init", "--quiet", "sub"]);
    repo.git(&["-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "a"]);
    repo.git(&["submodule", "--quiet", "add", "./sub", "sub"]);
    repo.git(&["add", "TEAM.md"]);
    repo.git(&["commit", "--quiet", "-m", "links"]);
    repo.git(&["worktree", "add", "--quiet", "../linked"]);
    repo.git(&["-C", "sub", "worktree", "add", "--quiet", "../../of-sub"]);
    let sub = repo.folder().join("sub");
    assert!(sub.join(".git").is_dir());
    for folder in [sub, repo.home().join("of-sub")] {
        for root in [repo.folder().to_owned(), repo.home().join("linked")] {
            repo.within(&folder, |repo| refuses_team(repo, root.join("TEAM.md").to_str().unwrap()));
        }
    }
}

#[test]
fn links_of_a_work_tree_that_git_does_not_open_are_not_followed() {
    let mut repo = with_link("TEAM.md", "../private");
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "links"]);
    let linked = repo.home().join("linked");
    repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    let main = repo.folder().to_owned();
    // Only root may give files away.
    let owned = Command::new("chown").arg("12345").arg(&main).arg(main.join(".git")).output().unwrap();
    if owned.status.success() {
        repo.within(&linked, |repo| refuses_team(repo, main.join("TEAM.md").to_str().unwrap()));
        assert!(Command::new("chown").arg("0").arg(&main).arg(main.join(".git")).status().unwrap().success());
    }
    let moved = main.with_file_name("moved");
    fs::rename(&main, &moved).unwrap();
    repo.within(&moved, |repo| refuses_team(repo, linked.join("TEAM.md").to_str().unwrap()));
}

#[test]
fn a_link_in_a_nested_work_tree_does_not_lead_into_the_outer_one() {
    let mut repo = with_link("TEAM.md", "../private");
    fs::write(repo.folder().join("private"), "private text\n").unwrap();
    repo.git(&["add", "TEAM.md"]);
    repo.git(&["commit", "--quiet", "-m", "links"]);
    repo.git(&["worktree", "add", "--quiet", "nested"]);
    repo.git(&["worktree", "add", "--quiet", "../linked"]);
    repo.git(&["clone", "--quiet", ".", "../module"]);
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../module", "module"]);
    let main = repo.folder().to_owned();
    for place in ["nested", "module"] {
        let path = main.join(place).join("TEAM.md").display().to_string();
        refuses_team(&repo, &path);
        repo.within(&main.with_file_name("linked"), |repo| refuses_team(repo, &path));
    }
}

#[test]
fn hooks_are_installed_through_a_link_to_a_folder_that_does_not_exist_yet() {
    let repo = with_link("hooks", "scripts");
    repo.git(&["config", "core.hooksPath", "hooks"]);
    repo.text(&["install"]);
    assert!(repo.folder().join("scripts/pre-commit").is_file());
    repo.text(&["uninstall"]);
    assert!(!repo.folder().join("scripts/pre-commit").exists());
}

#[test]
fn hooks_are_removed_where_they_were_before_another_folder_was_configured() {
    let repo = TestRepo::new();
    repo.text(&["install"]);
    let hook = repo.git_dir().join("hooks/pre-commit");
    assert!(hook.is_file());
    for folder in [".husky/_", ".githooks"] {
        repo.git(&["config", "core.hooksPath", folder]);
        let said = repo.text(&["uninstall"]);
        assert!(said.contains("pre-commit") && !hook.exists(), "{said}");
        repo.git(&["config", "--unset", "core.hooksPath"]);
        repo.text(&["install"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_that_the_shell_opened_are_read() {
    let repo = TestRepo::new();
    repo.say("x");
    let record = r#"{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"hello"}}"#;
    fs::write(repo.folder().join("s.jsonl"), format!("{record}\n")).unwrap();
    fs::write(repo.folder().join("session"), format!("{record}\n")).unwrap();
    std::os::unix::fs::symlink("s.jsonl", repo.folder().join("link")).unwrap();
    let shell = |line: &str| {
        let output = run(repo.command("sh").args(["-c", line]), b"");
        assert!(output.status.success(), "{line}: {}", repo.exact(&output));
    };
    for path in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        shell(&format!("cat s.jsonl | git-trace --trace t import claude-code {path}"));
        assert_eq!(repo.bodies("t"), ["hello"], "{path}");
        shell("git-trace branch -D t");
        shell(&format!("echo x | git-trace --trace t commit -F {path} && git-trace branch -D t"));
    }
    for path in ["session", "link"] {
        shell(&format!("git-trace --trace t import claude-code {path} && git-trace branch -D t"));
    }
    shell("printf 'a\\nb\\nc\\n' >base; printf 'A\\nb\\nc\\n' >ours; printf 'a\\nb\\nC\\n' >theirs");
    shell("cat theirs | git-trace merge-driver -o merged base ours /dev/stdin 7 notes.txt");
    assert_eq!(fs::read_to_string(repo.folder().join("merged")).unwrap(), "A\nb\nC\n");
    shell("git-trace merge-driver base ours /dev/stdin 7 notes.txt <theirs");
    assert_eq!(fs::read_to_string(repo.folder().join("ours")).unwrap(), "A\nb\nC\n");
}

#[test]
fn a_device_behind_a_link_is_not_read_as_an_import_or_a_resolution() {
    let repo = with_link("notes.txt", "/dev/zero");
    repo.say("a");
    for args in [
        &["import", "jsonl", "notes.txt"][..],
        &["import", "claude-code", "notes.txt"],
        &["import", "openai", "notes.txt"],
        &["merge", "main", "--take", "#0=notes.txt"],
        &["commit", "-F", "notes.txt"],
        &["count", "notes.txt"],
        &["breadcrumb", "import", "notes.txt"],
        &["merge-driver", "notes.txt", "notes.txt", "notes.txt", "7", "a.crumb"],
    ] {
        let said = prompt(&repo, args, b"");
        assert!(said.contains("it is not a regular file"), "git trace {args:?}: {said}");
    }
}

#[test]
fn mcp_tools_do_not_follow_links_out_of_the_work_tree() {
    let repo = with_link("a.crumb", "../outside.crumb");
    add_link(&repo, "b.crumb", ".git/outside.crumb");
    add_link(&repo, ".synapse", "../outside");
    for folder in [repo.home(), &repo.git_dir()] {
        fs::write(folder.join("outside.crumb"), "∴CRUMB2 SPARK s1\n").unwrap();
    }
    fifo(&repo.folder().join("c.crumb"));
    let mut input = String::new();
    for (id, name, arguments) in [
        (1, "crumb_note", serde_json::json!({ "file": "a.crumb", "text": "x" })),
        (2, "crumb_validate", serde_json::json!({ "file": "b.crumb" })),
        (3, "crumb_validate", serde_json::json!({ "file": "c.crumb" })),
        (4, "set_breadcrumb", serde_json::json!({ "key": "a.b", "value": "x" })),
    ] {
        let params = serde_json::json!({ "name": name, "arguments": arguments,
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} } });
        let call = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        input.extend([call.to_string(), "\n".to_owned()]);
    }
    let said = prompt(&repo, &["mcp", "--tools", "all"], input.as_bytes());
    for cause in [
        "`a.crumb` is a link to `../outside.crumb`, which leaves the work tree",
        "`b.crumb` is a link to `.git/outside.crumb`, which enters a git directory",
        "it is not a regular file",
        "`.synapse` is a link to `../outside`, which leaves the work tree",
    ] {
        assert!(said.contains(cause), "{said}");
    }
    assert_eq!(fs::read_to_string(repo.home().join("outside.crumb")).unwrap(), "∴CRUMB2 SPARK s1\n");
}

#[test]
fn a_fifo_is_refused_without_waiting() {
    let mut repo = TestRepo::new();
    for path in [".synapse/breadcrumbs.jsonl", "chk-a.md", ".gitattributes"] {
        fifo(&repo.folder().join(path));
    }
    for args in [
        &["breadcrumb", "get", "a.b"][..],
        &["breadcrumb", "set", "a.b", "x"],
        &["breadcrumb", "resolve"],
        &["checkpoint", "validate", "chk-a.md"],
        &["install"],
        &["crumb", "note", "chk-a.md", "x"],
        &["crumb", "show", "chk-a.md"],
        &["crumb", "validate", "chk-a.md"],
        &["crumb", "textconv", "chk-a.md"],
    ] {
        let said = prompt(&repo, args, b"");
        assert!(said.contains("it is not a regular file"), "git trace {args:?}: {said}");
    }
    // Git itself would wait for this one.
    fs::remove_file(repo.folder().join(".gitattributes")).unwrap();
    let said = prompt(&repo, &["doctor"], b"");
    assert!(said.contains("cannot read `breadcrumbs.jsonl`: it is not a regular file"), "{said}");
    fifo(&repo.folder().join(".traceconfig"));
    let said = prompt(&repo, &["types"], b"");
    assert!(said.contains("it is not a regular file"), "{said}");
    // libgit2 takes this folder for a git directory; git does not, because of its `HEAD`.
    for path in ["e/objects/k", "e/refs/k"] {
        fs::create_dir_all(repo.folder().join(path)).unwrap();
    }
    fs::write(repo.folder().join("e/HEAD"), "ref: nope\n").unwrap();
    fifo(&repo.folder().join("e/commondir"));
    let folder = repo.folder().join("e");
    let said = repo.within(&folder, |repo| prompt(repo, &["log"], b""));
    assert!(said.contains("it is not a regular file"), "{said}");
}

#[test]
fn a_bare_repository_in_the_work_tree_is_a_git_directory() {
    let repo = with_link(".synapse/breadcrumbs.jsonl", "../store/hooks/post-receive");
    repo.git(&["init", "--quiet", "--bare", "store"]);
    insta::assert_snapshot!(cause(&repo, &["breadcrumb", "set", "a.b", "x"]), @"`.synapse/breadcrumbs.jsonl` is a link to `../store/hooks/post-receive`, which enters a git directory");
}

#[test]
fn a_path_that_the_user_typed_may_lead_anywhere() {
    let repo = with_link("a.crumb", "../outside.crumb");
    fs::write(repo.home().join("outside.crumb"), "∴CRUMB2 SPARK s1\n").unwrap();
    assert!(repo.text(&["crumb", "show", "a.crumb"]).contains("SPARK"));
}

#[test]
fn crumb_files_are_not_written_into_the_git_directory() {
    let repo = with_link("a.crumb", ".git/hooks/post-commit");
    let new = ["crumb", "new", "a.crumb", "--fact", "x"];
    insta::assert_snapshot!(cause(&repo, &new), @"`a.crumb` is a link to `.git/hooks/post-commit`, which enters a git directory");
    add_link(&repo, "notes", ".git/hooks");
    insta::assert_snapshot!(cause(&repo, &["crumb", "new", "notes/a.crumb", "--fact", "x"]), @"`notes` is a link to `.git/hooks`, which enters a git directory");
    assert!(!repo.git_dir().join("hooks/post-commit").exists());
    let hook = repo.git_dir().join("hooks/post-commit");
    fs::write(&hook, "∴CRUMB2 SPARK s1\n").unwrap();
    cause(&repo, &["crumb", "note", "a.crumb", "x"]);
    assert_eq!(fs::read_to_string(&hook).unwrap(), "∴CRUMB2 SPARK s1\n");
}

#[test]
fn an_output_is_not_written_through_a_link_into_the_git_directory() {
    let repo = with_link("page.html", ".git/hooks/post-commit");
    add_link(&repo, "out", ".git/hooks");
    repo.say("a");
    for (output, link, target) in
        [("page.html", "page.html", ".git/hooks/post-commit"), ("out/post-commit", "out", ".git/hooks")]
    {
        for args in [&["view", "-o", output][..], &["export", "-o", output], &["export", "codex", "-o", output]] {
            let said = format!("`{link}` is a link to `{target}`, which enters a git directory\n");
            assert_eq!(cause(&repo, args), said, "git trace {args:?}");
        }
    }
    assert!(cause(&repo, &["install", "--man", "out"]).ends_with("which enters a git directory\n"));
    for args in [
        &["view", "--all", "-o", "missing/../out/pages"][..],
        &["export", "--all", "-o", "missing/../out/pages"],
        &["export", "claude-code", "-o", "missing/../out/pages"],
        &["install", "--man", "missing/../out/pages"],
    ] {
        let said = cause(&repo, args);
        assert!(said.starts_with("`..` follows `") && said.ends_with("missing`, which is no folder\n"), "{said}");
    }
    assert!(!repo.git_dir().join("hooks/pages").exists() && !repo.git_dir().join("hooks/man1").exists());
    repo.text(&["crumb", "new", "a.crumb"]);
    for kind in ["crumb", "checkpoint"] {
        let said = prompt(
            &repo,
            &["merge-driver", "--kind", kind, "-o", "out/post-commit", "a.crumb", "a.crumb", "a.crumb"],
            b"",
        );
        assert!(said.contains("`out` is a link to `.git/hooks`, which enters a git directory"), "{said}");
    }
    assert!(!repo.git_dir().join("hooks/post-commit").exists());
    for output in ["../page.html", ".git/page.html"] {
        repo.text(&["export", "-o", output]);
    }
}

#[test]
fn a_file_named_git_is_not_written_through_a_link() {
    let repo = with_link("out.jsonl", ".git");
    repo.git(&["add", "out.jsonl"]);
    repo.git(&["commit", "-q", "-m", "link"]);
    add_link(&repo, "new.crumb", "plain/.git");
    add_link(&repo, "page.html", "sub/.git");
    fs::create_dir(repo.folder().join("plain")).unwrap();
    fs::create_dir(repo.folder().join("sub")).unwrap();
    fs::write(repo.folder().join("sub/.git"), "gitdir: ../elsewhere\n").unwrap();
    repo.say("a");
    for (args, link, target) in [
        (&["crumb", "new", "new.crumb"][..], "new.crumb", "plain/.git"),
        (&["view", "-o", "page.html"], "page.html", "sub/.git"),
    ] {
        assert_eq!(cause(&repo, args), format!("`{link}` is a link to `{target}`, which enters a git directory\n"));
    }
    assert!(!repo.folder().join("plain/.git").exists());
    let worktree = repo.home().join("worktree");
    repo.git(&["worktree", "add", "-q", worktree.to_str().unwrap()]);
    let export = ["-C", worktree.to_str().unwrap(), "trace", "export", "-o", "out.jsonl"];
    assert_eq!(repo.command("git").args(export).status().unwrap().code(), Some(2));
    assert!(fs::read_to_string(worktree.join(".git")).unwrap().starts_with("gitdir: "));
}

#[test]
fn a_link_is_followed_in_a_worktree_below_its_bare_repository() {
    let repo = with_link("a.crumb", "notes/a.crumb");
    repo.git(&["add", "a.crumb"]);
    repo.git(&["commit", "-q", "-m", "link"]);
    let bare = repo.home().join("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    repo.git(&[
        "--git-dir",
        bare.to_str().unwrap(),
        "worktree",
        "add",
        "-q",
        bare.join("main").to_str().unwrap(),
        "HEAD",
    ]);
    fs::create_dir(bare.join("main/notes")).unwrap();
    repo.git(&["-C", bare.join("main").to_str().unwrap(), "trace", "crumb", "new", "a.crumb"]);
    assert!(bare.join("main/notes/a.crumb").exists());
}

#[test]
fn a_worktree_below_its_git_directory_has_its_own_links() {
    let mut repo = with_link("ada.crumb", "../../private.crumb");
    repo.git(&["add", "ada.crumb"]);
    repo.git(&["commit", "-q", "-m", "link"]);
    repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    for (git_dir, folder) in [("../bare.git", "../bare.git/main"), (".git", ".git/main")] {
        repo.git(&["--git-dir", git_dir, "worktree", "add", "-q", "--detach", folder]);
        let folder = repo.folder().join(folder).canonicalize().unwrap();
        let outside = folder.join("../../private.crumb");
        fs::write(&outside, "∴CRUMB2 SPARK s1 private text\n").unwrap();
        repo.within(&folder, |repo| {
            let output = repo.run(&["brief", "--agent", "ada"], b"");
            let said = repo.exact(&output);
            assert!(said.contains("leaves the work tree") && !said.contains("private text"), "{folder:?}: {said}");
        });
    }
}

#[test]
fn an_output_is_not_written_from_a_work_tree_into_the_git_directory_around_it() {
    let mut repo = with_link("out.md", "../hooks/post-commit");
    repo.git(&["add", "out.md"]);
    repo.git(&["commit", "-q", "-m", "link"]);
    repo.say("a");
    repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let (bare, tree) = (repo.home().join("bare.git"), repo.home().join("bare.git/tree"));
    fs::create_dir(&tree).unwrap();
    symlink("../hooks/post-commit", tree.join("out.md")).unwrap();
    repo.within(&tree, |repo| {
        let mut command = repo.command("git-trace");
        command.env("GIT_DIR", &bare).env("GIT_WORK_TREE", &tree).current_dir(&tree);
        let output = run(command.args(["crumb", "new", "out.md"]), b"");
        assert!(String::from_utf8_lossy(&output.stderr).contains("enters a git directory"), "{output:?}");
    });
    assert!(!bare.join("hooks/post-commit").exists());
}

#[test]
fn an_output_may_be_written_where_the_user_is() {
    let mut repo = TestRepo::new();
    repo.say("a");
    let git_dir = repo.git_dir();
    repo.within(&git_dir, |repo| repo.text(&["export", "-o", "trace.jsonl"]));
    assert!(git_dir.join("trace.jsonl").is_file());
    // As `/home` is on some systems.
    let (real, linked) = (repo.home().join("real"), repo.home().join("linked"));
    fs::create_dir(&real).unwrap();
    symlink("real", &linked).unwrap();
    symlink("real/bare.git", repo.home().join("way")).unwrap();
    repo.git(&["init", "--quiet", "--bare", real.join("bare.git").to_str().unwrap()]);
    repo.text(&["export", "-o", linked.join("bare.git/trace.jsonl").to_str().unwrap()]);
    assert!(real.join("bare.git/trace.jsonl").is_file());
    let said = cause(&repo, &["export", "-o", repo.home().join("way/trace.jsonl").to_str().unwrap()]);
    assert!(said.ends_with("which enters a git directory\n"), "{said}");
}

const SESSION: &str =
    "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s1\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";

#[test]
fn sub_agents_are_read_from_regular_files_only() {
    type Plant = fn(&Path);
    let cases: [(&str, Plant); 5] = [
        ("s1/subagents/agent-a.jsonl", |path| symlink("/etc/passwd", path).unwrap()),
        ("s1/subagents/agent-a.jsonl", fifo),
        ("agent-a.jsonl", fifo),
        ("s1/subagents", |path| symlink("/etc", path).unwrap()),
        ("s1", |path| symlink("..", path).unwrap()),
    ];
    let mut page = String::new();
    for (file, plant) in cases {
        let repo = TestRepo::new();
        fs::write(repo.folder().join("s1.jsonl"), SESSION).unwrap();
        let file = repo.folder().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        plant(&file);
        let said = prompt(&repo, &["import", "claude-code", "s1.jsonl"], b"");
        // The note names an operation.
        page.extend(said.split_inclusive('\n').filter(|line| !line.starts_with("note: ")));
        assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces/"]), "refs/traces/claude-code/s1\n");
    }
    insta::assert_snapshot!(page, @r"
    error: cannot read the sub-agents of `s1.jsonl`: `./s1/subagents/agent-a.jsonl`: it is a link to `/etc/passwd`
    error: cannot read the sub-agents of `s1.jsonl`: `./s1/subagents/agent-a.jsonl`: it is not a regular file
    1 imported into trace `claude-code/s1`
    the current trace is now `claude-code/s1`
    error: cannot read the sub-agents of `s1.jsonl`: `./s1/subagents`: it is a link to `/etc`
    error: cannot read the sub-agents of `s1.jsonl`: `./s1`: it is a link to `..`
    ");
}

#[test]
fn parts_of_a_session_are_not_read_from_folders_that_are_links() {
    let repo = TestRepo::new();
    let write = |path: &str, text: &str| {
        let path = repo.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let said = r#"{"role":"user","message":{"content":[{"type":"text","text":"TEXT"}]}}"#;
    write("s1/s1.jsonl", &said.replace("TEXT", "hello"));
    write("../private/events/x.jsonl", &said.replace("TEXT", "private"));
    add_link(&repo, "s1/subagents", "../../private/events");
    write("oh/base_state.json", r#"{"id":"c1","agent":{},"workspace":{},"max_iterations":5}"#);
    let event = r#"{"id":"a1","kind":"MessageEvent","source":"user","timestamp":"2026-01-01T00:00:00","llm_message":{"role":"user","content":[{"type":"text","text":"private"}]}}"#;
    write("../private/events/event-00000-a1.json", event);
    add_link(&repo, "oh/events", "../../private/events");
    let session =
        r#"{"id":"ses_1","projectID":"p","directory":"/x","title":"t","version":"1","time":{"created":1,"updated":2}}"#;
    write("storage/session/p/ses_1.json", session);
    write(
        "storage/message/ses_1/msg_1.json",
        r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}"#,
    );
    write("../private/msg_1/1.json", r#"{"id":"p","messageID":"msg_1","type":"text","text":"private"}"#);
    add_link(&repo, "storage/part", "../../private");
    for (format, file) in
        [("cursor", "s1/s1.jsonl"), ("openhands", "oh/base_state.json"), ("opencode", "storage/session/p/ses_1.json")]
    {
        repo.run(&["import", format, file], b"");
    }
    let traces = repo.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/traces"]);
    assert!(traces.contains("cursor/") && traces.contains("opencode/"), "{traces}");
    for trace in traces.lines() {
        assert!(!repo.bodies(trace).iter().any(|body| body == "private"), "{trace}");
    }
}

#[test]
fn a_session_that_is_named_without_a_folder_has_its_sub_agents() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join("s1.jsonl"), SESSION).unwrap();
    fs::create_dir_all(repo.folder().join("s1/subagents")).unwrap();
    fs::write(repo.folder().join("s1/subagents/agent-a.jsonl"), SESSION).unwrap();
    repo.text(&["import", "claude-code", "s1.jsonl"]);
    let traces = "refs/traces/claude-code/s1\nrefs/traces/claude-code/s1.agent-a\n";
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces/"]), traces);
    for link in ["last.jsonl", "last"] {
        symlink("s1.jsonl", repo.folder().join(link)).unwrap();
        assert!(repo.text(&["import", "claude-code", link]).contains("s1.agent-a"), "{link}");
    }
    // The session was moved to another disk, and its sub-agents were not.
    fs::create_dir(repo.home().join("store")).unwrap();
    fs::rename(repo.folder().join("s1.jsonl"), repo.home().join("store/s1.jsonl")).unwrap();
    symlink("../store/s1.jsonl", repo.folder().join("s1.jsonl")).unwrap();
    assert!(repo.text(&["import", "claude-code", "s1.jsonl"]).contains("s1.agent-a"));
}

#[test]
fn a_session_that_is_named_by_a_link_has_all_of_its_files() {
    let repo = TestRepo::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let conversation = repo.home().join("conversation");
    fs::create_dir_all(conversation.join("events")).unwrap();
    fs::write(conversation.join("base_state.json"), r#"{"id":"c1","agent":{},"workspace":{},"max_iterations":5}"#)
        .unwrap();
    let event = r#"{"id":"a1","kind":"MessageEvent","source":"user","timestamp":"2026-01-01T00:00:00","llm_message":{"role":"user","content":[{"type":"text","text":"hello"}]}}"#;
    fs::write(conversation.join("events/event-00000-a1.json"), event).unwrap();
    for (format, file) in [
        ("opencode", fixtures.join("opencode/storage/session/proj_test/ses_s_stage0_large.json")),
        ("openhands", conversation.join("base_state.json")),
        ("cline", fixtures.join("cline/sdk-session.json")),
    ] {
        repo.text(&["import", "--trace", "whole", format, file.to_str().unwrap()]);
        symlink(&file, repo.folder().join(format)).unwrap();
        repo.run(&["import", "--trace", "linked", format, format], b"");
        let whole = repo.bodies("whole");
        assert!(!whole.is_empty(), "{format}");
        assert_eq!(repo.bodies("linked"), whole, "{format}");
        for trace in ["whole", "linked"] {
            repo.git(&["update-ref", "-d", &format!("refs/traces/{trace}")]);
        }
    }
}

#[test]
fn a_session_that_is_named_in_its_folder_has_all_of_its_files() {
    let mut repo = TestRepo::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let sessions = fixtures.join("opencode/storage/session/proj_test");
    let session = "ses_s_stage0_large.json";
    repo.text(&["import", "--trace", "whole", "opencode", sessions.join(session).to_str().unwrap()]);
    let git_dir = repo.git_dir();
    repo.within(&sessions, |repo| {
        let mut command = repo.command("git-trace");
        command.args(["import", "--trace", "near", "opencode", session]).env("GIT_DIR", git_dir);
        assert!(crate::repo::run(&mut command, b"").status.success());
    });
    assert_eq!(repo.bodies("near"), repo.bodies("whole"));
    let day = repo.folder().join("s1");
    fs::create_dir_all(day.join("subagents")).unwrap();
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"hello"}]}}"#;
    for file in ["s1.jsonl", "subagents/a.jsonl"] {
        fs::write(day.join(file), format!("{line}\n")).unwrap();
    }
    repo.within(&day, |repo| assert!(repo.text(&["import", "cursor", "s1.jsonl"]).contains("s1.a")));
}

#[test]
fn a_history_of_aider_is_not_read_through_a_link_out_of_the_work_tree() {
    let repo = with_link(".aider.chat.history.md", "../private.md");
    fs::write(repo.folder().join("../private.md"), "# aider chat started at 2025-03-18 12:49:08\n#### private\n")
        .unwrap();
    let told = cause(&repo, &["import", "aider"]);
    assert!(
        told.ends_with("`.aider.chat.history.md` is a link to `../private.md`, which leaves the work tree\n"),
        "{told}"
    );
    // The sessions of other agents are imported.
    let all = repo.run(&["import", "--all"], b"");
    assert_eq!(all.status.code(), Some(1));
    assert!(repo.exact(&all).contains("1 sessions: 0 imported with 0 items, 0 unchanged, 1 failed"));
    assert_eq!(repo.git(&["for-each-ref", "refs/traces/"]), "");
    fs::remove_file(repo.folder().join(".aider.chat.history.md")).unwrap();
    fifo(&repo.folder().join(".aider.chat.history.md"));
    assert!(prompt(&repo, &["import", "aider"], b"").contains("it is not a regular file"));
}

#[test]
fn without_a_home_no_agent_s_folder_is_looked_for_in_the_current_one() {
    let repo = TestRepo::new();
    let name: String =
        repo.folder().to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    for folder in [".claude/projects", "projects"] {
        let project = repo.folder().join(folder).join(&name);
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join("s1.jsonl"), SESSION).unwrap();
    }
    for home in [None, Some("")] {
        let mut command = repo.command("git-trace");
        command.args(["import", "claude-code"]).env_remove("HOME").env("GIT_CONFIG_GLOBAL", "/dev/null");
        home.map(|home| command.env("HOME", home));
        let output = crate::repo::run(&mut command, b"");
        assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
    }
    assert_eq!(repo.git(&["for-each-ref", "refs/traces/"]), "");
}

#[test]
fn a_device_or_a_fifo_in_the_environment_is_not_waited_for() {
    let repo = TestRepo::new();
    fifo(&repo.home().join(".gemini/projects.json"));
    fifo(&repo.home().join(".gemini/tmp/x/.project_root"));
    let said = prompt(&repo, &["import", "gemini-cli"], b"");
    assert!(said.contains("has no session of this folder"), "{said}");
    repo.say("a");
    for zone in ["/dev/zero", ":/dev/zero", "../../../dev/zero", "/dev"] {
        let mut command = repo.command("git-trace");
        let output = command.args(["commit", "-m", "b"]).env("TZ", zone).output().unwrap();
        assert!(output.status.success(), "TZ={zone}");
    }
}

#[test]
fn a_checkpoint_s_reference_to_a_fifo_is_not_waited_for() {
    let repo = TestRepo::new();
    add_checkpoint(&repo);
    let path = repo.folder().join("checkpoints/active/chk-a.md");
    let table = "\n## Breadcrumbs\n\n| Type | Reference | Why |\n|---|---|---|\n| file | `pipe.rs` | x |\n| function | `parse()` | x |\n";
    fs::write(&path, format!("{CHECKPOINT}{table}")).unwrap();
    fifo(&repo.folder().join("pipe.rs"));
    prompt(&repo, &["checkpoint", "follow", "chk-a"], b"");
}

#[test]
fn checkpoints_of_another_repository_are_not_changed() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\tcheckpoints = **/*.md\n").unwrap();
    let other = repo.folder().join("checkpoints");
    repo.git(&["init", "--quiet", "checkpoints"]);
    let theirs = CHECKPOINT.replace("status: active", "status: current");
    fs::write(other.join("chk-a.md"), &theirs).unwrap();
    let new = ["checkpoint", "new", "mine", "--problem", "p", "--intent", "i", "--current"];
    let refusal = "it is in another repository; change the setting `trace.checkpoints`\n";
    assert_eq!(cause(&repo, &new), refusal);
    fs::create_dir(repo.folder().join("plans")).unwrap();
    fs::write(repo.folder().join("plans/chk-b.md"), CHECKPOINT.replace("chk-a", "chk-b")).unwrap();
    repo.text(&new);
    assert!(repo.folder().join("plans/chk-mine.md").is_file());
    repo.refused(&["checkpoint", "archive", "chk-a", "-o", "done", "-l", "much"]);
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\tcheckpoints = checkpoints/*.md\n").unwrap();
    for args in [&["checkpoint", "current", "chk-a"][..], &["checkpoint", "list"]] {
        assert_eq!(cause(&repo, args), refusal);
    }
    assert_eq!(fs::read_to_string(other.join("chk-a.md")).unwrap(), theirs);
}

#[test]
fn a_git_directory_of_another_name_is_not_read_by_a_breadcrumb() {
    let repo = TestRepo::without_git();
    repo.git(&["init", "--quiet", "--separate-git-dir=.data", "."]);
    add_checkpoint(&repo);
    for path in [".data/config", ".data"] {
        let said = repo.refused(&["checkpoint", "follow", "--type", "file", path]);
        assert!(said.contains("it is neither a file nor a folder of the work tree"), "{said}");
    }
}

#[test]
fn a_conflict_is_not_resolved_through_a_link_into_the_git_directory() {
    let repo = with_link("s.jsonl", ".git/notes");
    let conflict = "<<<<<<< a\n{\"key\":\"a.b\",\"value\":\"1\"}\n=======\n>>>>>>> b\n";
    fs::write(repo.git_dir().join("notes"), conflict).unwrap();
    let said = cause(&repo, &["breadcrumb", "resolve", "s.jsonl"]);
    assert_eq!(said, "`s.jsonl` is a link to `.git/notes`, which enters a git directory\n");
    assert_eq!(fs::read_to_string(repo.git_dir().join("notes")).unwrap(), conflict);
}

#[test]
fn doctor_reads_no_crumb_file_outside_of_the_work_tree() {
    let repo = with_link("a.crumb", "../private");
    fs::write(repo.home().join("private"), "∴CRUMB2 SPARK s1\n\n§core\nPASSWORD=hunter2\n").unwrap();
    let said = repo.exact(&repo.run(&["doctor"], b""));
    assert!(!said.contains("a.crumb") && !said.contains("hunter2"), "{said}");
}

#[test]
fn no_examination_waits_for_a_fifo_or_reads_outside_of_the_work_tree() {
    for (list, target) in [("LEARNINGS.md", "../../outside"), ("active/INDEX.md", "../../../outside")] {
        let list = format!("checkpoints/{list}");
        let repo = with_link(&list, target);
        add_checkpoint(&repo);
        fs::write(repo.home().join("outside"), "").unwrap();
        let refusal = format!("`{list}` is a link to `{target}`, which leaves the work tree\n");
        assert_eq!(cause(&repo, &["checkpoint", "doctor"]), refusal);
    }

    let repo = TestRepo::new();
    add_checkpoint(&repo);
    fifo(&repo.folder().join("checkpoints/LEARNINGS.md"));
    assert!(prompt(&repo, &["checkpoint", "doctor"], b"").contains("is not a regular file"));
    for hook in ["pre-commit", "pre-merge-commit"] {
        fs::write(repo.git_dir().join("hooks").join(hook), "#!/bin/sh\n").unwrap();
    }
    fifo(&repo.folder().join("lefthook.yml"));
    symlink("/dev/zero", repo.folder().join("lefthook.toml")).unwrap();
    assert!(prompt(&repo, &["doctor"], b"").contains("does not call git-trace"));
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    fifo(&repo.folder().join(".githooks/pre-commit.legacy"));
    for command in ["doctor", "install", "uninstall"] {
        assert!(prompt(&repo, &[command], b"").contains("is not a regular file"), "{command}");
    }
}

#[test]
fn a_folder_whose_head_is_a_dangling_link_is_a_git_directory() {
    let repo = with_link(".synapse/breadcrumbs.jsonl", "../store/hooks/post-receive");
    repo.git(&["init", "--quiet", "--bare", "store"]);
    let head = repo.folder().join("store/HEAD");
    fs::remove_file(&head).unwrap();
    symlink("refs/heads/main", head).unwrap();
    assert!(cause(&repo, &["breadcrumb", "set", "a.b", "x"]).contains("which enters a git directory"));
}

#[test]
fn a_transcript_named_like_the_folder_above_has_no_sub_agents_there() {
    let mut repo = TestRepo::new();
    fs::create_dir(repo.folder().join("subagents")).unwrap();
    fs::write(repo.folder().join("subagents/agent-a.jsonl"), SESSION).unwrap();
    let clone = repo.folder().join("clone");
    fs::create_dir(&clone).unwrap();
    fs::write(clone.join("...jsonl"), SESSION).unwrap();
    repo.within(&clone, |repo| {
        repo.text(&["import", "...jsonl"]);
    });
    assert_eq!(repo.git(&["for-each-ref", "refs/traces"]).lines().count(), 1);
}

#[test]
fn a_slash_behind_a_link_does_not_lead_into_the_git_directory() {
    let repo = with_link("site", ".git/refs/tags");
    add_link(&repo, "slash", "site/");
    add_link(&repo, "dot", "site/.");
    add_link(&repo, "missing", ".git/new/");
    repo.say("a");
    for output in ["site", "site/", "site/.", "slash", "slash/", "dot", "missing", "missing/"] {
        for args in [&["view", "--all", "-o", output][..], &["export", "--all", "-o", output]] {
            let said = cause(&repo, args);
            assert!(said.ends_with("which enters a git directory\n"), "git trace {args:?}: {said}");
        }
    }
    assert_eq!(fs::read_dir(repo.git_dir().join("refs/tags")).unwrap().count(), 0);
    assert!(!repo.git_dir().join("new").exists());
}

#[test]
fn links_of_the_user_hide_no_link_of_a_work_tree() {
    let repo = with_link("TEAM.md", "../private");
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    let named = |name: &str| repo.home().join(name);
    symlink(repo.folder().join("TEAM.md"), named("first")).unwrap();
    symlink(named("first"), named("second")).unwrap();
    symlink("second", named("third")).unwrap();
    for name in ["first", "second", "third"] {
        refuses_team(&repo, named(name).to_str().unwrap());
    }
}

#[test]
fn each_link_on_the_way_is_judged_by_its_own_work_tree() {
    let mut repo = with_link("module/TEAM.md", "../private");
    fs::write(repo.folder().join("private"), "private text\n").unwrap();
    repo.git(&["init", "--quiet", "module"]);
    add_link(&repo, "way", "module/TEAM.md");
    refuses_team(&repo, "way");
    add_link(&repo, ".synapse/breadcrumbs.jsonl", "../module/TEAM.md");
    let said = cause(&repo, &["breadcrumb", "set", "a.b", "x"]);
    assert_eq!(said, "`TEAM.md` is a link to `../private`, which leaves the work tree\n");
    // A main work tree without `.git`.
    let (tree, git_dir) = (repo.home().join("tree"), repo.home().join("g.git"));
    fs::create_dir(&tree).unwrap();
    symlink("../private", tree.join("TEAM.md")).unwrap();
    fs::write(repo.home().join("private"), "private text\n").unwrap();
    repo.git(&["init", "--quiet", "--bare", git_dir.to_str().unwrap()]);
    let of_tree = |args: &[&str]| repo.git(&[&["--git-dir", git_dir.to_str().unwrap()], args].concat());
    of_tree(&["config", "core.bare", "false"]);
    of_tree(&["config", "core.worktree", "../tree"]);
    of_tree(&[
        "--work-tree",
        tree.to_str().unwrap(),
        "-c",
        "user.name=a",
        "-c",
        "user.email=b",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "a",
    ]);
    let linked = repo.home().join("linked");
    of_tree(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    repo.git(&["config", "--global", "safe.bareRepository", "explicit"]);
    let team = tree.join("TEAM.md").display().to_string();
    repo.within(&linked, |repo| refuses_team(repo, &team));
    // Its submodule.
    let module = tree.join("module");
    fs::create_dir(git_dir.join("modules")).unwrap();
    repo.git(&[
        "init",
        "--quiet",
        "--separate-git-dir",
        git_dir.join("modules/m").to_str().unwrap(),
        module.to_str().unwrap(),
    ]);
    repo.within(&module, |repo| refuses_team(repo, &team));
}

#[test]
fn a_link_that_git_checks_out_as_a_file_is_not_changed() {
    let repo = with_link(".gitattributes", "attributes");
    fs::write(repo.folder().join("attributes"), "*.png binary\n").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "a"]);
    fs::remove_file(repo.folder().join(".gitattributes")).unwrap();
    repo.git(&["config", "core.symlinks", "false"]);
    repo.git(&["checkout", "--quiet", "."]);
    insta::assert_snapshot!(repo.refused(&["install"]), @"
    --- stderr
    error: `.gitattributes` is a symbolic link, which is a file here because of `core.symlinks`
    hint: change the file that it leads to, or commit a file in its place
    [exit 2]
    ");
    assert_eq!(fs::read_to_string(repo.folder().join(".gitattributes")).unwrap(), "attributes");
}

#[test]
fn a_name_behind_a_link_leads_into_no_other_git_directory() {
    let repo = with_link("docs", ".git/modules");
    add_link(&repo, "build", ".git/modules/api");
    fs::create_dir(repo.git_dir().join("modules")).unwrap();
    repo.git(&["init", "--quiet", "--separate-git-dir", ".git/modules/api", "vendor"]);
    repo.say("a");
    for output in ["docs/api/packed-refs", "docs/api/hooks/post-commit", "build/../packed-refs", "build/../api/config"]
    {
        let said = cause(&repo, &["export", "-o", output]);
        assert!(said.ends_with("which enters a git directory\n"), "{output}: {said}");
    }
    let said = cause(&repo, &["export", "--all", "-o", "build/../site"]);
    assert!(said.ends_with("which enters a git directory\n"), "{said}");
}

#[test]
fn links_in_a_git_directory_are_those_of_the_user() {
    let mut repo = TestRepo::new();
    let own = repo.home().join("own");
    fs::create_dir(repo.git_dir().join("modules")).unwrap();
    fs::write(&own, "#!/bin/sh\n").unwrap();
    repo.git(&["init", "--quiet", "--separate-git-dir", ".git/modules/m", "module"]);
    let hooks = repo.git_dir().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink(&own, hooks.join("pre-commit")).unwrap();
    let module = repo.folder().join("module");
    repo.within(&module, |repo| {
        repo.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
        repo.text(&["install"]);
    });
    // Git protects the user from a bare repository, which has no checkout.
    repo.git(&["config", "--global", "safe.bareRepository", "explicit"]);
    let linked = repo.home().join("linked");
    repo.git(&["clone", "--quiet", "--bare", ".", "../p/.bare"]);
    repo.git(&["--git-dir=../p/.bare", "worktree", "add", "--quiet", linked.to_str().unwrap(), "--orphan"]);
    repo.within(&linked, |repo| repo.text(&["install", "--private"]));
    // The user's own file keeps its permissions.
    let exclude = repo.git_dir().join("info/exclude");
    fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&exclude);
    symlink(&own, &exclude).unwrap();
    repo.git(&["config", "core.sharedRepository", "world"]);
    let mode = || fs::metadata(&own).unwrap().permissions();
    let before = mode();
    repo.text(&[
        "breadcrumb",
        "set",
        "secret.a",
        "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----",
    ]);
    assert_eq!(mode(), before);
}

#[test]
fn an_absolute_path_may_reach_the_work_tree_through_a_link() {
    let repo = TestRepo::new();
    symlink("repo", repo.home().join("way")).unwrap();
    fs::create_dir(repo.folder().join("store")).unwrap();
    symlink(repo.home().join("way/store"), repo.folder().join(".synapse")).unwrap();
    repo.text(&["breadcrumb", "set", "a.b", "x"]);
    assert!(repo.folder().join("store/breadcrumbs.jsonl").is_file());
    fs::remove_file(repo.folder().join(".synapse")).unwrap();
    symlink(repo.home().join("way/.git"), repo.folder().join(".synapse")).unwrap();
    assert!(cause(&repo, &["breadcrumb", "set", "a.b", "x"]).ends_with("which enters a git directory\n"));
}

#[test]
fn hooks_of_husky_that_git_does_not_run_are_reported() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.folder().join(".husky/_")).unwrap();
    repo.git(&["config", "core.hooksPath", ".husky/_"]);
    repo.text(&["install"]);
    assert!(repo.trace(&["doctor"]).contains("is run by no hook of git"));
}

#[test]
fn a_hook_of_husky_in_a_subfolder_may_be_a_link_in_the_work_tree() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.folder().join("front/.husky/_")).unwrap();
    fs::create_dir(repo.folder().join("scripts")).unwrap();
    fs::write(repo.folder().join("scripts/pre-commit"), "#!/bin/sh\n").unwrap();
    add_link(&repo, "front/.husky/pre-commit", "../../scripts/pre-commit");
    repo.git(&["config", "core.hooksPath", "front/.husky/_"]);
    repo.text(&["install"]);
    assert!(fs::read_to_string(repo.folder().join("scripts/pre-commit")).unwrap().contains("git-trace"));
    repo.text(&["uninstall"]);
    fs::remove_file(repo.folder().join("front/.husky/pre-commit")).unwrap();
    add_link(&repo, "front/.husky/pre-commit", "../../../outside");
    let before = fs::read(repo.folder().join(".gitattributes")).ok();
    assert!(cause(&repo, &["install"]).ends_with("which leaves the work tree\n"));
    assert_eq!(fs::read(repo.folder().join(".gitattributes")).ok(), before, "nothing is written before");
}

#[test]
fn a_work_tree_that_looks_like_a_git_directory_has_its_own_links() {
    let repo = with_link("docs/team.md", "../../private.md");
    fs::write(repo.home().join("private.md"), "private text\n").unwrap();
    fs::create_dir(repo.folder().join("refs")).unwrap();
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("refs/x", "x\n"), ("config", "[core]\n")] {
        fs::write(repo.folder().join(file), text).unwrap();
    }
    repo.git(&["config", "trace.briefTeam", "docs/team.md"]);
    let output = repo.run(&["brief"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("which leaves the work tree"), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("private text"), "{output:?}");
    add_link(&repo, ".githooks", ".git/info");
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    let output = repo.run(&["install"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("which enters a git directory"), "{output:?}");
    assert!(!repo.git_dir().join("info/pre-commit").exists());
}

#[test]
fn uninstall_follows_no_committed_link_from_gits_own_hooks() {
    let repo = with_link(".githooks", "../other/.git/hooks");
    repo.git(&["init", "-q", "../other"]);
    repo.git(&["-C", "../other", "trace", "install"]);
    fs::remove_dir_all(repo.git_dir().join("hooks")).unwrap();
    symlink("../.githooks", repo.git_dir().join("hooks")).unwrap();
    repo.git(&["config", "core.hooksPath", ".husky"]);
    let said = repo.refused(&["uninstall"]);
    assert!(said.contains("which leaves the work tree"), "{said}");
    assert!(repo.home().join("other/.git/hooks/pre-commit").exists());
}

#[test]
fn a_hook_that_is_a_link_to_another_hook_stays() {
    for (own, link) in [("pre-commit", "pre-merge-commit"), ("pre-merge-commit", "pre-commit")] {
        let repo = TestRepo::new();
        repo.set_hook(own, "#!/bin/sh\necho mine\n");
        symlink(own, repo.git_dir().join("hooks").join(link)).unwrap();
        let said = repo.trace(&["install"]);
        assert_eq!(said.matches("left alone").count(), 2, "{said}");
        assert!(fs::read_to_string(repo.git_dir().join("hooks").join(link)).unwrap().contains("mine"));
    }
    for target in ["pre-commit", "./pre-commit", "../hooks/pre-commit", "common"] {
        let repo = TestRepo::new();
        fs::create_dir_all(repo.git_dir().join("hooks")).unwrap();
        symlink("pre-commit", repo.git_dir().join("hooks/common")).unwrap();
        let link = repo.git_dir().join("hooks/pre-merge-commit");
        symlink(target, &link).unwrap();
        repo.trace(&["install"]);
        repo.trace(&["uninstall"]);
        assert_eq!(fs::read_link(link).unwrap(), Path::new(target));
    }
}

#[test]
fn a_link_in_place_of_the_hook_from_before_is_left_alone() {
    for (link, target) in [("pre-commit.before-git-trace", "pre-commit"), ("pre-commit", "pre-commit.before-git-trace")]
    {
        let repo = TestRepo::new();
        repo.git(&["config", "core.hooksPath", ".githooks"]);
        add_link(&repo, &format!(".githooks/{link}"), target);
        fs::write(repo.folder().join(".githooks").join(target), "#!/bin/sh\necho mine\n").unwrap();
        let said = repo.trace(&["install"]);
        assert_eq!(said.matches("left alone").count(), 1, "{said}");
        let hook = fs::read_to_string(repo.folder().join(".githooks/pre-commit")).unwrap();
        assert!(hook.contains("mine"), "{hook}");
    }
}

#[test]
fn a_hook_that_is_a_fifo_is_not_waited_for() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.git_dir().join("hooks")).unwrap();
    fifo(&repo.git_dir().join("hooks/pre-merge-commit"));
    repo.trace(&["install"]);
    repo.trace(&["uninstall"]);
}

#[test]
fn no_hook_is_installed_where_an_empty_setting_turns_hooks_off() {
    let repo = TestRepo::new();
    repo.git(&["config", "core.hooksPath", "/dev/null"]);
    assert!(repo.trace(&["install"]).contains("left alone /dev/null"));
    fs::write(repo.folder().join("FILE"), "").unwrap();
    for path in ["/dev/null/", "/dev/null/x", "FILE/hooks"] {
        repo.git(&["config", "core.hooksPath", path]);
        let said = repo.trace(&["install"]);
        assert!(said.contains("left alone") && said.contains("is no folder"), "{path}: {said}");
    }
    repo.git(&["config", "core.hooksPath", ""]);
    let said = repo.trace(&["install"]);
    assert!(said.contains("`core.hooksPath` is empty or `/`, so git runs no hook of this repository"), "{said}");
    assert!(!repo.folder().join("pre-commit").exists());
    assert!(repo.trace(&["doctor"]).contains("git has no hook `pre-commit`"));
}

#[test]
fn completions_are_not_written_into_the_git_directory() {
    let repo = TestRepo::new();
    let folder = repo.folder().join("share/bash-completion/completions");
    fs::create_dir_all(&folder).unwrap();
    symlink("../../../.git/hooks/post-commit", folder.join("git-trace")).unwrap();
    let mut command = repo.command("git-trace");
    command.env("XDG_DATA_HOME", repo.folder().join("share")).args(["install", "--completions", "bash"]);
    let said = repo.exact(&run(&mut command, b""));
    assert!(said.contains("which enters a git directory"), "{said}");
    assert!(!repo.git_dir().join("hooks/post-commit").exists());
}

#[test]
fn no_checkpoint_is_written_behind_a_link() {
    for (link, target) in
        [("checkpoints", "docs"), ("checkpoints/active", "../docs"), ("checkpoints/archive", "active")]
    {
        let repo = with_link(link, target);
        fs::create_dir_all(repo.folder().join("docs")).unwrap();
        let new = repo.trace(&["checkpoint", "new", "one", "-p", "Only copy"]);
        if !link.starts_with("checkpoints/archive") {
            assert!(new.contains(&format!("`{link}` is a link")), "{new}");
            continue;
        }
        let file = repo.folder().join("checkpoints/active/chk-one.md");
        let fields = "- **Status**: completed\n- **Outcome**: done\n- **Date**: 2026-11-27\n- **Learnings**: none\n";
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}\n## Completion\n\n{fields}")).unwrap();
        let said = repo.refused(&["checkpoint", "archive", "one"]);
        assert!(said.contains("`checkpoints/archive` is a link") || said.contains("exists already"), "{said}");
        assert!(repo.folder().join("checkpoints/active/chk-one.md").exists());
    }
}

#[test]
fn a_list_in_another_repository_leaves_no_copy_in_the_archive() {
    let repo = with_link("checkpoints/LEARNINGS.md", "../notes/LEARNINGS.md");
    repo.git(&["init", "-q", "notes"]);
    fs::write(repo.folder().join("notes/LEARNINGS.md"), "# Learnings\n").unwrap();
    repo.text(&["checkpoint", "new", "one", "-p", "x"]);
    let said = repo.refused(&["checkpoint", "archive", "one", "-o", "done", "-l", "learned"]);
    assert!(said.contains("it is in another repository"), "{said}");
    assert!(!repo.folder().join("checkpoints/archive").exists());
}

#[test]
fn an_archive_that_fails_leaves_nothing_that_stops_the_next_one() {
    let repo = with_link("checkpoints/active/INDEX.md", "../../docs/I.md");
    fs::create_dir(repo.folder().join("docs")).unwrap();
    repo.text(&["checkpoint", "new", "one", "-p", "x"]);
    let list = repo.folder().join("docs/I.md");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("{text}\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> side\n")).unwrap();
    let archive = |learnings| ["checkpoint", "archive", "one", "-o", "done", "-l", learnings];
    let said = repo.refused(&archive("first"));
    assert!(said.contains("has conflict markers"), "{said}");
    let checkpoints = repo.folder().join("checkpoints");
    assert!(!checkpoints.join("archive/chk-one.md").exists() && !checkpoints.join("LEARNINGS.md").exists());
    fs::write(&list, text).unwrap();
    repo.text(&archive("second"));
    let learnings = fs::read_to_string(checkpoints.join("LEARNINGS.md")).unwrap();
    assert!(learnings.ends_with("- second\n") && !learnings.contains("first"), "{learnings}");
    assert!(checkpoints.join("archive/chk-one.md").exists() && !checkpoints.join("active/chk-one.md").exists());
}

#[test]
fn lists_of_checkpoints_may_be_links_and_a_linked_folder_has_none() {
    let repo = with_link("checkpoints/LEARNINGS.md", "../docs/L.md");
    fs::create_dir_all(repo.folder().join("docs")).unwrap();
    fs::write(repo.folder().join("docs/L.md"), "# Learnings\n").unwrap();
    repo.text(&["checkpoint", "new", "one", "-p", "x"]);
    repo.text(&["checkpoint", "archive", "one", "-o", "done", "-l", "Locks need a timeout"]);
    assert!(fs::read_to_string(repo.folder().join("docs/L.md")).unwrap().contains("Locks need a timeout"));

    let repo = with_link("checkpoints", "data");
    fs::create_dir_all(repo.folder().join("data")).unwrap();
    repo.text(&["breadcrumb", "set", "net.timeout", "the needle is 30 s"]);
    assert!(repo.text(&["recall", "needle"]).contains("net.timeout"));
}
