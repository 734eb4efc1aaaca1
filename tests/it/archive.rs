//! Traces that a remote keeps instead of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::recording::{claude_folder, said};
use crate::repo::TestRepo;

fn session(repo: &TestRepo, id: &str, texts: &[&str]) -> PathBuf {
    let file = claude_folder(repo).join(format!("{id}.jsonl"));
    fs::write(&file, said(id, texts)).unwrap();
    file
}

fn hook(repo: &TestRepo, file: &Path) {
    let id = file.file_stem().unwrap().to_str().unwrap();
    let call = json!({ "session_id": id, "transcript_path": file, "hook_event_name": "SessionEnd", "cwd": "/" });
    assert_eq!(repo.run(&["hook", "claude-code", "--wait"], call.to_string().as_bytes()).status.code(), Some(0));
}

/// A repository with a remote `vault` and recorded sessions.
fn repo_with(sessions: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "vault", "../vault.git"]);
    repo.say("hello");
    for id in sessions {
        hook(&repo, &session(&repo, id, &["one", "two"]));
    }
    repo
}

/// Two years after the sessions.
fn later(repo: &TestRepo, args: &[&str]) -> String {
    let mut command = repo.command("git-trace");
    command.env("GIT_COMMITTER_DATE", "2028-11-20T10:00:00Z").args(args);
    let text = repo.exact(&crate::repo::run(&mut command, b""));
    let date = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
    date.replace_all(&text, "[TIME]").into_owned()
}

fn refs(repo: &TestRepo) -> Vec<String> {
    let listed =
        repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces", "refs/trace-remotes", "refs/trace-orig"]);
    listed.lines().map(|line| line.trim_start_matches("refs/").to_owned()).collect()
}

fn traces(repo: &TestRepo) -> Vec<String> {
    refs(repo).into_iter().filter(|name| name.starts_with("traces/")).collect()
}

#[test]
fn old_sessions_are_archived_and_come_back() {
    let repo = repo_with(&["first", "second"]);
    repo.text(&["--trace", "claude-code/second", "commit", "-m", "a note of my own"]);
    let tip = repo.git(&["rev-parse", "refs/traces/claude-code/first"]);
    insta::assert_snapshot!(later(&repo, &["archive", "vault", "--older-than", "90 days", "--dry-run"]), @r"
    would archive trace `claude-code/first` of [TIME] on `vault`
    [exit 0]
    ");
    assert_eq!(repo.git(&["ls-remote", "vault"]), "");
    insta::assert_snapshot!(later(&repo, &["archive", "vault", "--older-than", "90 days"]), @r"
    Archived trace `claude-code/first` on `vault`
    --- stderr
    `git trace switch claude-code/first` brings it back
    [exit 0]
    ");
    // What the user changed stays. Nothing keeps the objects of the other one.
    assert_eq!(refs(&repo), ["traces/claude-code/second", "traces/main"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.git(&["reflog", "expire", "--all", "--expire=now"]);
    assert!(!repo.command("git").args(["cat-file", "-e", tip.trim()]).status().unwrap().success());
    insta::assert_snapshot!(later(&repo, &["archive", "vault", "--older-than", "90 days"]), @r"
    --- stderr
    no recorded session that you left unchanged is old enough to archive
    [exit 0]
    ");
    let listed = repo.lines(&["sessions", "--archived", "--json"]);
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["trace"], &listed[0]["remote"], &listed[0]["title"], &listed[0]["items"]),
        (&json!("claude-code/first"), &json!("vault"), &json!("one"), &json!(2))
    );
    assert_eq!(repo.lines(&["sessions", "--archived", "--json", "--agent", "codex"]), [] as [Value; 0]);
    assert_eq!(repo.lines(&["sessions", "--archived", "--json", "--grep", "ONE"]).len(), 1);
    assert!(!repo.text(&["sessions"]).contains("first"));
    insta::assert_snapshot!(repo.refused(&["show", "--trace", "claude-code/first"]), @r"
    --- stderr
    error: trace `claude-code/first` is archived on `vault`
    hint: `git trace switch claude-code/first` brings it back
    [exit 2]
    ");
    // A pull of everything leaves it there.
    repo.text(&["pull", "vault"]);
    repo.text(&["fetch", "vault"]);
    assert_eq!(refs(&repo), ["traces/claude-code/second", "traces/main"]);
    insta::assert_snapshot!(repo.trace(&["switch", "claude-code/first"]), @r"
    Switched to trace `claude-code/first`: one
    --- stderr
    fetched trace `claude-code/first` from `vault`
    [exit 0]
    ");
    assert_eq!(repo.git(&["rev-parse", "refs/traces/claude-code/first"]), tip);
    assert!(repo.trace(&["sessions", "--archived"]).contains("no trace is archived"));
    repo.fsck();
}

#[test]
fn a_hook_fetches_an_archived_session_first() {
    let repo = repo_with(&["first"]);
    repo.text(&["archive", "vault", "claude-code/first"]);
    // An import of everything does not fetch what nobody continued.
    repo.text(&["import", "--all", "claude-code"]);
    assert_eq!(refs(&repo), ["traces/main"]);
    let file = session(&repo, "first", &["one", "two", "three"]);
    // Without the remote, the hook starts no other trace, and the next one records everything.
    fs::rename(repo.home().join("vault.git"), repo.home().join("away.git")).unwrap();
    hook(&repo, &file);
    assert_eq!(refs(&repo), ["traces/main"]);
    assert!(fs::read_to_string(repo.git_dir().join("trace/hook.log")).unwrap().contains("claude-code"));
    fs::rename(repo.home().join("away.git"), repo.home().join("vault.git")).unwrap();
    hook(&repo, &file);
    assert_eq!(repo.bodies("claude-code/first"), ["one", "two", "three"]);
    let ancestor =
        ["merge-base", "--is-ancestor", "refs/trace-remotes/vault/claude-code/first", "refs/traces/claude-code/first"];
    repo.git(&ancestor);
    // It continues after the next archive, too, and so does a session that another trace continues.
    repo.text(&["branch", "-m", "claude-code/first", "mine"]);
    repo.text(&["archive", "vault", "mine"]);
    assert_eq!(traces(&repo), ["traces/main"]);
    hook(&repo, &session(&repo, "first", &["one", "two", "three", "four"]));
    assert_eq!(traces(&repo), ["traces/main", "traces/mine"]);
    assert_eq!(repo.bodies("mine"), ["one", "two", "three", "four"]);
    repo.fsck();
}

#[test]
fn what_the_remote_does_not_hold_stays() {
    let repo = repo_with(&["first", "second", "third"]);
    let all = refs(&repo);
    let archive = |remote: &str| later(&repo, &["archive", remote, "--older-than", "90 days"]);
    // The remote is this repository, or borrows its objects.
    repo.git(&["remote", "add", "self", "."]);
    repo.git(&["clone", "--quiet", "--bare", "--shared", ".", "../borrower.git"]);
    repo.git(&["remote", "add", "borrower", "../borrower.git"]);
    // Git finds it by these addresses, too.
    let home = repo.home().to_str().unwrap().to_owned();
    repo.git(&["remote", "add", "short", "../borrower"]);
    repo.git(&["remote", "add", "escaped", &format!("file://{home}/borrowe%72.git")]);
    repo.git(&["remote", "add", "host", &format!("file://localhost{home}/borrower.git")]);
    // It has no items, but can get them from here.
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let here = format!("file://{home}/repo");
    repo.git(&["clone", "--quiet", "--mirror", "--filter=blob:none", &here, "../partial.git"]);
    repo.git(&["remote", "add", "partial", "../partial.git"]);
    for remote in ["self", "borrower", "short", "escaped", "host", "partial"] {
        let refused = archive(remote);
        assert!(refused.contains("it needs objects of this repository"), "{remote}: {refused}");
        assert_eq!(refs(&repo), all);
    }
    // Git pushes there, but does not open it from outside.
    repo.git(&["config", "--global", "safe.bareRepository", "explicit"]);
    for remote in ["borrower", "partial"] {
        let refused = archive(remote);
        assert!(refused.contains("it needs objects of this repository"), "{remote}: {refused}");
        assert_eq!(refs(&repo), all);
    }
    repo.git(&["config", "--global", "--unset", "safe.bareRepository"]);
    // The remote refuses one, and hides another.
    let script = "#!/bin/sh\ncase $1 in *first) exit 1;; esac\n";
    let path = repo.home().join("vault.git/hooks/update");
    fs::write(&path, script).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    repo.git(&["--git-dir=../vault.git", "config", "uploadpack.hideRefs", "refs/traces/claude-code/second"]);
    let answer = archive("vault");
    assert!(answer.contains("Archived trace `claude-code/third` on `vault`"), "{answer}");
    assert!(answer.contains("kept trace `claude-code/first`: [remote rejected] (hook declined)"), "{answer}");
    assert!(answer.contains("kept trace `claude-code/second`: the remote does not list its newest commit"), "{answer}");
    assert!(answer.ends_with("[exit 1]"), "{answer}");
    let kept = ["traces/claude-code/first", "traces/claude-code/second", "traces/main"];
    assert_eq!(traces(&repo), kept);
    // The current trace stays, too, and states that were left behind.
    assert!(repo.trace(&["archive", "vault", "main"]).contains("kept trace `main`: it is checked out"));
    repo.text(&["branch", "idea"]);
    repo.text(&["--trace", "idea", "commit", "-m", "left behind"]);
    let left = repo.git(&["rev-parse", "refs/traces/idea"]);
    repo.text(&["--trace", "idea", "reset", "refs/traces/idea~1"]);
    repo.text(&["archive", "vault", "idea"]);
    assert!(refs(&repo).contains(&format!("trace-orig/{}", left.trim())));
    // The remote lost it.
    repo.git(&["--git-dir=../vault.git", "update-ref", "-d", "refs/traces/idea"]);
    assert_eq!(repo.run(&["switch", "idea"], b"").status.code(), Some(2));
    assert_eq!(repo.lines(&["sessions", "--archived", "--json"]).len(), 2);
    repo.fsck();
}

#[test]
fn a_sub_agent_comes_and_goes_with_its_session() {
    let repo = repo_with(&["first"]);
    let sub = "refs/traces/claude-code/first.agent-a1";
    repo.git(&["update-ref", sub, "refs/traces/claude-code/first"]);
    repo.text(&["--trace", "claude-code/first", "commit", "-m", "a note of my own"]);
    // The session stays because it was changed.
    assert!(later(&repo, &["archive", "vault", "--older-than", "90 days"]).contains("is old enough to archive"));
    repo.text(&["archive", "vault", "claude-code/*"]);
    assert_eq!(refs(&repo), ["traces/main"]);
    repo.text(&["switch", "claude-code/first"]);
    repo.text(&["undo"]);
    assert_eq!(repo.lines(&["sessions", "--archived", "--json"]).len(), 2, "they are archived again");
    repo.text(&["switch", "claude-code/first"]);
    assert!(refs(&repo).contains(&"traces/claude-code/first.agent-a1".to_owned()));
    assert!(repo.lines(&["sessions", "--archived", "--json"]).is_empty());
}

#[test]
fn no_other_trace_takes_the_name_of_an_archived_one() {
    let repo = repo_with(&["first"]);
    repo.text(&["archive", "vault", "claude-code/first"]);
    let requests = repo.folder().join("requests.jsonl");
    fs::write(&requests, r#"{"messages":[{"role":"user","content":"hello"}]}"#).unwrap();
    let before = refs(&repo);
    for args in [
        &["--trace", "claude-code/first", "commit", "-m", "another"][..],
        &["--trace", "claude-code/first", "import", "openai", "requests.jsonl"],
        &["branch", "claude-code/first"],
        &["switch", "-c", "claude-code/first"],
        &["branch", "-m", "main", "claude-code/first"],
        &["init", "claude-code/first"],
    ] {
        let refusal = repo.refused(args);
        assert!(refusal.contains("trace `claude-code/first` is archived on `vault`"), "{args:?}: {refusal}");
        assert!(refusal.contains("hint: `git trace switch claude-code/first` brings it back"), "{args:?}: {refusal}");
        assert_eq!(refs(&repo), before, "{args:?}");
    }
    repo.text(&["switch", "claude-code/first"]);
    repo.text(&["commit", "-m", "more"]);
    assert_eq!(repo.bodies("claude-code/first").last().unwrap(), "more");
}

#[test]
fn a_network_may_lead_to_this_repository() {
    let repo = repo_with(&["first"]);
    let before = traces(&repo);
    repo.git(&["config", "protocol.ext.allow", "always"]);
    repo.git(&["remote", "add", "network", &format!("ext::%S {}", repo.git_dir().display())]);
    let refused = later(&repo, &["archive", "network", "claude-code/first"]);
    assert!(refused.contains("it needs objects of this repository"), "{refused}");
    assert_eq!(traces(&repo), before);
    assert!(!refs(&repo).iter().any(|line| line.contains("trace-archiving")));
}

#[test]
fn a_remote_that_is_this_repository_and_hides_the_probe_is_found_out() {
    let repo = repo_with(&["first"]);
    let before = repo.refs();
    repo.git(&["config", "protocol.ext.allow", "always"]);
    repo.git(&["remote", "add", "me", &format!("ext::%S {}", repo.git_dir().display())]);
    for hidden in ["refs", "!refs/heads", "!refs/traces"] {
        repo.git(&["config", "--add", "transfer.hideRefs", hidden]);
    }
    let refused = later(&repo, &["archive", "me", "claude-code/first"]);
    assert!(refused.contains("it needs objects of this repository") && refused.ends_with("[exit 1]"), "{refused}");
    let after = repo.refs().lines().filter(|line| !line.contains("trace-remotes/")).collect::<Vec<_>>().join("\n");
    assert_eq!(after, before.trim_end());
    assert_eq!(repo.bodies("claude-code/first"), ["one", "two"]);
    assert!(repo.lines(&["sessions", "--archived", "--json"]).is_empty());
    repo.text(&["show", "--trace", "claude-code/first", "#0"]);
}

#[cfg(unix)]
#[test]
fn other_users_of_a_shared_repository_can_read_what_is_archived() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = TestRepo::classic(&["--shared=group"]);
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "vault", "../vault.git"]);
    repo.say("hello");
    repo.text(&["push", "vault", "main"]);
    repo.text(&["branch", "old"]);
    let blob = repo.git(&["ls-tree", "-r", "--format=%(objectname)", "refs/traces/main", "00"]).trim().to_owned();
    let path = repo.git_dir().join("objects").join(&blob[..2]).join(&blob[2..]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let mode_after = |command: &str, file: &str| {
        let script = format!("umask 077; git trace {command}");
        let output = crate::repo::run(repo.command("sh").args(["-c", &script]), b"");
        let said = repo.exact(&output);
        let metadata = fs::metadata(repo.git_dir().join(file)).expect(&said);
        format!("{:o}", metadata.permissions().mode() & 0o7777)
    };
    assert_eq!(mode_after("archive vault old", "trace/archived"), "660");
    fs::write(&path, "damaged").unwrap();
    assert_eq!(mode_after("fetch --refetch vault", "trace/damaged"), "2770");
}

#[test]
fn other_users_of_a_shared_repository_can_write_after_a_hook_was_the_first() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = TestRepo::classic(&["--shared=group"]);
    let folder = claude_folder(&repo);
    fs::create_dir_all(folder.join("bad.jsonl")).unwrap();
    session(&repo, "first", &["one", "two"]);
    for (id, command) in [("first", "hook claude-code --wait"), ("bad", "hook claude-code --wait"), ("", "install")] {
        let file = folder.join(format!("{id}.jsonl"));
        let call = json!({ "session_id": id, "transcript_path": file, "hook_event_name": "SessionEnd", "cwd": "/" });
        let script = format!("umask 077; git trace {command}");
        crate::repo::run(repo.command("sh").args(["-c", &script]), call.to_string().as_bytes());
    }
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "vault", "../vault.git"]);
    repo.text(&["push", "vault", "claude-code/first"]);
    let remotes = repo.git_dir().join("trace/cache/remotes");
    let note = fs::read_dir(&remotes).unwrap().next().unwrap().unwrap().path();
    let trace = repo.git_dir().join("trace");
    let mode = |path: &Path| format!("{:o}", fs::metadata(path).unwrap().permissions().mode() & 0o7777);
    let git_dir = mode(&repo.git_dir());
    for (path, expected) in [
        (trace.clone(), &*git_dir),
        (trace.join("transcripts"), &*git_dir),
        (trace.join("hook.log"), "660"),
        (note, "660"),
        (repo.git_dir().join("hooks/pre-commit"), "770"),
    ] {
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn a_message_that_cannot_be_noted_fails_no_push() {
    let repo = repo_with(&[]);
    repo.git(&["remote", "rename", "vault", "origin"]);
    fs::write(repo.git_dir().join("trace/transcripts"), "").unwrap();
    for _ in 0..2 {
        let output = repo.run(&["push"], b"");
        let said = repo.exact(&output);
        assert!(output.status.success() && said.contains("the default remote is `origin`"), "{said}");
    }
}

#[test]
fn a_purge_keeps_the_list_without_the_text() {
    let repo = repo_with(&[]);
    hook(&repo, &session(&repo, "first", &["hunter2secret is the password", "two"]));
    repo.text(&["archive", "vault", "claude-code/first"]);
    repo.say("another secret: swordfish99");
    repo.text(&["purge", "#1", "--yes"]);
    let listed = |repo: &TestRepo| repo.lines(&["sessions", "--archived", "--json"])[0]["title"].clone();
    assert_eq!(listed(&repo), "hunter2secret is the password");
    assert_eq!(repo.run(&["purge", "--text", "-", "--yes"], b"hunter2secret").status.code(), Some(0));
    assert_eq!(listed(&repo), "[purged: secret] is the password");
    assert!(!fs::read_to_string(repo.git_dir().join("trace/archived")).unwrap().contains("hunter2"));
    // A name stays, and each purge reports it.
    let purge = || repo.exact(&repo.run(&["purge", "--text", "-", "--yes"], b"claude-code/first"));
    let said = [purge(), purge()];
    assert!(said.iter().all(|said| said.contains("stays in a file: [HOME]/repo/.git/trace/archived")), "{said:?}");
    assert!(said[1].starts_with("nothing to purge\n"), "{said:?}");
}

#[test]
fn an_archived_trace_is_said_to_be_one_and_pulled_with_its_session() {
    let repo = repo_with(&[]);
    let file = session(&repo, "first", &["one", "two"]);
    let path = file.to_str().unwrap();
    repo.text(&["--trace", "old", "import", "claude-code", path]);
    repo.git(&["symbolic-ref", "refs/trace-sessions/claude-code/first", "refs/traces/old"]);
    repo.text(&["archive", "vault", "old"]);
    for args in [&["merge", "old"][..], &["diff", "main", "old"], &["log", "old"], &["branch", "-d", "old"]] {
        assert!(repo.refused(args).contains("trace `old` is archived on `vault`"), "{args:?}: {}", repo.refused(args));
    }
    repo.git(&["symbolic-ref", "TRACE_HEAD", "refs/traces/old"]);
    for args in [&["status"][..], &["log"], &["show"], &["push", "vault"]] {
        assert!(repo.refused(args).contains("trace `old` is archived on `vault`"), "{args:?}: {}", repo.refused(args));
    }
    // Others may have changed it since.
    repo.text(&["fetch", "vault", "old"]);
    repo.text(&["branch", "theirs", "vault/old"]);
    repo.text(&["--trace", "theirs", "edit", "#0", "-m", "theirs"]);
    repo.git(&["push", "-q", "vault", "refs/traces/theirs:refs/traces/old"]);
    let pulled = repo.text(&["pull", "vault", "ol*"]);
    assert!(!pulled.contains("old"), "{pulled}");
    let pulled = repo.text(&["pull", "vault", "old"]);
    assert!(pulled.starts_with("old: was archived, and is here again\n"), "{pulled}");
    assert!(pulled.contains("old: edited by the pull: #0\n"), "{pulled}");
    repo.text(&["import", "claude-code", path]);
    assert_eq!(traces(&repo), ["traces/main", "traces/old", "traces/theirs"]);
    repo.text(&["switch", "main"]);
    repo.text(&["archive", "vault", "old"]);
    repo.text(&["--trace", "theirs", "edit", "#0", "-m", "theirs again"]);
    repo.git(&["push", "-q", "vault", "refs/traces/theirs:refs/traces/old"]);
    // An import and a hook bring back what was archived.
    repo.text(&["import", "claude-code", path]);
    assert_eq!(repo.bodies("old"), ["theirs", "two"]);
}

#[test]
fn an_undo_passes_over_an_archiving() {
    let repo = repo_with(&["first"]);
    repo.text(&["switch", "claude-code/first"]);
    repo.text(&["resume", "--print"]);
    repo.text(&["switch", "main"]);
    repo.say("more");
    repo.text(&["archive", "vault", "claude-code/first"]);
    let undone = repo.text(&["undo"]);
    assert!(undone.starts_with("Undid `commit`\n"), "{undone}");
    assert_eq!(repo.bodies("main"), ["hello"]);
    // With reftable, git reports a session's ref without its trace as damage.
    assert!(!repo.git(&["for-each-ref", "refs/trace-sessions"]).contains("claude-code"));
    repo.fsck();
    repo.text(&["switch", "claude-code/first"]);
    assert_eq!(repo.bodies("claude-code/first").len(), 2);
}

#[test]
fn an_archived_trace_is_found_after_its_remote_was_renamed() {
    let repo = repo_with(&["first"]);
    repo.text(&["archive", "vault", "claude-code/first"]);
    repo.git(&["remote", "rename", "vault", "cellar"]);
    let said = repo.refused(&["switch", "claude-code/first"]);
    assert!(said.contains("is archived on `vault`, which is no remote any more"), "{said}");
    assert!(said.contains("`git trace pull REMOTE claude-code/first`"), "{said}");
    repo.text(&["pull", "cellar", "claude-code/first"]);
    assert!(traces(&repo).contains(&"traces/claude-code/first".to_owned()));
}
