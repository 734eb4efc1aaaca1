//! Traces as sessions of opencode, GitHub Copilot CLI, and pi: their recording continues the trace, and an import elsewhere gives the
//! same items.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::repo::TestRepo;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");

/// A session of Claude Code: a prompt, two calls in one turn, a result with an image, a failed result, and the answer.
fn foreign(repo: &TestRepo) -> PathBuf {
    let mut parent = Value::Null;
    let mut line = |number: u32, kind: &str, content: Value| {
        let uuid = format!("00000000-0000-4000-a000-{number:012}");
        let id = if kind == "assistant" { json!(format!("msg_{}", number / 4)) } else { Value::Null };
        let message = json!({"role": kind, "content": content, "id": id, "model": "claude-opus-4-6"});
        let record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "cwd": "/", "isSidechain": false,
            "timestamp": format!("2026-02-06T10:00:{number:02}.000Z"), "message": message});
        parent = json!(uuid);
        format!("{record}\n")
    };
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let text = [
        line(1, "user", json!("look at it")),
        line(4, "assistant", json!([{"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a.png"}}])),
        line(5, "assistant", json!([{"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "false"}}])),
        line(
            6,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a picture"}, picture]}]),
        ),
        line(
            7,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "c2", "content": "it failed", "is_error": true}]),
        ),
        line(8, "assistant", json!([{"type": "text", "text": "it is white"}])),
    ];
    let path = repo.home().join("s1.jsonl");
    fs::write(&path, text.concat()).unwrap();
    path
}

fn fixture(name: &str) -> PathBuf {
    Path::new(FIXTURES).join(name)
}

/// A trace with the items of a file, exported for an agent: the session, its file, and what the file says.
fn exported(repo: &TestRepo, agent: &str, from: &Path) -> (String, PathBuf, String) {
    repo.text(&["--trace", "work", "import", from.to_str().unwrap()]);
    let report = repo.json(&["export", agent, "work", "--json"]);
    let file = PathBuf::from(report["file"].as_str().unwrap());
    let text = fs::read_to_string(&file).unwrap();
    let resume = report["resume"].as_str().unwrap();
    let session = report["session"].as_str().unwrap().to_owned();
    assert!(resume.ends_with(&session), "{resume}");
    (session, file, text)
}

fn messages(repo: &TestRepo, trace: &str) -> Value {
    let mut page = repo.json(&["materialize", "--json", "--aggregate", "none", trace]);
    page["messages"].take()
}

fn ids(repo: &TestRepo, trace: &str) -> Vec<String> {
    let listed = repo.git(&["ls-tree", "-r", "--name-only", &format!("refs/traces/{trace}")]);
    let mut ids: Vec<String> = listed.lines().map(|path| path.rsplit('-').next().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn traces(repo: &TestRepo) -> Vec<String> {
    let listed = repo.lines(&["branch", "--json"]);
    listed.iter().map(|trace| trace["trace"].as_str().unwrap().to_owned()).collect()
}

fn hook(repo: &TestRepo, agent: &str, input: &Value) {
    let output = repo.run(&["hook", agent, "--wait"], input.to_string().as_bytes());
    assert!(output.status.success() && !repo.git_dir().join("trace/hook.log").exists(), "{}", repo.exact(&output));
}

/// What opencode gives to its plugin: the session, with one more prompt and its answer.
fn continued_in_opencode(document: &mut Value, number: usize) -> Value {
    let session = document["info"]["id"].clone();
    for (role, text) in [("user", "go on"), ("assistant", "done")] {
        let message = format!("msg_ffffffffffff{number}{role}");
        let info =
            json!({"id": message, "sessionID": session, "role": role, "time": {"created": 1_795_637_418_945_u64}});
        let part = json!({"id": format!("prt_ffffffffffff{number}{role}"), "messageID": message, "sessionID": session, "type": "text",
            "text": format!("{text} {number}")});
        document["messages"].as_array_mut().unwrap().push(json!({"info": info, "parts": [part]}));
    }
    json!({"session_id": session, "hook_event_name": "Stop", "transcript": document})
}

/// The same as lines of pi and of GitHub Copilot CLI.
fn continued_in_file(agent: &str, file: &Path, number: usize) {
    let mut text = fs::read_to_string(file).unwrap();
    let mut parent: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    for (role, said) in [("user", "go on"), ("assistant", "done")] {
        let (id, said) = (format!("{role}-{number}"), format!("{said} {number}"));
        let mut record = json!({"id": id, "parentId": parent["id"], "timestamp": "2026-11-25T21:00:00.000Z"});
        if agent == "pi" {
            record["type"] = json!("message");
            record["message"] = json!({"role": role, "content": [{"type": "text", "text": said}], "timestamp": 1});
        } else {
            record["type"] = json!(format!("{role}.message"));
            record["data"] = json!({"content": said});
        }
        text.extend([record.to_string().as_str(), "\n"]);
        parent = record;
    }
    fs::write(file, text).unwrap();
}

/// The trace has the messages from before, and these turns.
fn has_continued(repo: &TestRepo, trace: &str, before: &Value, turns: usize) {
    let (after, before) = (messages(repo, trace), before.as_array().unwrap());
    let (start, end) = after.as_array().unwrap().split_at(before.len());
    assert_eq!(start, before);
    let said: Vec<&str> = end.iter().map(|message| message["content"].as_str().unwrap()).collect();
    let expected: Vec<String> =
        (1..=turns).flat_map(|turn| [format!("go on {turn}"), format!("done {turn}")]).collect();
    assert_eq!(said, expected);
}

#[test]
fn opencode_continues_a_trace_of_any_agent() {
    for from in [None, Some("opencode/export.json"), Some("pi/session-v1.jsonl")] {
        let repo = TestRepo::new();
        let from = from.map_or_else(|| foreign(&repo), fixture);
        let (session, file, text) = exported(&repo, "opencode", &from);
        assert!(
            session.starts_with("ses_") && file.ends_with(format!("opencode/git-trace/{session}.json")),
            "{session}"
        );
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let before = messages(&repo, "work");
        for turn in 1..4 {
            let input = continued_in_opencode(&mut document, turn);
            hook(&repo, "opencode", &input);
            hook(&repo, "opencode", &input);
            has_continued(&repo, "work", &before, turn);
        }
        assert_eq!(traces(&repo), ["work"]);
        repo.fsck();
    }
}

#[test]
fn a_session_of_opencode_leaves_a_trace_that_changed_since() {
    let repo = TestRepo::new();
    let (session, _, text) = exported(&repo, "opencode", &foreign(&repo));
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let before = messages(&repo, "work");
    repo.text(&["--trace", "work", "commit", "-m", "something else"]);
    for turn in 1..4 {
        hook(&repo, "opencode", &continued_in_opencode(&mut document, turn));
        has_continued(&repo, &format!("opencode/{session}"), &before, turn);
    }
    assert_eq!(traces(&repo).len(), 2);
    repo.fsck();
}

#[test]
fn pi_and_copilot_continue_a_trace_of_any_agent() {
    let own = [("pi", "pi/session-v3-compaction.jsonl"), ("copilot-cli", "copilot-cli/events-tool.jsonl")];
    for (agent, own) in own {
        for from in [None, Some(own), Some("opencode/export.json")] {
            let repo = TestRepo::new();
            let from = from.map_or_else(|| foreign(&repo), fixture);
            let (_, file, _) = exported(&repo, agent, &from);
            let before = messages(&repo, "work");
            for turn in 1..3 {
                continued_in_file(agent, &file, turn);
                for recorded in [2, 0] {
                    let imported = repo.json(&["import", agent, file.to_str().unwrap(), "--json"]);
                    assert_eq!(imported["traces"][0]["recorded"], json!(recorded), "{agent} {from:?}");
                }
                has_continued(&repo, "work", &before, turn);
            }
            assert_eq!(traces(&repo), ["work"]);
            repo.fsck();
        }
    }
}

#[test]
fn an_export_has_the_items_of_the_session_that_it_is_from() {
    for (agent, from) in [
        ("opencode", "opencode/export.json"),
        ("opencode", "claude-code/small-thinking-tools.jsonl"),
        ("pi", "pi/session-v1.jsonl"),
        ("pi", "pi/session-v3-compaction.jsonl"),
        ("copilot-cli", "copilot-cli/events-tool.jsonl"),
    ] {
        let (repo, other) = (TestRepo::new(), TestRepo::new());
        let (_, file, _) = exported(&repo, agent, &fixture(from));
        other.text(&["--trace", "work", "import", file.to_str().unwrap()]);
        let (own, theirs) = (ids(&repo, "work"), ids(&other, "work"));
        let missing: Vec<_> = theirs.iter().filter(|id| !own.contains(id)).collect();
        // Sessions of version 1 of pi have no ids.
        if from != "pi/session-v1.jsonl" {
            assert!(missing.is_empty(), "{agent} {from}: {missing:?}");
        }
        // The results of parallel calls follow all of the calls, and arguments have another order.
        let said = |repo: &TestRepo| -> Vec<String> {
            let messages = messages(repo, "work");
            messages
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|message| Some(message["content"].as_str()?.to_owned()))
                .collect()
        };
        assert_eq!(said(&repo), said(&other), "{agent} {from}");
        other.fsck();
    }
}

#[test]
fn resuming_in_opencode_takes_two_commands() {
    let repo = TestRepo::new();
    repo.text(&["--trace", "work", "import", foreign(&repo).to_str().unwrap()]);
    let report = repo.json(&["resume", "work", "--agent", "opencode", "--print", "--json"]);
    let (file, session) = (report["file"].as_str().unwrap(), report["session"].as_str().unwrap());
    assert_eq!(report["command"], json!(format!("opencode import '{file}' && opencode --session {session}")));
    let report = repo.json(&["resume", "work", "--agent", "copilot-cli", "--print", "--json"]);
    assert_eq!(report["command"], json!(format!("copilot --resume={}", report["session"].as_str().unwrap())));
}
