//! What the system refuses: a disk that is full, or read-only, a lock that is held, an owner who is another, a clock set back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

use super::tracer::tracer;
use crate::repo::{TestRepo, run};

fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A file system of two mebibytes, really full. Needs the right to mount.
#[test]
fn a_full_disk_stops_a_command_and_loses_nothing() {
    let mut repo = TestRepo::classic(&[]);
    let disk = repo.home().join("disk");
    fs::create_dir(&disk).unwrap();
    if !done(Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "none"]).arg(&disk)) {
        println!("no disk is filled: it may not be mounted here");
        return;
    }
    repo.within(&disk, |repo| {
        repo.git(&["init", "-q", "--initial-branch=code", "."]);
        repo.say("before");
        repo.text(&["breadcrumb", "set", "api.a", "before"]);
        fs::write(disk.join("filler"), vec![0; 8 << 20]).unwrap_err();
        let refs = repo.refs();
        for args in [
            &["commit", "-m", "more"][..],
            &["edit", "#0", "-m", "other"],
            &["breadcrumb", "set", "api.b", &"b".repeat(9000)],
        ] {
            let output = repo.run(args, b"");
            let said = repo.exact(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("No space left on device"), "{said}");
        }
        assert_eq!(repo.refs(), refs);
        assert_eq!(repo.text(&["breadcrumb", "get", "api.a"]), "before\n");
        assert!(repo.text(&["materialize"]).contains("before"));
        fs::remove_file(disk.join("filler")).unwrap();
        // As much as fits, and all that was answered.
        let line = format!("{{\"text\":\"{}\"}}\n", "no two of a kind ".repeat(40));
        let output = repo.run(&["commit", "--batch"], line.repeat(2000).as_bytes());
        assert_eq!(output.status.code(), Some(1), "some were refused");
        let answers = String::from_utf8(output.stdout).unwrap();
        let made = answers.lines().filter(|line| !line.contains("\"error\"")).count();
        assert!(made > 0 && made < 2000, "{made}");
        assert_eq!(repo.git(&["ls-tree", "-r", "refs/traces/main"]).lines().count(), 1 + made);
        repo.fsck();
    });
    assert!(done(Command::new("umount").arg(&disk)));
}

#[test]
fn a_read_only_repository_is_readable_and_refuses_writes() {
    let tracer = match tracer() {
        Ok(tracer) => tracer,
        Err(cause) => return println!("no faults are made: {cause}"),
    };
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    repo.text(&["breadcrumb", "set", "api.a", "1"]);
    let read_only = |args: &[&str]| -> Output {
        let mut command = repo.command(tracer.to_str().unwrap());
        command.arg(repo.folder()).args(["rofs", "1"]).arg(repo.home().join("report"));
        run(command.arg(env!("CARGO_BIN_EXE_git-trace")).args(args), b"")
    };
    let refs = repo.refs();
    for args in [
        &["materialize"][..],
        &["log"],
        &["status"],
        &["breadcrumb", "get", "api.a"],
        &["branch"],
        &["diff"],
        &["export"],
    ] {
        let output = read_only(args);
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    }
    for args in [
        &["commit", "-m", "y"][..],
        &["pin", "#0"],
        &["branch", "b"],
        &["switch", "b"],
        &["breadcrumb", "set", "api.a", "2"],
        &["crumb", "new", "a.crumb"],
    ] {
        let output = read_only(args);
        let said = repo.exact(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("ead-only file system") || args[0] == "switch", "{args:?}: {said}");
    }
    assert_eq!(repo.refs(), refs);
    repo.say("y");
}

#[test]
fn a_repository_of_another_user_is_refused_unless_trusted() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    if !done(Command::new("chown").args(["-R", "12345"]).arg(repo.git_dir()).arg(repo.folder())) {
        println!("no other owner: this user may give nothing away");
        return;
    }
    let refused = repo.run(&["status"], b"");
    assert_eq!(
        repo.exact(&refused),
        "--- stderr\nerror: the repository belongs to another user, and git was not told to trust it\nhint: if you trust it: git config --global --add safe.directory <its folder>\n[exit 2]"
    );
    let trusting = repo.home().join("trusting");
    fs::write(&trusting, format!("[safe]\n\tdirectory = {}\n", repo.folder().display())).unwrap();
    for args in [&["status"][..], &["commit", "-m", "y"], &["pin", "#0"]] {
        let output = run(repo.command("git-trace").env("GIT_CONFIG_GLOBAL", &trusting).args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    }
}

#[test]
fn linked_and_separate_git_folders_work() {
    let mut repo = TestRepo::classic(&[]);
    repo.say("x");
    let (real, link) = (repo.home().join("real"), repo.git_dir());
    fs::rename(&link, &real).unwrap();
    symlink(&real, &link).unwrap();
    repo.say("through a link");
    repo.text(&["pin", "#0"]);
    repo.text(&["branch", "-m", "other"]);
    repo.fsck();
    fs::remove_file(&link).unwrap();
    fs::write(&link, "gitdir: ../real\n").unwrap();
    repo.say("through a file");
    repo.text(&["unpin", "#0"]);
    let folder = repo.home().join("by-another-name");
    symlink(repo.folder(), &folder).unwrap();
    repo.within(&folder, |repo| {
        repo.say("in a linked folder");
        repo.text(&["breadcrumb", "set", "api.a", "1"]);
        repo.text(&["install"]);
        assert_eq!(repo.bodies("other"), ["x", "through a link", "through a file", "in a linked folder"]);
    });
}

#[test]
fn a_clock_that_moves_back_changes_no_order() {
    let repo = TestRepo::classic(&[]);
    let first = repo.say("first");
    repo.text(&["breadcrumb", "set", "api.a", "1"]);
    let earlier = |args: &[&str]| {
        let mut command = repo.command("git-trace");
        command.env("GIT_AUTHOR_DATE", "1000000000 +0000").env("GIT_COMMITTER_DATE", "1000000000 +0000");
        let output = run(command.args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    };
    earlier(&["commit", "-m", "second"]);
    earlier(&["skip", "#0"]);
    earlier(&["unpin", "#0"]);
    earlier(&["edit", "#0", "-m", "first, again"]);
    earlier(&["breadcrumb", "set", "api.a", "2"]);
    earlier(&["forward", "leave", "--agent", "ada", "--summary", "Left while the clock was wrong."]);
    repo.say("third");
    let log = repo.lines(&["log", "--json"]);
    let times: Vec<&str> =
        log.iter().rev().map(|commit| commit["at"].as_str().unwrap().trim_end_matches('Z')).collect();
    assert!(times.is_sorted() && times.windows(2).all(|pair| pair[0] != pair[1]), "{times:?}");
    assert_eq!(
        repo.json(&["show", &first, "--json"])["priority"],
        "normal",
        "the last word counts, not the latest clock"
    );
    // As of a time, what was committed by then, in the order of committing.
    assert_eq!(
        repo.text(&["materialize", "--format", "text", "--as-of", &format!("{}Z", times[1])]).matches("second").count(),
        1
    );
    let record: serde_json::Value =
        serde_json::from_str(&repo.text(&["breadcrumb", "get", "api.a", "--format", "json"])).unwrap();
    assert_eq!(record["value"], "2");
    assert!(record["updated_at"].as_str() > record["created_at"].as_str(), "{record}");
    assert_eq!(repo.git(&["reflog", "show", "refs/traces/main"]).lines().count(), 4);
    repo.text(&["undo"]);
    repo.fsck();
}

#[test]
fn a_held_lock_is_named() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    repo.text(&["pin", "#0"]);
    // git's lock of all packed refs is asked for to delete one; git waits a second for it.
    let lock = repo.git_dir().join("packed-refs.lock");
    fs::write(&lock, "").unwrap();
    let output = repo.run(&["unpin", "#0"], b"");
    let said = repo.exact(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("packed-refs.lock"), "{said}");
    assert_eq!(repo.json(&["show", "#0", "--json"])["priority"], "normal", "the record decides, and it was written");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(601);
    fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
    repo.text(&["skip", "#0"]);
    assert!(!lock.exists(), "ten minutes later it was left behind");
    // The index is git's, and nothing here asks for it.
    fs::write(repo.git_dir().join("index.lock"), "").unwrap();
    repo.say("y");
    repo.text(&["breadcrumb", "set", "api.a", "1"]);
}

#[test]
fn locks_of_a_killed_gc_expire_after_ten_minutes_and_the_index_lock_never() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    let locks = ["HEAD.lock", "gc.pid.lock", "objects/info/commit-graph.lock", "index.lock"];
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(601);
    for name in locks {
        fs::File::create(repo.git_dir().join(name)).unwrap().set_modified(old).unwrap();
    }
    repo.text(&["gc", "--quiet"]);
    assert_eq!(locks.map(|name| repo.git_dir().join(name).exists()), [false, false, false, true]);
}

#[test]
fn a_stale_settings_lock_expires() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["remote", "add", "origin", "../remote.git"]);
    let lock = repo.git_dir().join("config.lock");
    let commands =
        [&["remote", "origin", "--follow"][..], &["install"], &["uninstall"], &["remote", "origin", "--unfollow"]];
    for args in commands {
        fs::write(&lock, "").unwrap();
        let output = repo.run(args, b"");
        let said = repo.exact(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("config.lock`\nhint: try again; if no git is at work there"), "{args:?}: {said}");
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(601);
        fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
        repo.text(args);
        assert!(!lock.exists(), "{args:?}: ten minutes later it was left behind");
    }
    // One that is taken for the moment only is waited for, also from a folder below.
    fs::write(&lock, "").unwrap();
    let freed = lock.clone();
    let owner = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        fs::remove_file(freed).unwrap();
    });
    repo.text(&["remote", "origin", "--follow"]);
    owner.join().unwrap();
    assert_eq!(repo.git(&["config", "--get-all", "remote.origin.fetch"]).lines().count(), 3);
    repo.text(&["remote", "origin", "--follow"]);
    assert_eq!(
        repo.git(&["config", "--get-all", "remote.origin.fetch"]).lines().count(),
        3,
        "what is there is not added"
    );
}

#[test]
fn stale_git_locks_block_neither_packing_nor_fetching() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    repo.git(&["init", "-q", "--bare", "../remote.git"]);
    repo.git(&["remote", "add", "origin", "../remote.git"]);
    repo.text(&["push", "origin", "main"]);
    repo.say("y");
    repo.git(&["push", "-q", "origin", "refs/traces/main"]);
    for (locked, args) in [
        ("refs/traces/main", &["gc", "--quiet"][..]),
        ("logs/refs/traces/main", &["gc", "--quiet"]),
        ("refs/trace-remotes/origin/main", &["fetch"]),
    ] {
        let lock = repo.git_dir().join(format!("{locked}.lock"));
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        let output = repo.run(args, b"");
        assert_eq!(output.status.code(), Some(2), "{locked}: {}", repo.exact(&output));
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(601);
        fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
        repo.text(args);
        assert!(!lock.exists(), "{locked}: ten minutes later it was left behind");
    }
    repo.fsck();
}

#[test]
fn an_unwritable_folder_is_named() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    let closed = repo.git_dir().join("objects");
    let is_root = fs::read_dir("/root").is_ok() && done(Command::new("sh").args(["-c", "test $(id -u) = 0"]));
    if is_root {
        println!("root writes everywhere");
        return;
    }
    close(&closed, 0o500);
    let said = repo.refused(&["commit", "-m", "y"]);
    close(&closed, 0o700);
    assert!(said.contains("ermission denied"), "{said}");
}

fn close(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}
