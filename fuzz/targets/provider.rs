//! Any text as a request or response of each provider: the parsed messages give valid JSON for every provider.
//!
//! The first byte selects the provider.

use crate::message::anthropic::CacheMarks;
use crate::message::read::read;
use crate::message::{Api, Message, messages, text, write};
use crate::tokens::UsageReader;
use crate::transcript::api_request;
use serde_json::Value;
use serde_json::value::RawValue;

const APIS: [Api; 4] = [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Gemini];

fn written(api: Api, messages: &[Message], cache_marks: usize) -> String {
    let mut out = Vec::new();
    let marks = CacheMarks { count: cache_marks, pinned_messages: 1 };
    write(api, messages, marks, &mut out).expect("a vector takes every write");
    String::from_utf8(out).expect("JSON is text")
}

/// Users and models alternate, and every result directly follows its call.
fn check_turns(request: &Value) {
    let messages = request["messages"].as_array().expect("a list of messages");
    let blocks = |message: &Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let of_kind = blocks.filter(|block| block["type"] == kind);
        of_kind.map(|block| block[id].as_str().unwrap_or_default().to_owned()).collect()
    };
    for pair in messages.windows(2) {
        assert_ne!(pair[0]["role"], pair[1]["role"], "two turns of one side");
        let mut calls = blocks(&pair[0], "tool_use", "id");
        let mut results = blocks(&pair[1], "tool_result", "tool_use_id");
        calls.sort_unstable();
        results.sort_unstable();
        assert_eq!(calls, results, "every call is answered at once");
    }
}

pub(super) fn run(data: &[u8]) {
    let [pick, bytes @ ..] = data else { return };
    let Ok(said) = std::str::from_utf8(bytes) else { return };
    let api = APIS[usize::from(*pick) % APIS.len()];
    let items = api_request::items(api, said, &UsageReader::default());
    assert!(items.faults.iter().all(|fault| fault.path.starts_with("line ")));
    let Ok(document) = serde_json::from_str::<&RawValue>(said) else { return };
    let reading = read(api, document);
    assert_eq!(reading.messages.len(), reading.paths.len());
    assert!(reading.messages.iter().all(|message| !message.blocks.is_empty()));

    for api in APIS {
        let request = written(api, &reading.messages, 0);
        let value: Value = serde_json::from_str(&written(api, &reading.messages, 4)).expect("valid JSON");
        if api == Api::Anthropic {
            check_turns(&value);
        }
        let again = read(api, serde_json::from_str(&request).expect("valid JSON"));
        assert_eq!(again.faults, [], "what we write is what the provider takes");
        assert_eq!(written(api, &again.messages, 0), request, "what was read is written alike");
    }
    let mut out = Vec::new();
    messages::write(&reading.messages, &mut out).expect("a vector takes every write");
    serde_json::from_slice::<Vec<Value>>(&out).expect("valid JSON");
    text::write(&reading.messages, &mut out).expect("a vector takes every write");
}
