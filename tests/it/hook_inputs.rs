//! Each agent passes its session to a hook in its own way, and hooks record all of them alike.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::repo::TestRepo;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");

struct Agent {
    name: &'static str,
    fixture: &'static str,
    session: &'static str,
    /// Where the agent stores the session, below the user's home.
    file: &'static str,
    /// The input of the hook at the end of a turn, without the path.
    input: fn(&Path) -> Value,
}

/// The inputs of Qwen Code and GitHub Copilot CLI are as these agents sent them.
const AGENTS: [Agent; 4] = [
    Agent {
        name: "qwen-code",
        fixture: "qwen-code/session.jsonl",
        session: "s1",
        file: ".qwen/projects/-work-repo/chats/s1.jsonl",
        input: |folder| {
            json!({"session_id": "s1", "cwd": folder, "hook_event_name": "Stop", "timestamp": "2026-11-23T17:35:36.915Z",
                "stop_hook_active": true, "last_assistant_message": "Canned answer to 6 messages."})
        },
    },
    Agent {
        name: "copilot-cli",
        fixture: "copilot-cli/events-tool.jsonl",
        session: "s2",
        file: ".copilot/session-state/s2/events.jsonl",
        input: |folder| {
            json!({"hook_event_name": "Stop", "session_id": "s2", "timestamp": "2026-11-23T17:38:13.327Z", "cwd": folder,
                "stop_reason": "end_turn", "stop_hook_active": false})
        },
    },
    Agent {
        name: "droid",
        fixture: "droid/session.jsonl",
        session: "s3",
        file: ".factory/sessions/-work-repo/s3.jsonl",
        input: |folder| json!({"session_id": "s3", "cwd": folder, "permission_mode": "off", "hook_event_name": "Stop", "stop_hook_active": false}),
    },
    Agent {
        name: "cursor",
        fixture: "cursor/agent-transcript.jsonl",
        session: "s4",
        file: ".cursor/projects/work-repo/agent-transcripts/s4/s4.jsonl",
        input: |folder| {
            json!({"conversation_id": "s4", "generation_id": "g1", "model": "gpt-5", "hook_event_name": "stop", "status": "completed",
                "loop_count": 0, "cursor_version": "2.4.0", "workspace_roots": [folder], "user_email": null})
        },
    },
];

fn hook(repo: &TestRepo, agent: &str, input: &Value) -> String {
    let output = repo.run(&["hook", agent, "--wait"], input.to_string().as_bytes());
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", repo.exact(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn tree(repo: &TestRepo, trace: &str) -> String {
    repo.git(&["rev-parse", &format!("refs/traces/{trace}^{{tree}}")])
}

fn traces(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"])
}

/// Waits for a process in the background.
fn await_trace(repo: &TestRepo, trace: &str) {
    for _ in 0..1200 {
        if traces(repo).contains(trace) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("`{trace}` is not recorded");
}

fn sessions(repo: &TestRepo) -> Vec<String> {
    let listed = repo.text(&["sessions", "--json"]);
    let session = |line: &str| serde_json::from_str::<Value>(line).unwrap()["trace"].as_str().unwrap().to_owned();
    listed.lines().map(session).collect()
}

/// The first records of a session, or all.
fn write_session(repo: &TestRepo, agent: &Agent, lines: usize) -> PathBuf {
    let path = repo.home().join(agent.file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = fs::read_to_string(format!("{FIXTURES}/{}", agent.fixture)).unwrap();
    let text: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
    fs::write(&path, text.concat()).unwrap();
    path
}

#[test]
fn a_hook_records_what_an_import_would() {
    for agent in &AGENTS {
        let mut repo = TestRepo::new();
        let root = repo.folder().to_owned();
        let trace = format!("{}/{}", agent.name, agent.session);
        let mut shown = Vec::new();
        for lines in [3, usize::MAX, usize::MAX] {
            let path = write_session(&repo, agent, lines);
            let mut input = (agent.input)(&root);
            input["transcript_path"] = json!(path);
            // Cursor starts the hooks of the user in its own folder.
            let folder = if agent.name == "cursor" { repo.home().join(".cursor") } else { root.clone() };
            repo.within(&folder, |repo| shown.push(hook(repo, agent.name, &input)));
        }
        let is_told = shown[0].contains("sessions in this repository are recorded");
        assert_eq!((is_told, &*shown[1], &*shown[2]), (agent.name != "cursor", "", ""), "{}", agent.name);
        assert_eq!(sessions(&repo), [&*trace]);
        repo.text(&["--trace", "imported", "import", agent.name, repo.home().join(agent.file).to_str().unwrap()]);
        assert_eq!(tree(&repo, &trace), tree(&repo, "imported"), "{}", agent.name);
        let doctor = repo.text(&["doctor"]);
        assert!(doctor.contains(&format!("{}: no hooks; last recorded `{trace}`", agent.name)), "{doctor}");
        repo.fsck();
    }
}

#[test]
fn an_agent_that_names_no_transcript_is_caught_up() {
    let repo = TestRepo::new();
    let (root, copilot) = (repo.folder().canonicalize().unwrap(), &AGENTS[1]);
    let started = |session: &str| {
        json!({"type": "session.start", "data": {"sessionId": session, "copilotVersion": "1", "context": {"cwd": root}}, "id": "e1",
            "timestamp": "2026-11-23T17:38:12.903Z"})
    };
    let said = |text: &str| json!({"type": "user.message", "data": {"content": text}, "id": "e2", "timestamp": "2026-11-23T17:38:13.000Z"});
    // The end of a session that nobody recorded starts the recording.
    hook(
        &repo,
        copilot.name,
        &json!({"hook_event_name": "SessionEnd", "session_id": "s1", "cwd": root, "reason": "complete"}),
    );
    let path = repo.home().join(".copilot/session-state/s2/events.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("{}\n{}\n", started("s2"), said("a turn that was aborted"))).unwrap();
    hook(
        &repo,
        copilot.name,
        &json!({"hook_event_name": "SessionEnd", "session_id": "s2", "cwd": root, "reason": "abort"}),
    );
    assert_eq!(sessions(&repo), ["copilot-cli/s2"]);
    assert!(repo.text(&["materialize", "copilot-cli/s2"]).contains("a turn that was aborted"));
    repo.fsck();
}

#[test]
fn an_agent_may_write_its_file_after_the_hook() {
    let repo = TestRepo::new();
    let copilot = &AGENTS[1];
    let path = repo.home().join(copilot.file);
    let mut input = (copilot.input)(repo.folder());
    input["transcript_path"] = json!(path);
    let told = repo.bytes_with(&["hook", copilot.name], input.to_string().as_bytes());
    assert!(String::from_utf8(told).unwrap().contains("are recorded"));
    assert_eq!(traces(&repo), "");
    write_session(&repo, copilot, usize::MAX);
    await_trace(&repo, "copilot-cli/s2");
}

#[test]
fn a_sub_agent_of_copilot_belongs_to_its_session() {
    let repo = TestRepo::new();
    let event = |kind: &str, id: &str, agent: Option<&str>, data: Value| {
        json!({"type": kind, "data": data, "id": id, "agentId": agent, "timestamp": "2026-11-23T18:27:32.428Z"})
            .to_string()
    };
    let events = [
        event("session.start", "1", None, json!({"sessionId": "s2", "copilotVersion": "1.0.102"})),
        event("user.message", "2", None, json!({"content": "start it"})),
        event("user.message", "3", Some("a1"), json!({"content": "look around"})),
        event(
            "assistant.message",
            "4",
            Some("a1"),
            json!({"content": "nothing is there", "parentToolCallId": "call_1"}),
        ),
        event("assistant.message", "5", None, json!({"content": "done"})),
    ];
    let path = repo.home().join("events.jsonl");
    fs::write(&path, events.join("\n") + "\n").unwrap();
    let ended = |session: &str, parent: Option<&str>| json!({"hook_event_name": "Stop", "session_id": session, "agent_id": session, "parent_agent_id": parent, "transcript_path": path});
    hook(&repo, "copilot-cli", &ended("a1", Some("s2")));
    assert_eq!(traces(&repo), "");
    hook(&repo, "copilot-cli", &ended("s2", None));
    assert_eq!(traces(&repo), "refs/traces/copilot-cli/s2\nrefs/traces/copilot-cli/s2.agent-a1\n");
    let texts = |trace: &str| {
        let page: Value = serde_json::from_str(&repo.text(&["materialize", "--format", "openai", trace])).unwrap();
        let texts = page.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(texts("copilot-cli/s2"), ["start it", "done"]);
    assert_eq!(texts("copilot-cli/s2.agent-a1"), ["look around", "nothing is there"]);
}

/// What the plugin passes of a session of opencode.
fn opencode(session: &str, parent: Option<&str>, text: &str) -> Value {
    let message = |id: &str, role: &str, part: &str, text: &str| {
        json!({"info": {"id": id, "sessionID": session, "role": role, "time": {"created": 1_795_455_381_612_u64}},
            "parts": [{"id": part, "messageID": id, "sessionID": session, "type": "text", "text": text}]})
    };
    let info =
        json!({"id": session, "parentID": parent, "projectID": "p", "directory": "/work/repo", "title": "A session"});
    let messages = [message("msg_1", "user", "prt_1", "a question"), message("msg_2", "assistant", "prt_2", text)];
    json!({"session_id": session, "parent_id": parent, "hook_event_name": "Stop",
        "transcript": {"info": info, "messages": messages}})
}

#[test]
fn the_input_of_opencode_contains_the_session() {
    let repo = TestRepo::new();
    assert!(hook(&repo, "opencode", &opencode("ses_1", None, "an answer")).contains("are recorded"));
    assert_eq!(hook(&repo, "opencode", &opencode("ses_1", None, "an answer")), "");
    hook(&repo, "opencode", &opencode("ses_2", Some("ses_1"), "of a sub-agent"));
    assert_eq!(sessions(&repo), ["opencode/ses_1"]);
    let export = repo.home().join("export.json");
    fs::write(&export, opencode("ses_1", None, "an answer")["transcript"].to_string()).unwrap();
    repo.text(&["--trace", "imported", "import", "opencode", export.to_str().unwrap()]);
    assert_eq!(tree(&repo, "opencode/ses_1"), tree(&repo, "imported"));
    assert!(repo.text(&["materialize", "opencode/ses_1.agent-ses_2"]).contains("of a sub-agent"));
    assert!(repo.text(&["doctor"]).contains("opencode: no hooks; last recorded `opencode/ses_1"));
    repo.fsck();
}

#[test]
fn a_long_session_of_opencode_is_recorded_in_the_background() {
    let repo = TestRepo::new();
    let long = "each word of the answer ".repeat(250_000);
    let input = opencode("ses_1", None, &long).to_string();
    let began = std::time::Instant::now();
    let output = repo.run(&["hook", "opencode"], input.as_bytes());
    assert!(output.status.success() && began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    await_trace(&repo, "opencode/ses_1");
    assert!(repo.text(&["materialize", "opencode/ses_1"]).contains(&long));
}

#[test]
fn the_plugin_of_opencode_is_a_file_of_ours() {
    let repo = TestRepo::new();
    let path = repo.folder().join(".opencode/plugins/git-trace.js");
    let run = |args: &[&str]| repo.trace(&[args, &["--agent", "opencode"]].concat());
    insta::assert_snapshot!(run(&["install"]), @r"
    added .opencode/plugins/git-trace.js
    [exit 0]
    ");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"hook\", \"opencode\"") && !text.contains("PROGRAM"), "{text}");
    insta::assert_snapshot!(run(&["install"]), @r"
    kept .opencode/plugins/git-trace.js
    [exit 0]
    ");
    assert!(repo.text(&["doctor"]).contains("opencode: hooks in `.opencode/plugins/git-trace.js`; no session"));
    // What the user wrote is kept.
    fs::write(&path, text.replace("session.idle", "session.error")).unwrap();
    insta::assert_snapshot!(run(&["install"]), @r"
    left alone .opencode/plugins/git-trace.js
    [exit 1]
    ");
    fs::write(&path, text).unwrap();
    insta::assert_snapshot!(run(&["uninstall"]), @r"
    removed .opencode/plugins/git-trace.js
    [exit 0]
    ");
    assert!(!path.exists());
    insta::assert_snapshot!(run(&["install", "--brief"]), @r"
    --- stderr
    error: opencode takes no brief from a hook; install it without `--brief`
    [exit 2]
    ");
}
