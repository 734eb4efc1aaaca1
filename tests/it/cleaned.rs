//! Sessions that are cleaned and exported: the agent that resumes one gets what the cleaned trace holds.

use serde_json::Value;

use crate::repo::TestRepo;
use crate::samples::SAMPLES;

const OTHERS: [(&str, &[u8]); 3] = [
    ("codex", include_bytes!("../fixtures/transcripts/codex/rollout-small.jsonl")),
    ("codex", include_bytes!("../fixtures/transcripts/codex/rollout-record-matrix.jsonl")),
    ("gemini-cli", include_bytes!("../fixtures/transcripts/gemini-cli/session-chat.json")),
];

/// The messages of the trace `main`, except for what an export must change: it leaves out blank texts, answers calls without a
/// result, and writes arguments and ids of calls in the form that the agent accepts.
fn sent(repo: &TestRepo) -> Vec<Value> {
    let view = repo.json(&["materialize", "--json", "--aggregate", "none"]);
    let mut messages = view["messages"].as_array().unwrap().clone();
    let blocks = messages.iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
    for block in blocks.filter(|block| block["call_id"].is_string()) {
        let id = block["call_id"].as_str().unwrap();
        block["call_id"] = id.replace(|char: char| !char.is_ascii_alphanumeric(), "_").into();
        if let Some(arguments) = block["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok()) {
            block["arguments"] = arguments;
        }
    }
    let is_blank = |message: &Value| message["content"].as_str().is_some_and(|text| text.trim().is_empty());
    let is_answer = |message: &Value| message["content"][0]["text"] == "(no result was recorded)";
    messages.retain(|message| !is_blank(message) && !is_answer(message));
    messages
}

#[test]
fn a_resumed_session_holds_the_cleaned_messages() {
    let samples = SAMPLES.into_iter().map(|(_, bytes)| ("claude-code", bytes)).chain(OTHERS);
    for (format, bytes) in samples {
        let repo = TestRepo::new();
        repo.bytes_with(&["import", format, "-", "--trace", "main"], bytes);
        // Three steps, because some samples have few.
        repo.text(&["clean", "--yes", "--in-place", "--preset", "aggressive", "--keep", "3"]);
        let session = repo.bytes(&["export", format, "main", "-o", "-"]);
        let resumed = TestRepo::new();
        resumed.bytes_with(&["import", format, "-", "--trace", "main"], &session);
        assert_eq!(sent(&repo), sent(&resumed));
    }
}
