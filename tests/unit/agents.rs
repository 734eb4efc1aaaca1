//! Agents' sessions export as they were imported, and record themselves through hooks.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};

use crate::app::install::agent::{AGENTS, Agent};
use crate::transcript::export::RESUMED;
use crate::transcript::format::Format;
use crate::unit::incremental::{Growing, REPLAY};
use crate::unit::repo::TestRepo;
use crate::unit::samples::SAMPLES;

const CODEX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-small.jsonl");
const MATRIX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-record-matrix.jsonl");
const GEMINI: &[u8] = include_bytes!("../fixtures/transcripts/gemini-cli/session-chat.json");
const SWE: &[u8] = include_bytes!("../fixtures/transcripts/swe-agent/function-calling.traj");

/// The messages that the model sees of a trace, without fields that depend on the source file.
fn context(repo: &TestRepo, trace: &str) -> Vec<Value> {
    let view = repo.json(&["materialize", "--json", "--aggregate", "none", trace]);
    let mut messages = view["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        message.as_object_mut().unwrap().retain(|key, _| key == "role" || key == "name" || key == "content");
        for block in message["content"].as_array_mut().into_iter().flatten() {
            if let Some(arguments) =
                block["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok())
            {
                block["arguments"] = arguments;
            }
        }
    }
    messages
}

fn records(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What Claude Code asks of a transcript.
fn check_valid(bytes: &[u8]) {
    let records = records(bytes);
    let mut parent = Value::Null;
    let mut ids = HashSet::new();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for record in &records {
        assert_eq!(record["parentUuid"], parent);
        parent = record["uuid"].clone();
        assert!(ids.insert(parent.to_string()), "{parent} is there twice");
        assert_eq!(record["sessionId"], records[0]["sessionId"]);
        for field in ["cwd", "version", "timestamp", "gitBranch", "type"] {
            assert!(record[field].is_string(), "{field}: {record}");
        }
        let message = &record["message"];
        if record["type"] == "assistant" {
            assert!(message["usage"]["output_tokens"].is_u64() && message["id"].is_string(), "{record}");
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap() {
                "tool_use" => calls.push(block["id"].to_string()),
                "tool_result" => {
                    assert!(calls.contains(&block["tool_use_id"].to_string()), "{block}");
                    results.push(block["tool_use_id"].to_string());
                }
                _ => {}
            }
        }
    }
    assert_eq!(calls.iter().collect::<HashSet<_>>().len(), calls.len());
    calls.sort();
    results.sort();
    assert_eq!(calls, results);
}

/// Imports a file, changes the trace, exports it for `agent`, and imports that into `back`.
fn round_trip(bytes: &[u8], format: Format, agent: &str, change: impl Fn(&TestRepo)) -> (TestRepo, Vec<u8>) {
    let repo = TestRepo::new();
    fs::write(repo.folder().join("in"), bytes).unwrap();
    repo.text(&["import", format.as_str(), "in", "--trace", "t"]);
    change(&repo);
    repo.text(&["export", agent, "t", "-o", "out.jsonl"]);
    let written = fs::read(repo.folder().join("out.jsonl")).unwrap();
    repo.text(&["import", agent, "out.jsonl", "--trace", "back"]);
    (repo, written)
}

#[test]
fn an_unchanged_session_exports_as_it_was_imported() {
    // One record of each kind is no conversation.
    for (format, name, bytes) in samples().into_iter().filter(|(.., name, _)| *name != "rollout-record-matrix") {
        if format == Format::SweAgent {
            continue;
        }
        let (repo, written) = round_trip(bytes, format, format.as_str(), |_| ());
        if format == Format::ClaudeCode {
            check_valid(&written);
        }
        let (mut before, mut after) = (context(&repo, "t"), context(&repo, "back"));
        // Providers reject messages without text, and agents leave them out.
        before.retain(|message| message["content"].as_str().is_none_or(|text| !text.trim().is_empty()));
        if name == "dangling-tool-use" {
            // The call that nothing answered has an answer now.
            assert_eq!(after.len(), before.len() + 1);
            after.retain(|message| !message.to_string().contains("(no result was recorded)"));
        }
        assert_eq!(after, before, "{name}");
        repo.fsck();
    }
}

/// Every sample that has a reader.
fn samples() -> Vec<(Format, &'static str, &'static [u8])> {
    let others = [
        (Format::Codex, "rollout-small", CODEX),
        (Format::Codex, "rollout-record-matrix", MATRIX),
        (Format::GeminiCli, "session-chat", GEMINI),
        (Format::SweAgent, "function-calling", SWE),
    ];
    SAMPLES.into_iter().map(|(name, bytes)| (Format::ClaudeCode, name, bytes)).chain(others).collect()
}

#[test]
fn every_sample_is_detected_and_imported_without_unknown_content() {
    for (format, name, bytes) in samples() {
        let repo = TestRepo::new();
        fs::write(repo.folder().join("session"), bytes).unwrap();
        let report = repo.json(&["import", "session", "--json"]);
        assert!(report["traces"][0]["trace"].as_str().unwrap().starts_with(format.as_str()), "{name}: {report}");
        assert_eq!(
            (&report["unknown"], &report["dropped"], &report["damaged"]),
            (&json!({}), &json!(0), &json!(0)),
            "{name}"
        );
    }
}

/// Skips three items and edits another: none of a tool's, so that no call loses its result.
fn clean(repo: &TestRepo) {
    let items = repo.lines(&["export", "t"]);
    let removed: HashSet<String> =
        items.iter().filter(|item| item["op"] == "delete").map(|item| item["id"].to_string()).collect();
    let said = |item: &&Value| {
        let is_live = !removed.contains(&item["id"].to_string());
        item["op"] == "import" && is_live && item["type"] == "dialogue" && item["text"] != ""
    };
    let said: Vec<String> = items.iter().filter(said).map(|item| format!("#{}", item["seq"])).collect();
    let middle = said.len() / 2;
    repo.text(&["--trace", "t", "skip", &said[1], &said[middle], said.last().unwrap(), "-m", "misleading"]);
    repo.text(&["--trace", "t", "edit", &said[0], "-m", "a better question"]);
}

#[test]
fn a_cleaned_session_exports_clean() {
    for (format, name, bytes) in samples() {
        for agent in ["claude-code", "codex"] {
            if (name, agent) == ("rollout-record-matrix", "claude-code") {
                // One record of each kind is no conversation: one of its items does not come back this way.
                continue;
            }
            let (repo, written) = round_trip(bytes, format, agent, clean);
            if agent == "claude-code" {
                check_valid(&written);
            }
            // Thoughts belong to their provider, and an unanswered call gets a result.
            let said = |trace: &str| -> Vec<String> {
                let mut said = Vec::new();
                for message in context(&repo, trace) {
                    let text = message.to_string();
                    if text.contains("(no result was recorded)")
                        || (agent != format.as_str() && text.contains("\"reasoning\""))
                    {
                        continue;
                    }
                    match &message["content"] {
                        Value::Array(blocks) => said.extend(
                            blocks.iter().map(|block| block.get("text").unwrap_or(&block["arguments"]).to_string()),
                        ),
                        text => said.push(text.to_string()),
                    }
                }
                said
            };
            assert_eq!(said("back"), said("t"), "{name} by {agent}");
            assert!(said("back").iter().any(|text| text.contains("a better question")));
        }
    }
}

#[test]
fn a_session_of_one_agent_continues_in_another() {
    for (format, bytes) in [(Format::Codex, CODEX), (Format::GeminiCli, GEMINI), (Format::SweAgent, SWE)] {
        let (_, written) = round_trip(bytes, format, "claude-code", |_| ());
        check_valid(&written);
        let (repo, written) = round_trip(bytes, format, "codex", |_| ());
        assert_eq!(records(&written)[0]["type"], "session_meta");
        if format == Format::Codex {
            assert_eq!(context(&repo, "back"), context(&repo, "t"));
        }
    }
}

#[test]
fn an_export_is_written_where_the_agent_looks() {
    let repo = TestRepo::new();
    repo.say("hello");
    let report = repo.json(&["export", "claude-code", "--json"]);
    let file = report["file"].as_str().unwrap();
    assert!(file.starts_with(repo.home().join(".claude/projects").to_str().unwrap()), "{file}");
    assert!(file.rsplit('/').nth(1).unwrap().ends_with("-repo"), "{file}");
    assert_eq!(report["resume"], format!("claude --resume {}", report["session"].as_str().unwrap()));
    // Without a file the newest of this folder is taken: this one, which its trace continues.
    let imported = &repo.json(&["import", "claude-code", "--json"])["traces"][0];
    assert_eq!((&imported["trace"], &imported["recorded"]), (&json!("main"), &json!(0)));
    let report = repo.json(&["export", "codex", "--json"]);
    assert!(
        report["file"].as_str().unwrap().contains("/.codex/sessions/2026/")
            || report["file"].as_str().unwrap().contains("/.codex/sessions/")
    );
    assert_eq!(repo.json(&["import", "codex", "--json"])["traces"][0]["recorded"], 0);
    insta::assert_snapshot!(repo.refused(&["export", "swe-agent"]), @r"
    --- stderr
    error: SWE-agent cannot resume a transcript that another program wrote
    hint: name one that can: `git trace resume --agent claude-code`, or `git trace export claude-code`
    [exit 2]
    ");
    fs::write(repo.folder().join("there"), "x").unwrap();
    assert!(repo.refused(&["export", "claude-code", "-o", "there"]).contains("cannot write `there`"));
}

/// A session with what only some sessions have: images, a sub-agent, rewound turns, and, if so, a compaction.
fn generated(is_compacted: bool) -> Vec<u8> {
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let record = |uuid: &str, parent: Option<&str>, kind: &str, content: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-02-10T09:00:00.125Z",
               "message": {"role": kind, "id": format!("msg-{uuid}"), "content": content}})
    };
    let mut side = record("s1", Some("a1"), "user", json!("what the sub-agent reads"));
    (side["isSidechain"], side["agentId"]) = (json!(true), json!("a1"));
    let mut summary = record("c2", Some("c1"), "user", json!("so far"));
    summary["isCompactSummary"] = json!(true);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "seen"}, image]}]);
    let mut records = vec![
        record("u1", None, "user", json!([{"type": "text", "text": "look"}, image])),
        record("a1", Some("u1"), "assistant", json!([{"type": "tool_use", "id": "t1", "name": "Task", "input": {}}])),
        side,
        record("r1", Some("a1"), "user", result),
        record("a2", Some("r1"), "assistant", json!([{"type": "text", "text": "done"}])),
        record("u2", Some("a2"), "user", json!("a wrong turn")),
        record("a3", Some("u2"), "assistant", json!([{"type": "text", "text": "wrong"}])),
        record("u3", Some("a2"), "user", json!("a better turn")),
        record("a4", Some("u3"), "assistant", json!([{"type": "text", "text": "better"}])),
    ];
    if is_compacted {
        records.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": "c1", "logicalParentUuid": "a4",
                            "sessionId": "s", "content": "compacted"}));
        records.push(summary);
        records.push(record("u4", Some("c2"), "user", json!([{"type": "text", "text": "and this"}, image])));
        records.push(record("a5", Some("u4"), "assistant", json!([{"type": "text", "text": "fine"}])));
    }
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

#[test]
fn a_generated_session_exports_what_the_model_saw() {
    for (is_compacted, expected) in [(false, 6), (true, 3)] {
        let (repo, written) = round_trip(&generated(is_compacted), Format::ClaudeCode, "claude-code", |_| ());
        check_valid(&written);
        assert_eq!(context(&repo, "back"), context(&repo, "t"));
        let text = String::from_utf8(written).unwrap();
        assert!(!text.contains("wrong") && !text.contains("sub-agent reads"));
        assert_eq!(text.contains("so far"), is_compacted);
        assert_eq!(text.contains("a better turn"), !is_compacted);
        assert_eq!(text.lines().count(), expected, "{text}");
        for agent in ["codex", "gemini-cli"] {
            let (repo, _) = round_trip(&generated(is_compacted), Format::ClaudeCode, agent, |_| ());
            // Gemini CLI has no separate place for an image in a result.
            let said = |trace: &str| -> Vec<String> {
                let said = texts(&context(&repo, trace));
                said.iter().map(|text| text.split("\n{\"inlineData").next().unwrap().to_owned()).collect()
            };
            assert_eq!(said("back"), said("t"), "{agent}");
        }
    }
}

fn texts(messages: &[Value]) -> Vec<String> {
    let mut texts = Vec::new();
    for message in messages {
        match &message["content"] {
            Value::Array(blocks) => texts.extend(blocks.iter().filter_map(|block| block["text"].as_str())),
            text => texts.extend(text.as_str()),
        }
    }
    texts.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_rollout_keeps_its_provider_and_settings() {
    let settings = json!({"type": "world_state", "payload": {"full": true, "state": {"skills": 1}}});
    let turn = json!({"type": "turn_context", "payload": {"cwd": "/w", "model": "m"}});
    let said = |role: &str, text: &str| json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}});
    let head = json!({"type": "session_meta", "payload": {"id": "s", "model_provider": "fake"}});
    let lines = [head, settings.clone(), turn.clone(), said("user", "a question"), said("assistant", "an answer")];
    let bytes: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (_, written) = round_trip(bytes.as_bytes(), Format::Codex, "codex", |_| ());
    let written = records(&written);
    assert_eq!(written[0]["payload"]["model_provider"], "fake");
    let kinds: Vec<&str> = written.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["session_meta", "world_state", "turn_context", "response_item"]);
    assert_eq!((&written[1]["payload"], &written[2]["payload"]), (&settings["payload"], &turn["payload"]));
    // Codex takes a session without a provider as one of the configured provider.
    let (_, written) = round_trip(SAMPLES[4].1, Format::ClaudeCode, "codex", |_| ());
    assert_eq!(records(&written)[0]["payload"].get("model_provider"), None);
}

#[test]
fn an_exported_rollout_permits_nothing() {
    let turn = json!({"type": "turn_context", "payload": {
        "cwd": "/w", "workspace_roots": ["/"], "approval_policy": "never", "approvals_reviewer": "none",
        "sandbox_policy": {"type": "danger-full-access"}, "file_system_sandbox_policy": {"kind": "unrestricted"},
        "permission_profile": {"type": "disabled"}, "network": "enabled", "model": "m"}});
    let world = json!({"type": "world_state", "payload": {"full": true, "state": {
        "permissions": {"sandbox_mode": "danger-full-access"}, "skills": 1}}});
    let said = json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a question"}]}});
    let head = json!({"type": "session_meta", "payload": {"id": "s"}});
    let odd = json!({"type": "turn_context", "payload": ["sandbox_policy"]});
    let bytes: String = [head, turn, world, odd.clone(), said].iter().map(|line| format!("{line}\n")).collect();
    let (_, written) = round_trip(bytes.as_bytes(), Format::Codex, "codex", |_| ());
    let written = records(&written);
    let expected =
        json!({"cwd": "/w", "approval_policy": "on-request", "sandbox_policy": {"type": "read-only"}, "model": "m"});
    assert_eq!(written[1]["payload"], expected);
    assert_eq!(written[2]["payload"], json!({"full": true, "state": {"skills": 1}}));
    assert_eq!(written[3]["payload"], odd["payload"]);
}

#[test]
fn an_exported_session_starts_with_the_user_and_has_no_empty_message() {
    let repo = TestRepo::new();
    for (role, text) in [("assistant", "an answer"), ("user", " \n"), ("user", "more")] {
        repo.bytes_with(&["--trace", "t", "commit", "-r", role, "-F", "-"], text.as_bytes());
    }
    for agent in ["claude-code", "codex", "gemini-cli"] {
        repo.text(&["export", agent, "t", "-o", agent]);
        repo.text(&["import", agent, agent, "--trace", &format!("back-{agent}")]);
        let expected = ["(the start of this session was removed)", "an answer", "more"];
        assert_eq!(texts(&context(&repo, &format!("back-{agent}"))), expected, "{agent}");
    }
}

fn call(file: &str, event: &str) -> String {
    json!({"session_id": "s1", "transcript_path": file, "hook_event_name": event, "cwd": "/"}).to_string()
}

/// Runs a hook with consent to recording. It says nothing and succeeds whatever it is given.
fn hook(repo: &TestRepo, args: &[&str], input: &str) {
    if repo.folder().join(".git").exists() {
        repo.git(&["config", "trace.record", "true"]);
    }
    let output = repo.run(&[&["hook"], args].concat(), input.as_bytes());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{}", repo.exact(&output));
}

#[test]
fn hooks_record_a_session_as_it_grows() {
    let cases = [
        (Format::ClaudeCode, SAMPLES[0].1),
        (Format::ClaudeCode, SAMPLES[1].1),
        (Format::Codex, CODEX),
        (Format::GeminiCli, GEMINI),
    ];
    for (format, bytes) in cases {
        let repo = TestRepo::new();
        let file = repo.home().join("session");
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).collect();
        let events = ["SessionStart", "Stop", "PreCompact", "Stop"];
        for (number, end) in ends.iter().step_by(ends.len().div_ceil(8)).enumerate() {
            // The last line is half there at times.
            fs::write(&file, &bytes[..end - number % 3]).unwrap();
            hook(&repo, &[format.as_str()], &call(file.to_str().unwrap(), events[number % 4]));
        }
        fs::write(&file, bytes).unwrap();
        hook(&repo, &[format.as_str()], &call(file.to_str().unwrap(), "SessionEnd"));
        let growing = Growing::new();
        growing.import_seen(format, bytes, REPLAY);
        let tree = repo.git(&["rev-parse", &format!("refs/traces/{format}/s1^{{tree}}")]);
        assert_eq!(tree.trim(), growing.trees()[0].1, "{format}");
        let examined = repo.run(&["doctor", "--json"], b"").stdout;
        assert!(!String::from_utf8(examined).unwrap().contains("recording"));
    }
}

#[test]
fn a_session_starts_with_the_brief() {
    let repo = TestRepo::new();
    hook(&repo, &["claude-code"], &call("/nowhere", "SessionStart"));
    repo.text(&[
        "forward",
        "leave",
        "--agent",
        "ada",
        "--summary",
        "Split the\u{1b}[31m parser.",
        "--unfinished",
        "Build the detector",
    ]);
    repo.git(&["config", "trace.agent", "ada"]);
    for agent in ["claude-code", "codex", "gemini-cli"] {
        let starts = |source: &str| {
            let call = json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": source});
            String::from_utf8(repo.bytes_with(&["hook", agent, "--brief", "--wait"], call.to_string().as_bytes()))
                .unwrap()
        };
        hook(
            &repo,
            &[agent],
            &json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": "startup"}).to_string(),
        );
        assert_eq!((starts("resume"), starts("compact")), (String::new(), String::new()));
        let said = starts("startup");
        let said: Value = serde_json::from_str(&said).unwrap();
        let output = &said["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "SessionStart");
        assert_eq!(output["additionalContext"], repo.text(&["brief"]), "{said}");
        assert!(said.to_string().contains("Build the detector"));
    }
}

#[test]
fn the_hook_starts_a_session_in_the_crumb_file_if_the_user_asks_for_it() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join("ada.crumb"), "\u{2234}CRUMB2 ADA s4\n\u{a7}core\n. a fact\n").unwrap();
    let starts = |source: &str| {
        let call = json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": source}).to_string();
        repo.bytes_with(&["hook", "claude-code", "--brief", "--wait"], call.as_bytes());
        let text = fs::read_to_string(repo.folder().join("ada.crumb")).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    repo.git(&["config", "trace.briefCrumb", "ada.crumb"]);
    assert_eq!(starts("startup"), "\u{2234}CRUMB2 ADA s4");
    repo.git(&["config", "trace.crumbStart", "true"]);
    assert_eq!(starts("resume"), "\u{2234}CRUMB2 ADA s4");
    assert_eq!(starts("startup"), "\u{2234}CRUMB2 ADA s5");
    repo.git(&["config", "--unset", "trace.briefCrumb"]);
    assert_eq!(starts("startup"), "\u{2234}CRUMB2 ADA s5", "the file was not named");
}

#[test]
fn a_session_starts_with_memories_of_the_same_agent() {
    let repo = TestRepo::new();
    let file = repo.home().join("session");
    fs::write(&file, SAMPLES[0].1).unwrap();
    repo.text(&["import", "claude-code", file.to_str().unwrap()]);
    let call = json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": "startup"}).to_string();
    assert_eq!(repo.bytes_with(&["hook", "codex", "--brief", "--wait"], call.as_bytes()), b"");
    let said = repo.bytes_with(&["hook", "claude-code", "--brief", "--wait"], call.as_bytes());
    assert!(String::from_utf8(said).unwrap().contains("## Last in the trace"));
}

#[test]
fn the_brief_is_installed_only_if_asked_for() {
    let repo = TestRepo::new();
    let installs = |args: &[&str]| repo.text(&[&["install", "--agent", "codex"], args].concat());
    insta::assert_snapshot!(installs(&[]), @r"
    added .codex/hooks.json: Stop
    added .codex/hooks.json: PreCompact
    ");
    let without = fs::read_to_string(repo.folder().join(".codex/hooks.json")).unwrap();
    insta::assert_snapshot!(installs(&["--brief"]), @r"
    added .codex/hooks.json: SessionStart
    kept .codex/hooks.json: Stop
    kept .codex/hooks.json: PreCompact
    ");
    assert!(fs::read_to_string(repo.folder().join(".codex/hooks.json")).unwrap().contains(" hook codex --brief "));
    insta::assert_snapshot!(installs(&[]), @r"
    removed .codex/hooks.json: SessionStart
    kept .codex/hooks.json: Stop
    kept .codex/hooks.json: PreCompact
    ");
    assert_eq!(fs::read_to_string(repo.folder().join(".codex/hooks.json")).unwrap(), without);
    repo.text(&["uninstall", "--agent", "codex"]);
    assert!(!repo.folder().join(".codex").exists());
}

#[test]
fn a_result_that_gemini_cli_writes_twice_is_recorded_once() {
    let repo = TestRepo::new();
    let response =
        |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": "sh", "response": {"output": output}}});
    let call =
        |id: &str, result: Option<Value>| json!({"id": id, "name": "sh", "args": {"command": "ls"}, "result": result});
    let records = [
        json!({"sessionId": "s1", "projectHash": "7e"}),
        json!({"id": "1", "type": "user", "content": [{"text": "list"}]}),
        json!({"id": "2", "type": "gemini", "content": "", "toolCalls": [call("c1", Some(json!([response("c1", "a")]))), call("c2", None)]}),
        json!({"id": "3", "type": "user", "content": [response("c1", "a"), response("c2", "b")]}),
        json!({"id": "4", "type": "gemini", "content": "done"}),
        json!({"$set": {"messages": [
            {"id": "1", "type": "user", "content": [{"text": "list"}]},
            {"id": "2", "type": "gemini", "content": [{"functionCall": {"id": "c1", "name": "sh"}}]},
            {"id": "2", "type": "user", "content": [response("c1", "a")]},
            {"id": "3", "type": "user", "content": [response("c1", "a"), response("c2", "b")]},
            {"id": "4", "type": "gemini", "content": [{"text": "done"}]},
        ]}}),
    ];
    let file: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(repo.home().join("s1"), file).unwrap();
    repo.text(&["import", "gemini-cli", repo.home().join("s1").to_str().unwrap()]);
    let page = repo.text(&["log", "gemini-cli/s1", "--oneline"]);
    let kinds: Vec<&str> = page.lines().map(|line| line.split_once(") ").unwrap().1).collect();
    assert_eq!(
        kinds,
        [
            "dialogue assistant: done",
            "tool_io result sh: b",
            "tool_io call sh: {\"command\":\"ls\"}",
            "tool_io result sh: a",
            "tool_io call sh: {\"command\":\"ls\"}",
            "dialogue user: list"
        ]
    );
}

#[test]
fn an_import_that_drops_content_says_so_and_answers_no() {
    let repo = TestRepo::new();
    let record = |uuid: &str, kind: &str, text: &str| json!({"type": kind, "uuid": uuid, "sessionId": "s1", "message": {"role": "user", "content": text}});
    let import = |records: &[Value]| {
        let file = repo.home().join("s1.jsonl");
        fs::write(&file, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
        let output = repo.run(&["import", "claude-code", file.to_str().unwrap(), "--trace", "t"], b"");
        (output.status.code(), repo.exact(&output))
    };
    let (status, said) =
        import(&[record("1", "user", "one"), json!({"type": "novelty", "uuid": "2", "sessionId": "s1"})]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("of unknown kinds, not imported: 1 novelty"), "{said}");
    let (status, said) = import(&[record("3", "user", "one"), record("4", "novelty", &"long ".repeat(100))]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("warning: 1 of these records contain messages or outputs of tools"), "{said}");
    assert!(said.contains("warning: LESS THAN HALF OF THE FILE WAS IMPORTED: "), "{said}");
}

#[test]
fn the_trace_of_a_sub_agent_has_its_id_once() {
    let repo = TestRepo::new();
    let record = |uuid: &str, agent: Option<&str>| {
        let message = json!({"role": "user", "content": uuid});
        json!({"type": "user", "uuid": uuid, "sessionId": "s1", "isSidechain": agent.is_some(), "agentId": agent, "message": message})
    };
    let file = repo.home().join("s1.jsonl");
    let own = repo.home().join("s1/subagents");
    fs::create_dir_all(&own).unwrap();
    fs::write(&file, format!("{}\n", record("main", None))).unwrap();
    fs::write(own.join("agent-a1.jsonl"), format!("{}\n", record("side", Some("a1")))).unwrap();
    hook(&repo, &["claude-code"], &call(file.to_str().unwrap(), "Stop"));
    let traces = || repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"]);
    insta::assert_snapshot!(traces(), @r"
    refs/traces/claude-code/s1
    refs/traces/claude-code/s1.agent-a1
    ");
    let grown = format!("{}\n{}\n", record("side", Some("a1")), record("more", Some("a1")));
    fs::write(own.join("agent-a1.jsonl"), grown).unwrap();
    hook(&repo, &["claude-code"], &call(file.to_str().unwrap(), "Stop"));
    assert_eq!(traces().lines().count(), 2);
    assert_eq!(texts(&context(&repo, "claude-code/s1.agent-a1")), ["side", "more"]);
}

#[test]
fn nothing_stops_the_agent() {
    let repo = TestRepo::new();
    hook(&repo, &["claude-code"], "");
    hook(&repo, &["claude-code"], "{\"session_id\":\"\"}");
    hook(&repo, &["claude-code"], &call("/nowhere/s.jsonl", "Stop"));
    hook(&repo, &["claude-code"], &json!({"session_id": "s", "transcript_path": null}).to_string());
    hook(&repo, &["claude-code", "--no-such-flag"], "");
    hook(&repo, &["swe-agent"], "");
    hook(&repo, &["claude-code"], &call(repo.folder().to_str().unwrap(), "Stop\n\u{1b}[31m"));
    let found: Value = serde_json::from_slice(&repo.run(&["doctor", "--json"], b"").stdout).unwrap();
    let recording = found.as_array().unwrap().iter().find(|found| found["code"] == "recording").unwrap();
    assert!(
        recording["message"]
            .as_str()
            .unwrap()
            .starts_with("claude-code: hooks failed 3 times since a session was recorded; the last: "),
        "{recording}"
    );
    assert_eq!(recording["health"], "warning");
    let outside = TestRepo::without_git();
    hook(&outside, &["claude-code"], &call("/nowhere", "Stop"));
    // An error that does not concern the agent fails as in any command.
    assert_eq!(repo.run(&["hook", "nobody"], b"").status.code(), Some(2));
}

#[test]
fn agent_settings_are_extended_and_restored() {
    let texts = [
        None,
        Some("{}"),
        Some("{\"permissions\":{\"allow\":[\"Bash(ls)\"]},\"z\":1.0}"),
        Some(
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n\t\t]\n\t}\n}\n",
        ),
    ];
    let files = [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("qwen-code", ".qwen/settings.json"),
        ("copilot-cli", ".github/hooks/git-trace.json"),
        ("droid", ".factory/settings.json"),
        ("cursor", ".cursor/hooks.json"),
    ];
    for (agent, file) in files {
        for text in texts {
            let repo = TestRepo::new();
            let path = repo.folder().join(file);
            if let Some(text) = text {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, text).unwrap();
            }
            repo.text(&["install", "--agent", agent, "--dry-run"]);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "a dry run writes nothing");
            assert!(repo.text(&["install", "--agent", agent]).contains("added"));
            let once = fs::read_to_string(&path).unwrap();
            let settings: Value = serde_json::from_str(&once).unwrap();
            assert!(once.contains(&format!("git-trace hook {agent} 2>/dev/null || true")), "{once}");
            assert!(settings["hooks"].as_object().unwrap().len() >= 2);
            assert!(!repo.text(&["install", "--agent", agent]).contains("added"));
            assert_eq!(fs::read_to_string(&path).unwrap(), once, "again changes nothing");
            repo.text(&["uninstall", "--agent", agent]);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "{agent}");
            assert_eq!(path.parent().unwrap().exists(), text.is_some());
        }
    }
}

#[test]
fn agents_are_offered_for_what_they_can_do() {
    let resumed = Format::all().filter(|format| format.agent().exporter.is_some());
    assert_eq!(resumed.map(Format::as_str).collect::<Vec<_>>(), RESUMED);
    assert_eq!(AGENTS.iter().map(|agent| agent.format.as_str()).collect::<Vec<_>>(), Agent::NAMES);
}

#[test]
fn later_changes_to_settings_are_kept() {
    let repo = TestRepo::new();
    repo.text(&["install", "--agent", "claude-code"]);
    let path = repo.folder().join(".claude/settings.json");
    let changed = fs::read_to_string(&path).unwrap().replacen('{', "{\n  \"model\": \"opus\",", 1);
    fs::write(&path, &changed).unwrap();
    // The plain command takes back what this repository's install wrote.
    assert!(repo.text(&["uninstall"]).contains("removed .claude/settings.json"));
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, json!({"model": "opus"}));
    fs::write(&path, "{ // mine\n}").unwrap();
    assert!(
        repo.refused(&["install", "--agent", "claude-code"])
            .contains("cannot change `[HOME]/repo/.claude/settings.json`")
    );
    assert!(repo.refused(&["install", "--agent", "swe-agent"]).contains("SWE-agent has no hooks"));
}

#[test]
fn sessions_are_listed_with_their_code_commits() {
    let repo = TestRepo::new();
    assert_eq!(repo.text(&["sessions"]), "");
    let file = repo.home().join("session");
    fs::write(&file, SAMPLES[0].1).unwrap();
    // The sample was recorded on 2026-02-06 from 00:49 on.
    let commit = |second: &str, subject: &str| {
        let mut command = repo.command("git");
        command.env("GIT_COMMITTER_DATE", format!("2026-02-06T00:{second}+00:00"));
        let output = crate::unit::repo::run(command.args(["commit", "--quiet", "--allow-empty", "-m", subject]), b"");
        assert!(output.status.success());
    };
    commit("40:00", "before");
    commit("53:00", "fix the lint");
    commit("59:59", "later");
    hook(&repo, &["claude-code", "--wait"], &call(file.to_str().unwrap(), "Stop"));
    let session = repo.json(&["sessions", "--json"]);
    assert_eq!((&session["trace"], &session["agent"]), (&json!("claude-code/s1"), &json!("claude-code")));
    assert!(session["title"].as_str().unwrap().starts_with("okay - lint and tests are failing"), "{session}");
    assert!(session["items"].as_u64().unwrap() > 20 && session["tokens"].as_u64().unwrap() > 0);
    let page = repo.text(&["sessions"]);
    assert!(page.starts_with("claude-code/s1  2026-02-06 00:52 to 2026-02-06"), "{page}");
    assert!(session["commits"].as_array().unwrap().iter().any(|commit| commit["subject"] == "fix the lint"));

    let log = |range: &str| repo.text(&["log", "claude-code/s1", "--oneline", "--code", range]).lines().count();
    let all = repo.text(&["log", "claude-code/s1", "--oneline"]).lines().count();
    let (first, second) = (log("HEAD~2..HEAD~1"), log("HEAD~1..HEAD"));
    assert!(first > 0 && second > 0 && first + second <= all, "{first} {second} {all}");
    assert_eq!(log("HEAD~1"), first, "one commit alone is the way from its parent");
    // Items committed while the code is at one commit belong to the next.
    repo.text(&["--trace", "claude-code/s1", "commit", "-m", "now"]);
    commit("59:59", "the next");
    assert_eq!(log("HEAD"), 1);
    assert!(
        repo.refused(&["log", "claude-code/s1", "--code", "nope..HEAD"]).contains("`nope` is not a commit of the code")
    );
    assert!(repo.refused(&["log", "claude-code/s1", "--code", "HEAD~3"]).contains("has no parent"));
}
