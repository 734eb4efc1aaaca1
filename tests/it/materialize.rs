//! Messages of a trace: what is left out or added, and what is said about it.

use serde_json::json;

use crate::repo::TestRepo;

#[test]
fn a_trace_without_items_is_an_empty_request() {
    let repo = TestRepo::new();
    repo.text(&["init", "idea"]);
    for (format, expected) in [
        ("messages", "[]\n"),
        ("openai", "[]\n"),
        ("responses", "[]\n"),
        ("anthropic", "{\"messages\":[]}\n"),
        ("gemini", "{\"contents\":[]}\n"),
        ("text", ""),
    ] {
        let answer = repo.trace(&["materialize", "--format", format]);
        assert_eq!(answer, format!("{expected}--- stderr\ntrace `idea` has no items\n[exit 0]"));
    }
    let envelope = repo.json(&["materialize", "--json"]);
    assert_eq!((&envelope["messages"], &envelope["tokens"]["total"]), (&json!([]), &json!(0)));
    insta::assert_snapshot!(repo.trace(&["materialize", "--as-of", "2026-02-10T08:00:00Z"]), @"
    []
    --- stderr
    trace `idea` has no items at that time
    [exit 0]
    ");
    repo.say("one");
    insta::assert_snapshot!(repo.trace(&["materialize", "--as-of", "2001-01-01T00:00:00Z"]), @"
    []
    --- stderr
    trace `idea` has no items at that time
    [exit 0]
    ");
    repo.text(&["delete", "#0"]);
    insta::assert_snapshot!(repo.trace(&["materialize"]), @"
    []
    --- stderr
    trace `idea` has no items
    [exit 0]
    ");
    repo.git(&["config", "trace.materializer", "wc -c | tr -d ' '"]);
    insta::assert_snapshot!(repo.trace(&["materialize", "--as-of", "2001-01-01T00:00:00Z"]), @"
    0
    --- stderr
    trace `idea` has no items at that time
    [exit 0]
    ");
}

#[test]
fn shortened_items_have_their_own_subjects_and_speakers() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "-p", "normal", "-s", "The rules", "-m", "Be careful."]);
    repo.commit(&["-r", "assistant", "-s", "A greeting", "-m", "Good morning!"]);
    repo.commit(&["--name", "Eve", "-s", "What Eve asked", "-m", "Where?"]);
    repo.commit(&["--name", "Bob", "-m", "When?"]);
    repo.commit(&["-t", "tool_io", "-r", "assistant", "--name", "ls", "--call-id", "c1", "-s", "Listing", "-m", "{}"]);
    repo.commit(&["-t", "tool_io", "--reply-to", "#4", "-s", "A file", "-m", "a.rs"]);
    repo.text(&["edit", "#3", "-s", "What Bob asked", "-m", "When exactly?"]);
    repo.say("last");
    insta::assert_snapshot!(repo.trace(&["materialize", "--recent", "1"]), @r#"
    [
    {"role":"system","content":"The rules"},
    {"role":"assistant","content":"A greeting"},
    {"role":"user","name":"Eve","content":"What Eve asked"},
    {"role":"user","name":"Bob","content":"What Bob asked"},
    {"role":"assistant","content":"Listing"},
    {"role":"user","content":"A file"},
    {"role":"user","content":"last"}
    ]
    --- stderr
    [ID], [ID], [ID], [ID], [ID] and 1 more: shortened to their subjects: not among the newest
    [exit 0]
    "#);
    let anthropic = repo.json(&["materialize", "--recent", "1", "--format", "anthropic"]);
    assert_eq!(anthropic["messages"][0]["content"][0]["text"], "(the assistant speaks first)");
    assert_eq!(anthropic["messages"][1]["content"][0]["text"], "A greeting");
}
