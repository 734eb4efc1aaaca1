//! Counting, reported usage and budgets, from the command line.

use std::fmt::Write as _;

use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use super::repo::TestRepo;

fn total(repo: &TestRepo) -> (u64, String) {
    let tokens = repo.json(&["status", "--json"])["tokens"].clone();
    (tokens["total"].as_u64().unwrap(), tokens["source"].as_str().unwrap().to_owned())
}

#[test]
fn count_reads_files_and_stdin_without_a_repository() {
    let repo = TestRepo::without_git();
    std::fs::write(repo.folder().join("a.txt"), "hello world").unwrap();
    std::fs::write(repo.folder().join("b.txt"), b"hello \xff world").unwrap();
    let exact = |args: &[&str], input: &[u8]| repo.exact(&repo.run(args, input));
    insta::assert_snapshot!(exact(&["count"], b"hello world"), @r"
    2
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["count", "a.txt", "b.txt", "-"], b"<|endoftext|>"), @r"
     2 a.txt
     3 b.txt
     7 -
    12 total
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["count", "--json", "--encoding", "cl100k_base", "a.txt"], b""), @r#"
    {"encoding":"cl100k_base","files":[{"file":"a.txt","tokens":2}],"total":2}
    [exit 0]
    "#);
    insta::assert_snapshot!(exact(&["count", "no-such-file"], b""), @r"
    --- stderr
    error: cannot read `no-such-file`: No such file or directory (os error 2)
    hint: name a file that exists, or `-` for stdin
    [exit 2]
    ");
}

#[test]
fn changing_the_encoding_recounts_the_trace() {
    let repo = TestRepo::new();
    let text = "déjà vu, naïve café: 12345678";
    let by = |encoding: &str| {
        let answer: Value =
            serde_json::from_slice(&repo.bytes_with(&["count", "--json", "--encoding", encoding], text.as_bytes()))
                .unwrap();
        answer["total"].as_u64().unwrap()
    };
    repo.say(text);
    assert_eq!(total(&repo).0, by("o200k_base") + 6);
    repo.git(&["config", "trace.encoding", "r50k_base"]);
    assert_eq!(total(&repo).0, by("r50k_base") + 6);
    repo.say(text);
    assert_eq!(total(&repo).0, 2 * (by("r50k_base") + 3) + 3);
    assert!(repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]).contains(" r50k_base\n"));
    repo.git(&["config", "trace.encoding", "klingon"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "x"]), @r"
    --- stderr
    error: git config `trace.encoding` is `klingon`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
}

#[test]
fn reported_usage_is_the_base_of_later_totals() {
    let repo = TestRepo::new();
    repo.say("a question");
    let payloads = [
        (
            r#"{"usage":{"input_tokens":100,"cache_read_input_tokens":50,"cache_creation_input_tokens":20,"output_tokens":7}}"#,
            177,
        ),
        (
            r#"{"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":90}}}"#,
            107,
        ),
        (
            r#"{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":90},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":107}}"#,
            107,
        ),
        (
            r#"{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"thoughtsTokenCount":3,"totalTokenCount":110}}"#,
            110,
        ),
        (r#"{"usage":{"inputTokens":100,"outputTokens":7,"totalTokens":107}}"#, 107),
        (r#"{"prompt_eval_count":100,"eval_count":7,"done":true}"#, 107),
    ];
    for (payload, reported) in payloads {
        repo.commit(&["-r", "assistant", "-m", "an answer", "--usage", payload]);
        assert_eq!(total(&repo), (reported, "reported".to_owned()), "{payload}");
    }
    // A later process adds what it counts, and takes off what goes.
    let (base, _) = total(&repo);
    let item = repo.say("hello world");
    assert_eq!(total(&repo), (base + 5, "reported".to_owned()));
    repo.bytes(&["skip", &item]);
    assert_eq!(total(&repo).0, base);
    repo.bytes(&["unpin", &item]);
    repo.bytes(&["edit", &item, "-m", "hello"]);
    assert_eq!(total(&repo).0, base + 4);
    repo.bytes(&["delete", &item]);
    assert_eq!(total(&repo).0, base);
    // A report excludes skipped items; a restored item adds to it.
    repo.bytes(&["skip", "#0"]);
    repo.commit(&["-r", "assistant", "-m", "an answer", "--usage", payloads[0].0]);
    assert_eq!(total(&repo).0, 177);
    repo.bytes(&["unpin", "#0"]);
    assert_eq!(total(&repo).0, 177 + 5);
}

#[test]
fn usage_of_an_unknown_shape_is_refused() {
    let repo = TestRepo::new();
    repo.say("x");
    for payload in ["{}", r#"{"usage":{"tokens":3}}"#, r#"{"usage":{"input_tokens":-1,"output_tokens":1}}"#, "{"] {
        let said = repo.refused(&["commit", "-m", "y", "--usage", payload]);
        assert!(said.contains("cannot read the usage"), "{said}");
    }
}

#[test]
fn a_trace_of_exactly_the_budget_is_accepted() {
    let repo = TestRepo::new();
    repo.say("hello world");
    // "hello world" is two tokens, three for the message: five more.
    let limit = |tokens: u64, action: &str| {
        repo.run(&["commit", "-m", "hello world", "--budget", &tokens.to_string(), "--budget-action", action], b"")
    };
    let before = repo.refs();
    let refused = limit(12, "reject");
    insta::assert_snapshot!(repo.exact(&refused), @r"
    --- stderr
    error: trace `main` would take 13 tokens (o200k_base), more than its budget of 12
    hint: skip, edit or delete what is not needed, or raise `trace.budget`
    [exit 1]
    ");
    assert_eq!(repo.refs(), before);
    assert_eq!(limit(13, "reject").status.code(), Some(0));
    let warned = limit(13, "warn");
    assert_eq!(warned.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&warned.stderr).contains("warning: trace `main` would take 18 tokens"));
}

#[test]
fn skipped_items_do_not_count_toward_the_budget() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.budget", "20"]);
    repo.git(&["config", "trace.budgetAction", "reject"]);
    let long = repo.commit(&["-m", "hello world", "-p", "skip"]);
    repo.commit(&["-m", &"hello world ".repeat(50), "-p", "skip"]);
    repo.bytes(&["edit", &long, "-m", &"hello world ".repeat(50)]);
    repo.say("hello world");
    assert_eq!(total(&repo).0, 8);
    assert_eq!(repo.run(&["commit", "-m", &"hello world ".repeat(50)], b"").status.code(), Some(1));
}

#[test]
fn a_budget_command_may_make_room() {
    let repo = TestRepo::new();
    repo.say("hello world hello world");
    let room = ["commit", "-m", "hello world", "--budget", "10", "--budget-action"];
    let made = repo.run(&[&room[..], &["cat > asked; git trace skip '#0' --reason 'made room'"]].concat(), b"");
    assert_eq!(made.status.code(), Some(0), "{}", repo.exact(&made));
    let asked: Value = serde_json::from_slice(&std::fs::read(repo.folder().join("asked")).unwrap()).unwrap();
    assert_eq!(asked, json!({ "trace": "main", "current": 15, "max": 10, "over": 5, "source": "o200k_base" }));
    assert_eq!(total(&repo).0, 8);

    let before = repo.refs();
    let idle = repo.run(&[&room[..], &["true"]].concat(), b"");
    assert_eq!(idle.status.code(), Some(1), "{}", repo.exact(&idle));
    let failing = repo.run(&[&room[..], &["exit 3"]].concat(), b"");
    assert_eq!(failing.status.code(), Some(2), "{}", repo.exact(&failing));
    assert_eq!(repo.refs(), before);
}

/// What the messages that `materialize --json` printed take, by tiktoken-rs: their texts, three a message, one a name,
/// three for the reply.
fn request_by_tiktoken(envelope: &Value) -> u64 {
    let bpe = tiktoken_rs::o200k_base_singleton();
    let count = |text: &Value| bpe.encode_ordinary(text.as_str().unwrap()).len() as u64;
    let named = |object: &Value| u64::from(object.get("name").is_some());
    let mut tokens = 3;
    for message in envelope["messages"].as_array().unwrap() {
        tokens += 3 + named(message);
        match &message["content"] {
            Value::Array(blocks) => {
                for block in blocks {
                    let text = block.get("arguments").or(block.get("text")).unwrap();
                    tokens += count(text) + named(block);
                }
            }
            text => tokens += count(text),
        }
    }
    tokens
}

/// Lines for `commit --batch`: items of every type, with texts that join in all ways.
fn lines() -> impl Strategy<Value = String> {
    let text = "[a \n.,é字]{0,12}";
    let line = prop_oneof![
        text.prop_map(|text| json!({ "text": text })),
        text.prop_map(|text| json!({ "role": "assistant", "text": text })),
        text.prop_map(|text| json!({ "role": "assistant", "name": "bob", "turn": "t1", "text": text })),
        text.prop_map(|text| json!({ "type": "instruction", "text": text })),
        (text, "[xy]").prop_map(|(text, name)| json!({ "type": "instruction", "name": name, "text": text })),
        text.prop_map(|text| json!({ "type": "reasoning", "turn": "t1", "text": text })),
        text.prop_map(|text| json!({ "type": "artifact", "path": "a/b", "text": text })),
        text.prop_map(|text| json!({ "type": "freeform", "text": text, "priority": "skip" })),
        (text, "[ab]")
            .prop_map(|(text, id)| json!({ "type": "tool_io", "direction": "call", "name": "grep", "call_id": id,
            "turn": "t2", "text": json!({ "x": text }).to_string() })),
        (text, "[ab]").prop_map(|(text, id)| json!({ "type": "tool_io", "role": "tool", "call_id": id, "text": text })),
    ];
    proptest::collection::vec(line, 1..12).prop_map(|lines| {
        lines.iter().fold(String::new(), |mut all, line| {
            writeln!(all, "{line}").unwrap();
            all
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn request_counts_match_tiktoken(lines in lines()) {
        let repo = TestRepo::new();
        repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
        let joined = repo.json(&["materialize", "--json"]);
        prop_assert_eq!(joined["tokens"]["request"].as_u64().unwrap(), request_by_tiktoken(&joined));
        let apart = repo.json(&["materialize", "--json", "--aggregate", "none"]);
        prop_assert_eq!(apart["tokens"]["request"].as_u64().unwrap(), request_by_tiktoken(&apart));
        prop_assert_eq!(&apart["tokens"]["request"], &apart["tokens"]["total"]);
        prop_assert_eq!(&joined["tokens"]["total"], &apart["tokens"]["total"]);
    }
}

/// The header of a PNG file, and as many bytes as a screenshot has.
fn screenshot(width: u32, height: u32) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    image.extend(width.to_be_bytes());
    image.extend(height.to_be_bytes());
    image.extend((0..20_000u32).flat_map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes()));
    image
}

#[test]
fn an_image_counts_by_its_dimensions() {
    let repo = TestRepo::new();
    let image = screenshot(1000, 1000);
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "media-type=image/png", "-"], &image);
    // 36 × 36 patches, 3 for the message, 3 for the reply.
    assert_eq!(total(&repo).0, 1296 + 6);
    assert_eq!(repo.json(&["show", "#0", "--json"])["tokens"], 1296);
    assert_eq!(repo.json(&["materialize", "--json"])["tokens"]["request"], 1296 + 6);
    insta::assert_snapshot!(repo.exact(&repo.run(&["count"], &image)), @r"
    1296
    [exit 0]
    ");
    repo.commit(&["-t", "artifact", "-m", "text"]);
    repo.bytes(&["delete", "#0"]);
    assert_eq!(total(&repo).0, 1 + 6);
    repo.fsck();
}

#[test]
fn a_total_of_version_0_1_with_the_bytes_of_an_image_is_counted_again() {
    let repo = TestRepo::new();
    repo.say("a question");
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "media-type=image/png", "-"], &screenshot(1000, 1000));
    let (counted, _) = total(&repo);
    let message = repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]);
    let old = message.replace(&format!("Trace-Total: {counted} "), "Trace-Total: 98765 ");
    assert!(old != message && !old.contains("Trace-Counted"), "{message}");
    let tree = repo.git(&["rev-parse", "refs/traces/main^{tree}"]);
    let commit = repo.git(&["commit-tree", tree.trim(), "-p", "refs/traces/main~", "-m", &old]);
    repo.git(&["update-ref", "refs/traces/main", commit.trim()]);
    assert_eq!(total(&repo).0, counted);
    repo.fsck();
    repo.say("hello world");
    assert_eq!(total(&repo).0, counted + 5);
    repo.fsck();
}

#[test]
fn each_commit_of_a_long_trace_has_our_own_count() {
    let repo = TestRepo::new();
    let lines: Vec<String> =
        (0..70).map(|number| format!(r#"{{"type":"dialogue","role":"user","text":"{number}"}}"#)).collect();
    repo.bytes_with(&["commit", "--batch"], lines.join("\n").as_bytes());
    let counted = |commit: &str| {
        let message = repo.git(&["log", "-1", "--format=%B", commit]);
        message.lines().find_map(|line| line.strip_prefix("Trace-Counted: ")).map(str::to_owned)
    };
    assert_eq!(counted("refs/traces/main"), Some(format!("{} o200k_base 2", 70 * 4 + 3)));
    assert_eq!(counted("refs/traces/main~10"), None);
    repo.commit(&["-r", "assistant", "-m", "hello world", "--usage", r#"{"inputTokens":1000,"outputTokens":7}"#]);
    assert_eq!(counted("refs/traces/main"), Some(format!("{} o200k_base 2", 71 * 4 + 4)));
    repo.fsck();
}

#[test]
fn status_shows_counted_tokens_beside_the_reported_size() {
    let repo = TestRepo::new();
    repo.say("a question");
    repo.git(&["config", "trace.window", "1000"]);
    let status = |args: &[&str]| {
        let text = repo.text(&[&["status"], args].concat());
        text.lines()
            .skip(1)
            .take_while(|line| !line.contains("last:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    insta::assert_snapshot!(status(&[]), @"  1 items, 8 tokens (o200k_base), 1% of the window, 1000 tokens, content only\n");
    let usage = r#"{"usage":{"input_tokens":100,"cache_read_input_tokens":50,"cache_creation_input_tokens":20,"output_tokens":7}}"#;
    let answer = repo.commit(&["-r", "assistant", "-m", "an answer", "--usage", usage]);
    repo.say("hello world");
    repo.bytes(&["delete", "#0"]);
    insta::assert_snapshot!(status(&["--window", "2000"]));
    let ids = Regex::new("[0-9a-f]{16}").unwrap();
    let tokens = repo.json(&["status", "--json"])["tokens"].to_string();
    insta::assert_snapshot!(ids.replace_all(&tokens, "[ID]"));
    insta::assert_snapshot!(repo.json(&["show", &answer, "--json"])["usage"]);
    // Neither side of a difference is a report.
    let diff = repo.json(&["diff", "--json", "refs/traces/main~2", "refs/traces/main"]);
    assert_eq!(diff["tokens"], 0, "{diff}");
}

#[test]
fn a_report_of_zero_is_no_report() {
    let repo = TestRepo::new();
    repo.commit(&["-r", "assistant", "-m", "an error", "--usage", r#"{"input_tokens":0,"output_tokens":0}"#]);
    assert_eq!(total(&repo), (8, "counted".to_owned()));
    assert_eq!(repo.json(&["show", "#0", "--json"])["usage"], Value::Null);
}

#[test]
fn a_map_reads_the_usage_of_other_payloads() {
    let repo = TestRepo::new();
    let map = r#"{"prompt":"/stats/in","output":"/stats/out","cache_read":"/stats/cached"}"#;
    repo.git(&["config", "trace.usage.acme", map]);
    let payload = r#"{"stats":{"in":100,"out":7,"cached":60}}"#;
    repo.commit(&["-r", "assistant", "-m", "an answer", "--usage", payload]);
    assert_eq!(total(&repo), (107, "reported".to_owned()));
    let usage = |item: &str| repo.json(&["show", "--json", item])["usage"].clone();
    let parts = json!({"input_tokens": 40, "cache_read_tokens": 60, "cache_write_tokens": 0, "output_tokens": 7});
    assert_eq!(usage("#0"), parts);

    let line = json!({"text": "another", "role": "assistant", "usage": {"stats": {"in": 200, "out": 7}}}).to_string();
    repo.bytes_with(&["commit", "--batch"], line.as_bytes());
    assert_eq!(total(&repo).0, 207);

    let response =
        json!({"choices": [{"message": {"role": "assistant", "content": "ok"}}], "stats": {"in": 300, "out": 7}});
    repo.bytes_with(&["import", "openai", "-"], response.to_string().as_bytes());
    assert_eq!(total(&repo).0, 307);
    assert_eq!(usage("#2")["input_tokens"], 300);

    let session = [
        json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "a question"}}),
        json!({"type": "assistant", "uuid": "a", "parentUuid": "u", "sessionId": "s",
               "message": {"role": "assistant", "id": "m", "content": "an answer", "usage": {"stats": {"in": 400, "out": 7}}}}),
    ];
    let session = session.map(|record| record.to_string()).join("\n");
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "s"], session.as_bytes());
    assert_eq!(repo.json(&["status", "--json", "s"])["tokens"]["reported"]["total"], 407);

    repo.git(&["config", "trace.usage.acme", r#"{"prompt":"stats"}"#]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "x", "--usage", "{}"]), @r#"
    --- stderr
    error: git config `trace.usage.acme` is `{"prompt":"stats"}`, which is not a JSON object with the pointers `output`, `prompt` or `input`, and perhaps `cache_read`, `cache_write`, and `reasoning`, such as {"prompt":"/usage/in","output":"/usage/out"}
    [exit 2]
    "#);
}
