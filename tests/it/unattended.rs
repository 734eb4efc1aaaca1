//! What recording does on its own over time: sessions that no hook reported, failures that nobody saw, and old sessions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::recording::{claude_folder, said};
use crate::repo::TestRepo;

const CODEX: &str = "{\"timestamp\":\"2026-11-20T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"ID\",\"cwd\":\"CWD\",\
    \"originator\":\"codex_exec\",\"cli_version\":\"0.169.0\"}}\n{\"timestamp\":\"2026-11-20T10:00:01Z\",\"type\":\"response_item\",\
    \"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hello\"}]}}\n";

/// Calls the hook of an agent, which finishes before it returns.
fn hook(repo: &TestRepo, agent: &str, file: &Path) {
    hook_of(repo, agent, file.file_stem().unwrap().to_str().unwrap(), file);
}

fn hook_of(repo: &TestRepo, agent: &str, session: &str, file: &Path) {
    let call = json!({ "session_id": session, "transcript_path": file, "hook_event_name": "Stop", "cwd": "/" });
    let output = repo.run(&["hook", agent, "--wait"], call.to_string().as_bytes());
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", repo.exact(&output));
}

fn traces(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/traces"])
}

/// A session of Claude Code in this folder that says these words, and its file.
fn session(repo: &TestRepo, id: &str, texts: &[&str]) -> PathBuf {
    let file = claude_folder(repo).join(format!("{id}.jsonl"));
    fs::write(&file, said(id, texts)).unwrap();
    file
}

#[test]
fn sessions_that_no_hook_reported_are_caught_up() {
    let repo = TestRepo::new();
    let old = session(&repo, "old", &["before"]);
    let first = session(&repo, "first", &["one"]);
    // From before the first hook: that is left to `import --all`.
    fs::File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
    hook(&repo, "claude-code", &first);
    assert_eq!(traces(&repo), "claude-code/first\n");
    // One is killed in its first turn, another one later.
    session(&repo, "killed", &["help"]);
    session(&repo, "first", &["one", "two"]);
    hook(&repo, "claude-code", &session(&repo, "second", &["other"]));
    assert_eq!(traces(&repo), "claude-code/first\nclaude-code/killed\nclaude-code/second\n");
    assert_eq!(repo.bodies("claude-code/first"), ["one", "two"]);
    // A file is not read twice: a deleted trace stays deleted.
    repo.text(&["branch", "-D", "claude-code/killed"]);
    hook(&repo, "claude-code", &session(&repo, "second", &["other", "more"]));
    assert_eq!(traces(&repo), "claude-code/first\nclaude-code/second\n");
    // A list shows what is there, and a damaged file does not stop it.
    session(&repo, "first", &["one", "two", "three"]);
    fs::write(claude_folder(&repo).join("bad.jsonl"), "nonsense\n").unwrap();
    let listed = repo.run(&["sessions", "--json"], b"");
    assert_eq!(String::from_utf8(listed.stdout).unwrap().lines().count(), 2);
    assert_eq!(
        String::from_utf8(listed.stderr).unwrap(),
        "items recorded in `claude-code/first` that no hook recorded: 1\n"
    );
    assert_eq!(repo.run(&["sessions"], b"").stderr, b"");
    assert_eq!(repo.bodies("claude-code/first"), ["one", "two", "three"]);
    repo.fsck();
}

#[test]
fn a_session_of_gemini_cli_without_its_first_line_has_one_trace() {
    let repo = TestRepo::new();
    let project = repo.home().join(".gemini/tmp/x");
    fs::create_dir_all(project.join("chats")).unwrap();
    fs::write(project.join(".project_root"), repo.folder().canonicalize().unwrap().to_str().unwrap()).unwrap();
    let write = |start: &str, head: bool, texts: &[&str]| {
        let file = project.join(format!("chats/session-2026-11-23T10-21-{start}.jsonl"));
        let head = head.then(|| json!({ "sessionId": format!("{start}-d88a"), "projectHash": "", "kind": "main" }));
        let said = texts.iter().map(|text| json!({ "id": text, "type": "user", "content": [{ "text": text }] }));
        fs::write(&file, head.into_iter().chain(said).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        file
    };
    let whole = |texts: &[&str]| hook_of(&repo, "gemini-cli", "b2440026-d88a", &write("b2440026", true, texts));
    let (other, own) = ("gemini-cli/b2440026-d88a", "gemini-cli/94b4c919-d88a");
    whole(&["two"]);
    // Gemini CLI loses the line when it tidies up while another session starts. The hook of that session cannot tell the id.
    let broken = write("94b4c919", false, &["one"]);
    whole(&["two", "more"]);
    assert_eq!(traces(&repo), format!("{other}\n"));
    let failure = repo.exact(&repo.run(&["doctor"], b""));
    assert!(failure.contains("94b4c919.jsonl`: cannot read the transcript: it lacks the session's id"), "{failure}");
    hook_of(&repo, "gemini-cli", "94b4c919-d88a", &broken);
    write("94b4c919", false, &["one", "later"]);
    whole(&["two", "more", "most"]);
    assert_eq!(traces(&repo), format!("{own}\n{other}\n"));
    assert_eq!(repo.bodies(own), ["one", "later"]);
    write("94b4c919", false, &["one", "later", "last"]);
    repo.text(&["import", "gemini-cli", broken.to_str().unwrap()]);
    assert_eq!(repo.bodies(own), ["one", "later", "last"]);
    // Who names the file wants it, whatever it lacks.
    let unknown = write("aaaaaaaa", false, &["three"]);
    repo.text(&["import", "gemini-cli", unknown.to_str().unwrap()]);
    assert_eq!(traces(&repo), format!("{own}\n{other}\ngemini-cli/session-2026-11-23T10-21-aaaaaaaa\n"));
}

#[test]
fn only_sessions_of_this_folder_are_caught_up() {
    let repo = TestRepo::new();
    let day = repo.home().join(".codex/sessions/2026/11/20");
    fs::create_dir_all(&day).unwrap();
    let write = |id: &str, folder: &str| {
        let file = day.join(format!("rollout-2026-11-20T10-00-00-{id}.jsonl"));
        fs::write(&file, CODEX.replace("ID", id).replace("CWD", folder)).unwrap();
        file
    };
    let here = repo.folder().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let (a, b, c) = ("0000000a-0000-7000-8000-000000000000", "0000000b-0000-7000-8000-000000000000", "0000000c");
    hook(&repo, "codex", &write(a, here));
    write(b, here);
    write(c, "/elsewhere");
    hook(&repo, "codex", &write(a, here));
    let found = traces(&repo);
    assert!(found.contains(b) && !found.contains(c), "{found}");
}

#[test]
fn sessions_of_a_folder_whose_name_the_agent_writes_alike_are_not_of_this_one() {
    let repo = TestRepo::new();
    let here = repo.folder().canonicalize().unwrap();
    let in_folder = |folder: &Path, id: &str, texts: &[&str]| {
        let file = session(&repo, id, texts);
        let cwd = format!("\"cwd\":{},\"type\":\"user\"", json!(folder));
        fs::write(&file, said(id, texts).replace("\"type\":\"user\"", &cwd)).unwrap();
        file
    };
    let name = here.file_name().unwrap().to_str().unwrap();
    let other = here.with_file_name(format!("{name}-private"));
    let link = here.with_file_name("link");
    std::os::unix::fs::symlink(&here, &link).unwrap();
    let first = in_folder(&here, "first", &["one"]);
    hook(&repo, "claude-code", &first);
    in_folder(&other, "private", &["mine"]);
    in_folder(&link, "linked", &["two"]);
    hook(&repo, "claude-code", &first);
    assert_eq!(traces(&repo), "claude-code/first\nclaude-code/linked\n");
    in_folder(&other, "private", &["mine", "too"]);
    repo.text(&["sessions"]);
    repo.text(&["import", "--all"]);
    assert_eq!(traces(&repo), "claude-code/first\nclaude-code/linked\n");
}

#[test]
fn nothing_is_caught_up_that_was_written_while_recording_was_off() {
    let repo = TestRepo::new();
    hook(&repo, "claude-code", &session(&repo, "first", &["one"]));
    repo.git(&["config", "trace.record", "false"]);
    session(&repo, "private", &["mine"]);
    repo.text(&["sessions"]);
    hook(&repo, "claude-code", &session(&repo, "other", &["mine too"]));
    repo.git(&["config", "trace.record", "true"]);
    repo.text(&["sessions"]);
    assert_eq!(traces(&repo), "claude-code/first\n");
}

#[test]
fn nothing_is_caught_up_that_was_written_after_the_last_hook_while_recording_was_off() {
    for [off, on] in [
        [&["trace", "disable"][..], &["trace", "enable"]],
        [&["config", "trace.record", "false"], &["config", "trace.record", "true"]],
    ] {
        let repo = TestRepo::new();
        hook(&repo, "claude-code", &session(&repo, "first", &["one"]));
        repo.git(off);
        hook(&repo, "claude-code", &session(&repo, "other", &["mine too"]));
        session(&repo, "private", &["mine"]);
        repo.git(on);
        repo.text(&["sessions"]);
        assert_eq!(traces(&repo), "claude-code/first\n");
        // The clock of the file system may be a few milliseconds late.
        std::thread::sleep(std::time::Duration::from_millis(50));
        session(&repo, "later", &["two"]);
        repo.text(&["sessions"]);
        assert_eq!(traces(&repo), "claude-code/first\nclaude-code/later\n");
    }
}

#[test]
fn a_hook_catches_up_with_a_few_sessions_at_once() {
    let repo = TestRepo::new();
    let first = session(&repo, "first", &["one"]);
    hook(&repo, "claude-code", &first);
    for number in 0..10 {
        session(&repo, &format!("killed-{number}"), &["help"]);
    }
    hook(&repo, "claude-code", &first);
    assert_eq!(traces(&repo).lines().count(), 9);
    hook(&repo, "claude-code", &first);
    assert_eq!(traces(&repo).lines().count(), 11);
}

#[test]
fn an_agent_does_not_wait_for_a_lock() {
    let repo = TestRepo::new();
    let file = session(&repo, "s1", &["one"]);
    hook(&repo, "claude-code", &file);
    session(&repo, "s1", &["one", "two"]);
    let locks = fs::read_dir(repo.git_dir().join("trace/locks")).unwrap().map(|entry| entry.unwrap().path());
    let held: Vec<fs::File> = locks.map(|path| fs::File::create(path).unwrap()).collect();
    for file in &held {
        file.lock().unwrap();
    }
    hook_in_time(&repo, &file);
    assert_eq!(repo.bodies("claude-code/s1"), ["one"]);
    drop(held);
    await_bodies(&repo, &["one", "two"]);
}

/// Calls the hook as an agent does, which does not wait for what takes long.
fn hook_in_time(repo: &TestRepo, file: &Path) {
    let call = json!({ "session_id": "s1", "transcript_path": file, "hook_event_name": "SessionEnd", "cwd": "/" });
    let started = Instant::now();
    let output = repo.run(&["hook", "claude-code"], call.to_string().as_bytes());
    // A busy machine takes longer than the second. Without the deadline, this takes twelve.
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    assert_eq!((output.status.code(), repo.exact(&output).as_str()), (Some(0), "[exit 0]"));
}

/// Waits until the background process has recorded this.
fn await_bodies(repo: &TestRepo, expected: &[&str]) {
    let started = Instant::now();
    while traces(repo).is_empty() || repo.bodies("claude-code/s1") != expected {
        assert!(started.elapsed() < Duration::from_secs(60), "not everything was recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_agent_does_not_wait_for_a_long_session() {
    let repo = TestRepo::new();
    // A prompt of three megabytes takes a second in a build without optimization.
    let long = "each word of the prompt ".repeat(120_000);
    let texts = [&*long, "two"];
    hook_in_time(&repo, &session(&repo, "s1", &texts));
    await_bodies(&repo, &texts);
}

#[cfg(unix)]
#[test]
fn an_agent_does_not_wait_for_a_slow_disk() {
    use std::os::unix::fs::PermissionsExt as _;

    let repo = TestRepo::new();
    let file = session(&repo, "s1", &["one"]);
    // Each move of a ref takes twelve seconds, until the disk is fast again.
    let (slow, script) = (repo.home().join("slow"), repo.git_dir().join("hooks/reference-transaction"));
    fs::write(&slow, "").unwrap();
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    let wait = format!("n=0; while [ -e '{}' ] && [ $n -lt 240 ]; do sleep 0.05; n=$((n+1)); done", slow.display());
    fs::write(&script, format!("#!/bin/sh\n{wait}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    hook_in_time(&repo, &file);
    assert_eq!(traces(&repo), "");
    fs::remove_file(slow).unwrap();
    await_bodies(&repo, &["one"]);
}

fn doctor(repo: &TestRepo) -> Vec<String> {
    let found: Vec<Value> = serde_json::from_slice(&repo.run(&["doctor", "--json"], b"").stdout).unwrap();
    let shown = |code: &str| ["agent", "recording", "merge-driver", "attributes", "hooks"].contains(&code);
    let found = found.iter().filter(|found| shown(found["code"].as_str().unwrap()));
    let home = repo.home().to_str().unwrap();
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let message = |found: &Value| found["message"].as_str().unwrap().replace(home, "[HOME]");
    found
        .map(|found| format!("{} {}: {}", found["health"].as_str().unwrap(), found["code"], message(found)))
        .map(|line| time.replace_all(&line, "[TIME]").into_owned())
        .collect()
}

#[test]
fn doctor_examines_each_agent() {
    let repo = TestRepo::new();
    repo.text(&["install", "--agent", "claude-code"]);
    repo.text(&["install", "--agent", "claude-code", "--global"]);
    insta::assert_snapshot!(doctor(&repo).join("\n"), @r#"
    good "merge-driver": not set up, which only memory files need; `git trace install` sets it up
    good "agent": claude-code: hooks in `.claude/settings.json` and `[HOME]/.claude/settings.json`; no session is recorded yet
    "#);
    hook(&repo, "claude-code", &session(&repo, "first", &["one"]));
    fs::create_dir_all(repo.home().join(".gemini/extensions/git-trace")).unwrap();
    insta::assert_snapshot!(doctor(&repo)[1..].join("\n"), @r#"
    good "agent": claude-code: hooks in `.claude/settings.json` and `[HOME]/.claude/settings.json`; last recorded `claude-code/first` at [TIME]
    good "agent": gemini-cli: hooks in the plugin; no session is recorded yet
    "#);
    // A failure is visible until a session is recorded again.
    repo.run(&["hook", "claude-code"], b"nonsense");
    let listed = String::from_utf8(repo.run(&["sessions"], b"").stderr).unwrap();
    assert!(listed.contains("claude-code: unexpected hook input"), "{listed}");
    assert!(
        doctor(&repo)[2].starts_with("warning \"recording\": claude-code: hooks failed 1 times"),
        "{:?}",
        doctor(&repo)
    );
    // With a memory file, the merge driver is missing.
    repo.text(&["breadcrumb", "set", "auth.method", "JWT"]);
    assert!(doctor(&repo)[0].starts_with("error \"merge-driver\": git has no merge driver"));
}

#[test]
fn old_sessions_are_removed_as_the_setting_says() {
    let repo = TestRepo::new();
    repo.say("hello");
    for id in ["pushed", "unpushed", "changed"] {
        hook(&repo, "claude-code", &session(&repo, id, &["one"]));
    }
    repo.text(&["branch", "mine", "claude-code/pushed"]);
    repo.text(&["--trace", "claude-code/changed", "commit", "-m", "a note of my own"]);
    repo.git(&["init", "--quiet", "--bare", "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    repo.text(&["push", "origin", "claude-code/pushed"]);
    let gc = |args: &[&str]| {
        let mut command = repo.command("git-trace");
        // Two years later.
        let later = "2028-11-20T10:00:00Z";
        command.env("GIT_COMMITTER_DATE", later).args(["gc"]).args(args);
        let output = crate::repo::run(&mut command, b"");
        let text = repo.exact(&output);
        let date = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
        date.replace_all(&text, "[TIME]").into_owned()
    };
    insta::assert_snapshot!(gc(&["--dry-run"]), @r"
    --- stderr
    `trace.retain` is not set, so every recorded session is kept
    [exit 0]
    ");
    repo.git(&["config", "trace.retain", "3 months"]);
    let before = traces(&repo);
    insta::assert_snapshot!(gc(&["--dry-run"]), @r"
    would delete trace `claude-code/pushed` of [TIME]
    kept trace `claude-code/unpushed` of [TIME], which no remote has
    --- stderr
    hint: push these sessions, or delete them with `git trace gc --unpushed`
    [exit 0]
    ");
    gc(&["--auto"]);
    assert_eq!(traces(&repo), before);
    insta::assert_snapshot!(gc(&["--quiet"]), @r"
    Deleted trace `claude-code/pushed` of [TIME]
    kept trace `claude-code/unpushed` of [TIME], which no remote has
    --- stderr
    `trace.retain` deleted old recorded sessions; `git trace undo` brings them back
    hint: push these sessions, or delete them with `git trace gc --unpushed`
    [exit 0]
    ");
    assert_eq!(traces(&repo), "claude-code/changed\nclaude-code/unpushed\nmain\nmine\n");
    repo.text(&["undo"]);
    assert_eq!(traces(&repo), before);
    gc(&["--quiet", "--unpushed"]);
    assert_eq!(traces(&repo), "claude-code/changed\nmain\nmine\n");
    repo.text(&["undo"]);
    assert_eq!(traces(&repo), before);
    repo.git(&["config", "trace.retain", "sometimes"]);
    assert!(gc(&[]).contains("`trace.retain` is `sometimes`, which is not a time such as `90 days`"));
    repo.fsck();
}

#[test]
fn many_old_sessions_are_removed_by_one_call_of_git() {
    let repo = TestRepo::classic(&[]);
    repo.say("hello");
    for id in ["one", "two", "three"] {
        hook(&repo, "claude-code", &session(&repo, id, &["one"]));
    }
    let (before, log) = (traces(&repo), repo.home().join("log"));
    repo.git(&["config", "trace.retain", "3 months"]);
    let mut gc = repo.command("git-trace");
    gc.env("GIT_COMMITTER_DATE", "2028-11-20T10:00:00Z").env("GIT_TRACE2_EVENT", &log);
    let output = crate::repo::run(gc.args(["gc", "--quiet", "--unpushed"]), b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
    assert_eq!(traces(&repo), "main\n");
    let events = std::fs::read_to_string(log).unwrap();
    let calls = events.lines().filter(|line| line.contains("\"name\":\"update-ref\""));
    assert_eq!(calls.count(), 1);
    repo.text(&["undo"]);
    assert_eq!(traces(&repo), before);
    repo.fsck();
}

#[test]
fn a_push_to_a_public_host_is_told_once() {
    let repo = TestRepo::new();
    repo.say("hello");
    repo.git(&["init", "--quiet", "--bare", "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    // What counts is where git would push to.
    repo.git(&["remote", "set-url", "origin", "https://github.com/ada/engine"]);
    let push = |args: &[&str]| String::from_utf8(repo.run(&[&["push"], args].concat(), b"").stderr).unwrap();
    let warning = "warning: `origin` is on github.com and may be public.";
    repo.git(&["config", "http.proxy", "http://127.0.0.1:1"]);
    assert_eq!(push(&["origin"]).matches("warning: `origin`").count(), 0);
    assert!(push(&[]).starts_with(warning));
    assert_eq!(push(&[]).matches(warning).count(), 0);
}

#[test]
fn the_newest_session_is_cleaned_and_resumed_where_no_trace_is_chosen() {
    let repo = TestRepo::new();
    for id in ["first", "second"] {
        hook(&repo, "claude-code", &session(&repo, id, &["one"]));
    }
    let note = "no trace is chosen; the newest recorded session is `claude-code/second`\n";
    assert!(repo.trace(&["clean", "--dry-run"]).contains(note));
    assert!(repo.trace(&["resume", "--print"]).contains(note));
    // Commands that change a trace need its name.
    assert_eq!(repo.run(&["delete", "#1"], b"").status.code(), Some(2));
    repo.say("hello");
    assert!(!repo.trace(&["clean", "--dry-run"]).contains("newest recorded session"));
}
