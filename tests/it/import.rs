//! Real transcripts become traces: nothing is lost, and nothing is imported twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::recording::ran_in;
use crate::repo::TestRepo;
use crate::samples::{SAMPLES, said};

fn import(repo: &TestRepo, bytes: &[u8]) -> Value {
    serde_json::from_slice(&repo.bytes_with(&["import", "claude-code", "-", "--json"], bytes)).unwrap()
}

/// Number of items recorded, over all traces.
fn recorded(report: &Value) -> u64 {
    report["traces"].as_array().unwrap().iter().map(|trace| trace["recorded"].as_u64().unwrap()).sum()
}

fn names(report: &Value) -> Vec<String> {
    let traces = report["traces"].as_array().unwrap();
    traces.iter().map(|trace| trace["trace"].as_str().unwrap().to_owned()).collect()
}

/// Every text in a message, and every call's arguments.
fn texts(message: &Value, found: &mut Vec<Value>) {
    match &message["content"] {
        Value::Array(blocks) => {
            for block in blocks {
                found.extend(block.get("text").cloned());
                let arguments =
                    block.get("arguments").map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap());
                found.extend(arguments);
            }
        }
        text => found.push(text.clone()),
    }
}

/// The usage of each item, by id.
fn usages(repo: &TestRepo) -> BTreeMap<String, Value> {
    // A session may begin without an item.
    let has_items = repo.refs().contains("refs/traces/imported");
    let lines = if has_items { repo.lines(&["--trace", "imported", "export"]) } else { Vec::new() };
    lines.iter().map(|line| (line["id"].as_str().unwrap().to_owned(), line["meta"]["usage"].clone())).collect()
}

#[test]
fn a_session_that_grows_has_the_same_usage_as_a_complete_one() {
    for file in ["codex-exec/exec-json.jsonl", "gemini-stream-json/headless.jsonl", "opencode/run-format-json.jsonl"] {
        let session =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(file))
                .unwrap();
        let import = |repo: &TestRepo, session: &str| {
            let file = repo.home().join("session.jsonl");
            fs::write(&file, session).unwrap();
            repo.text(&["--trace", "imported", "import", file.to_str().unwrap()]);
        };
        let complete = TestRepo::new();
        import(&complete, &session);
        let complete = usages(&complete);
        assert!(complete.values().any(|usage| !usage.is_null()), "{file}");
        let lines: Vec<&str> = session.split_inclusive('\n').collect();
        for end in (2..lines.len()).filter(|end| *end < 12) {
            let repo = TestRepo::new();
            import(&repo, &lines[..end].concat());
            let before = usages(&repo);
            import(&repo, &session);
            let mut later = usages(&repo);
            // An item that was imported before its usage was written has none.
            later.retain(|id, _| !before.contains_key(id));
            assert!(
                later.iter().all(|(id, usage)| complete.get(id).is_none_or(|known| known == usage)),
                "{file}, after line {end}: {later:?}"
            );
        }
    }
}

#[test]
fn no_text_is_lost_and_results_follow_their_calls() {
    for (name, bytes) in SAMPLES {
        let repo = TestRepo::new();
        let report = import(&repo, bytes);
        assert_eq!(report["damaged"], 0, "{name}");
        let mut found = Vec::new();
        for trace in names(&report) {
            repo.total(&trace);
            // What the model does not see any more is removed, and stays in history.
            let lines = repo.lines(&["export", &trace]);
            found.extend(lines.iter().filter(|line| line["op"] == "import").map(|line| match &line["text"] {
                Value::String(text) if line["direction"] == "call" => serde_json::from_str(text).unwrap(),
                text => text.clone(),
            }));
            let view = repo.json(&["materialize", "--json", "--aggregate", "none", &trace]);
            let mut called = BTreeSet::new();
            for message in view["messages"].as_array().unwrap() {
                texts(message, &mut found);
                let Some(blocks) = message["content"].as_array() else { continue };
                for block in blocks {
                    match block["type"].as_str().unwrap() {
                        "tool_call" => drop(called.insert(block["call_id"].to_string())),
                        "tool_result" => {
                            assert!(
                                called.contains(&block["call_id"].to_string()),
                                "{name}: {block} has its call before"
                            );
                        }
                        _ => {}
                    }
                }
            }
        }
        for text in said(bytes) {
            let there = found.iter().any(|found| match (found.as_str(), text.as_str()) {
                (Some(found), Some(text)) => found.contains(text),
                _ => *found == text,
            });
            assert!(there || text.is_null() || text == "", "{name}: this was said and is not there: {text}");
        }
        repo.fsck();
    }
}

#[test]
fn a_file_without_any_record_is_refused() {
    let repo = TestRepo::new();
    let file = repo.folder().join("in");
    for bytes in [&b"\x8fz\0\xffq{"[..], b"no record\n", b"\x01\n\x02\n\x03", b"{\"type\" \"user\"", b"[{"] {
        std::fs::write(&file, bytes).unwrap();
        let error = "error: cannot import `in`: it contains no claude-code record\n\
                     hint: `git trace import FILE` detects the format\n";
        let output = repo.run(&["import", "claude-code", "in"], b"");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(2), error));
    }
    // A session that is just starting.
    for bytes in [&b""[..], b"\n", b"{\"type\":\"us", b"{"] {
        std::fs::write(&file, bytes).unwrap();
        assert!(repo.run(&["import", "claude-code", "in"], b"").status.success());
    }
}

#[test]
fn joined_messages_keep_every_text_and_result() {
    for (name, bytes) in SAMPLES {
        let repo = TestRepo::new();
        for trace in names(&import(&repo, bytes)) {
            let all = |args: &[&str]| {
                let view = repo.json(&[&["materialize", "--json", &trace], args].concat());
                let mut found = Vec::new();
                view["messages"].as_array().unwrap().iter().for_each(|message| texts(message, &mut found));
                found
            };
            let joined: String = all(&[]).iter().map(Value::to_string).collect();
            for text in all(&["--aggregate", "none"]) {
                let text = text.to_string();
                assert!(joined.contains(text.trim_matches('"')), "{name}: {text} is lost by joining");
            }
            let page = repo.text(&["materialize", "--format", "text", &trace]);
            assert!(!page.is_empty());
        }
    }
}

#[test]
fn a_second_import_adds_nothing() {
    for (name, bytes) in SAMPLES {
        let repo = TestRepo::new();
        let first = import(&repo, bytes);
        assert!(recorded(&first) > 0, "{name}");
        let before = repo.refs();
        let again = import(&repo, bytes);
        assert_eq!(recorded(&again), 0, "{name}");
        assert_eq!(repo.refs(), before, "{name}: no ref has moved");

        // Not even what was taken out meanwhile.
        let trace = &names(&first)[0];
        let first = repo.git(&["ls-tree", "-r", "--name-only", &format!("refs/traces/{trace}")]);
        let first = first.lines().next().and_then(|path| path.rsplit('-').next()).unwrap();
        repo.text(&["--trace", trace, "delete", first]);
        let before = repo.refs();
        assert_eq!(recorded(&import(&repo, bytes)), 0, "{name}");
        assert_eq!(repo.refs(), before, "{name}");
    }
}

#[test]
fn a_longer_version_adds_only_new_records() {
    for (name, bytes) in SAMPLES {
        let whole = TestRepo::new();
        let at_once = import(&whole, bytes);
        let repo = TestRepo::new();
        let mut sum = 0;
        // Once in the middle of a record, and once at the end of one.
        let line_end = bytes[..bytes.len() * 2 / 3].iter().rposition(|b| *b == b'\n').unwrap();
        let mut reports = Vec::new();
        for end in [bytes.len() / 3, line_end + 1, bytes.len()] {
            let report = import(&repo, &bytes[..end]);
            sum += recorded(&report);
            reports.push(report);
        }
        assert_eq!(sum, recorded(&at_once), "{name}");
        for trace in names(&at_once) {
            assert_eq!(whole.bytes(&["materialize", &trace]), repo.bytes(&["materialize", &trace]), "{name}: {trace}");
            assert_eq!(whole.total(&trace), repo.total(&trace));
            let history = repo.git(&["rev-list", "--parents", &format!("refs/traces/{trace}")]);
            assert!(history.lines().all(|line| line.split(' ').count() <= 2), "{name}: one line of history");
        }
        repo.fsck();
    }
}

#[test]
fn changes_to_a_trace_survive_a_later_import() {
    let (_, bytes) = SAMPLES[4];
    let repo = TestRepo::new();
    let cut = bytes.len() / 2;
    let trace = names(&import(&repo, &bytes[..cut]))[0].clone();
    repo.text(&["switch", &trace]);
    repo.text(&["edit", "#2", "-m", "edited by hand"]);
    repo.text(&["pin", "#2", "--reason", "mine"]);
    repo.text(&["delete", "#3"]);
    repo.say("a remark between");
    import(&repo, bytes);
    assert_eq!(repo.json(&["show", "#2", "--json"])["text"], "edited by hand");
    assert_eq!(repo.json(&["show", "#2", "--json"])["priority"], "pinned");
    assert_eq!(repo.json(&["show", "#3", "--json"])["live"], false);
    repo.total(&trace);
    repo.fsck();
}

#[test]
fn sub_agents_get_separate_traces() {
    let record = |uuid: &str, side: bool, text: &str| {
        serde_json::json!({ "type": "user", "uuid": uuid, "sessionId": "s-1", "isSidechain": side,
            "parentUuid": (uuid == "3").then_some("1"), "agentId": side.then_some("a1"), "message": { "role": "user", "content": text } })
    };
    let file: String = [record("1", false, "main"), record("2", true, "side"), record("3", false, "main again")]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    let repo = TestRepo::new();
    let report = import(&repo, file.as_bytes());
    insta::assert_snapshot!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"]), @"
    refs/traces/claude-code/s-1
    refs/traces/claude-code/s-1.agent-a1
    ");
    assert_eq!(repo.bodies("claude-code/s-1"), ["main", "main again"]);
    let side = names(&report).pop().unwrap();
    assert_eq!(repo.bodies(&side), ["side"]);
    assert_eq!(recorded(&import(&repo, file.as_bytes())), 0);
}

#[test]
fn two_clones_that_import_the_same_session_have_the_same_items() {
    let (_, bytes) = SAMPLES[0];
    let [one, two] = [TestRepo::new(), TestRepo::new()];
    let trace = names(&import(&one, bytes))[0].clone();
    two.say("a trace of another name, and an identity of another time");
    import(&two, bytes);
    let items = |repo: &TestRepo| repo.json(&["materialize", "--json", &trace])["items"].clone();
    assert_eq!(items(&one), items(&two));
}

#[test]
fn import_without_a_file_takes_the_newest_session_of_this_folder() {
    let repo = TestRepo::new();
    let folder = repo.folder().canonicalize().unwrap();
    let bytes = ran_in(&folder, SAMPLES[4].1);
    let project = folder.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sessions = repo.home().join(".claude/projects").join(&project);
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::write(sessions.join("0b6f3c1e-6a52-4b09-8a57-3d1f0e9c7a11.jsonl"), bytes).unwrap();
    insta::assert_snapshot!(repo.trace(&["import", "claude-code"]).replace(&project, "[PROJECT]"), @"
    24 imported into trace `claude-code/[SHORT]-fc78-4fdf-8cfd-f1cae9454bd0`, removed from the context: 2 (title)
    --- stderr
    importing [HOME]/.claude/projects/[PROJECT]/[SHORT]-6a52-4b09-8a57-3d1f0e9c7a11.jsonl
    not messages, so not imported: 3 file-history-snapshot, 1 system/stop_hook_summary
    the current trace is now `claude-code/[SHORT]-fc78-4fdf-8cfd-f1cae9454bd0`
    [exit 0]
    ");
    assert!(repo.json(&["status", "--json"])["trace"].as_str().unwrap().starts_with("claude-code/"));
}

#[test]
fn importing_an_empty_file_creates_no_trace() {
    let repo = TestRepo::new();
    std::fs::write(repo.folder().join("empty.jsonl"), "").unwrap();
    let answer = "0 imported into trace `codex/empty`\n[exit 0]";
    assert_eq!(repo.trace(&["import", "codex", "empty.jsonl"]), answer);
    assert_eq!(repo.trace_head(), "");
    repo.say("one");
    assert_eq!(repo.trace(&["import", "codex", "empty.jsonl"]), answer);
}
