//! The items that the content of a record becomes.

use crate::trace::model::item::{Direction, Role, Status};
use crate::transcript::TranscriptEntry;
use serde_json::{Value, json};

use super::{assistant, bodies, body, call, check, file, read_text, result, user};

#[test]
fn split_messages_are_joined_and_use_the_last_usage() {
    let mut records = vec![
        assistant("a1", "msg", &json!({"type": "thinking", "thinking": "", "signature": "sig"})),
        assistant("a2", "msg", &call("t1")),
        user("u1", &json!([result("t1", &json!("one"))])),
        assistant("a3", "msg", &call("t2")),
        user("u2", &json!([result("t2", &json!("two")), {"type": "text", "text": "go on"}])),
    ];
    for (record, tokens) in [(0, 5), (1, 5), (3, 70)] {
        records[record]["message"]["usage"] = json!({"output_tokens": tokens});
    }
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let turns: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.turn.as_deref()).collect();
    assert_eq!(turns, [Some("msg"), Some("msg"), None, Some("msg"), Some("u2"), Some("u2")]);
    let usage: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.meta.contains_key("usage")).collect();
    assert_eq!(usage, [true, false, false, true, false, false]);
    let fields = &reading.entries[0].draft.fields;
    assert_eq!((fields.signature.as_deref(), &fields.meta["model"]), (Some("sig"), &json!("m")));
    assert_eq!(reading.entries[4].draft.fields.reply_to, Some(reading.entries[3].id));
    assert_eq!(reading.entries[1].subject.as_deref(), Some("tool_io call Bash: ls"));
    assert_eq!(reading.entries[2].draft.fields.created.unwrap().to_string(), "2026-02-10T09:00:00.125Z");
}

#[test]
fn a_multipart_result_keeps_its_images() {
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO\nRw=="}});
    let pieces = json!([
        {"type": "text", "text": "a"}, picture, {"type": "text", "text": "b"}, {"type": "tool_reference", "tool_name": "x"},
        {"type": "image", "source": {"type": "base64", "data": "?"}},
    ]);
    let records = [
        assistant("a1", "msg", &call("t1")),
        user("u1", &json!([result("t1", &pieces), {"type": "image", "source": {"type": "url", "url": "https://x/y"}}])),
        user("u2", &json!([result("t1", &json!({"odd": 1})), result("t0", &Value::Null)])),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let entries = &reading.entries;
    assert_eq!(body(&entries[1]), "a\nb");
    let artifact = &entries[2];
    assert_eq!(artifact.draft.body, b"\x89PNG"[..4]);
    assert_eq!(artifact.draft.fields.media_type.as_deref(), Some("image/png"));
    let shape = |entry: &TranscriptEntry| {
        let fields = &entry.draft.fields;
        (fields.item_type.to_string(), fields.name.clone(), fields.reply_to)
    };
    let freeform = |name: &str, reply_to| ("freeform".to_owned(), Some(name.to_owned()), reply_to);
    let answer = Some(entries[1].id);
    assert_eq!(artifact.draft.fields.reply_to, answer);
    assert_eq!(shape(&entries[3]), freeform("tool_reference", answer));
    assert_eq!(shape(&entries[4]), freeform("image", answer));
    assert_eq!(shape(&entries[5]), freeform("image", None));
    assert_eq!(body(&entries[5]), "https://x/y");
    assert_eq!(entries[6].draft.body, b"");
    assert_eq!((shape(&entries[7]).1.as_deref(), body(&entries[7])), (Some("block"), "{\"odd\":1}"));
    assert_eq!(entries[8].draft.fields.reply_to, None, "the call is not in this file");
    assert_eq!(entries[8].draft.fields.status, Some(Status::Ok));
}

#[test]
fn incomplete_records_are_kept_unchanged() {
    let blocks = [
        json!({"type": "tool_use", "name": "Bash", "input": {"a": 1}}),
        json!({"type": "tool_use", "id": "t1", "name": ""}),
        json!({"type": "tool_result", "content": "x"}),
        json!({"type": "text", "text": 5}),
        json!({"type": "server_tool_use", "id": "t", "name": "web_search"}),
        json!({"type": "a\nid: 0", "x": 1}),
        json!(7),
        json!({}),
    ];
    let reading = read_text(&file(&[user("u1", &json!(blocks))]));
    check(&reading.entries);
    assert_eq!(reading.entries.len(), blocks.len());
    for (entry, block) in reading.entries.iter().zip(&blocks) {
        assert_eq!(entry.draft.fields.item_type.as_str(), "freeform");
        assert_eq!(serde_json::from_str::<Value>(body(entry)).unwrap(), *block);
    }
}

#[test]
fn a_call_keeps_the_exact_bytes_of_its_arguments() {
    let line = r#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"tool_use","id":"t","name":"B\u0007","input":{"z": 1.0,"a":"\ud83d\u00e9" }},{"type":"tool_use","id":"t\n2","name":"C"}]}}"#;
    let reading = read_text(line);
    check(&reading.entries);
    assert_eq!(bodies(&reading), [r#"{"z": 1.0,"a":"\ud83d\u00e9" }"#, "{}"]);
    assert_eq!(reading.entries[0].draft.fields.name.as_deref(), Some("B\u{fffd}"));
    assert_eq!(reading.entries[0].draft.fields.direction, Some(Direction::Call));
}

const SKILLS: &str = "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- pdf: read files\n</system-reminder>";

#[test]
fn records_the_model_did_not_see_are_removed_or_counted() {
    let system =
        |uuid: &str, subtype: &str| json!({"type": "system", "uuid": uuid, "subtype": subtype, "content": subtype});
    let records = [
        system("1", "local_command"),
        system("2", "informational"),
        system("3", "compact_boundary"),
        json!({"type": "system", "subtype": "novelty"}),
        json!({"type": "attachment", "uuid": "4", "attachment": {"type": "queued_command", "prompt": "and this"}}),
        json!({"type": "attachment", "uuid": "5", "attachment": {"type": "hook_cancelled"}}),
        json!({"type": "attachment", "uuid": "6", "attachment": {"type": "todo_reminder", "content": []}}),
        json!({"type": "attachment", "uuid": "8", "attachment": {"type": "skill_listing", "content": "- pdf: read files"}}),
        json!({"type": "attachment", "uuid": "9", "attachment": {"type": "novelty"}}),
        json!({"type": "queue-operation", "operation": "enqueue"}),
        json!({"type": "telemetry\n", "data": {"message": "text"}}),
        json!({"type": "telemetry\n", "message": {"content": [{"text": "said"}]}}),
        json!({"kind": "none"}),
        json!({"type": "user", "uuid": "7", "message": {"content": []}}),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let entries: Vec<_> = reading.entries.iter().map(|entry| (body(entry), entry.removal.is_some())).collect();
    let expected = [
        ("local_command", false),
        ("informational", true),
        ("and this", false),
        (r#"{"type":"hook_cancelled"}"#, true),
        (r#"{"content":[],"type":"todo_reminder"}"#, true),
        (SKILLS, false),
        (r#"{"type":"novelty"}"#, true),
    ];
    assert_eq!(entries, expected);
    assert_eq!(reading.entries[2].draft.fields.role, Some(Role::User));
    let kinds = |kinds: &std::collections::BTreeMap<String, u64>| kinds.keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(kinds(&reading.tally.ignored), "queue-operation system/compact_boundary user/empty");
    assert_eq!(kinds(&reading.tally.unknown), "(no type) attachment/novelty system/novelty telemetry\u{fffd}");
    assert_eq!(reading.tally.dropped, 2);
}
