//! Settings and folders that git reads in one way and libgit2 in another: what git refuses must not happen here.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::recording::claude_folder;
use crate::repo::{TestRepo, run};

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Makes a folder of hooks with one that refuses every move of a ref.
fn refusing(folder: &Path) -> PathBuf {
    let hook = folder.join("reference-transaction");
    fs::create_dir_all(folder).unwrap();
    fs::write(&hook, "#!/bin/sh\ntest \"$1\" != prepared\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_owned()
}

/// Whether a hook refuses that refs move in this folder, which it must if it refuses that to git.
fn is_refused(repo: &mut TestRepo, folder: &Path, variables: Variables<'_>) -> bool {
    repo.within(folder, |repo| {
        let run = |program, args: &[&str]| {
            let mut command = repo.command(program);
            command.envs(variables.iter().copied()).args(args);
            if variables.iter().any(|(name, _)| *name == "XDG_CONFIG_HOME") {
                command.env_remove("GIT_CONFIG_GLOBAL");
            }
            run(&mut command, b"")
        };
        let tip = String::from_utf8(run("git", &["rev-parse", "refs/traces/main"]).stdout).unwrap();
        let by_git = run("git", &["update-ref", "refs/other/ref", tip.trim()]);
        let _ = run("git", &["update-ref", "-d", "refs/other/ref"]);
        let by_us = run("git-trace", &["commit", "-m", "x"]);
        let said = format!("{} {variables:?}: {}{}", folder.display(), repo.exact(&by_git), repo.exact(&by_us));
        assert_eq!(by_us.status.success(), by_git.status.success(), "{said}");
        !by_us.status.success()
    })
}

#[test]
fn a_folder_that_git_does_not_take_for_a_repository_runs_no_program() {
    let mut repo = TestRepo::new();
    repo.say("outer");
    let (folder, ran) = (repo.folder().join("d"), repo.home().join("ran"));
    for name in ["objects", "refs"] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("x"), "").unwrap();
    }
    let program = format!("touch '{}'; cat >/dev/null", ran.display());
    let config =
        format!("[core]\n\tbare = true\n[trace]\n\tmaterializer = \"{program}\"\n\ttokenCounter = \"{program}\"\n");
    fs::write(folder.join("config"), config).unwrap();
    let session = claude_folder(&repo).join("s1.jsonl");
    let record = json!({ "type": "user", "sessionId": "s1", "uuid": "u", "cwd": folder, "timestamp": "2026-01-01T00:00:00Z",
        "message": { "role": "user", "content": "hi" } });
    fs::write(&session, format!("{record}\n")).unwrap();
    let call = json!({ "session_id": "s1", "transcript_path": session, "cwd": folder, "hook_event_name": "Stop" });
    for head in ["ref: foo", "", "garbage", "ref: HEAD", "ref: ../../x", "0123", "refs/heads/main"] {
        fs::write(folder.join("HEAD"), format!("{head}\n")).unwrap();
        for inside in [folder.clone(), folder.join("objects")] {
            repo.within(&inside, |repo| {
                let outer = repo.git(&["rev-parse", "--show-toplevel"]);
                assert!(outer.trim().ends_with("/repo"), "{outer}");
                for args in [&["materialize"][..], &["count", "-"], &["commit", "-m", "x"], &["brief"], &["status"]] {
                    let output = repo.run(args, b"hi");
                    assert!(!ran.exists(), "{head} {args:?}: {}", repo.exact(&output));
                }
                repo.run(&["hook", "claude-code", "--wait"], call.to_string().as_bytes());
                repo.run(&["import", "--all"], b"");
                assert!(!ran.exists(), "{head}");
            });
        }
    }
    repo.within(&folder, |repo| {
        insta::assert_snapshot!(repo.refused(&["materialize"]), @r"
        --- stderr
        error: `[HOME]/repo/d/` is not the repository that git uses here, which is `[HOME]/repo/.git`
        hint: change into another folder of the repository that you mean
        [exit 2]
        ");
    });
    // Git refuses it, too.
    let output = run(repo.command("git-trace").env("GIT_DIR", &folder).arg("materialize"), b"");
    assert!(!ran.exists() && output.status.code() == Some(2), "{}", repo.exact(&output));
    // Git takes these for repositories.
    let zeros = "0".repeat(40);
    for head in ["ref: refs/heads/x", "ref:\t refs/heads/x", "ref:refs/x", &zeros] {
        fs::write(folder.join("HEAD"), format!("{head}\n")).unwrap();
        repo.within(&folder, |repo| {
            assert_eq!(repo.git(&["rev-parse", "--git-dir"]), ".\n", "{head}");
            assert!(
                repo.exact(&repo.run(&["log"], b"")).contains("no items"),
                "{head}: {}",
                repo.exact(&repo.run(&["log"], b""))
            );
        });
    }
}

#[test]
fn a_repository_at_its_usual_place_is_opened_without_asking_git() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("x");
    repo.git(&["worktree", "add", "-q", "../other"]);
    let (folder, other, log) = (repo.folder().join("a/b"), repo.home().join("other"), repo.home().join("log"));
    fs::create_dir_all(&folder).unwrap();
    for folder in [folder, other, repo.folder().to_owned()] {
        repo.within(&folder, |repo| {
            let mut command = repo.command("git-trace");
            let output = run(command.env("GIT_TRACE2_EVENT", &log).arg("status"), b"");
            assert!(output.status.success(), "{}", repo.exact(&output));
        });
        let said = fs::read_to_string(&log).unwrap_or_default();
        assert!(!said.contains("rev-parse"), "{said}");
    }
}

#[test]
fn hooks_of_settings_that_only_git_finds_see_moves() {
    let mut repo = TestRepo::new();
    repo.say("x");
    let (home, root) = (repo.home().to_owned(), repo.folder().to_owned());
    let hooks = refusing(&home.join("hooks"));
    let text = format!("[core]\n\thooksPath = {}\n", hooks.display());
    // An empty XDG_CONFIG_HOME counts as none.
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::write(home.join(".config/git/config"), &text).unwrap();
    assert!(is_refused(&mut repo, &root, &[("XDG_CONFIG_HOME", "")]));
    assert!(!is_refused(&mut repo, &root, &[("XDG_CONFIG_HOME", "/nonexistent")]));
    // Git may resolve a relative path at the root of the working tree.
    let sub = root.join("sub");
    fs::create_dir(&sub).unwrap();
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        let variables = [(variable, "settings"), ("GIT_CONFIG_NOSYSTEM", "0")];
        for place in [&root, &sub] {
            fs::write(place.join("settings"), &text).unwrap();
            let refused = [&root, &sub].map(|folder| is_refused(&mut repo, folder, &variables));
            assert!(place == &sub || refused[0], "{variable}");
            fs::remove_file(place.join("settings")).unwrap();
        }
    }
}

#[test]
fn branches_of_conditions_are_those_of_git() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("x");
    let (home, root) = (repo.home().to_owned(), repo.folder().to_owned());
    let hooks = refusing(&home.join("hooks"));
    fs::write(home.join("hooked"), format!("[core]\n\thooksPath = {}\n", hooks.display())).unwrap();
    repo.git(&["branch", "main"]);
    repo.git(&["symbolic-ref", "refs/heads/master", "refs/heads/main"]);
    for (head, conditions) in [
        ("refs/heads/master", &[("main", true), ("master", false), ("**", true)][..]),
        ("refs/heads/code", &[("code", true), ("co*", true), ("main", false)]),
        ("refs/heads/unborn", &[("unborn", true), ("main", false)]),
        ("refs/traces/main", &[("**", false), ("main", false)]),
        ("", &[("**", false)]),
    ] {
        fs::write(home.join("gitconfig"), "").unwrap();
        match head {
            "" => repo.git(&["update-ref", "--no-deref", "HEAD", "refs/heads/code"]),
            head => repo.git(&["symbolic-ref", "HEAD", head]),
        };
        for (condition, expected) in conditions {
            let text = format!("[includeIf \"onbranch:{condition}\"]\n\tpath = hooked\n");
            fs::write(home.join("gitconfig"), text).unwrap();
            assert_eq!(is_refused(&mut repo, &root, &[]), *expected, "{head} {condition}");
        }
    }
}

#[test]
fn hooks_are_found_through_includes_of_included_files() {
    let mut repo = TestRepo::new();
    repo.say("x");
    let (home, root) = (repo.home().to_owned(), repo.folder().to_owned());
    let hooks = refusing(&home.join("hooks"));
    fs::create_dir(home.join("inc")).unwrap();
    fs::write(home.join("gitconfig"), "[include]\n\tpath = inc/a\n").unwrap();
    fs::write(home.join("inc/a"), "[include]\n\tpath = b\n").unwrap();
    let path = hooks.display();
    for text in [
        format!("[core]\n\tpager = less\\\n\t# our hooks\n\thooksPath = {path}\n"),
        format!("[core]\n\thooksPath = {path}\n\tpager = less\\\n\t# our hooks\n\thooksPath = {path}\n"),
        format!("[x]\n\ty = \"a\\\\\" # \"c\"\n[core]\n\thooksPath = {path}\n"),
        format!("[core]\n\thooksPath = {path}\n"),
        format!("[core]\n\thooksPath = {path}\x0c\n"),
        format!("[core]\n\thooksPath = \x0b{path}\n"),
        format!("[x]\n\ty = 1\n\x0c\n[core]\n\thooksPath = {path}\n"),
    ] {
        fs::write(home.join("inc/b"), &text).unwrap();
        is_refused(&mut repo, &root, &[]);
        fs::write(home.join("inc/b"), "").unwrap();
        fs::write(home.join("inc/a"), &text).unwrap();
        is_refused(&mut repo, &root, &[]);
        fs::write(home.join("inc/a"), "[include]\n\tpath = b\n").unwrap();
    }
}

#[test]
fn a_relative_folder_of_hooks_is_where_git_looks_for_it() {
    let mut repo = TestRepo::new();
    repo.git(&["config", "core.hooksPath", "hooks-here"]);
    repo.say("x");
    let (root, outside) = (repo.folder().to_owned(), repo.home().join("outside"));
    let (sub, git_dir) = (root.join("sub"), root.join(".git"));
    let bare = repo.home().join("bare.git");
    repo.git(&["clone", "-q", "--mirror", ".", bare.to_str().unwrap()]);
    repo.git(&["-C", bare.to_str().unwrap(), "config", "core.hooksPath", "hooks-here"]);
    for folder in [&sub, &outside] {
        fs::create_dir(folder).unwrap();
    }
    let (root_text, git_text, bare_text) =
        (root.to_str().unwrap().to_owned(), git_dir.to_str().unwrap().to_owned(), bare.to_str().unwrap().to_owned());
    let (at, of_bare) = ([("GIT_DIR", &*git_text)], [("GIT_DIR", &*bare_text)]);
    let both = [("GIT_DIR", &*git_text), ("GIT_WORK_TREE", &*root_text)];
    let mut refused = Vec::new();
    for place in [&root, &sub, &outside, &git_dir, &bare, &bare.join("refs")] {
        let hooks = refusing(&place.join("hooks-here"));
        for (folder, variables) in [
            (&root, &[][..]),
            (&sub, &[]),
            (&git_dir, &[]),
            (&outside, &at),
            (&outside, &both),
            (&sub, &at),
            (&sub, &both),
            (&bare, &[]),
            (&bare.join("refs"), &[]),
            (&outside, &of_bare),
        ] {
            if is_refused(&mut repo, folder, variables) {
                refused.push((place.clone(), folder.clone()));
            }
        }
        fs::remove_dir_all(hooks).unwrap();
    }
    // Each folder of hooks counts somewhere.
    for place in [root, sub, outside, git_dir, bare.join("refs"), bare] {
        assert!(refused.iter().any(|(other, _)| *other == place), "{}: {refused:?}", place.display());
    }
}

#[test]
fn a_repair_of_a_ref_asks_the_hook() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    repo.say("y");
    let tip = repo.git(&["rev-parse", "refs/traces/main"]);
    let (path, log) = (repo.git_dir().join("refs/traces/main"), repo.home().join("log"));
    let refuse = "#!/bin/sh\ntest \"$1\" != prepared\n";
    let watch = format!("#!/bin/sh\nsed \"s/^/$1 /\" >>'{}'\n", log.display());
    for damage in [None, Some("garbage\n")] {
        match damage {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        repo.set_hook("reference-transaction", refuse);
        let said = repo.exact(&repo.run(&["fsck", "--repair"], b""));
        assert!(said.contains("aborted by hook"), "{said}");
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), damage);
        repo.set_hook("reference-transaction", &watch);
        let said = repo.exact(&repo.run(&["fsck", "--repair"], b""));
        assert_eq!(fs::read_to_string(&path).unwrap(), tip, "{said}");
        assert!(fs::read_to_string(&log).unwrap().contains("committed "), "{said}");
        fs::remove_file(&log).unwrap();
    }
    assert_eq!(repo.bodies("main"), ["x", "y"]);
}

#[test]
fn names_without_a_value_and_unusual_zones_are_those_of_git() {
    let repo = TestRepo::new();
    let both = |settings: &str, date: Option<&str>| {
        fs::write(repo.home().join("gitconfig"), settings).unwrap();
        let written = |args: &[&str], rev: &str| {
            let mut command = repo.command("git");
            for word in ["AUTHOR", "COMMITTER"] {
                if date.is_none() {
                    command.env_remove(format!("GIT_{word}_NAME"));
                }
                command.envs(date.map(|date| (format!("GIT_{word}_DATE"), date)));
            }
            let is_done = run(command.args(args), b"").status.success();
            let mut log = repo.command("git");
            log.args(["log", "-1", "--date=raw", "--format=%an %ad %cd", rev]);
            let log = String::from_utf8(run(&mut log, b"").stdout).unwrap();
            is_done.then(|| if date.is_some() { log } else { log.split(" 1").next().unwrap().to_owned() })
        };
        let by_git = written(&["commit", "-q", "--allow-empty", "-m", "x"], "HEAD");
        assert_eq!(written(&["trace", "commit", "-m", "x"], "refs/traces/main"), by_git, "{settings:?} {date:?}");
        by_git
    };
    assert_eq!(both("[user]\n\tname = Ada\n", None).as_deref(), Some("Ada"));
    assert_eq!(both("[user]\n\tname\n", None), None);
    assert_eq!(both("[user]\n\tname = Ada\n[author]\n\tname\n", None), None);
    for zone in
        ["+0000", "-0000", "+0530", "+1459", "+1500", "+0060", "+0099", "+2359", "+2400", "-9999", "+123", "+00000"]
    {
        for start in ["", "@"] {
            both("", Some(&format!("{start}1770714000 {zone}")));
        }
    }
    for date in ["@+1770714000 +0000", "@-5 +0000", "1770714000", "@1770714000"] {
        both("", Some(date));
    }
}
