//! `git trace install`, `uninstall` and `doctor`.

use std::fs;

use crate::unit::playground::{Playground, STORE, line};

#[test]
fn install_reports_its_changes_and_is_idempotent() {
    let place = Playground::new();
    let (config, attributes) = (place.read(".git/config"), place.at.join(".gitattributes"));
    insta::assert_snapshot!(place.trace(&["install", "--dry-run"]), @"
    would add merge.trace.name
    would add merge.trace.driver
    would add merge.trace.recursive
    would add diff.trace-crumb.textconv
    would add [ROOT]/repo/.gitattributes
    would add [ROOT]/repo/.git/hooks/pre-commit
    would add [ROOT]/repo/.git/hooks/pre-merge-commit
    ");
    assert_eq!((place.read(".git/config"), attributes.exists()), (config.clone(), false));
    insta::assert_snapshot!(place.trace(&["install"]), @"
    added merge.trace.name
    added merge.trace.driver
    added merge.trace.recursive
    added diff.trace-crumb.textconv
    added [ROOT]/repo/.gitattributes
    added [ROOT]/repo/.git/hooks/pre-commit
    added [ROOT]/repo/.git/hooks/pre-merge-commit
    ");
    insta::assert_snapshot!(place.git(&["config", "--get", "merge.trace.driver"]), @"git-trace merge-driver -- %O %A %B %L %P %S %X %Y; s=$?; if test $s = 126 || test $s = 127; then git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B; else exit $s; fi");
    insta::assert_snapshot!(place.read(".gitattributes"), @"
    # git-trace: begin (of a new file)
    **/.synapse/breadcrumbs.jsonl merge=trace
    *.crumb merge=trace diff=trace-crumb
    **/checkpoints/**/*.md merge=trace
    chk-*.md merge=trace
    # git-trace: end
    ");
    let (once, lines) = (place.read(".git/config"), place.read(".gitattributes"));
    insta::assert_snapshot!(place.trace(&["install", "--json"]), @r#"{"dry_run":false,"scope":"local","steps":[{"action":"kept","what":"merge.trace.name"},{"action":"kept","what":"merge.trace.driver"},{"action":"kept","what":"merge.trace.recursive"},{"action":"kept","what":"diff.trace-crumb.textconv"},{"action":"kept","what":"[ROOT]/repo/.gitattributes"},{"action":"kept","what":"[ROOT]/repo/.git/hooks/pre-commit"},{"action":"kept","what":"[ROOT]/repo/.git/hooks/pre-merge-commit"}]}"#);
    assert_eq!((place.read(".git/config"), place.read(".gitattributes")), (once, lines));
    insta::assert_snapshot!(place.trace(&["uninstall"]), @"
    removed merge.trace.name
    removed merge.trace.driver
    removed merge.trace.recursive
    removed diff.trace-crumb.textconv
    removed [ROOT]/repo/.git/hooks/pre-commit
    removed [ROOT]/repo/.git/hooks/pre-merge-commit
    removed [ROOT]/repo/.gitattributes
    ");
    assert_eq!((place.read(".git/config"), attributes.exists()), (config, false));
    insta::assert_snapshot!(place.trace(&["uninstall"]), @"
    --- stderr
    nothing to uninstall
    ");
}

/// Somebody else may have added them, and others merge by them.
#[test]
fn committed_attributes_are_kept() {
    let place = Playground::new();
    place.ok(&["install", "--no-hooks"]);
    place.commit("attributes");
    let attributes = place.read(".gitattributes");
    insta::assert_snapshot!(place.trace(&["uninstall"]), @"
    removed merge.trace.name
    removed merge.trace.driver
    removed merge.trace.recursive
    removed diff.trace-crumb.textconv
    kept [ROOT]/repo/.gitattributes
    --- stderr
    hint: `.gitattributes` is committed, so it stays; clones without git-trace merge these files as text
    ");
    assert_eq!(place.read(".gitattributes"), attributes);
}

#[test]
fn uninstall_restores_foreign_settings_byte_for_byte() {
    let place = Playground::new();
    let config =
        place.read(".git/config") + "# mine\n[merge \"ours\"]\n\tdriver = true\n[merge]\n\tconflictStyle = diff3\n";
    for attributes in ["*.txt text\n# note", "*.crumb merge=union\n", "a\r\nb\r\n", "\n"] {
        place.write(".git/config", &config);
        place.write(".gitattributes", attributes);
        place.ok(&["install"]);
        assert!(place.read(".gitattributes").starts_with(attributes));
        assert!(place.git(&["check-attr", "merge", "x.crumb"]).ends_with(": trace\n"));
        place.ok(&["uninstall"]);
        assert_eq!((place.read(".git/config"), place.read(".gitattributes")), (config.clone(), attributes.to_owned()));
    }
}

#[test]
fn uninstall_restores_the_bytes_of_each_configuration_file() {
    let place = Playground::new();
    let start = place.read(".git/config");
    fs::write(place.root().join("included"), "[merge \"trace\"]\n\trecursive = trace\n").unwrap();
    for end in [
        "# the end\n",
        "# the end",
        "; the end\n\n\n",
        "\n\n",
        "[user]\n\tname = x",
        "[user]\r\n\tname = x\r\n",
        "[include]\n\tpath = ../../included\n",
        "[merge \"trace\"]\n",
        "[merge \"trace\"]\n\t# mine\n",
        "[merge \"trace\"]\n\t# mine\n[core]\n\tabbrev = 8 ; x",
        "\t[diff \"trace-crumb\"]\n\n# x",
        "[merge \"ours\"]\n\tdriver = true # x\n\n",
    ] {
        let config = format!("{start}{end}");
        place.write(".git/config", &config);
        place.ok(&["install"]);
        place.ok(&["install"]);
        assert!(place.git(&["config", "merge.trace.driver"]).contains("merge-driver"));
        place.ok(&["uninstall"]);
        assert_eq!(place.read(".git/config"), config);
        // What others write meanwhile is kept, and nothing else.
        place.ok(&["install"]);
        place.git(&["config", "branch.main.remote", "origin"]);
        place.ok(&["uninstall"]);
        let text = place.read(".git/config");
        assert!(text.contains("remote = origin") && !text.contains("git-trace"), "{text}");
        let lines = |text: &str| text.lines().filter(|line| !line.contains("origin")).count();
        assert_eq!(lines(&text), config.lines().count() + 1, "{text}");
    }
}

#[test]
fn uninstall_restores_the_settings_of_a_worktree() {
    let mut place = Playground::new();
    place.commit("one");
    place.git(&["config", "extensions.worktreeConfig", "true"]);
    place.git(&["worktree", "add", "-q", "../linked"]);
    let common = place.read(".git/config");
    for (at, file) in [("repo", ".git/config.worktree"), ("linked", "../repo/.git/worktrees/linked/config.worktree")] {
        place.cd(at);
        let path = place.at.join(file);
        assert!(!path.exists());
        place.ok(&["install", "--worktree", "--private"]);
        assert!(place.read(file).contains("merge-driver"));
        place.ok(&["uninstall", "--worktree", "--private"]);
        assert!(!path.exists());
        for text in ["[core]\n\tsparseCheckout = true\n# end", "\n", ""] {
            place.write(file, text);
            place.ok(&["install", "--worktree", "--private"]);
            place.ok(&["uninstall", "--worktree", "--private"]);
            assert_eq!(place.read(file), text);
        }
        fs::remove_file(path).unwrap();
    }
    place.cd("repo");
    assert_eq!(place.read(".git/config"), common);
    // A link stays one.
    fs::rename(place.at.join(".git/config"), place.root().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", place.at.join(".git/config")).unwrap();
    place.ok(&["install"]);
    place.ok(&["uninstall"]);
    assert_eq!(place.read(".git/config"), common);
    assert!(place.at.join(".git/config").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn foreign_values_are_kept_and_ours_are_upgraded() {
    let place = Playground::new();
    place.git(&["config", "merge.trace.recursive", "binary"]);
    place.git(&["config", "merge.trace.name", "mine"]);
    insta::assert_snapshot!(place.trace(&["install"]), @"
    left alone merge.trace.name
    added merge.trace.driver
    left alone merge.trace.recursive
    added diff.trace-crumb.textconv
    added [ROOT]/repo/.gitattributes
    added [ROOT]/repo/.git/hooks/pre-commit
    added [ROOT]/repo/.git/hooks/pre-merge-commit
    --- stderr
    hint: git-trace did not write what was left alone; unset it and install again to replace it
    [exit 1]
    ");
    // As an older version, or a binary elsewhere, would have written it.
    let old = "/old/git-trace merge-driver %O %A %B";
    place.git(&["config", "merge.trace.driver", old]);
    assert!(place.trace(&["install"]).contains("left alone merge.trace.driver"));
    let digest = &blake3::hash(old.as_bytes()).to_hex()[..8];
    place.git(&["config", "merge.trace.installed", &format!("driver:{digest}")]);
    assert!(place.trace(&["install"]).contains("updated merge.trace.driver"));
    assert!(place.git(&["config", "merge.trace.driver"]).starts_with("git-trace merge-driver -- %O %A %B %L %P "));
    place.git(&["config", "merge.trace.driver", "changed by hand"]);
    insta::assert_snapshot!(place.trace(&["uninstall"]), @"
    left alone merge.trace.driver
    removed [ROOT]/repo/.git/hooks/pre-commit
    removed [ROOT]/repo/.git/hooks/pre-merge-commit
    removed [ROOT]/repo/.gitattributes
    ");
    insta::assert_snapshot!(place.git(&["config", "--get-regexp", "^merge[.]trace[.]"]), @"
    merge.trace.recursive binary
    merge.trace.name mine
    merge.trace.driver changed by hand
    ");
}

#[test]
fn install_works_per_clone_per_user_and_per_worktree() {
    let mut place = Playground::new();
    let info = place.read(".git/info/exclude").is_empty();
    assert!(!info);
    place.ok(&["install", "--private"]);
    assert!(place.read(".git/info/attributes").contains("merge=trace") && !place.at.join(".gitattributes").exists());
    place.ok(&["uninstall", "--private"]);
    assert!(!place.at.join(".git/info/attributes").exists());

    place.ok(&["install", "--global"]);
    assert!(fs::read_to_string(place.root().join("gitconfig")).unwrap().contains("merge-driver"));
    assert!(fs::read_to_string(place.root().join(".config/git/attributes")).unwrap().contains("merge=trace"));
    assert!(place.git(&["check-attr", "merge", STORE]).ends_with(": trace\n"));
    place.ok(&["uninstall", "--global"]);
    assert!(!place.root().join(".config/git/attributes").exists());
    assert!(place.git(&["check-attr", "merge", STORE]).ends_with(": unspecified\n"));

    place.commit("one");
    place.git(&["worktree", "add", "-q", "../linked"]);
    place.cd("linked");
    let answer = place.trace(&["install", "--worktree"]);
    assert!(answer.contains("worktreeConfig") && answer.ends_with("[exit 2]\n"), "{answer}");
    place.git(&["config", "extensions.worktreeConfig", "true"]);
    place.ok(&["install", "--worktree"]);
    assert!(place.git(&["config", "--worktree", "--get", "merge.trace.name"]).starts_with("git-trace"));
    place.cd("repo");
    assert!(place.try_git(&["config", "--get", "merge.trace.name"]).ends_with("[exit 1]\n"));
}

#[test]
fn doctor_reports_missing_parts() {
    let place = Playground::new();
    let doctor = || {
        let answer = place.trace(&["doctor"]);
        answer
            .lines()
            .filter(|line| !line.contains("git-version"))
            .map(|line| line.to_owned() + "\n")
            .collect::<String>()
    };
    insta::assert_snapshot!(doctor(), @"
    error    merge-driver: git has no merge driver `trace`
             run `git trace install`
    error    attributes: git does not use the driver for `.synapse/breadcrumbs.jsonl` (unspecified), `memory/notes.crumb` (unspecified), `checkpoints/active/plan.md` (unspecified), `chk-plan.md` (unspecified)
             run `git trace install`, or remove the attributes that override it
    warning  hooks: git has no hook `pre-commit`, so commits are not checked
             run `git trace install`, or `git trace check` in CI
    ok       forward-crumbs: a new forward crumb can be written and read
    [exit 1]
    ");
    place.ok(&["install"]);
    place.ok(&["breadcrumb", "set", "auth.method", "JWT"]);
    insta::assert_snapshot!(doctor(), @"
    ok       merge-driver: a trial merge succeeds
    ok       merge-recursive: merges with several bases use the driver
    ok       attributes: breadcrumbs, crumb files, and checkpoints use the driver
    ok       hooks: invalid commits are refused
    warning  attributes-shared: `.gitattributes` is not committed
             commit it, so that other clones have it
    ok       breadcrumbs: `breadcrumbs.jsonl` is valid
    ok       forward-crumbs: a new forward crumb can be written and read
    ");
    place.commit("all");
    place.git(&["config", "merge.trace.driver", "no-such-program %A"]);
    place.git(&["config", "merge.trace.recursive", "binary"]);
    place.write(STORE, line("b", "1", 0) + "rubbish\n");
    place.write(".synapse/breadcrumbs-secret.jsonl", "");
    insta::assert_snapshot!(doctor().replace("sh: 1: no-such-program: not found", "[SHELL]"), @"
    error    merge-driver: a trial merge with `no-such-program %A` fails: exit status 127: [SHELL]
             add git-trace to PATH, or run `git config --unset merge.trace.driver`, then `git trace install`
    warning  merge-recursive: merges with several bases use `binary` for the bases
             set `merge.trace.recursive` to `trace`, or a revert may be lost
    ok       attributes: breadcrumbs, crumb files, and checkpoints use the driver
    ok       hooks: invalid commits are refused
    error    breadcrumbs: errors in `breadcrumbs.jsonl`: 1; the first, in line 2: invalid JSON: expected value
             restore the line from git or delete it
    error    secrets: git does not ignore `breadcrumbs-secret.jsonl`
             add it to `.gitignore`; if it was committed, replace the secrets
    ok       forward-crumbs: a new forward crumb can be written and read
    [exit 1]
    ");
}

#[test]
fn the_example_matches_the_installed_lines() {
    let example = include_str!("../../gitattributes.example");
    let lines: Vec<_> = example.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines, crate::app::install::attributes::LINES);
}
