//! Replayed compactions: the trace holds what the model saw, and its history holds everything.

use std::fs;

use crate::transcript::format::Format;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::unit::incremental::{Growing, REPLAY};
use crate::unit::repo::TestRepo;
use crate::unit::samples::{SAMPLES, said};

const MATRIX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-record-matrix.jsonl");

/// What the model sees at a moment: each text, and each call's arguments.
fn seen(repo: &TestRepo, as_of: &[&str]) -> Vec<Value> {
    let view = repo.json(&[&["materialize", "--json", "--aggregate", "none", "t"], as_of].concat());
    let mut seen = Vec::new();
    for message in view["messages"].as_array().unwrap() {
        match &message["content"] {
            Value::Array(blocks) => seen.extend(blocks.iter().map(|block| match &block["arguments"] {
                Value::String(arguments) => serde_json::from_str(arguments).unwrap(),
                _ => block["text"].clone(),
            })),
            text => seen.push(text.clone()),
        }
    }
    seen.retain(|text| *text != "");
    seen
}

/// The same of lines of a transcript, found without the reader; titles are not said to the model.
fn told(lines: &[&[u8]]) -> Vec<Value> {
    let shown = lines.iter().filter(|line| !line.starts_with(b"{\"type\":\"summary\""));
    let mut told = said(&shown.copied().collect::<Vec<_>>().concat());
    told.retain(|text| *text != "");
    told
}

/// The lines of a sample, and the number of the one that holds its summary.
fn lines(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let is_summary = |line: &&[u8]| memchr::memmem::find(line, b"\"isCompactSummary\":true").is_some();
    let summary = lines.iter().position(is_summary).unwrap();
    (lines, summary)
}

#[test]
fn after_a_compaction_the_model_sees_only_what_was_kept() {
    for (name, bytes) in SAMPLES.into_iter().filter(|(name, _)| name.contains("compact")) {
        let growing = Growing::new();
        let repo = &growing.repo;
        growing.import_seen(Format::ClaudeCode, bytes, REPLAY);
        let (lines, summary) = lines(bytes);
        assert_eq!(seen(repo, &[]), told(&lines[summary..]), "{name}");

        let history = repo.git(&["log", "--format=%H", "--grep", "Trace-Op: compress", "refs/traces/t"]);
        let compression = history.trim();
        assert_eq!(history.lines().count(), 1);
        let before = seen(repo, &["--as-of", &format!("{compression}^")]);
        assert_eq!(before, told(&lines[..summary]), "{name}");

        let exported = repo.lines(&["export", "t"]);
        let line = exported.iter().find(|line| line["op"] == "compress").unwrap();
        let stands_for = line["meta"]["stands_for"].as_array().unwrap();
        let gone: Vec<&Value> = exported
            .iter()
            .filter(|line| line["op"] == "delete" && line["reason"].is_null())
            .map(|line| &line["id"])
            .collect();
        assert_eq!(stands_for.iter().collect::<Vec<_>>(), gone, "in reading order");
        assert!(line["subject"].as_str().unwrap().starts_with(&format!("compress {} items: ", gone.len())));

        // A trace with all items differs only by the summary.
        repo.text(&["--trace", "t", "expand", line["id"].as_str().unwrap()]);
        let all = [&lines[..summary], &lines[summary + 1..]].concat();
        assert_eq!(seen(repo, &[]), told(&all), "{name}");
        repo.fsck();
        repo.total("t");
    }
}

#[test]
fn priorities_set_by_people_survive_a_compaction() {
    let bytes = SAMPLES[1].1;
    let (lines, summary) = lines(bytes);
    let growing = Growing::new();
    growing.import_seen(Format::ClaudeCode, &lines[..summary].concat(), REPLAY);
    let items = growing.repo.lines(&["export", "t"]);
    let call = items.iter().position(|item| item["direction"] == "call").unwrap();
    let other = items.iter().rposition(|item| item["type"] == "dialogue").unwrap();
    growing.repo.text(&["--trace", "t", "pin", &format!("#{call}")]);
    growing.repo.text(&["--trace", "t", "skip", &format!("#{other}")]);
    growing.import(Format::ClaudeCode, bytes);
    let live = growing.repo.bodies("t");
    let text = |item: &Value| item["text"].as_str().unwrap().to_owned();
    assert!(live.contains(&text(&items[call])) && live.contains(&text(&items[other])));
    let answer = items.iter().find(|item| item["reply_to"] == items[call]["id"]).unwrap();
    assert!(live.contains(&text(answer)), "a call and its result go together");
    assert_eq!(live.len(), 3 + growing_after(bytes), "these three and what came after");
    growing.repo.fsck();
    growing.repo.total("t");
}

fn growing_after(bytes: &[u8]) -> usize {
    let growing = Growing::new();
    growing.import_seen(Format::ClaudeCode, bytes, REPLAY);
    growing.repo.bodies("t").len()
}

#[test]
fn a_trace_keeps_its_import_mode() {
    let bytes = SAMPLES[1].1;
    let repo = TestRepo::new();
    fs::write(repo.folder().join("half"), &bytes[..bytes.len() / 4]).unwrap();
    fs::write(repo.folder().join("in"), bytes).unwrap();
    repo.text(&["import", "claude-code", "half", "--trace", "all", "--full"]);
    insta::assert_snapshot!(repo.refused(&["import", "claude-code", "in", "--trace", "all", "--as-seen"]), @r"
    --- stderr
    error: cannot import `in`: trace `all` keeps the items that compactions replaced, and later imports must do the same
    hint: use --full, or import into another trace: --trace NAME
    [exit 2]
    ");
    repo.text(&["import", "claude-code", "half", "--trace", "t"]);
    insta::assert_snapshot!(repo.refused(&["import", "claude-code", "in", "--trace", "t", "--full"]), @r"
    --- stderr
    error: cannot import `in`: trace `t` does not keep the items that compactions replaced, and later imports must do the same
    hint: omit --full, or import into another trace: --trace NAME
    [exit 2]
    ");
    repo.text(&["import", "claude-code", "in", "--trace", "t"]);
    let (lines, summary) = lines(bytes);
    assert_eq!(seen(&repo, &[]), told(&lines[summary..]));
    // An import without an option follows the trace, also from a pipe.
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "all"], bytes);
    // The setting begins traces so, and refuses none.
    repo.git(&["config", "trace.asSeen", "false"]);
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "t"], bytes);
    repo.text(&["import", "claude-code", "in", "--trace", "kept"]);
    repo.git(&["config", "--unset", "trace.asSeen"]);
    let call = json!({"session_id": "s1", "transcript_path": repo.folder().join("in"), "hook_event_name": "Stop"});
    repo.run(&["hook", "claude-code", "--wait"], call.to_string().as_bytes());
    let live = |trace: &str| repo.bodies(trace).len();
    assert_eq!(live("claude-code/s1"), live("t"));
    assert_eq!((live("kept"), live("all") > live("t")), (live("all"), true));
    assert!(repo.refused(&["import", "jsonl", "in", "--full"]).contains("`jsonl` has no compactions"));
}

/// Imports a file in both modes into one repository. Neither import changes what the model sees in the other trace.
#[test]
fn an_import_acts_in_its_own_trace() {
    let records: Vec<_> = compacted_rollout().into_iter().flat_map(|(records, _)| records).collect();
    let cases = [(Format::ClaudeCode, SAMPLES[1].1.to_vec()), (Format::Codex, rollout(&records))];
    for (format, bytes) in cases {
        let alone = Growing::new();
        alone.import_seen(format, &bytes, REPLAY);
        for full_first in [true, false] {
            let growing = Growing::new();
            let file = growing.repo.folder().join("in");
            fs::write(&file, &bytes).unwrap();
            let full = || growing.repo.text(&["import", format.as_str(), "in", "--full", "--trace", "all"]);
            if full_first {
                full();
            }
            growing.import_seen(format, &bytes, REPLAY);
            if !full_first {
                full();
            }
            assert_eq!(growing.context(), alone.context());
            assert_eq!(growing.repo.git(&["for-each-ref", "refs/trace-priority"]), "");
            assert!(growing.repo.bodies("all").len() > growing.repo.bodies("t").len());
        }
    }
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

fn rollout(records: &[(&str, Value)]) -> Vec<u8> {
    let line = |(kind, payload): &(&str, Value)| {
        format!("{}\n", json!({"timestamp": "2026-08-03T10:48:56.000Z", "type": kind, "payload": payload}))
    };
    records.iter().map(line).collect::<String>().into_bytes()
}

/// Records of a rollout, each with its type.
type Records = Vec<(&'static str, Value)>;

/// A rollout with compactions of each sort, and what the model saw after each.
fn compacted_rollout() -> Vec<(Records, Vec<&'static str>)> {
    let say = |role, text| ("response_item", message(role, text));
    vec![
        (
            vec![
                ("session_meta", json!({"id": "s", "base_instructions": {"text": "base"}})),
                say("developer", "be careful"),
                say("user", "one"),
                ("response_item", json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"})),
                ("response_item", json!({"type": "function_call_output", "call_id": "c", "output": "out"})),
                say("assistant", "two"),
                say("user", "continue"),
                say("user", "continue"),
            ],
            vec!["base", "be careful", "one", "{}", "out", "two", "continue", "continue"],
        ),
        // Only a summary: what the person and the system said stays.
        (
            vec![("compacted", json!({"message": "so far: two"})), say("user", "three")],
            vec!["base", "be careful", "one", "continue", "continue", "so far: two", "three"],
        ),
        // A history that begins with the preserved items.
        (
            vec![
                (
                    "compacted",
                    json!({"message": "so far: three", "replacement_history":
                    [message("developer", "be careful"), message("user", "continue"), message("user", "so far: three")]}),
                ),
                say("assistant", "four"),
            ],
            vec!["base", "be careful", "continue", "so far: three", "four"],
        ),
        // One in another order, with the setting in the midst of it.
        (
            vec![(
                "compacted",
                json!({"message": "", "replacement_history":
                [message("user", "continue"), message("developer", "be careful"), message("user", "and"), {"type": "compaction", "encrypted_content": "x"}]}),
            )],
            vec!["base", "continue", "be careful", "and", "{\"encrypted_content\":\"x\",\"type\":\"compaction\"}"],
        ),
        // One that only leaves something away, and one that leaves nothing away.
        (
            vec![(
                "compacted",
                json!({"message": "", "replacement_history": [message("user", "continue"), message("user", "and")]}),
            )],
            vec!["base", "continue", "and"],
        ),
        (
            vec![(
                "compacted",
                json!({"message": "", "replacement_history": [message("user", "continue"), message("user", "and")]}),
            )],
            vec!["base", "continue", "and"],
        ),
        (vec![say("user", "five")], vec!["base", "continue", "and", "five"]),
    ]
}

#[test]
fn codex_compactions_are_replayed() {
    let growing = Growing::new();
    let mut records = Vec::new();
    for (more, expected) in compacted_rollout() {
        records.extend(more);
        growing.import_seen(Format::Codex, &rollout(&records), REPLAY);
        let seen: Vec<String> = seen(&growing.repo, &[])
            .into_iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        assert_eq!(seen, expected);
        growing.repo.fsck();
        growing.repo.total("t");
    }
    let at_once = Growing::new();
    at_once.import_seen(Format::Codex, &rollout(&records), REPLAY);
    assert_eq!(growing.state(), at_once.state());
    let matrix = Growing::new();
    matrix.import_seen(Format::Codex, MATRIX, REPLAY);
    matrix.repo.fsck();
    matrix.repo.total("t");
    let again = matrix.import(Format::Codex, MATRIX);
    assert_eq!(again.traces[0].1.recorded, 0);
}

#[test]
fn gemini_compressions_are_replayed() {
    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-01-15T20:51:48.582Z", "type": kind, "content": text});
    let kept = message("c", "user", "three");
    let records = [
        json!({"sessionId": "s", "projectHash": "h"}),
        message("a", "user", "one"),
        message("b", "gemini", "two"),
        kept.clone(),
        json!({"$set": {"messages": [message("d", "user", "summary"), kept]}}),
        message("e", "gemini", "four"),
        json!({"$rewindTo": "c"}),
    ];
    let bytes: Vec<u8> = records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes();
    let growing = Growing::new();
    growing.import_seen(Format::GeminiCli, &bytes, REPLAY);
    assert_eq!(seen(&growing.repo, &[]), ["summary"]);
    let (whole, cut) = (growing.state(), memchr::memrchr(b'\n', &bytes[..bytes.len() - 1]).unwrap() + 1);
    let growing = Growing::new();
    growing.import_seen(Format::GeminiCli, &bytes[..cut], REPLAY);
    assert_eq!(seen(&growing.repo, &[]), ["summary", "three", "four"]);
    growing.import(Format::GeminiCli, &bytes);
    assert_eq!(growing.state(), whole);
    growing.repo.fsck();
}

#[test]
fn preserved_items_follow_the_summary_of_a_compaction() {
    let record = |uuid: &str, parent: Option<&str>, text: &str| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": "user", "content": text}});
    let mut summary = record("c2", Some("c1"), "summary");
    summary["isCompactSummary"] = json!(true);
    let records = [
        record("a", None, "one"),
        record("b", Some("a"), "two"),
        record("c", Some("b"), "three"),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "c1", "logicalParentUuid": "c", "sessionId": "s",
               "content": "compacted", "compactMetadata": {"preservedSegment": {"headUuid": "b", "tailUuid": "c"}}}),
        summary,
        record("d", Some("c2"), "four"),
    ];
    let bytes: Vec<u8> = records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes();
    let growing = Growing::new();
    growing.import_seen(Format::ClaudeCode, &bytes, REPLAY);
    assert_eq!(seen(&growing.repo, &[]), ["summary", "two", "three", "four"]);
}

/// Reported usage covers what the model sees. Skipped items add to it while they are in the trace.
#[test]
fn usage_reported_after_a_compaction_is_the_total() {
    let record = |uuid: &str, parent: Option<&str>, kind: &str, message: Value| json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message});
    let answer = |id: &str, text: &str, tokens: u64| json!({"id": id, "role": "assistant", "content": [{"type": "thinking", "thinking": "Which one is asked for?", "signature": "x"}, {"type": "text", "text": text}], "usage": {"input_tokens": tokens, "output_tokens": 3}});
    let mut summary = record("c2", Some("c1"), "user", json!({"role": "user", "content": "summary"}));
    summary["isCompactSummary"] = json!(true);
    let records = [
        record("a", None, "user", json!({"role": "user", "content": "one"})),
        record("b", Some("a"), "assistant", answer("m1", "two", 90)),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "c1", "logicalParentUuid": "b", "sessionId": "s",
               "content": "compacted"}),
        summary,
        record("d", Some("c2"), "user", json!({"role": "user", "content": "three"})),
        record("e", Some("d"), "assistant", answer("m2", "four", 60)),
    ];
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    let total = |parts: &[usize]| {
        let growing = Growing::new();
        growing.repo.git(&["config", "traceType.reasoning.priority", "skip"]);
        for part in parts {
            growing.import_seen(Format::ClaudeCode, lines[..*part].concat().as_bytes(), REPLAY);
        }
        let tokens = &growing.repo.json(&["--trace", "t", "status", "--json"])["tokens"];
        (tokens["source"].clone(), tokens["total"].as_u64().unwrap())
    };
    let expected = (json!("reported"), 63);
    assert_eq!(total(&[6]), expected);
    assert_eq!(total(&[2, 6]), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_cut_points_give_the_same_trace(points in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let records: Records = compacted_rollout().into_iter().flat_map(|(records, _)| records).collect();
        for (format, bytes) in [(Format::ClaudeCode, SAMPLES[1].1.to_vec()), (Format::Codex, rollout(&records))] {
            let whole = Growing::new();
            whole.import_seen(format, &bytes, REPLAY);
            let mut cuts: Vec<usize> = points.iter().map(|point| point.index(bytes.len())).collect();
            cuts.sort_unstable();
            let growing = Growing::new();
            for cut in cuts {
                growing.import_seen(format, &bytes[..cut], REPLAY);
            }
            growing.import_seen(format, &bytes, REPLAY);
            prop_assert_eq!(growing.state(), whole.state());
        }
    }
}
