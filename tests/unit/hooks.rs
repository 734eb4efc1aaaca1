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
    assert!(answer.contains("error: .synapse/breadcrumbs.jsonl:") && answer.contains("not committed"), "{answer}");
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
    insta::assert_snapshot!(place.try_git(&["commit", "-q", "-m", "x"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1:1: unknown-namespace: namespace `b` is neither standard nor declared; declare it in `.synapse/config.json`
    warning: .synapse/breadcrumbs.jsonl:2:1: unknown-namespace: namespace `a` is neither standard nor declared; declare it in `.synapse/config.json`
    error: .synapse/breadcrumbs.jsonl:2:1: unsorted: `a.a` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    error: .synapse/breadcrumbs.jsonl:3:1: cut-off: the line is truncated; restore the line from git or delete it
    warning: .synapse/breadcrumbs.jsonl:3:8: no-final-newline: the last line has no line ending; add a line feed
    git-trace: not committed: errors: 2, warnings: 3
    hint: `git trace hook pre-commit --fix` fixes line order, duplicates, and line endings in the working tree
    [exit 1]
    ");
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
    insta::assert_snapshot!(place.try_git(&["commit", "-q", "-m", "x"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1:1: unknown-namespace: namespace `zoo` is neither standard nor declared; declare it in `.synapse/config.json`
    git-trace: not committed: errors: 0, warnings: 1; `trace.hookStrict` refuses warnings too
    [exit 1]
    ");
    let answer = place.try_git(&["-c", "trace.hookStrict=false", "commit", "-q", "-m", "x"]);
    assert!(answer.contains("warning: ") && !answer.contains("[exit"), "{answer}");
}

#[test]
fn mechanical_errors_are_fixed_in_the_working_tree() {
    let place = hooked();
    let (a, b, newer) = (line("api.a", "1", 0), line("api.b", "1", 0), line("api.b", "2", 1));
    place.write(STORE, format!("{newer}{b}{}", a.trim_end()));
    place.git(&["add", "-A"]);
    let answer = place.trace(&["hook", "pre-commit", "--fix"]);
    let note =
        "fixed `.synapse/breadcrumbs.jsonl`; review it with `git diff`, then: git add -- '.synapse/breadcrumbs.jsonl'";
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
    assert!(answer.contains("left alone [ROOT]/shared\n") && answer.ends_with("[exit 1]\n"), "{answer}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    assert!(!place.trace(&["install", "--no-hooks"]).contains("left alone"));
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
    // The hook from before ours is the one that is called now.
    assert_eq!(place.read(".git/hooks/pre-commit.legacy"), "#!/bin/sh\n# before\n");
    assert!(exists("pre-commit") && exists("pre-merge-commit"));
    assert!(!exists("pre-merge-commit.legacy") && !exists("pre-commit.before-git-trace"));
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
