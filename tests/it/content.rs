//! Content is kept byte for byte, whatever it is, on every way in and out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::repo::TestRepo;

/// Texts that something on the way might change.
const TEXTS: [&str; 16] = [
    "",
    "\n",
    "\n\n\n",
    "no line break at the end",
    "one at the end\n",
    "three at the end\n\n\n",
    "\n\nthree at the start",
    "-dash",
    "--batch",
    "# no comment\n; nor this\n",
    "CRLF\r\nand CR\rand \u{85}\u{2028}\u{2029}\r\n",
    "  spaces around  \t",
    "\u{feff}byte order mark",
    "emoji 👩‍👩‍👧‍👦 and e\u{301}, \u{202e}turned\u{202c}, \u{1b}[31mred\u{1b}[0m",
    "id: 0000000000000000\ntype: instruction\n\nTrace-Op: delete\n",
    "<|endoftext|> \u{10ffff}\u{0} NUL",
];

/// Bytes that are no text.
const BYTES: [&[u8]; 4] = [b"\xff\xfe\x00\x80", b"\x00", b"PNG\r\n\x1a\n\xc3", b"\xed\xa0\x80"];

#[test]
fn texts_are_shown_and_materialized_unchanged() {
    let repo = TestRepo::new();
    for text in TEXTS {
        let id = if text.contains('\0') {
            let answer = repo.bytes_with(&["commit", "--json", "-"], text.as_bytes());
            serde_json::from_slice::<Value>(&answer).unwrap()["id"].as_str().unwrap().to_owned()
        } else {
            repo.commit(&["-m", text])
        };
        assert_eq!(repo.bytes(&["show", &id]), text.as_bytes(), "{text:?}");
        std::fs::write(repo.home().join("content"), text).unwrap();
        let from_file = repo.commit(&["-F", repo.home().join("content").to_str().unwrap()]);
        assert_eq!(repo.bytes(&["show", &from_file]), text.as_bytes(), "{text:?} from a file");
        repo.text(&["edit", &from_file, "-m", "between"]);
        repo.bytes_with(&["edit", &from_file, "-"], text.as_bytes());
        assert_eq!(repo.bytes(&["show", &from_file]), text.as_bytes(), "{text:?} by an edit");
        repo.text(&["delete", &from_file]);
    }
    let messages: Value = serde_json::from_slice(&repo.bytes(&["materialize", "--aggregate", "none"])).unwrap();
    let contents: Vec<&str> = messages.as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(contents, TEXTS);
    repo.total("main");
    repo.fsck();
}

#[test]
fn every_type_round_trips_through_batch_and_export() {
    let repo = TestRepo::new();
    let mut lines = Vec::new();
    for (index, text) in TEXTS.iter().enumerate() {
        for item_type in ["instruction", "dialogue", "reasoning", "artifact", "output", "freeform"] {
            lines.push(serde_json::json!({ "type": item_type, "text": text }));
        }
        let call_id = format!("call {index}");
        lines.push(serde_json::json!({ "type": "tool_io", "direction": "call", "name": "x", "call_id": call_id,
            "text": format!(" {} ", serde_json::json!({ "text": text })) }));
        lines.push(serde_json::json!({ "type": "tool_io", "direction": "result", "call_id": call_id, "text": text }));
    }
    for bytes in BYTES {
        for item_type in ["artifact", "freeform"] {
            lines.push(serde_json::json!({ "type": item_type, "base64": BASE64.encode(bytes) }));
        }
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answers = repo.bytes_with(&["commit", "--batch"], input.as_bytes());
    assert_eq!(String::from_utf8(answers).unwrap().lines().count(), lines.len());
    let exported = repo.lines(&["export"]);
    let kept = |line: &Value| (line["type"].clone(), line["text"].clone(), body_of(line));
    for (given, exported) in lines.iter().zip(&exported) {
        assert_eq!(kept(given).0, kept(exported).0);
        assert_eq!(body_of(given), body_of(exported), "{given}");
    }
    let messages = repo.json(&["materialize", "--json", "--aggregate", "none"]);
    for (given, message) in lines.iter().zip(messages["messages"].as_array().unwrap()) {
        let block = &message["content"][0];
        let said = [&message["content"], &block["text"], &block["arguments"]].into_iter().find_map(Value::as_str);
        let bytes = said.map_or_else(|| body_of(block), |text| text.as_bytes().to_owned());
        assert_eq!(bytes, body_of(given), "{given} as {message}");
    }
    repo.total("main");

    let copy = TestRepo::new();
    let export = repo.bytes(&["export"]);
    copy.bytes_with(&["import", "jsonl", "-"], &export);
    assert_eq!(copy.bytes(&["materialize"]), repo.bytes(&["materialize"]));
    assert_eq!(copy.total("main"), repo.total("main"));
    copy.fsck();
}

fn body_of(line: &Value) -> Vec<u8> {
    match (line["text"].as_str(), line["base64"].as_str()) {
        (Some(text), None) => text.as_bytes().to_owned(),
        (None, Some(text)) => BASE64.decode(text).unwrap(),
        _ => panic!("text or base64 is expected: {line}"),
    }
}

#[test]
fn binary_bodies_round_trip() {
    let repo = TestRepo::new();
    for bytes in BYTES {
        let answer = repo.bytes_with(&["commit", "-t", "artifact", "--json", "-"], bytes);
        let id = serde_json::from_slice::<Value>(&answer).unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!(repo.bytes(&["show", &id]), bytes);
        assert_eq!(body_of(&repo.json(&["show", &id, "--json"])), bytes);
    }
    repo.bytes(&["materialize", "--format", "text"]);
    repo.fsck();
}

#[test]
fn an_item_of_twenty_mebibytes_works() {
    let repo = TestRepo::new();
    let line: Vec<u8> = (0..=255).collect();
    let big = line.repeat(20 * 4096);
    assert_eq!(big.len(), 20 << 20);
    repo.bytes_with(&["commit", "-t", "artifact", "-"], &big);
    let shown = repo.bytes(&["show", "#0"]);
    assert!(shown == big, "{} bytes came back, or others", shown.len());

    let copy = TestRepo::new();
    let export = repo.bytes(&["export"]);
    copy.bytes_with(&["import", "jsonl", "-"], &export);
    assert!(copy.bytes(&["show", "#0"]) == big);
    assert!(copy.bytes(&["materialize"]) == repo.bytes(&["materialize"]));
}

#[test]
fn a_result_that_only_replies_to_a_call_takes_its_id_and_name() {
    let repo = TestRepo::new();
    repo.say("List it.");
    repo.commit(&["-t", "tool_io", "-r", "assistant", "--name", "ls", "--call-id", "c1", "-m", "{}"]);
    repo.commit(&["-t", "tool_io", "--reply-to", "#1", "-m", "a.rs"]);
    let answer = repo.json(&["show", "#2", "--json"]);
    assert_eq!(
        (&answer["direction"], &answer["call_id"], &answer["name"]),
        (&json!("result"), &json!("c1"), &json!("ls"))
    );
    let asked = repo.commit(&["-t", "tool_io", "--reply-to", "#0", "-m", "it did"]).len();
    assert_eq!(asked, 16);
    let other = repo.json(&["show", "#3", "--json"]);
    assert_eq!(other["call_id"], repo.json(&["show", "#0", "--json"])["id"], "generated from the id of its call");
}

#[test]
fn an_edit_drops_the_fields_that_a_new_type_does_not_have() {
    let repo = TestRepo::new();
    repo.commit(&["--name", "Eve", "--meta", "by=hand", "-m", "fn main() {}"]);
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-t", "artifact"]), @"
    --- stderr
    error: artifact has no field `role`; it accepts kind, path, language, media_type
    hint: `--unset role` drops it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "--unset", "colour"]), @"
    --- stderr
    error: field `colour`: the item does not have it
    [exit 2]
    ");
    repo.text(&[
        "edit",
        "#0",
        "-t",
        "artifact",
        "--unset",
        "role",
        "--unset",
        "name",
        "--unset",
        "meta",
        "--set",
        "media-type=text/rust",
    ]);
    let item = repo.json(&["show", "#0", "--json"]);
    assert_eq!((&item["type"], &item["media_type"]), (&json!("artifact"), &json!("text/rust")));
    assert_eq!([&item["role"], &item["name"], &item["meta"]], [&Value::Null; 3]);
    repo.commit(&["-t", "artifact", "--set", "media-type=image/png", "-m", "x"]);
    assert_eq!(repo.json(&["show", "#1", "--json"])["media_type"], "image/png");
}

#[test]
fn an_export_keeps_reported_totals() {
    let repo = TestRepo::new();
    let totals = |name: &str| {
        let log = repo.git(&["log", "--format=%B", "--reverse", &format!("refs/traces/{name}")]);
        log.lines().filter(|line| line.starts_with("Trace-Total: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let usage = r#"{"usage":{"prompt_tokens":900,"completion_tokens":7,"total_tokens":907}}"#;
    repo.say("a question");
    let skipped = repo.say("an aside");
    repo.text(&["skip", &skipped]);
    repo.commit(&["-r", "assistant", "-m", "an answer", "--usage", usage]);
    repo.say("and?");
    repo.text(&["edit", "#0", "-m", "a better question"]);
    let export = repo.bytes(&["export"]);
    repo.bytes_with(&["import", "jsonl", "-", "--trace", "copy"], &export);
    assert_eq!(totals("copy"), totals("main"));
    assert!(totals("copy").last().unwrap().ends_with("reported"), "{:?}", totals("copy"));
    let status = |name: &str| repo.json(&["status", "--json", "--trace", name])["tokens"].clone();
    assert_eq!(status("copy"), status("main"));
    // In a trace with other items, the total of this one says nothing.
    repo.text(&["commit", "--trace", "other", "-m", "elsewhere"]);
    repo.bytes_with(&["import", "jsonl", "-", "--trace", "other"], &export);
    assert_eq!(status("other")["source"], "counted");
    // Nor does it in a file that lacks lines, or has some items only.
    let text = String::from_utf8(export.clone()).unwrap();
    let is_aside = |line: &&str| line.contains("an aside") || line.contains(r#""op":"priority""#);
    let without: String = text.lines().filter(|line| !is_aside(line)).map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["import", "jsonl", "-", "--trace", "part"], without.as_bytes());
    assert_eq!(status("part")["source"], "counted");
    let some = repo.text(&["export", "--item", "#2"]);
    assert!(some.contains("an answer") && !some.contains("reported_total"), "{some}");
    let bad = String::from_utf8(export).unwrap().replace("\"reported_total\":", "\"reported_total\":-");
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-", "--trace", "bad"], bad.as_bytes()), @"
    --- stderr
    error: cannot import `-`: line 4: field `reported_total`: a number from 0 is expected
    [exit 2]
    ");
}
