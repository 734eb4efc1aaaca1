//! Records in their order: those that are there twice, sub-agents', and what a compaction wrote.

use crate::trace::change::bulk::Removal;
use crate::transcript::agents::claude_code::Reader;
use crate::transcript::read::reader::Transcript as _;
use serde_json::json;

use super::{SAMPLES, assistant, bodies, call, check, check_cut, file, read_text, result, user};

#[test]
fn a_compaction_summary_is_imported_once() {
    let mut summary = user("c", &json!("so far"));
    summary["isCompactSummary"] = json!(true);
    let after = read_text(&file(&[user("u", &json!("hi")), summary.clone()]));
    assert_eq!(after.entries[1].removal, Some(Removal::Compaction));
    assert_eq!(after.entries[1].draft.fields.meta["compact_summary"], json!(true));
    let mut in_side = summary.clone();
    in_side["isSidechain"] = json!(true);
    let elsewhere = read_text(&file(&[user("u", &json!("hi")), in_side]));
    assert_eq!(elsewhere.entries[1].removal, None, "what it sums up is not in its thread");
    let alone = read_text(&file(&[json!({"type": "summary", "summary": "title"}), summary]));
    assert_eq!(alone.entries[0].removal, Some(Removal::Title));
    assert_eq!(alone.entries[1].removal, None);
}

#[test]
fn a_repeated_record_is_imported_once() {
    let mut again = user("u1", &json!("hi"));
    again["isVisibleInTranscriptOnly"] = json!(true);
    let records = [
        user("u1", &json!("hi")),
        again,
        user("u1", &json!("something else")),
        user("u1", &json!("something else")),
        user("", &json!("continue")),
        user("", &json!("continue")),
        json!({"type": "summary", "summary": "title"}),
        json!({"type": "summary", "summary": "title"}),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    assert_eq!(bodies(&reading), ["hi", "something else", "continue", "continue", "title"]);
    assert_eq!(reading.tally.repeated, 3);
}

#[test]
fn sub_agents_are_distinguished() {
    let side = |uuid: &str, parent: &str, agent: Option<&str>| {
        let mut record = user(uuid, &json!(uuid));
        record["isSidechain"] = json!(true);
        record["parentUuid"] = json!(parent);
        record["agentId"] = json!(agent);
        record
    };
    let mut progress = side("p", "s1", None);
    progress["type"] = json!("progress");
    let records = [
        user("main", &json!("hi")),
        side("s1", "main", None),
        side("r1", "", None),
        progress,
        side("s2", "p", None),
        side("r2", "r1", None),
        side("a", "s2", Some("a1b2")),
        side("b", "", Some("../b")),
    ];
    let text = file(&records);
    let whole = read_text(&text);
    check(&whole.entries);
    let threads: Vec<_> = whole.entries.iter().map(|entry| entry.thread.as_deref()).collect();
    assert_eq!(threads[0], None);
    assert_eq!(threads[1], threads[3], "the chain goes on through a record that is not imported");
    assert_eq!(threads[2], threads[4]);
    assert_ne!(threads[1], threads[2]);
    assert_eq!(threads[5], Some("a1b2"));
    assert!(threads[6].unwrap().bytes().all(|b| b.is_ascii_hexdigit()));
    for at in 0..text.len() {
        check_cut(text.as_bytes(), &whole, at);
    }
}

#[test]
fn results_match_calls_only_within_a_thread() {
    let mut side = user("u1", &json!([result("t1", &json!("x"))]));
    side["isSidechain"] = json!(true);
    let records = [assistant("a1", "msg", &call("t1")), side, user("u2", &json!([result("t1", &json!("y"))]))];
    let reading = read_text(&file(&records));
    let answers: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.reply_to).collect();
    assert_eq!(answers, [None, None, Some(reading.entries[0].id)]);
    assert_eq!(reading.entries[1].draft.fields.name.as_deref(), Some("Bash"));
}

#[test]
fn a_session_has_an_id() {
    let mut reader = Reader::new(SAMPLES[0].1);
    assert_eq!(reader.output().session_id, None);
    reader.next();
    assert_eq!(reader.output().session_id.as_deref(), Some("419f42f0-2fa1-44cc-8b4d-babf59901513"));
}
