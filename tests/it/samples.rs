//! Real Claude Code sessions, and the texts in them.

use serde_json::Value;

pub(crate) const SAMPLES: [(&str, &[u8]); 5] = [
    ("branching-parallel", include_bytes!("../fixtures/transcripts/claude-code/branching-parallel.jsonl")),
    ("compact-boundary", include_bytes!("../fixtures/transcripts/claude-code/compact-boundary.jsonl")),
    ("dangling-tool-use", include_bytes!("../fixtures/transcripts/claude-code/dangling-tool-use.jsonl")),
    ("large-compacted", include_bytes!("../fixtures/transcripts/claude-code/large-compacted.jsonl")),
    ("small-thinking-tools", include_bytes!("../fixtures/transcripts/claude-code/small-thinking-tools.jsonl")),
];

/// The texts of a transcript and the arguments of its calls, found without the reader.
pub(crate) fn said(bytes: &[u8]) -> Vec<Value> {
    let mut said = Vec::new();
    for line in std::str::from_utf8(bytes).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        said.extend(record.get("summary").cloned());
        if record["type"] == "system" && record["subtype"] == "local_command" {
            said.push(record["content"].clone());
        }
        match &record["message"]["content"] {
            Value::Array(blocks) => said.extend(blocks.iter().map(|block| match block["type"].as_str().unwrap() {
                "tool_result" => match &block["content"] {
                    Value::Array(pieces) => {
                        let texts: Vec<&str> = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
                        texts.join("\n").into()
                    }
                    text => text.clone(),
                },
                "tool_use" => block["input"].clone(),
                kind => block[kind].clone(),
            })),
            Value::Null => {}
            text => said.push(text.clone()),
        }
    }
    said
}
