//! The hooks of git, called by git: what is judged is what would be committed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::unit::playground::{Playground, STORE, line};

const BAD: &str = "rubbish\n";

/// A repository with the hooks, and a store that is in order.
fn hooked() -> Playground {
    let place = Playground::new();
    place.ok(&["install"]);
    place.write(STORE, line("api.a", "1", 0));
    place.commit("start");
    place
}

fn head(place: &Playground) -> String {
    place.git(&["rev-parse", "HEAD"])
}

/// Runs git, which must be kept from committing by a finding about the store.
#[track_caller]
fn refused(place: &Playground, args: &[&str]) {
    let before = head(place);
    let answer = place.try_git(args);
    assert!(answer.contains("error: .synapse/breadcrumbs.jsonl:") && answer.contains("commit refused"), "{answer}");
    assert_eq!(head(place), before);
}

fn executable(place: &Playground, path: &str, text: &str) {
    place.write(path, text);
    fs::set_permissions(place.at.join(path), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_invalid_commit_is_refused_with_line_rule_and_fix() {
    let place = hooked();
    place.write(STORE, line("b.a", "1", 0) + &line("a.a", "1", 0) + "{\"key\":");
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.try_git(&["commit", "-q", "-m", "x"]), @r#"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1:1: unknown-namespace: namespace `b` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"b": "DESCRIPTION"}}
    warning: .synapse/breadcrumbs.jsonl:2:1: unknown-namespace: namespace `a` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"a": "DESCRIPTION"}}
    error: .synapse/breadcrumbs.jsonl:2:1: unsorted: `a.a` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    error: .synapse/breadcrumbs.jsonl:3:1: cut-off: the line is truncated; restore the line from git or delete it
    warning: .synapse/breadcrumbs.jsonl:3:8: no-final-newline: the last line has no line ending; add a line feed
    git-trace: commit refused: errors: 2, warnings: 3
    hint: `git trace hook pre-commit --fix` fixes line order, duplicates, and line endings in the working tree
    [exit 1]
    "#);
    place.git(&["commit", "-q", "--no-verify", "-m", "knowingly"]);
}

#[test]
fn the_index_is_checked_not_the_working_tree() {
    let place = hooked();
    // Staged with an error and fixed later, and the other way round.
    place.write(STORE, BAD);
    place.git(&["add", "-A"]);
    place.write(STORE, line("api.a", "2", 0));
    refused(&place, &["commit", "-q", "-m", "x"]);
    place.git(&["add", "-A"]);
    place.write(STORE, BAD);
    place.git(&["commit", "-q", "-m", "staged is right"]);
    // `commit -a` and `commit <path>` use the working tree, the latter through a separate index.
    refused(&place, &["commit", "-q", "-a", "-m", "x"]);
    refused(&place, &["commit", "-q", "-m", "x", STORE]);
    place.write("other.txt", "a");
    place.git(&["add", "other.txt"]);
    place.git(&["commit", "-q", "-m", "another file", "other.txt"]);
    // `commit <path>` ignores other staged files. They are not committed, so they are not checked.
    place.git(&["add", STORE]);
    place.write("other.txt", "b");
    place.git(&["commit", "-q", "-m", "another file again", "other.txt"]);
    refused(&place, &["commit", "-q", "-m", "x"]);
    refused(&place, &["commit", "-q", "--amend", "--no-edit"]);
    place.git(&["reset", "-q", "--hard"]);
    place.git(&["commit", "-q", "--amend", "-m", "reworded"]);
    // An index of the caller's.
    let index = place.root().join("index");
    let staged = |args: &[&str]| {
        let mut command = place.command("git");
        command.args(args).env("GIT_INDEX_FILE", &index).output().unwrap()
    };
    place.write(STORE, BAD);
    assert!(staged(&["read-tree", "HEAD"]).status.success() && staged(&["add", STORE]).status.success());
    assert_eq!(staged(&["commit", "-q", "-m", "x"]).status.code(), Some(1));
    place.git(&["commit", "-q", "--allow-empty", "-m", "the usual index is as it was"]);
}

#[test]
fn renames_deletions_links_and_submodules() {
    let place = hooked();
    place.git(&["mv", STORE, "notes.txt"]);
    place.git(&["commit", "-q", "-m", "renamed away"]);
    place.write("notes.txt", BAD);
    place.commit("nothing of ours");
    fs::create_dir_all(place.at.join(".synapse")).unwrap();
    place.git(&["mv", "notes.txt", STORE]);
    refused(&place, &["commit", "-q", "-m", "renamed to a judged file"]);
    place.git(&["commit", "-q", "--no-verify", "-m", "bad"]);
    place.git(&["rm", "-q", STORE]);
    place.git(&["commit", "-q", "-m", "deleted"]);
    fs::create_dir_all(place.at.join("memory")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", place.at.join("memory/link.crumb")).unwrap();
    place.git(&["init", "-q", "memory/sub.crumb"]);
    let inner = ["-C", "memory/sub.crumb", "commit", "-q", "--allow-empty", "-m", "x"];
    place.git(&inner);
    place.git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    assert!(place.git(&["ls-files", "-s"]).contains("160000"));
    place.git(&["commit", "-q", "-m", "a link and a submodule"]);
}

#[test]
fn merges_are_checked_whoever_commits_them() {
    let place = hooked();
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write("memory/a.crumb", "no header\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "--no-verify", "-m", "bad"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("x", "x");
    place.commit("main");
    let before = head(&place);
    let answer = place.try_git(&["merge", "side"]);
    assert!(answer.contains("error: memory/a.crumb:1:") && answer.contains("Not committing merge"), "{answer}");
    let answer = place.try_git(&["commit", "-q", "--no-edit"]);
    assert!(answer.contains("error: memory/a.crumb:1:"), "{answer}");
    assert_eq!(head(&place), before);
    place.git(&["rm", "-q", "-f", "memory/a.crumb"]);
    place.git(&["commit", "-q", "--no-edit"]);
    assert!(place.git(&["log", "-1", "--format=%P"]).contains(' '));
}

#[test]
fn hooks_run_in_linked_worktrees() {
    let mut place = hooked();
    place.git(&["worktree", "add", "-q", "../linked"]);
    place.cd("linked");
    place.write(STORE, BAD);
    refused(&place, &["commit", "-q", "-a", "-m", "x"]);
    assert!(place.trace(&["install"]).contains("kept [ROOT]/repo/.git/hooks/pre-commit"));
    fs::create_dir_all(place.at.join("deep/er")).unwrap();
    place.cd("linked/deep/er");
    refused(&place, &["commit", "-q", "-a", "-m", "x"]);
}

#[test]
fn warnings_are_printed_and_refuse_in_strict_mode() {
    let place = hooked();
    place.write(STORE, line("zoo.a", "1", 0));
    place.git(&["add", "-A"]);
    place.git(&["config", "trace.hookStrict", "true"]);
    insta::assert_snapshot!(place.try_git(&["commit", "-q", "-m", "x"]), @r#"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1:1: unknown-namespace: namespace `zoo` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"zoo": "DESCRIPTION"}}
    git-trace: commit refused: errors: 0, warnings: 1; `trace.hookStrict` refuses warnings too
    [exit 1]
    "#);
    let answer = place.try_git(&["-c", "trace.hookStrict=false", "commit", "-q", "-m", "x"]);
    assert!(answer.contains("warning: ") && !answer.contains("[exit"), "{answer}");
}

/// Secrets in all staged text files, in none but ours by default.
#[test]
fn all_staged_text_files_are_searched_for_secrets_on_request() {
    let place = hooked();
    let token = "ghp_".to_owned() + &"a1B2".repeat(9);
    place.write("src/main.rs", format!("fn main() {{\n    let key = \"{token}\";\n}}\n"));
    place.write("picture.png", format!("\0{token}"));
    place.write("wörds.txt", "no secret\n");
    std::os::unix::fs::symlink(format!("/{token}"), place.at.join("link")).unwrap();
    place.git(&["init", "-q", "sub"]);
    place.git(&["-C", "sub", "commit", "-q", "--allow-empty", "-m", "x"]);
    place.git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    // In the index and not in the commit.
    place.write("new.txt", &token);
    place.git(&["add", "-N", "new.txt"]);
    place.git(&["hook", "run", "pre-commit"]);
    place.git(&["config", "trace.hookScope", "all"]);
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    let fingerprint = crate::secrets::Fingerprint::of(token.as_bytes()).to_string();
    insta::assert_snapshot!(answer.replace(&fingerprint, "[FINGERPRINT]"), @"
    --- stderr
    error: src/main.rs:2:16: secret: this looks like a GitHub token; read it from the environment or from a file that git ignores, and replace it if it was pushed; if this is a false alarm: git config --add trace.allowSecret [FINGERPRINT]
    git-trace: commit refused: errors: 1, warnings: 0
    [exit 1]
    ");
    insta::assert_snapshot!(place.trace(&["check", "--staged", "--quiet"]).replace(&fingerprint, "[FINGERPRINT]"), @"
    src/main.rs:2:16: secret: this looks like a GitHub token; read it from the environment or from a file that git ignores, and replace it if it was pushed; if this is a false alarm: git config --add trace.allowSecret [FINGERPRINT]
    --- stderr
    files checked: 2, errors: 1, warnings: 0
    [exit 1]
    ");
    // The index that git cannot read through libgit2, and the other settings, act alike.
    place.git(&["update-index", "--split-index"]);
    assert_eq!(place.try_git(&["commit", "-q", "-m", "x"]), answer);
    place.git(&["update-index", "--no-split-index"]);
    place.git(&["-c", "trace.secrets=off", "hook", "run", "pre-commit"]);
    place.git(&["-c", "trace.hookScope=memory", "hook", "run", "pre-commit"]);
    assert_eq!(place.try_git(&["-c", "trace.hookScope=ALL", "commit", "-q", "-m", "x"]), answer);
    place.write(".traceconfig", format!("[trace]\n\tallowSecret = {fingerprint}\n"));
    place.git(&["hook", "run", "pre-commit"]);
    place.git(&["commit", "-q", "-m", "allowed"]);
    // A commit is checked as before, because CI would find what others allowed.
    std::fs::remove_file(place.at.join(".traceconfig")).unwrap();
    assert!(!place.trace(&["check"]).contains("secret"));
}

#[test]
fn staged_files_are_those_of_git() {
    let place = hooked();
    place.write("a/b.txt", "1");
    place.write("a-b.txt", "1");
    place.write("gone", "1");
    place.write("kind", "1");
    place.commit("files");
    place.write("a/b.txt", "2");
    place.write("a/c.txt", "2");
    place.write("é.txt", "2");
    executable(&place, "a-b.txt", "1");
    fs::remove_file(place.at.join("gone")).unwrap();
    fs::remove_file(place.at.join("kind")).unwrap();
    std::os::unix::fs::symlink("a", place.at.join("kind")).unwrap();
    place.git(&["add", "-A"]);
    place.write("later.txt", "3");
    place.git(&["add", "-N", "later.txt"]);
    let listed = || {
        let env = crate::git::Env::capture([]);
        let repo = crate::git::Repo::open(&place.at, env).unwrap();
        let Some(files) = repo.staged_files() else { return "git must be asked".to_owned() };
        let line = |file: &crate::git::StagedFile| {
            format!("{} {} {}\n", file.mode, file.oid, String::from_utf8_lossy(&file.path))
        };
        files.iter().map(line).collect::<String>()
    };
    let of_git = |tree: &str| {
        let args =
            ["diff-index", "--cached", "--ita-invisible-in-index", "--raw", "-z", "--no-renames", "--no-abbrev", tree];
        let raw = place.git(&args);
        let fields: Vec<_> = raw.split_terminator('\0').collect();
        let present = fields.chunks(2).filter(|pair| !pair[0].ends_with('D'));
        let line = |pair: &[&str]| {
            let words: Vec<_> = pair[0].split(' ').collect();
            format!("{} {} {}\n", words[1], words[3], pair[1])
        };
        present.map(line).collect::<String>()
    };
    assert_eq!(listed().lines().count(), 5);
    for options in [["--index-version", "2"], ["--index-version", "4"], ["--force-write-index", "--untracked-cache"]] {
        place.git(&[&["update-index"][..], &options].concat());
        assert_eq!(listed(), of_git("HEAD"), "{options:?}");
    }
    // Git now knows the trees, and one of them changes.
    place.git(&["reset", "-q", "later.txt"]);
    for staged in ["a/d/e.txt", "f/g.txt", "a/b.txt"] {
        place.git(&["write-tree"]);
        assert_eq!(listed(), of_git("HEAD"), "before {staged}");
        place.write(staged, "4");
        place.git(&["add", staged]);
        assert_eq!(listed(), of_git("HEAD"), "{staged}");
    }
    let index = place.at.join(".git/index");
    let whole = fs::read(&index).unwrap();
    for len in 0..whole.len() {
        fs::write(&index, &whole[..len]).unwrap();
        let answer = listed();
        assert!(answer == "git must be asked" || answer == of_git("HEAD"), "{len} bytes");
    }
    fs::write(&index, whole).unwrap();
    place.git(&["update-index", "--split-index"]);
    assert_eq!(listed(), "git must be asked");
    place.git(&["update-index", "--no-split-index"]);
    place.git(&["checkout", "-q", "--orphan", "new"]);
    let empty = place.git(&["hash-object", "-t", "tree", "--stdin"]);
    assert_eq!(listed(), of_git(empty.trim()));
}

/// A working tree is compared without them, and git commits them.
#[test]
fn files_that_are_assumed_to_be_unchanged_are_checked() {
    let place = hooked();
    place.write(STORE, BAD);
    place.git(&["add", "-A"]);
    place.git(&["update-index", "--assume-unchanged", STORE]);
    refused(&place, &["commit", "-q", "-m", "unchanged"]);
}

#[test]
fn mechanical_errors_are_fixed_in_the_working_tree() {
    let place = hooked();
    let (a, b, newer) = (line("api.a", "1", 0), line("api.b", "1", 0), line("api.b", "2", 1));
    place.write(STORE, format!("{newer}{b}{}", a.trim_end()));
    place.git(&["add", "-A"]);
    let answer = place.trace(&["hook", "pre-commit", "--fix"]);
    let note =
        "fixed `.synapse/breadcrumbs.jsonl`; review it with `git diff`, then: git add -- .synapse/breadcrumbs.jsonl";
    assert!(answer.contains(note) && answer.ends_with("[exit 1]\n"), "{answer}");
    assert_eq!(place.read(STORE), format!("{a}{newer}"));
    refused(&place, &["commit", "-q", "-m", "the index is as it was"]);
    assert!(place.trace(&["hook", "pre-commit", "--fix"]).contains("is already correct in the working tree"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "mended"]);
    place.write(STORE, format!("{b}{a}{BAD}"));
    place.git(&["add", "-A"]);
    assert!(place.trace(&["hook", "pre-commit", "--fix"]).contains("was not changed: correct the unreadable lines"));
    assert_eq!(place.read(STORE), format!("{b}{a}{BAD}"));
}

#[test]
fn checkpoints_are_found_by_the_project_setting() {
    let place = hooked();
    place.write("notes/a.md", "---\na: b\n");
    place.write(".traceconfig", "[trace]\n\tcheckpoints = notes\n");
    place.git(&["add", "-A"]);
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    assert!(answer.contains("error: notes/a.md:1:1: unclosed-frontmatter"), "{answer}");
    place.git(&["config", "trace.checkpoints", "elsewhere"]);
    place.git(&["commit", "-q", "-m", "one's own setting comes first"]);
}

#[test]
fn an_existing_hook_runs_first_and_may_refuse() {
    let place = Playground::new();
    executable(&place, ".git/hooks/pre-commit", "#!/bin/sh\necho theirs; test ! -e stop\n");
    place.write(".git/hooks/pre-merge-commit", "#!/bin/sh\nexit 1\n");
    let before = |name: &str| fs::metadata(place.at.join(".git/hooks").join(name)).unwrap().permissions().mode();
    let modes = (before("pre-commit"), before("pre-merge-commit"));
    // An install that was stopped leaves it under both names.
    let kept = place.at.join(".git/hooks/pre-commit.before-git-trace");
    fs::hard_link(place.at.join(".git/hooks/pre-commit"), kept).unwrap();
    place.ok(&["install"]);
    place.ok(&["install"]);
    place.write(STORE, BAD);
    place.git(&["add", "-A"]);
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    assert!(answer.contains("theirs\n") && answer.contains("error: .synapse"), "{answer}");
    place.write("stop", "");
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    assert!(answer.contains("theirs\n") && !answer.contains("error: .synapse") && answer.contains("[exit"), "{answer}");
    place.ok(&["uninstall"]);
    assert_eq!(place.read(".git/hooks/pre-commit"), "#!/bin/sh\necho theirs; test ! -e stop\n");
    assert_eq!((before("pre-commit"), before("pre-merge-commit")), modes);
    assert!(!place.at.join(".git/hooks/pre-commit.before-git-trace").exists());
    // What somebody changed or put over ours is theirs.
    place.ok(&["install"]);
    executable(&place, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    assert!(place.trace(&["install"]).contains("left alone [ROOT]/repo/.git/hooks/pre-commit\n"));
    // `doctor` does not advise to install, which would leave it alone again.
    assert!(place.trace(&["install"]).contains("hint: add the line `if command -v"));
    assert!(place.trace(&["doctor"]).contains("call git-trace\n         add the line `if command -v"));
    assert!(place.trace(&["uninstall"]).contains("left alone [ROOT]/repo/.git/hooks/pre-commit\n"));
    assert_eq!(place.read(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n");
}

#[test]
fn hooks_are_installed_where_git_looks_but_not_in_a_global_folder() {
    let place = Playground::new();
    place.git(&["config", "core.hooksPath", "tools/hooks"]);
    place.ok(&["install"]);
    assert!(place.at.join("tools/hooks/pre-commit").exists() && !place.at.join(".git/hooks/pre-commit").exists());
    place.write(STORE, BAD);
    place.git(&["add", STORE]);
    assert!(place.try_git(&["commit", "-q", "-m", "x"]).contains("error: .synapse"));
    place.ok(&["uninstall"]);
    assert!(!place.at.join("tools/hooks").exists());
    place.git(&["config", "--unset", "core.hooksPath"]);
    let folder = place.root().join("shared");
    fs::create_dir_all(&folder).unwrap();
    place.git(&["config", "--global", "core.hooksPath", folder.to_str().unwrap()]);
    let answer = place.trace(&["install"]);
    insta::assert_snapshot!(answer, @"
    added merge.trace.name
    added merge.trace.driver
    added merge.trace.recursive
    added diff.trace-crumb.textconv
    added [ROOT]/repo/.gitattributes
    left alone [ROOT]/shared
    --- stderr
    hint: `core.hooksPath` is `[ROOT]/shared` for all repositories, so no hook is added there; run `git trace check --staged` before a commit, or add the line `if command -v git-trace >/dev/null; then git-trace hook pre-commit || exit; fi` to the hooks pre-commit and pre-merge-commit in it
    [exit 1]
    ");
    let doctor = place.trace(&["doctor"]);
    assert!(
        doctor.contains("commits are not checked\n         `core.hooksPath` is `[ROOT]/shared` for all"),
        "{doctor}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    assert!(!place.trace(&["install", "--no-hooks"]).contains("left alone"));
    // The line that the hint names.
    let line = answer.split('`').find(|part| part.starts_with("if command")).unwrap();
    for name in ["pre-commit", "pre-merge-commit"] {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert!(place.trace(&["doctor"]).contains("ok       hooks: "));
    assert!(place.try_git(&["commit", "-q", "-m", "x"]).contains("error: .synapse"));
}

/// Husky rewrites the folder of its hooks, and calls the project's with `sh -e`.
#[test]
fn husky_gets_a_line_in_its_own_hooks() {
    let place = Playground::new();
    let shim = "#!/bin/sh\nexec sh -e \"$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\" \"$@\"\n";
    for name in ["pre-commit", "pre-merge-commit"] {
        executable(&place, &format!(".husky/_/{name}"), shim);
    }
    place.write(".husky/pre-commit", "true");
    place.git(&["config", "core.hooksPath", ".husky/_"]);
    assert!(place.trace(&["doctor"]).contains("does not call git-trace\n         run `git trace install`"));
    let answer = place.trace(&["install"]);
    assert!(
        answer.contains("added [ROOT]/repo/.husky/pre-commit\nadded [ROOT]/repo/.husky/pre-merge-commit\n"),
        "{answer}"
    );
    assert!(!place.trace(&["install"]).contains("added"));
    insta::assert_snapshot!(place.read(".husky/pre-commit"), @"
    true
    # git-trace: begin (the line above had no end)
    if command -v git-trace >/dev/null; then git-trace hook pre-commit || exit; fi
    # git-trace: end
    ");
    assert!(place.trace(&["doctor"]).contains("ok       hooks: "));
    place.commit("start");
    place.write(STORE, BAD);
    place.git(&["add", STORE]);
    refused(&place, &["commit", "-q", "-m", "x"]);
    place.ok(&["uninstall"]);
    assert_eq!(place.read(".husky/pre-commit"), "true");
    assert!(!place.at.join(".husky/pre-merge-commit").exists());
}

/// `pre-commit install` moves the hook that it finds to `pre-commit.legacy`, and calls it.
#[test]
fn a_hook_that_another_tool_moved_is_removed_too() {
    let place = Playground::new();
    executable(&place, ".git/hooks/pre-commit", "#!/bin/sh\n# before\n");
    place.ok(&["install"]);
    let hooks = place.at.join(".git/hooks");
    let moved = |name: &str| {
        fs::rename(hooks.join(name), hooks.join(format!("{name}.legacy"))).unwrap();
        executable(&place, &format!(".git/hooks/{name}"), "#!/bin/sh\nexec \"$0.legacy\"\n");
    };
    moved("pre-commit");
    moved("pre-merge-commit");
    assert!(place.trace(&["doctor"]).contains("ok       hooks: "));
    assert!(!place.trace(&["install"]).contains("added"));
    place.ok(&["uninstall"]);
    let exists = |name: &str| hooks.join(name).exists();
    // The hook from before ours is the one that the tool calls now.
    assert_eq!(place.read(".git/hooks/pre-commit.legacy"), "#!/bin/sh\n# before\n");
    assert!(exists("pre-commit") && exists("pre-merge-commit"));
    assert!(!exists("pre-merge-commit.legacy") && !exists("pre-commit.before-git-trace"));
}

/// With `pre-commit install` before and after ours, the hook from before ours is that tool's, which must not call itself.
#[test]
fn a_tool_that_moved_our_hook_does_not_call_itself() {
    let place = Playground::new();
    let tools = "#!/bin/sh\n# of the tool\n";
    executable(&place, ".git/hooks/pre-commit", tools);
    place.ok(&["install"]);
    let hooks = place.at.join(".git/hooks");
    fs::rename(hooks.join("pre-commit"), hooks.join("pre-commit.legacy")).unwrap();
    executable(&place, ".git/hooks/pre-commit", tools);
    place.ok(&["uninstall"]);
    assert_eq!(place.read(".git/hooks/pre-commit"), tools);
    assert!(!hooks.join("pre-commit.legacy").exists() && !hooks.join("pre-commit.before-git-trace").exists());
}

#[test]
fn without_the_binary_nothing_is_refused_and_doctor_reports_it() {
    let place = hooked();
    place.write(STORE, BAD);
    place.git(&["add", "-A"]);
    place.hide_binary(true);
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    assert!(answer.contains("git-trace was not found") && !answer.contains("[exit"), "{answer}");
    place.hide_binary(false);
    assert!(place.trace(&["doctor"]).contains("ok       hooks: invalid commits are refused"));
    let hook = place.read(".git/hooks/pre-commit");
    executable(&place, ".git/hooks/pre-commit", &hook.replace("hook pre-commit", "hook nothing"));
    assert!(place.trace(&["doctor"]).contains("warning  hooks: the hook"));
}

#[test]
fn the_hooks_folder_contains_the_installed_hooks() {
    for (name, text) in crate::app::install::hooks::HOOKS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks").join(name);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0o111);
    }
}
