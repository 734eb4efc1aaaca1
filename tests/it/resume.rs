//! Exported sessions are tied to their trace: hooks and imports of them continue it.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::recording::{claude_folder, said};
use crate::repo::TestRepo;

/// A line of Claude Code.
fn record(session: &str, parent: Option<&str>, number: u32, text: &str) -> (String, String) {
    let uuid = format!("00000000-0000-4000-a000-{number:012}");
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let content = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
    let line = json!({"parentUuid": parent, "isSidechain": false, "sessionId": session, "type": role, "uuid": uuid,
        "timestamp": format!("2026-03-01T09:00:{number:02}Z"), "cwd": "/",
        "message": {"role": role, "content": content, "id": format!("m{number}")}});
    (uuid, line.to_string() + "\n")
}

/// A session file, which an agent appends to.
struct Session {
    id: String,
    file: PathBuf,
    last: Option<String>,
}

impl Session {
    fn start(repo: &TestRepo, id: &str) -> Self {
        Self { id: id.to_owned(), file: repo.folder().join(format!("{id}.jsonl")), last: None }
    }

    /// The session that `export` or `resume` wrote.
    fn exported(report: &Value) -> Self {
        let file = PathBuf::from(report["file"].as_str().unwrap());
        let last: Value = serde_json::from_str(fs::read_to_string(&file).unwrap().lines().last().unwrap()).unwrap();
        Self {
            id: report["session"].as_str().unwrap().to_owned(),
            file,
            last: Some(last["uuid"].as_str().unwrap().to_owned()),
        }
    }

    /// The agent records something, and its hook runs.
    fn say(&mut self, repo: &TestRepo, number: u32, text: &str) {
        let (uuid, line) = record(&self.id, self.last.as_deref(), number, text);
        let before = fs::read_to_string(&self.file).unwrap_or_default();
        fs::write(&self.file, before + &line).unwrap();
        self.last = Some(uuid);
        let input = json!({"session_id": self.id, "transcript_path": self.file, "hook_event_name": "Stop", "cwd": "/"});
        let output = repo.run(&["hook", "claude-code", "--wait"], input.to_string().as_bytes());
        assert!(output.status.success() && !repo.git_dir().join("trace/hook.log").exists(), "{}", repo.exact(&output));
    }
}

fn recorded() -> (TestRepo, Session) {
    let repo = TestRepo::new();
    let mut session = Session::start(&repo, "s1");
    session.say(&repo, 0, "fix the parser");
    session.say(&repo, 1, "which one?");
    (repo, session)
}

fn bodies(repo: &TestRepo, name: &str) -> Vec<String> {
    repo.bodies(name)
}

fn traces(repo: &TestRepo) -> Vec<String> {
    let listed = repo.lines(&["branch", "--json"]);
    listed.iter().map(|trace| trace["trace"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_resumed_session_continues_its_trace() {
    let (repo, _) = recorded();
    repo.text(&["branch", "idea", "claude-code/s1"]);
    repo.text(&["--trace", "idea", "delete", "#1", "-m", "not needed"]);
    let report = repo.json(&["resume", "idea", "--print", "--json"]);
    assert_eq!(report["command"], format!("claude --resume {}", report["session"].as_str().unwrap()));
    let mut session = Session::exported(&report);
    session.say(&repo, 2, "the one for crumbs");
    session.say(&repo, 3, "done");
    assert_eq!(bodies(&repo, "idea"), ["fix the parser", "the one for crumbs", "done"]);
    assert_eq!(traces(&repo), ["claude-code/s1", "idea"]);
    // The original stays, and both have a common ancestor.
    assert_eq!(bodies(&repo, "claude-code/s1"), ["fix the parser", "which one?"]);
    repo.git(&["merge-base", "refs/traces/idea", "refs/traces/claude-code/s1"]);
    // An import of the file finds the same trace.
    let imported = repo.json(&["import", "claude-code", session.file.to_str().unwrap(), "--json"]);
    assert_eq!((&imported["traces"][0]["trace"], &imported["traces"][0]["recorded"]), (&json!("idea"), &json!(0)));
    repo.fsck();
}

#[test]
fn a_trace_that_changed_since_the_export_is_left_alone() {
    let (repo, mut original) = recorded();
    let mut resumed = Session::exported(&repo.json(&["resume", "claude-code/s1", "--print", "--json"]));
    original.say(&repo, 2, "the one for crumbs");
    resumed.say(&repo, 4, "the one for checkpoints");
    let fork = format!("claude-code/{}", resumed.id);
    assert_eq!(bodies(&repo, "claude-code/s1"), ["fix the parser", "which one?", "the one for crumbs"]);
    assert_eq!(bodies(&repo, &fork), ["fix the parser", "which one?", "the one for checkpoints"]);
    original.say(&repo, 3, "done");
    resumed.say(&repo, 5, "done, too");
    assert_eq!(bodies(&repo, "claude-code/s1").len(), 4);
    assert_eq!(bodies(&repo, &fork).len(), 4);
    assert_eq!(traces(&repo).len(), 2);
    assert!(!repo.refs().contains("refs/trace-sessions/"), "the default name needs no ref");
    repo.fsck();
}

#[test]
fn a_session_leaves_its_trace_if_a_resumed_one_took_it() {
    let (repo, mut original) = recorded();
    let mut resumed = Session::exported(&repo.json(&["resume", "claude-code/s1", "--print", "--json"]));
    resumed.say(&repo, 4, "the one for checkpoints");
    original.say(&repo, 2, "the one for crumbs");
    original.say(&repo, 3, "done");
    resumed.say(&repo, 5, "done, too");
    assert_eq!(
        bodies(&repo, "claude-code/s1"),
        ["fix the parser", "which one?", "the one for checkpoints", "done, too"]
    );
    assert_eq!(bodies(&repo, "claude-code/s1.fork"), ["fix the parser", "which one?", "the one for crumbs", "done"]);
    repo.fsck();
}

#[test]
fn recording_follows_a_renamed_trace() {
    let (repo, mut session) = recorded();
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    session.say(&repo, 2, "the one for crumbs");
    assert_eq!(traces(&repo), ["parser"]);
    repo.text(&["branch", "-m", "parser", "crumbs"]);
    session.say(&repo, 3, "done");
    assert_eq!(bodies(&repo, "crumbs").len(), 4);
    // The default name again, and a trace that never recorded anything.
    repo.text(&["branch", "-m", "crumbs", "claude-code/s1"]);
    repo.text(&["branch", "a/b", "claude-code/s1"]);
    repo.text(&["branch", "-m", "a/b", "c"]);
    assert_eq!(repo.git(&["for-each-ref", "refs/trace-sessions/"]), "");
    session.say(&repo, 4, "and tests");
    assert_eq!(bodies(&repo, "claude-code/s1").len(), 5);
    repo.fsck();
}

#[test]
fn undo_takes_back_what_ties_a_session() {
    let (repo, mut session) = recorded();
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    repo.text(&["undo"]);
    session.say(&repo, 2, "the one for crumbs");
    assert_eq!(traces(&repo), ["claude-code/s1"]);
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    // A deleted trace continues nothing; undone, it does again.
    repo.text(&["branch", "-D", "parser"]);
    assert_eq!(repo.git(&["for-each-ref", "refs/trace-sessions/"]), "");
    repo.text(&["undo"]);
    session.say(&repo, 3, "done");
    assert_eq!(traces(&repo), ["parser"]);
    repo.text(&["export", "claude-code", "parser"]);
    assert_eq!(repo.git(&["for-each-ref", "--format=%(symref)", "refs/trace-sessions/"]).lines().count(), 2);
    let export = &repo.lines(&["op", "log", "--json"])[0];
    repo.text(&["undo", export["op"].as_str().unwrap()]);
    assert_eq!(repo.git(&["for-each-ref", "--format=%(symref)", "refs/trace-sessions/"]), "refs/traces/parser\n");
    repo.fsck();
}

#[test]
fn a_session_that_is_being_written_is_refused() {
    let (repo, session) = recorded();
    let call = |now: &str| {
        json!({"parentUuid": session.last, "isSidechain": false, "sessionId": "s1", "type": "assistant",
        "uuid": "00000000-0000-4000-a000-000000000009", "timestamp": now, "cwd": "/", "message":
        {"role": "assistant", "id": "m9", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]}})
    };
    let text = fs::read_to_string(&session.file).unwrap();
    let record = |now: &str, trace: &str| {
        fs::write(&session.file, format!("{text}{}\n", call(now))).unwrap();
        repo.text(&["import", "claude-code", session.file.to_str().unwrap(), "--trace", trace]);
    };
    // An old call was interrupted.
    record("2026-03-01T09:01:00Z", "claude-code/old");
    repo.text(&["resume", "claude-code/old", "--print"]);
    record(&jiff::Timestamp::now().to_string(), "claude-code/s1");
    insta::assert_snapshot!(repo.refused(&["resume", "claude-code/s1", "--print"]), @"
    --- stderr
    error: Claude Code may be writing the session: call [ID] has no result yet
    hint: wait until it is done, or use --force
    [exit 2]
    ");
    repo.text(&["resume", "claude-code/s1", "--print", "--force"]);
    insta::assert_snapshot!(repo.refused(&["resume", "claude-code/s2", "--print"]), @"
    --- stderr
    error: no trace is named `claude-code/s2`
    hint: did you mean `claude-code/s1`?
    [exit 2]
    ");
    repo.commit(&["-m", "hello", "--trace", "main"]);
    insta::assert_snapshot!(repo.refused(&["resume", "main"]), @"
    --- stderr
    error: no agent recorded trace `main`
    hint: name one: git trace resume --agent claude-code main
    [exit 2]
    ");
}

#[cfg(unix)]
#[test]
fn the_agent_runs_with_its_own_exit_status() {
    use std::os::unix::fs::PermissionsExt as _;
    let (repo, _) = recorded();
    let bin = repo.home().join("agents");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("codex"), "#!/bin/sh\npwd\necho \"$1 ${#2}\"\ncat\nexit 7\n").unwrap();
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(repo.folder().join("below")).unwrap();
    let mut command = repo.command(crate::repo::binary().to_str().unwrap());
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
    command
        .args(["resume", "claude-code/s1", "--agent", "codex"])
        .env("PATH", path)
        .current_dir(repo.folder().join("below"));
    let output = crate::repo::run(&mut command, b"typed\n");
    let folder = repo.folder().canonicalize().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\nresume 36\ntyped\n", folder.display()));
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn sessions_are_listed_by_family_with_titles() {
    let repo = TestRepo::new();
    let mut session = Session::start(&repo, "s1");
    session.say(&repo, 0, "<environment_context>\n  <cwd>/</cwd>\n</environment_context>");
    session.say(&repo, 1, "ready");
    session.say(&repo, 2, "fix\nthe parser");
    repo.text(&["branch", "claude-code/s1.clean", "claude-code/s1"]);
    repo.text(&["--trace", "claude-code/s1.clean", "delete", "#0", "-m", "noise"]);
    repo.text(&["branch", "idea", "claude-code/s1.clean"]);
    Session::exported(&repo.json(&["resume", "idea", "--print", "--json"])).say(&repo, 3, "done");
    Session::start(&repo, "s0").say(&repo, 8, "another question");
    repo.commit(&["-m", "no session", "--trace", "main"]);
    insta::assert_snapshot!(repo.text(&["sessions"]), @"
    claude-code/s0  2026-03-01 09:00 to 2026-03-01 09:00  1 items, 8 tokens (counted)
        another question
    claude-code/s1  2026-03-01 09:00 to 2026-03-01 09:00  3 items, 32 tokens (counted)
        fix the parser
      idea  2026-03-01 09:00 to 2026-03-01 09:00  3 items, 18 tokens (counted)
      claude-code/s1.clean  2026-03-01 09:00 to 2026-03-01 09:00  2 items, 14 tokens (counted)
    ");
    let families: Vec<Value> = repo.lines(&["sessions", "--json"]).iter().map(|line| line["family"].clone()).collect();
    assert_eq!(families, ["claude-code/s0", "claude-code/s1", "claude-code/s1", "claude-code/s1"]);
    assert_eq!(repo.lines(&["sessions", "--json", "-n", "1"]).len(), 1);
    let mut shown = repo.trace(&["switch", "idea"]);
    shown += &repo.trace(&["status"]);
    shown += &repo.trace(&["branch"]);
    shown += &repo.trace(&["complete-words", "switch", ""]);
    insta::assert_snapshot!(shown, @"
    Switched to trace `idea`: fix the parser
    [exit 0]On trace idea
      fix the parser
      3 items, [N] tokens (o200k_base)
      last: dialogue assistant: done [SHORT]

      dialogue          3

      pinned            0
      normal            3
      skip              0
    [exit 0]  claude-code/s0            1 items        [N] tokens  another question [SHORT]
      claude-code/s1            3 items       [N] tokens  fix the parser [SHORT]
      claude-code/s1.clean      2 items       [N] tokens  fix the parser [SHORT]
    * idea                      3 items       [N] tokens  fix the parser [SHORT]
      main                      1 items        [N] tokens  dialogue user: no session [SHORT]
    [exit 0]claude-code/s0	another question
    idea	fix the parser
    claude-code/s1.clean	fix the parser
    claude-code/s1	fix the parser
    main	dialogue user: no session
    [exit 0]
    ");
}

#[test]
fn a_part_of_a_name_is_enough_to_read() {
    let (repo, _) = recorded();
    repo.text(&["branch", "idea", "claude-code/s1"]);
    repo.text(&["branch", "idea.clean", "claude-code/s1"]);
    let mut shown = repo.trace(&["log", "--oneline", "ide"]);
    shown += &repo.trace(&["log", "--oneline", "-n", "1", "s1"]);
    // Scripts that change something use the full name.
    shown += &repo.refused(&["switch", "ide"]);
    shown += &repo.refused(&["switch", "iade"]);
    shown += &repo.refused(&["switch", "other"]);
    shown += &repo.refused(&["switch"]);
    shown += &repo.refused(&["branch", "-m", "ide", "better"]);
    shown += &repo.refused(&["resume", "s1", "--print"]);
    repo.text(&["branch", "idle", "claude-code/s1"]);
    shown += &repo.refused(&["status", "id"]);
    insta::assert_snapshot!(shown, @"
    [SHORT] #1 [SHORT] ([N] tokens) dialogue assistant: which one?
    [SHORT] #0 [SHORT] ([N] tokens) dialogue user: fix the parser
    --- stderr
    trace `idea`
    [exit 0][SHORT] #1 [SHORT] ([N] tokens) dialogue assistant: which one?
    --- stderr
    trace `claude-code/s1`
    [exit 0]--- stderr
    error: no trace is named `ide`
    hint: did you mean `idea`?
    [exit 2]--- stderr
    error: no trace is named `iade`
    hint: did you mean `idea`?
    [exit 2]--- stderr
    error: no trace is named `other`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]--- stderr
    error: no trace was named
    hint: `git trace branch` lists traces
    [exit 2]--- stderr
    error: no trace is named `ide`
    hint: did you mean `idea`?
    [exit 2]--- stderr
    error: no trace is named `s1`
    hint: did you mean `claude-code/s1`?
    [exit 2]--- stderr
    error: `id` could be any of idea, idle
    hint: name more of it
    [exit 2]
    ");
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    assert_eq!(repo.lines(&["log", "--json", "s1"]).len(), 2);
}

/// A session whose file is where the agent keeps it, and names the folder in which it ran.
fn kept_session(repo: &TestRepo, ran_in: &str) -> PathBuf {
    let folder = repo.folder().canonicalize().unwrap().join(ran_in);
    let project = repo.home().join(".claude/projects/-somewhere");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(&project).unwrap();
    let mut session = Session { file: project.join("s1.jsonl"), ..Session::start(repo, "s1") };
    session.say(repo, 0, "fix the parser");
    let cwd = format!("\"cwd\":{}", json!(folder));
    fs::write(&session.file, fs::read_to_string(&session.file).unwrap().replace("\"cwd\":\"/\"", &cwd)).unwrap();
    folder
}

#[test]
fn an_agent_resumes_in_the_folder_of_its_session() {
    let repo = TestRepo::new();
    let folder = kept_session(&repo, "it's below");
    repo.text(&["branch", "idea", "claude-code/s1"]);
    let report = repo.json(&["resume", "idea", "--print", "--json"]);
    assert_eq!(report["folder"], json!(folder));
    // The exported session has it, too.
    let line = repo.text(&["resume", "idea", "--print"]);
    let quoted = folder.to_str().unwrap().replace('\'', r"'\''");
    assert_eq!(line.split(" --resume ").next().unwrap(), format!("cd '{quoted}' && claude"));
    #[cfg(unix)]
    {
        let line = line.replace("claude --resume", "pwd #");
        let mut shell = repo.command("sh");
        let shown = crate::repo::run(shell.args(["-c", &line]).current_dir("/"), b"").stdout;
        assert_eq!(String::from_utf8(shown).unwrap().trim_end(), folder.to_str().unwrap());
    }
}

#[test]
fn a_session_of_another_clone_continues_in_this_one() {
    let repo = TestRepo::new();
    let elsewhere = repo.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    repo.git(&["init", "-q", elsewhere.to_str().unwrap()]);
    kept_session(&repo, elsewhere.canonicalize().unwrap().to_str().unwrap());
    let answer = repo.exact(&repo.run(&["resume", "claude-code/s1", "--print"], b""));
    assert!(answer.contains("elsewhere`, outside of this repository; it continues here"), "{answer}");
    let report = repo.json(&["resume", "claude-code/s1", "--print", "--json"]);
    assert_eq!(report["folder"], json!(repo.folder().canonicalize().unwrap()));
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let repo = TestRepo::new();
    let folder = kept_session(&repo, "below");
    fs::remove_dir(&folder).unwrap();
    let refused = repo.refused(&["resume", "claude-code/s1", "--print"]);
    insta::assert_snapshot!(refused, @"
    --- stderr
    error: the folder of the session, `[HOME]/repo/below`, does not exist
    hint: start in another one: git trace resume --folder DIR claude-code/s1
    [exit 2]
    ");
    // Nothing was written.
    assert_eq!(repo.lines(&["log", "--json", "claude-code/s1"]).len(), 1);
    let report = repo.json(&["resume", "claude-code/s1", "--folder", ".", "--print", "--json"]);
    assert_eq!(report["folder"], json!(repo.folder().canonicalize().unwrap()));
}

#[test]
fn a_ref_of_a_session_that_names_no_trace_is_repaired() {
    let (repo, mut session) = recorded();
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    repo.commit(&["-m", "other", "--trace", "main"]);
    repo.git(&["update-ref", "-d", "refs/traces/parser"]);
    // With reftable, git does not list such refs.
    if !repo.git_dir().join("reftable").is_dir() {
        insta::assert_snapshot!(repo.text(&["fsck"]), @"warning: refs/trace-sessions/claude-code/s1: session-ref: it names `refs/traces/parser`, which is not a trace that exists; repair it with `git trace fsck --repair`");
        repo.text(&["fsck", "--repair"]);
        assert_eq!(repo.git(&["for-each-ref", "refs/trace-sessions/"]), "");
        repo.fsck();
    }
    assert!(repo.refused(&["log", "s1"]).contains("no trace is named `s1`"));
    session.say(&repo, 2, "the one for crumbs");
    assert_eq!(bodies(&repo, "claude-code/s1"), ["fix the parser", "which one?", "the one for crumbs"]);
}

#[test]
fn refs_of_sessions_are_local_and_stay() {
    let (repo, mut session) = recorded();
    repo.text(&["branch", "-m", "claude-code/s1", "parser"]);
    let refs = || repo.git(&["for-each-ref", "--format=%(refname) %(symref)", "refs/trace-sessions/"]);
    let bound = "refs/trace-sessions/claude-code/s1 refs/traces/parser\n";
    let remote = repo.folder().join("remote.git");
    repo.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    repo.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    repo.text(&["push", "origin", "parser"]);
    repo.text(&["fetch", "origin"]);
    repo.text(&["gc"]);
    repo.git(&["pack-refs", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(refs(), bound);
    assert!(!repo.git(&["ls-remote", "origin"]).contains("trace-sessions"));
    repo.text(&["--trace", "parser", "purge", "#1", "--yes"]);
    assert_eq!(refs(), bound);
    session.say(&repo, 2, "the one for crumbs");
    assert_eq!(traces(&repo), ["parser"]);
    // A trace of another name starts without the sessions of the one that it starts from.
    repo.text(&["branch", "idea", "parser"]);
    assert_eq!(refs(), bound);
    repo.text(&["branch", "-D", "parser"]);
    assert_eq!(refs(), "");
    repo.fsck();
}

#[test]
fn a_cleaned_trace_is_the_next_to_resume() {
    let (repo, mut session) = recorded();
    session.say(&repo, 2, &format!("the one for crumbs <system-reminder>{}</system-reminder>", "be brief ".repeat(40)));
    session.say(&repo, 3, "done");
    session.say(&repo, 4, &format!("and tests <system-reminder>{}</system-reminder>", "be brief ".repeat(40)));
    repo.text(&["switch", "claude-code/s1"]);
    let notes = |args: &[&str]| String::from_utf8(repo.run(args, b"").stderr).unwrap();
    assert!(notes(&["resume", "--print"]).starts_with("`claude-code/s1` is the current trace\n"));
    let cleaned = repo.text(&["clean", "--yes", "--keep", "0"]);
    assert!(cleaned.ends_with("`git trace resume claude-code/s1.clean` continues with the result\n"), "{cleaned}");
    let resumed = notes(&["resume", "--print"]);
    let note = "`claude-code/s1.clean` is the cleaned copy of `claude-code/s1`; `git trace resume claude-code/s1` resumes the original\n";
    assert!(resumed.starts_with(note), "{resumed}");
    repo.text(&["clean", "--yes", "--keep", "1"]);
    repo.text(&["branch", "-D", "claude-code/s1.clean"]);
    assert!(notes(&["resume", "--print"]).starts_with("`claude-code/s1.clean-2` is the cleaned copy of"));
    repo.text(&["undo"]);
    // The trace moved on, so the branch is out of date.
    let mut command = repo.command("git-trace");
    command.env("GIT_COMMITTER_DATE", "@1900000000 +0000").args(["--trace", "claude-code/s1", "commit", "-m", "go on"]);
    assert!(crate::repo::run(&mut command, b"").status.success());
    assert!(notes(&["resume", "--print"]).starts_with("`claude-code/s1` is the current trace\n"));
    // Whatever its date, a branch that was not made of the present state lacks something of it.
    let mut command = repo.command("git-trace");
    command.env("GIT_COMMITTER_DATE", "@1900000009 +0000");
    command.args(["--trace", "claude-code/s1.clean", "commit", "-m", "elsewhere"]);
    assert!(crate::repo::run(&mut command, b"").status.success());
    let resumed = notes(&["resume", "--print"]);
    assert!(resumed.contains("`claude-code/s1` is the current trace\n"), "{resumed}");
}

#[test]
fn the_agents_title_is_the_title_of_the_trace() {
    let (repo, mut session) = recorded();
    let title = |repo: &TestRepo| repo.json(&["sessions", "--json"])["title"].clone();
    assert_eq!(title(&repo), "fix the parser");
    let append = |session: &Session, record: Value| {
        let before = fs::read_to_string(&session.file).unwrap();
        fs::write(&session.file, format!("{before}{record}\n")).unwrap();
    };
    let leaf = |session: &Session| session.last.clone().unwrap();
    append(&session, json!({"type": "summary", "summary": "Of another session", "leafUuid": "x"}));
    session.say(&repo, 2, "the one for crumbs");
    assert_eq!(title(&repo), "fix the parser");
    append(&session, json!({"type": "summary", "summary": "Parser of crumbs", "leafUuid": leaf(&session)}));
    session.say(&repo, 3, "done");
    assert_eq!(title(&repo), "Parser of crumbs");
    append(&session, json!({"type": "ai-title", "aiTitle": "Fixing crumbs", "sessionId": "s1"}));
    session.say(&repo, 4, "and tests");
    let name = "claude-code/s1";
    repo.text(&["branch", "idea", name]);
    repo.text(&["clean", name, "--yes", "--preset", "thinking"]);
    repo.text(&["--trace", "idea", "commit", "-m", "go on"]);
    assert_eq!(repo.bodies(name).len(), 5, "a title is no part of the context");
    for shown in [&["branch"][..], &["status", name], &["switch", name], &["status", "idea"], &["sessions"]] {
        let shown = repo.text(shown);
        assert!(shown.contains("Fixing crumbs"), "{shown}");
    }
    append(&session, json!({"type": "custom-title", "customTitle": "My title", "sessionId": "s1"}));
    append(&session, json!({"type": "ai-title", "aiTitle": "Crumbs again", "sessionId": "s1"}));
    session.say(&repo, 5, "done, too");
    let status = |name: &str| repo.json(&["status", name, "--json"])["title"].clone();
    assert_eq!((status(name), status("idea")), (json!("My title"), json!("Fixing crumbs")));
    repo.text(&["purge", "--pattern", "My title", "--reason", "private", "--yes"]);
    assert_eq!(status(name), "[purged: private]");
    repo.fsck();
}

#[test]
fn the_first_prompt_stays_the_title_after_a_compaction_and_a_rewind() {
    let title = |repo: &TestRepo| repo.json(&["sessions", "--json"])["title"].clone();
    let line = |number: usize, parent: Option<usize>, text: &str| {
        let uuid = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
        json!({"parentUuid": parent.map(uuid), "uuid": uuid(number), "sessionId": "s1", "type": "user",
            "timestamp": format!("2026-03-01T09:00:0{number}Z"), "message": {"role": "user", "content": text}})
    };
    let import = |lines: &[Value]| {
        let repo = TestRepo::new();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        repo.bytes_with(&["import", "claude-code", "-"], text.as_bytes());
        repo
    };
    let first = "why does the parser of settings reject a comment at the end of a line of the file?";
    let mut summary =
        line(2, Some(1), "This session is being continued from a previous conversation that ran out of context.");
    summary["isCompactSummary"] = json!(true);
    let repo = import(&[line(1, None, first), summary, line(3, Some(2), "and now the lexer")]);
    assert_eq!(title(&repo), "why does the parser of settings reject a comment at the end of a line…");
    assert_eq!(repo.json(&["sessions", "--json"])["began_at"], "2026-03-01T09:00:01Z");
    let rewound = import(&[line(1, None, "fix the parser"), line(2, None, "fix the lexer")]);
    assert_eq!(title(&rewound), "fix the parser");
    let interrupted = import(&[
        line(1, None, "[Request interrupted by user]"),
        line(
            2,
            Some(1),
            "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>a parser</command-args>",
        ),
    ]);
    assert_eq!(title(&interrupted), "/plan a parser");
    assert_eq!(title(&import(&[line(1, None, "# Fix the parser")])), "# Fix the parser");
}

#[test]
fn a_plan_that_clears_the_context_replaces_it() {
    let repo = TestRepo::new();
    let line = |role: &str, number: usize, parent: Option<usize>, content: Value| {
        let uuid = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
        json!({"parentUuid": parent.map(uuid), "uuid": uuid(number), "sessionId": "s1", "type": role,
            "timestamp": format!("2026-03-01T09:00:0{number}Z"), "message": {"role": role, "id": uuid(number), "content": content}})
    };
    let plan = "Implement the following plan:\n\n# Plan\n\nRead.";
    let call = json!([{"type": "tool_use", "id": "t", "name": "ExitPlanMode", "input": {"plan": "# Plan\n\nRead."}}]);
    let lines = [
        line("user", 1, None, json!("how is it done?")),
        line("assistant", 2, Some(1), call),
        line("user", 3, None, json!(plan)),
        line("assistant", 4, Some(3), json!([{"type": "text", "text": "done"}])),
    ];
    let import = |lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        repo.bytes_with(&["import", "claude-code", "-"], text.as_bytes());
    };
    import(&lines[..2]);
    import(&lines);
    assert_eq!(bodies(&repo, "claude-code/s1"), [plan, "done"]);
    assert_eq!(repo.json(&["sessions", "--json"])["title"], "how is it done?");
    let page = repo.text(&["view", "claude-code/s1", "-o", "-"]);
    assert!(page.contains("Context cleared for the plan · 2 items</p>"), "{page}");
    assert!(page.find("<p>how is it done?") < page.find("<p>Implement the following plan:"));
    repo.text(&["--trace", "claude-code/s1", "expand", "#0"]);
    assert_eq!(bodies(&repo, "claude-code/s1").len(), 3);
    repo.fsck();
}

#[test]
fn a_title_may_follow_many_calls_and_results() {
    let repo = TestRepo::new();
    let (uuid, mut lines) = record("s1", None, 1, "continued");
    let mut parent = uuid;
    for number in 0..60 {
        let uuid = format!("00000000-0000-4000-b000-{number:012}");
        let call =
            json!({"type": "tool_use", "id": format!("c{}", number / 2), "name": "Glob", "input": {"pattern": "*"}});
        let result = json!({"type": "tool_result", "tool_use_id": format!("c{}", number / 2), "content": "none"});
        let (role, block) = if number % 2 == 0 { ("assistant", call) } else { ("user", result) };
        let line = json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s1", "type": role, "uuid": uuid,
            "timestamp": "2026-03-01T09:00:05Z", "cwd": "/",
            "message": {"role": role, "content": [block], "id": format!("n{number}")}});
        lines += &(line.to_string() + "\n");
        parent = uuid;
    }
    lines += &record("s1", Some(&parent), 10, "fix the parser").1;
    repo.bytes_with(&["import", "claude-code", "-"], lines.as_bytes());
    assert_eq!(repo.json(&["sessions", "--json"])["title"], "fix the parser");
}

#[test]
fn an_undo_passes_over_exports() {
    let (repo, _) = recorded();
    repo.text(&["--trace", "claude-code/s1", "edit", "#0", "-m", "fix the lexer"]);
    repo.json(&["resume", "claude-code/s1", "--print", "--json"]);
    repo.text(&["branch", "idea", "claude-code/s1"]);
    repo.json(&["resume", "idea", "--print", "--json"]);
    assert_eq!(repo.lines(&["undo", "--list", "--json"]).len(), 2);
    assert!(repo.text(&["undo"]).starts_with("Undid `branch`\n"));
    assert!(repo.text(&["undo"]).starts_with("Undid `edit`\n"));
    assert_eq!(bodies(&repo, "claude-code/s1"), ["fix the parser", "which one?"]);
    repo.text(&["redo"]);
    assert_eq!(bodies(&repo, "claude-code/s1"), ["fix the lexer", "which one?"]);
    repo.fsck();
}

#[test]
fn a_change_without_a_chosen_trace_names_the_newest_session() {
    let (repo, _) = recorded();
    insta::assert_snapshot!(repo.trace(&["pin", "#0"]), @r"
    --- stderr
    error: no trace is chosen
    hint: `git trace switch claude-code/s1` chooses the newest recorded session
    [exit 2]
    ");
}

#[test]
fn an_import_says_how_many_items_a_compaction_replaced() {
    let repo = TestRepo::new();
    let mut last = None;
    let mut lines = String::new();
    for (number, text) in ["fix the parser", "which one?", "the one for crumbs", "done"].into_iter().enumerate() {
        let (uuid, line) = record("s1", last.as_deref(), number.try_into().unwrap(), text);
        lines += &line;
        last = Some(uuid);
    }
    let boundary = json!({"parentUuid": null, "logicalParentUuid": last, "isSidechain": false, "sessionId": "s1", "type": "system",
        "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "00000000-0000-4000-a000-000000000008",
        "timestamp": "2026-03-01T09:01:00Z", "cwd": "/"});
    let summary = json!({"parentUuid": "00000000-0000-4000-a000-000000000008", "isSidechain": false, "sessionId": "s1",
        "type": "user", "isCompactSummary": true, "uuid": "00000000-0000-4000-a000-000000000009",
        "timestamp": "2026-03-01T09:01:01Z", "cwd": "/", "message": {"role": "user", "content": "The parser is fixed."}});
    let file = repo.folder().join("s1.jsonl");
    fs::write(&file, format!("{lines}{boundary}\n{summary}\n")).unwrap();
    insta::assert_snapshot!(repo.text(&["import", "claude-code", file.to_str().unwrap()]), @"5 imported into trace `claude-code/s1`, 4 of the items replaced by summaries\n");
}

#[test]
fn an_import_passes_over_exports_that_nobody_continued() {
    let repo = TestRepo::new();
    let own = claude_folder(&repo).join("own.jsonl");
    fs::write(&own, said("own", &["one"])).unwrap();
    let read = || {
        let output = repo.run(&["import", "claude-code"], b"");
        assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
        let said = String::from_utf8(output.stderr).unwrap();
        let path = said.lines().find_map(|line| line.strip_prefix("importing ")).unwrap();
        PathBuf::from(path).file_stem().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(read(), "own");
    let mut resumed = Session::exported(&repo.json(&["resume", "claude-code/own", "--print", "--json"]));
    let earlier = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(&own).unwrap().set_modified(earlier).unwrap();
    assert_eq!(read(), "own");
    resumed.say(&repo, 2, "two");
    assert_eq!(read(), resumed.id);
}

#[test]
fn an_export_that_nobody_continued_is_forgotten_with_its_trace() {
    let repo = TestRepo::new();
    let mut session = Session { id: "s1".to_owned(), file: claude_folder(&repo).join("s1.jsonl"), last: None };
    session.say(&repo, 0, "fix the parser");
    let cwd = format!("\"cwd\":{}", json!(repo.folder().canonicalize().unwrap()));
    fs::write(&session.file, fs::read_to_string(&session.file).unwrap().replace("\"cwd\":\"/\"", &cwd)).unwrap();
    session.say(&repo, 1, "which one?");
    let all = || repo.json(&["import", "--all", "--json", "claude-code"])["imported"].clone();
    let clean = || {
        repo.text(&["branch", "idea", "claude-code/s1"]);
        Session::exported(&repo.json(&["resume", "idea", "--print", "--json"]))
    };
    let mut resumed = clean();
    assert!(repo.text(&["undo"]).starts_with("Undid `branch`\n"));
    clean();
    repo.text(&["branch", "-D", "idea"]);
    assert_eq!(all(), 0);
    repo.text(&["sessions"]);
    assert_eq!(traces(&repo), ["claude-code/s1"]);
    assert!(repo.trace(&["import", "claude-code"]).contains("0 imported into trace `claude-code/s1`"));
    // Its work is recorded if the agent continues it after all.
    resumed.say(&repo, 2, "two");
    let name = format!("claude-code/{}", resumed.id);
    assert_eq!(bodies(&repo, &name), ["fix the parser", "which one?", "two"]);
    repo.fsck();
}
