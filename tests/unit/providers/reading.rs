//! Written requests and the responses of providers read back as items.

use crate::message::read::read;
use crate::tokens::UsageReader;
use crate::trace::change::bulk;
use crate::transcript::api_request;
use serde_json::value::RawValue;

use super::*;

/// The role and the text of each block.
fn flat(messages: &[Message]) -> Vec<(Role, Content)> {
    messages.iter().flat_map(|of| of.blocks.iter().map(|block| (of.role, block.content.clone()))).collect()
}

fn read_back(api: Api, text: &str) -> Vec<Message> {
    let document: &RawValue = serde_json::from_str(text).unwrap();
    let reading = read(api, document);
    assert_eq!(reading.faults, []);
    assert_eq!(reading.messages.len(), reading.paths.len());
    reading.messages
}

/// Messages that a provider accepts verbatim: every call is answered at once, its own thoughts come before what they led
/// to, files from the user.
fn carried(api: Api) -> impl Strategy<Value = Vec<Message>> {
    let text = || prop::sample::select(vec!["a", "b\nc", "ä \"q\" \\ /"]).prop_map(str::to_owned);
    let signed = move |value: &str| {
        let id = (api == Api::Responses).then(|| "rs_1".to_owned());
        Some(Signature { by: Some(api), id, ..Signature::new(value.to_owned()) })
    };
    let thought = prop::option::of(prop::sample::select(vec!["", "hm"]))
        .prop_map(move |said| said.filter(|_| api != Api::OpenAi).map(|said| thought(said, signed("c2ln"))));
    let status = prop::sample::select(match api {
        Api::Anthropic => vec![None, Some(Status::Ok), Some(Status::Error)],
        Api::Gemini => vec![None, Some(Status::Error)],
        _ => vec![None],
    });
    let arguments = prop::sample::select(vec!["{}", r#"{"b":1.0,"a":[1e2]}"#]);
    let user = text().prop_map(|text| vec![say(Role::User, &text)]);
    let shown = text().prop_map(|text| {
        let media_type = Some("image/png".to_owned());
        let bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        let image = Content::Artifact { kind: None, path: None, language: None, media_type, bytes };
        vec![Message { role: Role::User, name: None, blocks: vec![block(Content::Text(text)), block(image)] }]
    });
    let spoken = (thought, text(), prop::collection::vec((arguments, status, text()), 0..3)).prop_map(
        |(thought, text, calls)| {
            let mut said: Vec<Block> = thought.into_iter().chain([block(Content::Text(text))]).collect();
            let mut results = Vec::new();
            for (arguments, status, text) in calls {
                said.push(call("", arguments));
                let content = Content::ToolResult { call_id: String::new(), name: None, status, text };
                results.push(Message { role: Role::Tool, name: None, blocks: vec![block(content)] });
            }
            [vec![model(said)], results].concat()
        },
    );
    prop::collection::vec(prop_oneof![user, shown, spoken], 1..6).prop_map(|all| {
        let mut messages = [vec![say(Role::System, "Be careful."), say(Role::User, "Go.")], all.concat()].concat();
        // Each call its own id, and its result the same.
        let (mut calls, mut results) = (0, 0);
        for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
            match &mut block.content {
                Content::ToolCall { call_id, .. } => {
                    *call_id = format!("c{calls}");
                    calls += 1;
                }
                Content::ToolResult { call_id, .. } => {
                    *call_id = format!("c{results}");
                    results += 1;
                }
                _ => {}
            }
        }
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn written_requests_read_back(all in (carried(APIS[0]), carried(APIS[1]), carried(APIS[2]), carried(APIS[3]))) {
        for (api, messages) in APIS.into_iter().zip([all.0, all.1, all.2, all.3]) {
            let (text, changes) = write(api, &messages);
            prop_assert_eq!(changes, []);
            prop_assert_eq!(flat(&read_back(api, &text)), flat(&messages));
        }
    }

    /// Whatever it was, once it is a provider's it stays what it is.
    #[test]
    fn read_requests_are_written_alike(messages in any_messages()) {
        for api in APIS {
            let (text, _) = write(api, &messages);
            let (again, changes) = write(api, &read_back(api, &text));
            prop_assert_eq!(&again, &text, "{} {:?}", api, changes);
        }
    }

    #[test]
    fn any_json_reads_as_messages_or_errors(text in r#"([\[\]{},:]|"(role|content|user|messages|parts|text|type|input)"|1|null){0,12}"#) {
        for api in APIS {
            for line in [text.as_str(), &format!("[{text}]"), &format!("{{{text}}}")] {
                let items = api_request::items(api, line, &UsageReader::default());
                prop_assert!(items.faults.iter().all(|fault| fault.path.starts_with("line ")));
            }
        }
    }
}

/// The role, call and body of every item, without those of a type.
fn bodies(sample: &Sample, without: &str) -> Vec<(Option<Role>, Option<String>, Vec<u8>)> {
    let view = View::open(&sample.repo, &sample.name, None).unwrap();
    let mut all = Vec::new();
    view.for_each_item(&sample.repo, |slot, reading| {
        let item = reading.item;
        if view.left_out(slot).is_none() && item.fields.item_type.as_str() != without {
            all.push((item.fields.role, item.fields.call_id, item.body));
        }
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn a_session_round_trips_through_every_provider() {
    let sample = Sample::of_transcript(SMALL);
    for api in APIS {
        let without = if api == Api::Anthropic { "" } else { "reasoning" };
        let (text, _) = sample.written(api);
        let other = Sample::new();
        let import = |text: &str| {
            let mut items = api_request::items(api, text, &UsageReader::default());
            assert_eq!(items.faults, []);
            bulk::import(&other.trace(0), &mut items.conversations[0].incoming).unwrap()
        };
        assert!(import(&text).recorded > 0);
        // A call's arguments are compacted by nobody: they come back byte for byte.
        assert_eq!(bodies(&other, without), bodies(&sample, without), "{api}");
        assert_eq!(import(&format!("{text}\n{text}")).recorded, 0);
        assert_eq!(other.written(api), (text, vec![]));
    }
}

#[test]
fn requests_and_responses_in_a_row_are_one_conversation() {
    let lines = [
        r#"{"model":"m","messages":[{"role":"user","content":"go on"}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"ok"}}],"usage":{}}"#,
        r#"{"messages":[{"role":"user","content":"go on"},{"role":"assistant","content":"ok"},{"role":"user","content":"go on"}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"ok"}}]}"#,
    ];
    let sample = Sample::new();
    let mut items = api_request::items(Api::OpenAi, &lines.join("\n"), &UsageReader::default());
    bulk::import(&sample.trace(0), &mut items.conversations[0].incoming).unwrap();
    let said: Vec<String> =
        bodies(&sample, "").into_iter().map(|(_, _, body)| String::from_utf8(body).unwrap()).collect();
    assert_eq!(said, ["go on", "ok", "go on", "ok"]);
}

#[test]
fn independent_conversations_are_told_apart() {
    let request = |texts: &[&str]| {
        let message = |(at, text): (usize, &&str)| serde_json::json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": text});
        let mut messages = vec![serde_json::json!({"role": "system", "content": "be brief"})];
        messages.extend(texts.iter().enumerate().map(message));
        serde_json::json!({"messages": messages}).to_string()
    };
    let counts_of = |lines: &[String]| {
        let items = api_request::items(Api::OpenAi, &lines.join("\n"), &UsageReader::default());
        let ids = |one: &api_request::Conversation| {
            one.incoming.iter().map(|incoming| incoming.item.id).collect::<std::collections::HashSet<_>>().len()
        };
        items.conversations.iter().map(ids).collect::<Vec<_>>()
    };
    let count = |requests: &[&[&str]]| counts_of(&requests.iter().map(|texts| request(texts)).collect::<Vec<_>>());
    // A longer request, another conversation, one that shares a single message, and the other conversation again.
    assert_eq!(
        count(&[&["a"], &["a", "b", "c"], &["x", "y", "z"], &["c", "d"], &["x", "y", "z", "w", "v"]]),
        [4, 6, 3]
    );
    assert_eq!(count(&[&["a", "b", "c", "d"], &["c", "d", "e"]]), [6]);
    // A request of one message starts a conversation, and a response continues the last one.
    let lines = [
        r#"{"messages":[{"role":"user","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"x"}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"y"}}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
    ];
    assert_eq!(counts_of(&lines.map(str::to_owned)), [2, 2]);
    // The same greeting, or the same answer, is no connection.
    assert_eq!(count(&[&["hello", "b"], &["hello", "c"], &["d", "c"], &["d", "c"]]), [3, 3, 3]);
}

#[test]
fn invalid_parts_are_named_and_the_rest_is_imported() {
    let mut page = String::new();
    for (api, text) in [
        (
            Api::OpenAi,
            r#"{"messages":[{"role":"user","content":7},{"role":"owner"},{"role":"user","content":"a"},{"content":"b"}]}"#,
        ),
        (
            Api::Responses,
            r#"{"input":[{"type":"function_call","name":"x"},{"role":"user","content":[{"type":"input_text"},{"type":"input_text","text":"a"}]}]}"#,
        ),
        (
            Api::Anthropic,
            "{\"messages\":[]}\n{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\"},{\"type\":\"text\",\"text\":\"a\"}]}]}\n{",
        ),
        (
            Api::Gemini,
            r#"{"contents":[{"role":"system","parts":[]},{"parts":[{"inlineData":{"data":"aa"}},{"text":"a"}]}]}"#,
        ),
        (Api::Gemini, r#"{"error":{}}"#),
    ] {
        let items = api_request::items(api, text, &UsageReader::default());
        writeln!(page, "--- {api}").unwrap();
        for fault in &items.faults {
            writeln!(page, "{fault}").unwrap();
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn unknown_parts_are_kept() {
    let text = r#"{"input":[{"type":"web_search_call","id":"w"},{"type":"reasoning","id":"rs_9","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"gA"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}]}"#;
    let messages = read_back(Api::Responses, text);
    assert_eq!(messages.len(), 1, "thoughts, calls and words in a row are one message");
    insta::assert_snapshot!(write(Api::Responses, &messages).0);
    let without_ids = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"s"},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":1}}},{"functionResponse":{"name":"f","response":{"error":"no"}}}]}]}"#;
    insta::assert_snapshot!(write(Api::Gemini, &read_back(Api::Gemini, without_ids)).0);
}
