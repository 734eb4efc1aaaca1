//! The readers that share one mapping of messages, and the contest of all formats about a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::transcript::format::{Format, InputFormat, lines_of};
use crate::transcript::read::reader::Certainty;
use crate::unit::incremental::{Growing, REPLAY, check_cut_file};
use crate::unit::repo::TestRepo;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap()
}

const SAMPLES: [(Format, &str); 37] = [
    (Format::Opencode, "opencode/export.json"),
    (Format::Opencode, "opencode/api-messages.json"),
    (Format::Opencode, "opencode/run-format-json.jsonl"),
    (Format::CopilotCli, "copilot-cli/events-tool.jsonl"),
    (Format::CopilotCli, "copilot-cli/events-record-matrix.jsonl"),
    (Format::Cursor, "cursor/agent-transcript.jsonl"),
    (Format::Cursor, "cursor/agent-transcript-flat.jsonl"),
    (Format::Pi, "pi/session-v1.jsonl"),
    (Format::Pi, "pi/session-v3-compaction.jsonl"),
    (Format::Droid, "droid/session.jsonl"),
    (Format::Droid, "droid/stream-json.jsonl"),
    (Format::Aider, "aider/chat-history-2024.md"),
    (Format::Aider, "aider/chat-history-architect.md"),
    (Format::QwenCode, "qwen-code/session.jsonl"),
    (Format::QwenCode, "qwen-code/rewind.jsonl"),
    (Format::Atif, "atif/openhands.trajectory.json"),
    (Format::Atif, "atif/terminus-invalid-json.trajectory.json"),
    (Format::Otel, "otel-genai/visual-studio-copilot-traces.jsonl"),
    (Format::VsCodeCopilot, "vscode-copilot/chat-session.json"),
    (Format::VsCodeCopilot, "vscode-copilot/chat-session-log.jsonl"),
    (Format::Inspect, "inspect/browser-tools.json"),
    (Format::Inspect, "inspect/popularity.eval"),
    (Format::LangSmith, "langsmith/batch-openai-python.json"),
    (Format::LangSmith, "langsmith/batch-openai-js-reasoning.json"),
    (Format::Langfuse, "langfuse/langgraph-trace.json"),
    (Format::ClaudeAi, "claude-export/bakery-chat.json"),
    (Format::CodexExec, "codex-exec/exec-json.jsonl"),
    (Format::CodexExec, "codex-exec/record-matrix.jsonl"),
    (Format::GeminiStream, "gemini-stream-json/headless.jsonl"),
    (Format::Cline, "cline/sdk-session.messages.json"),
    (Format::Cline, "cline/sdk-basic.compaction.json"),
    (Format::Cline, "cline/classic-ui_messages.json"),
    (Format::Cline, "cline/roo-ui_messages.json"),
    (Format::OpenHands, "openhands/trajectory-v0.json"),
    (Format::OpenHands, "openhands/trajectory-v0-terminal.json"),
    (Format::OpenHands, "openhands/events-v1.jsonl"),
    (Format::MiniSweAgent, "mini-swe-agent/trajectory.json"),
];

/// Those with several conversations.
const COLLECTIONS: [(Format, &str); 6] = [
    (Format::Inspect, "inspect/security-guide.json"),
    (Format::ChatGpt, "chatgpt/conversations.json"),
    (Format::ClaudeAi, "claude-export/conversations.json"),
    (Format::ShareGpt, "sharegpt/glaive-toolcall.json"),
    (Format::ShareGpt, "sharegpt/images-messages.json"),
    (Format::ShareGpt, "sharegpt/reason-tool-use.jsonl"),
];

/// Samples with a result whose call is not in the file.
const UNPAIRED: [&str; 2] = ["copilot-cli/events-record-matrix.jsonl", "openhands/events-v1.jsonl"];

/// The items of all traces, those that were removed or are summaries included.
fn items(growing: &Growing) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, _) in growing.trees() {
        let name = name.strip_prefix("refs/traces/").unwrap();
        let lines = growing.repo.lines(&["export", name]);
        all.extend(lines.into_iter().filter(|line| line["type"].is_string() && line["op"] != "delete"));
    }
    all
}

fn import(format: Format, bytes: &[u8]) -> (Growing, Vec<Value>) {
    let growing = Growing::new();
    let imported = growing.import(format, bytes);
    assert_eq!((imported.tally.unknown.len(), imported.tally.damaged, imported.tally.cut), (0, 0, false), "{format}");
    let items = items(&growing);
    growing.repo.fsck();
    growing.repo.total("t");
    (growing, items)
}

fn kind(item: &Value) -> String {
    let of = |name: &str| item[name].as_str().unwrap_or("none").to_owned();
    match &*of("type") {
        "dialogue" => of("role"),
        "tool_io" => of("direction"),
        other => other.to_owned(),
    }
}

#[test]
fn every_sample_has_its_items_and_adds_none_again() {
    let mut page = String::new();
    for (format, name) in SAMPLES {
        let bytes = fixture(name);
        let (growing, items) = import(format, &bytes);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for item in &items {
            *counts.entry(kind(item)).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        writeln!(page, "{name}: {}", counts.join(", ")).unwrap();
        let again = growing.import(format, &bytes);
        assert!(again.traces.iter().all(|(_, report)| report.recorded == 0), "{name}");
        let unpaired = items.iter().filter(|item| item["direction"] == "result" && item["reply_to"].is_null()).count();
        assert_eq!(unpaired, usize::from(UNPAIRED.contains(&name)), "{name}");
    }
    insta::assert_snapshot!(page);
}

/// Damage in the middle of each sample: a line of no JSON, or a document that is no JSON from there on.
#[test]
fn no_import_that_leaves_out_damage_succeeds() {
    let others = [
        (Format::ClaudeCode, "claude-code/small-thinking-tools.jsonl"),
        (Format::Codex, "codex/rollout-small.jsonl"),
        (Format::GeminiCli, "gemini-cli/session-chat.json"),
        (Format::SweAgent, "swe-agent/function-calling.traj"),
    ];
    let samples: Vec<_> = SAMPLES.into_iter().chain(COLLECTIONS).chain(others).collect();
    for format in Format::all() {
        assert!(samples.iter().any(|(other, _)| *other == format), "{format} has no sample");
    }
    for (format, name) in samples {
        // Any text is Markdown.
        if format == Format::Aider {
            continue;
        }
        let repo = TestRepo::new();
        let bytes = fixture(name);
        let middle = bytes.len() / 2;
        let end = bytes[..middle].iter().rposition(|byte| *byte == b'\n').map_or(middle, |at| at + 1);
        let damaged = [&bytes[..end], b"{\"type\": oops}\n", &bytes[end..]].concat();
        fs::write(repo.folder().join("damaged"), damaged).unwrap();
        let split: &[&str] = if format.agent().has_conversations { &["--split"] } else { &[] };
        let output = repo.run(&[&["import", format.as_str(), "damaged"], split].concat(), b"");
        let said = String::from_utf8_lossy(&output.stderr);
        if name == "claude-export/bakery-chat.json" {
            // It is one record.
            assert!(output.status.code() == Some(2) && said.contains("no claude-export record"), "{said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("damaged lines, not imported"), "{name}: {said}");
        repo.fsck();
    }
}

#[test]
fn small_samples_read_in_order() {
    let mut page = String::new();
    for (format, name) in SAMPLES {
        let bytes = fixture(name);
        if bytes.len() > 16_000 || name.starts_with("cursor/agent-transcript.") {
            continue;
        }
        writeln!(page, "--- {name}").unwrap();
        for item in import(format, &bytes).1 {
            let text: String = item["text"].as_str().unwrap_or_default().chars().take(40).collect();
            let said = ["name", "status", "created_at"].iter().filter_map(|name| item[*name].as_str());
            let meta = item["meta"].as_object().map(|meta| Value::from(meta.clone()).to_string()).unwrap_or_default();
            let said: Vec<&str> = said.chain([meta.as_str()]).filter(|said| !said.is_empty()).collect();
            writeln!(page, "{} {text:?} {}", kind(&item), said.join(" ")).unwrap();
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn growing_samples_of_the_shared_reader_add_only_new_items() {
    for (format, name) in SAMPLES {
        // The last block of aider may be incomplete, and its text has no sign of that.
        // The usage of a step, a turn, or a run follows its items. The large sample takes long.
        let usage_follows = matches!(format, Format::CodexExec | Format::GeminiStream) || name.contains("run-format");
        if format == Format::Aider || usage_follows || name == "pi/session-v1.jsonl" {
            continue;
        }
        let bytes = fixture(name);
        let cuts: Vec<usize> = (1..5).map(|part| bytes.len() * part / 5).collect();
        check_cut_file(format, &bytes, &cuts, &import(format, &bytes).0.state());
    }
}

#[test]
fn the_fuzz_target_holds_on_every_sample() {
    for (format, name) in SAMPLES.into_iter().chain(COLLECTIONS) {
        let mut bytes = fixture(name);
        bytes.truncate(8000);
        let pick = Format::all().position(|other| other == format).unwrap();
        for part in 0..12 {
            let cut = u16::try_from(bytes.len() * part / 12).unwrap().to_le_bytes();
            let seed = [&[u8::try_from(pick).unwrap(), cut[0], cut[1]][..], &bytes].concat();
            crate::fuzz::run("transcript", &seed);
        }
    }
}

const IMPORT: [&str; 5] = ["import", "gemini-stream-json", "session", "--trace", "t"];

/// A repository with the file of a session from which an import removes items, and its content.
fn with_removed_items() -> (TestRepo, Vec<u8>) {
    let (repo, bytes) = (TestRepo::new(), fixture("gemini-stream-json/headless.jsonl"));
    fs::write(repo.folder().join("session"), &bytes).unwrap();
    (repo, bytes)
}

/// The oldest commit is missing, so an import that walks the history fails.
#[test]
fn a_file_that_is_read_again_needs_no_history() {
    let (repo, bytes) = with_removed_items();
    let file = repo.folder().join("session");
    assert!(repo.text(&IMPORT).contains("removed from the context: 1 (interface)"));
    let oldest = repo.git(&["rev-list", "--max-parents=0", "refs/traces/t"]);
    let (folder, name) = oldest.trim().split_at(2);
    fs::remove_file(repo.folder().join(".git/objects").join(folder).join(name)).unwrap();
    fs::write(&file, [b"\n", &bytes[..]].concat()).unwrap();
    assert!(repo.text(&IMPORT).starts_with("0 imported"));
    let caches = fs::read_dir(repo.folder().join(".git/trace/transcripts")).unwrap().map(|entry| entry.unwrap().path());
    caches
        .filter(|path| path.extension().is_some_and(|end| end == "gone"))
        .for_each(|path| fs::remove_file(path).unwrap());
    assert!(repo.refused(&IMPORT).contains("is not in this repository"));
}

#[test]
fn items_that_went_since_the_last_import_are_not_imported_again() {
    let (repo, bytes) = with_removed_items();
    let file = repo.folder().join("session");
    repo.text(&IMPORT);
    repo.text(&["--trace", "t", "compress", "#0..#2", "-m", "short"]);
    repo.text(&["--trace", "t", "delete", "#8"]);
    for blank in 1..3 {
        fs::write(&file, ["\n".repeat(blank).as_bytes(), &bytes[..]].concat()).unwrap();
        assert!(repo.text(&IMPORT).starts_with("0 imported"));
    }
    repo.fsck();
}

#[test]
fn a_stored_session_of_opencode_has_its_messages_and_parts() {
    let repo = TestRepo::new();
    let file = fixtures().join("opencode/storage/session/proj_test/ses_s_stage0_large.json");
    insta::assert_snapshot!(repo.trace(&["import", file.to_str().unwrap()]), @r"
    10 imported into trace `opencode/s_stage0_large`, removed from the context: 1 (interface), 1 (title)
    --- stderr
    not messages, so not imported: 4 message, 1 patch, 1 step-finish, 1 step-start
    the current trace is now `opencode/s_stage0_large`
    [exit 0]
    ");
    let kinds: Vec<String> = repo.lines(&["export"]).iter().filter(|line| line["op"] == "import").map(kind).collect();
    assert_eq!(
        kinds,
        ["user", "call", "result", "assistant", "freeform", "reasoning", "freeform", "user", "assistant", "freeform"]
    );
    repo.fsck();
}

/// Every sample, and which formats are likely for it.
#[test]
fn no_format_takes_the_sample_of_another() {
    let mut files: Vec<(String, Option<&str>)> = vec![("README.md".to_owned(), None)];
    for folder in fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let folder_name = folder.file_name().unwrap().to_str().unwrap();
        let format = if folder_name == "openai-chat" { "openai" } else { folder_name };
        let expected = InputFormat::all().map(InputFormat::name).find(|name| *name == format);
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let names = names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        files.extend(names.filter(|name| name != "README.md").map(|name| (format!("{folder_name}/{name}"), expected)));
    }
    for format in Format::all() {
        assert!(files.iter().any(|(_, expected)| *expected == Some(format.as_str())), "{format} has no sample");
    }
    for (name, expected) in files {
        let lines = lines_of(&fixture(&name));
        let likely = InputFormat::all().filter(|format| format.score(&lines).0 >= Certainty::Likely);
        let likely: Vec<&str> = likely.map(InputFormat::name).collect();
        assert_eq!(likely, Vec::from_iter(expected), "{name}");
    }
}

/// Words that the formats use, and values of all kinds.
fn any_json() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 24] = [
        "type",
        "role",
        "user",
        "message",
        "content",
        "parts",
        "id",
        "uuid",
        "sessionId",
        "timestamp",
        "text",
        "data",
        "payload",
        "history",
        "messages",
        "level",
        "event",
        "name",
        "session_id",
        "tool",
        "input",
        "model",
        "steps",
        "info",
    ];
    let word = prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![word.clone().prop_map(Value::from), any::<i32>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// A few words in common make no session. A message with a role and content is enough for the three others.
    #[test]
    fn json_of_other_programs_is_no_session(values in prop::collection::vec(any_json(), 1..4)) {
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        let others = [Format::Cursor, Format::Pi, Format::Droid];
        for format in Format::all().filter(|format| !others.contains(format)) {
            let detected = InputFormat::detect(text.as_bytes());
            prop_assert_ne!(detected, Ok(InputFormat::Session(format)), "{}", text);
        }
    }
}

#[test]
fn logs_and_source_code_are_no_sessions() {
    let logs = [
        r#"{"type":"event","timestamp":"2026-01-01T00:00:00Z","payload":{"user":1}}"#,
        r#"{"type":"message","id":"1","timestamp":"2026-01-01T00:00:00Z","message":"started"}"#,
        r#"{"type":"progress","sessionId":"1"}"#,
        r#"{"type":"session","id":"1","user":"ada"}"#,
        r#"{"$set":{"name":"x"}}"#,
        r#"{"role":"admin","message":{"content":["x"]}}"#,
        r#"{"history":[{"role":"user","content":"x"}]}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:00Z","role":"admin","content":"x"}"#,
        r#"{"type":"error","message":"disk full"}"#,
        r#"{"type":"item.completed","item":"x"}"#,
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /","attributes":[]}]}]}]}"#,
        r#"{"trajectory":[[1,2],[3,4]]}"#,
        "# aider chat\n\n#### heading\n> quote",
        "2026-01-01T00:00:00Z INFO started",
        include_str!("../../src/transcript/agents/pi/mod.rs"),
        r#"{"conversations":[{"id":1,"title":"x"}],"messages":[]}"#,
        r#"{"samples":[{"id":1,"epoch":1}],"version":2,"status":"success"}"#,
        r#"{"mapping":{"a":{"parent":null}},"title":"x"}"#,
        r#"{"requests":[{"requestId":"1","url":"/"}],"version":3}"#,
        r#"{"trace":{"id":"1"},"observations":[{"type":"SPAN"}]}"#,
        r#"{"trace_id":"1","span_id":"2","start_time":"2026-01-01T00:00:00Z","inputs":{}}"#,
        r#"{"uuid":"1","name":"x","chat":[]}"#,
        "PK\u{3}\u{4}mimetype",
        include_str!("../../Cargo.toml"),
        include_str!("../agents/package.json"),
        "[1, 2, {\"a\": [\n3]}]",
        "\u{feff}",
    ];
    for text in logs {
        let detected = InputFormat::detect(text.as_bytes());
        assert!(detected.is_err(), "{detected:?} for {text:.60}");
    }
}

#[test]
fn source_code_and_pages_are_no_sessions() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = ["src", "docs", "benches"].map(|name| top.join(name)).into();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(20_000);
            let detected = InputFormat::detect(&bytes);
            assert!(detected.is_err(), "{detected:?} for {}", path.display());
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn the_fuzzer_has_seeds_of_every_format() {
    let script = include_str!("../../fuzz/run");
    let list = script.split_once("FORMATS = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(names, Format::VALUES);
}

#[test]
fn an_unclear_file_names_its_candidates() {
    let repo = TestRepo::new();
    let said = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]});
    fs::write(repo.folder().join("chat.json"), said.to_string()).unwrap();
    insta::assert_snapshot!(repo.refused(&["import", "chat.json"]), @r"
    --- stderr
    error: the format of `chat.json` is not clear: it may be openai or anthropic
    hint: name it: git trace import openai FILE
    [exit 2]
    ");
    fs::write(repo.folder().join("opencode.db"), b"SQLite format 3\0rest").unwrap();
    insta::assert_snapshot!(repo.refused(&["import", "opencode.db"]), @r"
    --- stderr
    error: `opencode.db` is a database, which its agent exports
    hint: opencode export SESSION | git trace import opencode -
    [exit 2]
    ");
    let parts = json!({"messages": [{"role": "user", "parts": [{"type": "text", "content": "a"}]}]});
    fs::write(repo.folder().join("parts.json"), parts.to_string()).unwrap();
    let imported = repo.run(&["import", "openai", "parts.json"], b"");
    insta::assert_snapshot!(repo.snapshot(&imported), @r"
    0 imported into trace `main`
    --- stderr
    parts.json: line 1, $.messages[0]: `content` is missing
    [exit 1]
    ");
    // The results of tools in Gemini's stream are not read, and not lost without a word.
    let stream = fixtures().join("gemini-stream-json/headless.jsonl");
    let imported = repo.run(&["import", "gemini-cli", stream.to_str().unwrap()], b"");
    assert_eq!(imported.status.code(), Some(1));
}

#[test]
fn requests_are_detected_and_conversations_split() {
    let repo = TestRepo::new();
    let requests = [
        ("anthropic", json!({"model": "claude-x", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]})),
        ("openai", json!({"model": "gpt-x", "messages": [{"role": "user", "content": "b"}]})),
        ("gemini", json!({"contents": [{"role": "user", "parts": [{"text": "c"}]}]})),
        ("responses", json!({"model": "gpt-x", "input": [{"role": "user", "content": "d"}]})),
    ];
    for (name, request) in requests {
        for text in [request.to_string(), format!("{request:#}")] {
            let detected = InputFormat::detect(text.as_bytes()).map(InputFormat::name);
            assert_eq!(detected, Ok(name), "{text}");
        }
    }
    let toy = fixtures().join("openai-chat/toy-chat.jsonl");
    let toy = toy.to_str().unwrap();
    let refused = repo.refused(&["import", toy]);
    assert!(refused.contains("contains 4 independent conversations"), "{refused}");
    insta::assert_snapshot!(repo.trace(&["import", toy, "--split"]), @r"
    3 imported into trace `openai/toy-chat/0001`
    9 imported into trace `openai/toy-chat/0002`
    2 imported into trace `openai/toy-chat/0003`
    2 imported into trace `openai/toy-chat/0004`
    [exit 0]
    ");
    let named = repo.trace(&["--trace", "tuning", "import", toy, "--split", "--json"]);
    assert!(named.contains("tuning/0004"), "{named}");
    insta::assert_snapshot!(repo.trace(&["import", toy, "--split"]), @r"
    0 imported into trace `openai/toy-chat/0001`, 3 were there already
    0 imported into trace `openai/toy-chat/0002`, 9 were there already
    0 imported into trace `openai/toy-chat/0003`, 2 were there already
    0 imported into trace `openai/toy-chat/0004`, 2 were there already
    [exit 0]
    ");
    repo.fsck();
}

#[test]
fn sessions_of_a_folder_are_found() {
    let repo = TestRepo::new();
    let folder = repo.folder().canonicalize().unwrap();
    let here = folder.to_str().unwrap();
    let dashed: String = here.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let put = |path: &str, bytes: &[u8], ran_in: &str| {
        let file = repo.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, String::from_utf8_lossy(bytes).replace(ran_in, here)).unwrap();
    };
    put(
        ".pi/agent/sessions/--x--/1_a.jsonl",
        &fixture("pi/session-v3-compaction.jsonl"),
        "/tmp/as-agent-fixture/project",
    );
    put(".factory/sessions/x/052c.jsonl", &fixture("droid/session.jsonl"), "/Users/testuser/projects/testing-git");
    put(".qwen/projects/x/chats/69f0.jsonl", &fixture("qwen-code/session.jsonl"), "/tmp/qwentest");
    put(".copilot/session-state/3015/events.jsonl", &fixture("copilot-cli/events-tool.jsonl"), "/Users/test/project");
    let cursor = format!(".cursor/projects/{}/agent-transcripts/abc/abc.jsonl", dashed.trim_matches('-'));
    put(&cursor, &fixture("cursor/agent-transcript-flat.jsonl"), "/none");
    put(".cursor/projects/other/agent-transcripts/def.jsonl", &fixture("cursor/agent-transcript.jsonl"), "/none");
    for name in ["session/proj_test/ses_s_stage0_large.json", "message/s_stage0_large/msg_0001.json"] {
        put(
            &format!(".local/share/opencode/storage/{name}"),
            &fixture(&format!("opencode/storage/{name}")),
            "/tmp/large",
        );
    }
    put(".cline/data/sessions/1784/1784.json", &fixture("cline/sdk-session.json"), "/Users/example/dev/cline");
    put(".cline/data/sessions/1784/1784.messages.json", &fixture("cline/sdk-session.messages.json"), "/none");
    let task = json!([
        {"ts": 1_740_000_000_000_u64, "type": "say", "say": "text", "text": "Make a list"},
        {"ts": 1_740_000_000_001_u64, "type": "say", "say": "api_req_started", "text":
            json!({"request": format!("# Current Working Directory ({here}) Files\na.rs"), "tokensIn": 5}).to_string()}]);
    put(
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1740/ui_messages.json",
        task.to_string().as_bytes(),
        "/none",
    );
    let state =
        json!({"id": "a-b", "agent": {"llm": {"model": "m"}}, "workspace": {"working_dir": here}, "max_iterations": 9});
    put(".openhands/conversations/ab/base_state.json", state.to_string().as_bytes(), "/none");
    for (number, event) in String::from_utf8(fixture("openhands/events-v1.jsonl")).unwrap().lines().enumerate() {
        put(&format!(".openhands/conversations/ab/events/event-{number:05}-x.json"), event.as_bytes(), "/none");
    }
    fs::write(folder.join(".aider.chat.history.md"), fixture("aider/chat-history-architect.md")).unwrap();
    repo.trace(&["import", "pi"]);
    repo.trace(&["import", "--all"]);
    let names: BTreeSet<String> = repo
        .refs()
        .lines()
        .filter_map(|line| line.split_once("refs/traces/"))
        .map(|(_, name)| name.split('/').next().unwrap().to_owned())
        .collect();
    let expected = ["aider", "cline", "copilot-cli", "cursor", "droid", "opencode", "openhands", "pi", "qwen-code"];
    assert_eq!(names, expected.map(str::to_owned).into());
    for (name, count) in [("cline/1784094124598_rruoq", 43), ("cline/1740000000000", 1), ("openhands/a-b", 8)] {
        assert_eq!(repo.lines(&["export", name]).iter().filter(|line| line["op"] == "import").count(), count, "{name}");
    }
    let again = repo.trace(&["import", "--all"]);
    assert!(again.contains("0 imported with 0 items"), "{again}");
}

/// The texts of a role, of all traces.
fn texts_of(growing: &Growing, wanted: &str) -> Vec<String> {
    items(growing)
        .iter()
        .filter(|item| kind(item) == wanted)
        .map(|item| item["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_message_that_is_cut_while_it_is_streamed_continues() {
    let bytes = fixture("gemini-stream-json/headless.jsonl");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for forgets in [false, true] {
        let growing = Growing::new();
        for count in [3, 3, lines.len() - 2, lines.len()] {
            growing.import(Format::GeminiStream, &lines[..count].concat());
            if forgets {
                growing.forget();
            }
        }
        let said =
            ["I will look at the ", "configuration first.", "The server listened on 8080. ", "It now listens on 8081."];
        assert_eq!(texts_of(&growing, "assistant"), said);
        // Read from the start again, it has the same sources.
        growing.repo.git(&["config", "trace.asSeen", "false"]);
        let again = growing.import(Format::GeminiStream, &[b"\n", &bytes[..]].concat());
        assert_eq!(again.traces[0].1.recorded, 0);
        growing.repo.fsck();
    }
}

#[test]
fn two_sessions_in_one_stream_become_two_traces() {
    let run = |thread: &str, said: &str| {
        let start = json!({"type": "thread.started", "thread_id": thread});
        let item = json!({"id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": "a", "exit_code": 0,
            "status": "completed"});
        let text = json!({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": said}});
        format!("{start}\n{}\n{text}\n", json!({"type": "item.completed", "item": item}))
    };
    let growing = Growing::new();
    let text = [run("one", "first"), run("two", "second"), run("one", "third")].concat();
    growing.import(Format::CodexExec, text.as_bytes());
    let names: Vec<String> = growing.trees().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let calls: Vec<Value> = items(&growing).into_iter().filter(|item| item["direction"] == "call").collect();
    let ids: BTreeSet<&str> = calls.iter().map(|call| call["call_id"].as_str().unwrap()).collect();
    assert_eq!((calls.len(), ids.len()), (3, 3), "the numbers of items begin again with each run");
}

#[test]
fn a_compaction_of_cline_adds_only_its_summaries() {
    let growing = Growing::new();
    growing.import(Format::Cline, &fixture("cline/sdk-session.messages.json"));
    let before = items(&growing).len();
    growing.import(Format::Cline, &fixture("cline/sdk-basic.compaction.json"));
    let all = items(&growing);
    assert_eq!(all.len(), before + 4);
    let is_summary = |item: &Value| item["text"].as_str().unwrap().contains("Earlier context was compacted");
    assert!(all[before..].iter().all(is_summary));
}

#[test]
fn a_condensation_of_openhands_replaces_the_events_that_it_lists() {
    let message = |id: &str, text: &str| {
        json!({"kind": "MessageEvent", "id": id, "timestamp": "2026-01-01T00:00:00", "source": "user",
            "llm_message": {"role": "user", "content": [{"type": "text", "text": text}]}})
    };
    let condensation = json!({"kind": "Condensation", "id": "e4", "timestamp": "2026-01-01T00:00:00", "source": "environment",
        "forgotten_event_ids": ["e2"], "summary": "two was said", "llm_response_id": "r"});
    let events = [message("e1", "say one"), message("e2", "say two"), message("e3", "say three"), condensation];
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    let growing = Growing::new();
    growing.import_seen(Format::OpenHands, text.as_bytes(), REPLAY);
    let context = growing.context();
    let seen = ["say one", "say two", "say three", "two was said"].map(|said| context.contains(said));
    assert_eq!(seen, [true, false, true, true], "{context}");
}

#[test]
fn calls_of_the_api_are_read_from_mini_swe_agent() {
    let document = json!({"info": {"mini_version": "2.2.8", "config": {"model": {"model_name": "m"}}}, "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}],
            "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}], "timestamp": 1_780_000_000.5}},
        {"role": "tool", "tool_call_id": "c1", "content": "no", "extra": {"returncode": 2}},
        {"role": "assistant", "content": "Two blocks:\n```bash\nls\n```\n```bash\npwd\n```"},
        {"role": "user", "content": "exactly one, please"},
        {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}}],
        "trajectory_format": "mini-swe-agent-1.1"});
    let (_, items) = import(Format::MiniSweAgent, document.to_string().as_bytes());
    let kinds: Vec<String> = items.iter().map(kind).collect();
    assert_eq!(kinds, ["user", "reasoning", "call", "result", "assistant", "user", "freeform"]);
    assert_eq!((&items[3]["status"], &items[3]["call_id"]), (&json!("error"), &json!("c1")));
}

#[test]
fn branches_that_alternate_end_with_the_last() {
    let mut text = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/x\"}\n".to_owned();
    for number in 0..200 {
        let parent = if number < 2 { Value::Null } else { format!("m{}", number - 2).into() };
        let message = json!({"role": "user", "content": format!("said {number}."), "timestamp": 1});
        let record = json!({"type": "message", "id": format!("m{number}"), "parentId": parent, "message": message});
        writeln!(text, "{record}").unwrap();
    }
    let (growing, _) = import(Format::Pi, text.as_bytes());
    let context = growing.context();
    let seen: Vec<usize> = (0..200).filter(|number| context.contains(&format!("said {number}."))).collect();
    assert_eq!(seen, (0..200).filter(|number| number % 2 == 1).collect::<Vec<_>>());
    let commits: usize = growing.repo.git(&["rev-list", "--count", "refs/traces/t"]).trim().parse().unwrap();
    assert!(commits < 6 * 200, "{commits}");
}

#[test]
fn hostile_records_are_items_or_damage() {
    let deep = |depth: usize| {
        let open = "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":[".repeat(depth);
        format!("{{\"role\":\"user\",\"message\":{{\"content\":[{open}{}]}}}}\n", "]}".repeat(depth))
    };
    let texts = [
        deep(20_000),
        "{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"half \\ud83d\"}]}}\r\n".to_owned(),
        format!("{{\"role\":\"user\",\"message\":{{\"content\":[{}]}}}}\n", "[".repeat(100_000)),
    ];
    let bytes = [b"\xef\xbb\xbf".to_vec(), texts.concat().into_bytes(), b"\xff\xfe{}\n".to_vec()].concat();
    let growing = Growing::new();
    let tally = growing.import(Format::Cursor, &bytes).tally;
    let texts: Vec<Value> = items(&growing).iter().map(|item| item["text"].clone()).collect();
    assert!(texts.contains(&json!("half \u{fffd}")), "{texts:?}");
    assert!(tally.damaged > 0);
}
