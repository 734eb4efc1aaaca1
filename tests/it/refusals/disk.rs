//! A disk, a pipe, or a memory that takes nothing more.

use std::fs::File;
use std::process::{Command, Stdio};

use super::repo;
use crate::repo::{TestRepo, run};

/// Runs a script where it may mount; says on stderr why not, where it may not.
#[expect(clippy::print_stderr, reason = "the person who runs the tests should know what was not tried")]
fn mounted(repo: &TestRepo, script: &str) -> Option<std::process::Output> {
    let allowed = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system lets nobody mount a small or read-only disk");
        return None;
    }
    Some(run(repo.command("unshare").args(["-rm", "sh", "-ec", script]), b""))
}

#[test]
fn a_full_disk() {
    let repo = TestRepo::without_git();
    let script = "
        mount -t tmpfs -o size=1m none .
        cd . ; cd \"$PWD\"
        git init -q
        git trace commit -m first >/dev/null
        git for-each-ref > ../before
        dd if=/dev/urandom of=filler bs=1k count=4096 2>/dev/null || true
        head -c 200000 /dev/urandom | base64 > ../big
        git trace commit -F ../big || echo \"[exit $?]\"
        git for-each-ref > ../after; cmp ../before ../after
        git trace materialize --format text
        rm filler
        git trace commit -m second
        git fsck --strict";
    let Some(output) = mounted(&repo, script) else { return };
    insta::assert_snapshot!(repo.snapshot(&output), @"
    [exit 2]
    [user]
    first
    [main #1] dialogue user: second [ID]
    --- stderr
    error: cannot write the item to the object database: No space left on device (os error 28)
    notice: HEAD points to an unborn branch (master)
    [exit 0]
    ");
}

#[test]
fn a_read_only_disk() {
    let repo = repo();
    let script = "
        mount --bind . . ; mount -o remount,bind,ro . ; cd \"$PWD\"
        git trace commit -m x || echo \"[exit $?]\"
        git trace pin '#0' || echo \"[exit $?]\"
        git trace init another || echo \"[exit $?]\"
        git trace switch other || echo \"[exit $?]\"
        git trace import jsonl - < /dev/null || echo \"[exit $?]\"
        git trace materialize
        git trace status
        git trace export | wc -l";
    let before = repo.refs();
    let Some(output) = mounted(&repo, script) else { return };
    insta::assert_snapshot!(repo.snapshot(&output), @r#"
    [exit 2]
    [exit 2]
    [exit 2]
    [exit 2]
    0 imported into trace `main`
    [
    {"role":"user","content":"one\n\ntwo"}
    ]
    On trace main
      2 items, [N] tokens (o200k_base)
      last: dialogue user: two [SHORT]

      dialogue          2

      pinned            0
      normal            2
      skip              0
    2
    --- stderr
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/objects.turn: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/objects.turn: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/objects.turn: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/objects.turn: Read-only file system (os error 30)
    [exit 0]
    "#);
    assert_eq!(repo.refs(), before);
}

/// Runs `git trace` with an unwritable stdout, and returns the rest of its answer.
fn unanswered(repo: &TestRepo, args: &[&str], input: &str) -> String {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = repo.command("git-trace");
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    repo.snapshot(&child.wait_with_output().unwrap())
}

#[test]
fn an_answer_that_cannot_be_written() {
    let repo = repo();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    insta::assert_snapshot!(unanswered(&repo, &["commit", "-m", "three"], ""), @"
    --- stderr
    warning: cannot write to stdout: No space left on device (os error 28); the command is done, and answers here:
    [main #2] dialogue user: three [ID]
    [exit 0]
    ");
    let batch = "{\"text\":\"four\"}\n{\"text\":\"five\"}\n";
    let said = unanswered(&repo, &["commit", "--batch"], batch);
    assert!(said.matches("\"id\"").count() == 2 && said.ends_with("[exit 0]"), "{said}");
    for (args, done) in [
        (&["switch", "other"][..], "Switched to trace `other`"),
        (&["switch", "main"], "Switched to trace `main`"),
        (&["breadcrumb", "set", "a.b", "c"], ""),
        (&["install"], "answers here"),
        (&["branch", "next"], "Created trace `next`"),
        (&["branch", "-D", "next"], "Deleted trace `next`"),
        (&["undo"], "is now at"),
    ] {
        let said = unanswered(&repo, args, "");
        assert!(said.contains(done) && said.ends_with("[exit 0]"), "{args:?}: {said}");
    }
    for reading in [&["log"][..], &["status"], &["materialize"], &["branch"], &["switch", "nothing"]] {
        let said = unanswered(&repo, reading, "");
        assert!(said.ends_with("[exit 2]"), "{reading:?}: {said}");
    }
    // The undo was that of `branch -D`.
    assert_eq!(repo.bodies("main").len(), 5);
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory() {
    let repo = repo();
    std::fs::write(repo.folder().join("big"), "a".repeat(40 << 20)).unwrap();
    for (kilobytes, is_refused) in [(120_000, true), (160_000, true), (1_000_000, false)] {
        let script = format!("ulimit -v {kilobytes}; git-trace commit -F big");
        let output = run(repo.command("sh").args(["-c", &script]), b"");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(if is_refused { 2 } else { 0 }), "{kilobytes}: {said}");
        assert_eq!(said.starts_with("error: out of memory: "), is_refused, "{kilobytes}: {said}");
    }
    assert_eq!(repo.bodies("main").len(), 3);
    repo.fsck();
}
