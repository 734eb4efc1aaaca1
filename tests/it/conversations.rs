//! Files of chat services, evaluations, and data sets: independent conversations, and chats that are a log of edits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::repo::TestRepo;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(name)
}

fn import_file(repo: &TestRepo, name: &str, text: &str, args: &[&str]) -> String {
    fs::write(repo.folder().join(name), text).unwrap();
    repo.trace(&[&["import", name], args].concat())
}

fn names(repo: &TestRepo) -> Vec<String> {
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"]);
    refs.lines().filter_map(|name| name.strip_prefix("refs/traces/")).map(str::to_owned).collect()
}

/// The kinds of items in some traces, each with their number.
fn kinds(repo: &TestRepo, prefix: &str) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut traces = 0;
    for name in names(repo).iter().filter(|name| name.starts_with(prefix)) {
        traces += 1;
        for item in repo.lines(&["export", name]) {
            let of = |name: &str| item[name].as_str().unwrap_or("none").to_owned();
            let kind = match &*of("type") {
                "dialogue" => of("role"),
                "tool_io" => of("direction"),
                "freeform" => of("name"),
                other => other.to_owned(),
            };
            if item["type"].is_string() && item["op"] != "delete" {
                *counts.entry(kind).or_default() += 1;
                assert!(item["direction"] != "result" || item["reply_to"].is_string(), "{name}: {item}");
            }
        }
    }
    let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    format!("{traces} traces: {}", counts.join(", "))
}

#[test]
fn each_conversation_of_a_file_becomes_a_trace() {
    let repo = TestRepo::new();
    let mut page = String::new();
    for (name, prefix) in [
        ("sharegpt/glaive-toolcall.json", "sharegpt/glaive"),
        ("sharegpt/images-messages.json", "sharegpt/images"),
        ("sharegpt/reason-tool-use.jsonl", "sharegpt/reason"),
        ("chatgpt/conversations.json", "chatgpt/"),
        ("claude-export/conversations.json", "claude-export/"),
        ("inspect/security-guide.json", "inspect/"),
    ] {
        let file = sample(name);
        let file = file.to_str().unwrap();
        let before = repo.refs();
        let refused = repo.refused(&["import", file]);
        assert!(refused.contains("it contains several independent conversations"), "{refused}");
        assert_eq!(repo.refs(), before, "{name}");
        repo.text(&["import", file, "--split"]);
        page.extend([name, ": ", &kinds(&repo, prefix), "\n"]);
        let again = repo.text(&["import", file, "--split"]);
        assert!(again.lines().all(|line| line.starts_with("0 imported")), "{again}");
    }
    insta::assert_snapshot!(page);
    let all = names(&repo);
    let named: Vec<&str> = all.iter().map(String::as_str).filter(|name| !name.contains("glaive")).collect();
    insta::assert_snapshot!(named.join("\n"));
    repo.fsck();
}

#[test]
fn conversations_are_named_after_a_trace_or_their_file() {
    let repo = TestRepo::new();
    let file = sample("sharegpt/reason-tool-use.jsonl");
    repo.text(&["--trace", "tuning", "import", file.to_str().unwrap(), "--split"]);
    repo.text(&["--trace", "chats", "import", sample("claude-export/conversations.json").to_str().unwrap(), "--split"]);
    assert!(repo.refs().contains("refs/traces/tuning/0006") && repo.refs().contains("refs/traces/chats/test-conv-2"));
    let input = fs::read(&file).unwrap();
    let output = repo.run(&["import", "sharegpt", "-", "--split"], &input);
    assert!(output.status.success() && repo.refs().contains("refs/traces/sharegpt/conversation/0006"));
    let refused = repo.refused(&["import", sample("pi/session-v3-compaction.jsonl").to_str().unwrap(), "--split"]);
    assert!(refused.contains("a file of `pi` has no independent conversations"), "{refused}");
    // One conversation needs no option, and an id that occurs twice joins nothing.
    let one = json!({"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]});
    import_file(&repo, "one.json", &one.to_string(), &[]);
    assert_eq!(kinds(&repo, "sharegpt/one"), "1 traces: assistant 1, user 1");
    let message = |uuid: &str, text: &str| json!({"uuid": uuid, "sender": "human", "text": text});
    let twice = json!([{"uuid": "x", "chat_messages": [message("1", "a")]}, {"uuid": "x", "chat_messages": [message("2", "b")]}]);
    import_file(&repo, "twice.json", &twice.to_string(), &["--split"]);
    assert_eq!(kinds(&repo, "claude-export/x"), "1 traces: user 1");
    assert_eq!(kinds(&repo, "claude-export/twice/0002"), "1 traces: user 1");
    repo.fsck();
}

fn node(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    json!({"id": id, "parent": parent, "children": [], "message": {"id": id, "author": {"role": role},
        "content": {"content_type": "text", "parts": [text]}}})
}

fn chat(nodes: &[Value], current: &str) -> String {
    let mapping: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap().to_owned(), node.clone())).collect();
    json!([{"title": "t", "conversation_id": "c", "current_node": current, "mapping": mapping}]).to_string()
}

#[test]
fn a_later_export_may_have_another_current_branch() {
    let repo = TestRepo::new();
    let nodes = [
        json!({"id": "root", "children": ["q"], "message": null}),
        node("q", Some("root"), "user", "the question"),
        node("old", Some("q"), "assistant", "the first answer"),
        node("then", Some("old"), "user", "more"),
        node("new", Some("q"), "assistant", "the second answer"),
    ];
    let context = |current: &str| {
        import_file(&repo, "c.json", &chat(&nodes, current), &[]);
        repo.text(&["materialize", "--format", "text", "chatgpt/c"])
    };
    let first = context("new");
    assert!(first.contains("the second answer") && !first.contains("the first answer"), "{first}");
    let second = context("then");
    assert!(second.contains("the first answer\n") && second.contains("more"), "{second}");
    assert!(!second.contains("the second answer"), "{second}");
    assert_eq!(context("new"), first);
    repo.fsck();
}

#[test]
fn calls_of_chatgpt_are_answered_by_the_next_tool() {
    let repo = TestRepo::new();
    let mut call = node("call", Some("q"), "assistant", "");
    call["message"]["recipient"] = "python".into();
    call["message"]["content"] = json!({"content_type": "code", "language": "python", "text": "1+1"});
    let mut result = node("result", Some("call"), "tool", "");
    result["message"]["content"] = json!({"content_type": "execution_output", "text": "2"});
    let mut thought = node("thought", Some("result"), "assistant", "");
    thought["message"]["content"] =
        json!({"content_type": "thoughts", "thoughts": [{"summary": "Sum", "content": "It is 2."}]});
    let mut image = node("image", Some("thought"), "user", "look");
    image["message"]["content"] = json!({"content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "look"]});
    let mut new = node("new", Some("image"), "assistant", "");
    new["message"]["content"] = json!({"content_type": "something_new", "text": "kept"});
    let nodes = [node("q", None, "user", "sum"), call, result, thought, image, new];
    import_file(&repo, "c.json", &chat(&nodes, "new"), &[]);
    assert_eq!(
        kinds(&repo, "chatgpt/"),
        "1 traces: call 1, image_asset_pointer 1, reasoning 1, result 1, something_new 1, title 1, user 2"
    );
    repo.fsck();
}

#[test]
fn hostile_conversations_are_items_or_one_error() {
    let repo = TestRepo::new();
    // A cycle of parents, a parent of itself, and ids that occur twice.
    let nodes = [
        node("a", Some("b"), "user", "one"),
        node("b", Some("a"), "assistant", "two"),
        node("s", Some("s"), "user", "three"),
    ];
    import_file(&repo, "cycle.json", &chat(&nodes, "b"), &["--trace", "cycle"]);
    assert_eq!(kinds(&repo, "cycle"), "1 traces: assistant 1, title 1, user 2");
    let message = |text: &str| json!({"uuid": "same", "sender": "human", "text": text, "parent_message_uuid": "same"});
    let same = json!({"uuid": "u", "chat_messages": [message("one"), message("two"), message("one")]});
    import_file(&repo, "same.json", &format!("\u{feff}{same:#}").replace('\n', "\r\n"), &["--trace", "same"]);
    assert_eq!(kinds(&repo, "same"), "1 traces: user 2");
    // Half a pair of surrogates; deep nesting.
    let half = r#"{"conversations":[{"from":"human","value":"half \ud83d"},{"from":"gpt","value":"b"}]}"#;
    import_file(&repo, "half.jsonl", half, &["--trace", "half"]);
    assert!(repo.text(&["export", "half"]).contains("half \u{fffd}"));
    for (name, format, deep) in [
        (
            "list",
            "sharegpt",
            format!(
                "{{\"conversations\":[{{\"from\":\"human\",\"value\":{}1{}}}]}}",
                "[".repeat(50_000),
                "]".repeat(50_000)
            ),
        ),
        (
            "runs",
            "langsmith",
            format!(
                "{{\"trace_id\":\"t\",\"dotted_order\":\"x\",\"run_type\":\"llm\",\"inputs\":{}1{}}}",
                "{\"output\":[".repeat(20_000),
                "]}".repeat(20_000)
            ),
        ),
        (
            "tree",
            "vscode-copilot",
            format!(
                "{{\"responderUsername\":\"x\",\"requests\":[{{\"requestId\":\"r\",\"message\":{{\"text\":\"q\"}},\"result\":{{\"metadata\":{{\"toolCallRounds\":[{{\"response\":\"\",\"toolCalls\":[{{\"id\":\"c\",\"name\":\"n\",\"arguments\":\"{{}}\"}}]}}],\"toolCallResults\":{{\"c\":{{\"content\":[{{\"value\":{{\"node\":{}1{}}}}}]}}}}}}}}}}]}}",
                "{\"children\":[".repeat(20_000),
                "]}".repeat(20_000)
            ),
        ),
    ] {
        fs::write(repo.folder().join(name), deep).unwrap();
        let output = repo.run(&["import", format, name, "--trace", name], b"");
        assert!(
            output.status.code().is_some_and(|status| status < 2),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    // Damage in one of several conversations is named; the others are there.
    fs::write(repo.folder().join("damaged.jsonl"), format!("{half}\nnot json\n\u{feff}{half}\n{half}\n")).unwrap();
    let output = repo.run(&["import", "sharegpt", "damaged.jsonl", "--split"], b"");
    assert_eq!(output.status.code(), Some(1));
    repo.fsck();
}

#[test]
fn a_long_first_conversation_is_recognized_by_its_start() {
    let repo = TestRepo::new();
    let long = "word ".repeat(80_000);
    let text = chat(&[node("a", None, "user", "hello"), node("b", Some("a"), "assistant", &long)], "b");
    assert!(import_file(&repo, "export.json", &text, &[]).contains("3 imported into trace `chatgpt/c`"));
    let turns = json!([{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": long}]}]);
    assert!(import_file(&repo, "set.json", &turns.to_string(), &[]).contains("2 imported into trace `sharegpt/set`"));
}

#[test]
fn files_stand_where_their_marks_are() {
    let repo = TestRepo::new();
    let record = json!({"messages": [{"role": "user", "content": "first <image> then <video>end <image>"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nyes <tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>"},
        {"role": "tool", "content": "done"}], "images": ["1.jpg", "data:image/png;base64,iVBORw0KGgo="], "videos": ["1.mp4"]});
    import_file(&repo, "files.json", &record.to_string(), &["--trace", "t"]);
    let items: Vec<String> = repo
        .lines(&["export", "t"])
        .iter()
        .filter(|item| item["type"].is_string())
        .map(|item| format!("{} {}", item["type"].as_str().unwrap(), item["text"].as_str().unwrap_or("(bytes)")))
        .collect();
    insta::assert_snapshot!(items.join("\n"));
}

#[test]
fn what_export_writes_for_fine_tuning_is_read_again() {
    for (format, name) in [
        ("claude-code", "claude-code/branching-parallel.jsonl"),
        ("codex", "codex/rollout-small.jsonl"),
        ("gemini-cli", "gemini-cli/session-chat.json"),
        ("pi", "pi/session-v1.jsonl"),
        ("sharegpt", "sharegpt/reason-tool-use.jsonl"),
    ] {
        let repo = TestRepo::new();
        let split: &[&str] = if format == "sharegpt" { &["--split"] } else { &[] };
        repo.text(&[&["--trace", "t", "import", format, sample(name).to_str().unwrap()], split].concat());
        for (document, reader) in [("sharegpt", "sharegpt"), ("chatml", "openai")] {
            let of = |name: &str| repo.text(&["export", document, name]);
            let traces: Vec<&str> = if split.is_empty() { vec!["t"] } else { vec!["t/0002", "t/0003"] };
            for trace in traces {
                let written = of(trace);
                let back = format!("back-{document}-{}", trace.replace('/', "-"));
                fs::write(repo.folder().join("back.json"), &written).unwrap();
                repo.text(&["--trace", &back, "import", reader, "back.json"]);
                // Ids of calls are not in ShareGPT, and written again they are the same.
                let again = of(&back);
                if document == "sharegpt" {
                    assert_eq!(again, written, "{name}");
                } else {
                    let texts = |text: &str| serde_json::from_str::<Value>(text).unwrap()["messages"].clone();
                    assert_eq!(texts(&again), texts(&written), "{name}");
                }
            }
        }
        repo.fsck();
    }
}

#[test]
fn a_list_of_chat_completions_is_read_as_requests() {
    let repo = TestRepo::new();
    let one = |text: &str| json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": text}, {"role": "assistant", "content": "a"}]});
    let list = json!([one("x"), one("y")]);
    fs::write(repo.folder().join("list.json"), format!("{list:#}")).unwrap();
    assert!(repo.refused(&["import", "list.json"]).contains("2 independent conversations"));
    let imported = repo.text(&["import", "list.json", "--split"]);
    assert!(imported.contains("3 imported into trace `openai/list/0002`"), "{imported}");
}

#[test]
fn edits_at_ever_longer_paths_nest_no_value_without_a_limit() {
    let repo = TestRepo::new();
    let nested = format!("{}null{}", "{\"a\":".repeat(120), "}".repeat(120));
    let start = json!({"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": []}});
    let edit = |number: usize| {
        let path = ",\"a\"".repeat(120 * number);
        format!("\n{{\"kind\":1,\"k\":[\"b\"{path}],\"v\":{nested}}}")
    };
    let edits: String = (0..250).map(edit).collect();
    fs::write(repo.folder().join("s.jsonl"), format!("{start}{edits}\n")).unwrap();
    let output = repo.run(&["import", "vscode-copilot", "s.jsonl"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
}

#[test]
fn a_log_of_edits_is_replayed() {
    let repo = TestRepo::new();
    let request = |id: &str, text: &str, result: Value| {
        json!({"requestId": id, "timestamp": 1_770_580_257_491_u64, "message": {"text": text}, "response": [{"value": format!("re {text}")}],
            "modelId": "copilot/x", "result": result})
    };
    let done = json!({"timings": {}});
    let lines = [
        json!({"kind": 0, "v": {"version": 3, "sessionId": "s", "responderUsername": "GitHub Copilot", "requests": [request("a", "one", done.clone())]}}),
        json!({"kind": 2, "k": ["requests"], "v": [request("b", "two", Value::Null)]}),
        json!({"kind": 1, "k": ["requests", 1, "result"], "v": done}),
        json!({"kind": 1, "k": ["customTitle"], "v": "Titled"}),
        json!({"kind": 2, "k": ["requests"], "i": 1, "v": [request("c", "three", done.clone())]}),
        json!({"kind": 2, "k": ["requests"], "v": [request("d", "four", Value::Null)]}),
    ];
    let text = |count: usize| lines[..count].iter().map(|line| format!("{line}\n")).collect::<String>();
    // The second request has no result yet.
    let said = import_file(&repo, "s.jsonl", &text(2), &[]);
    assert!(said.contains("2 imported into trace `vscode-copilot/s`") && said.contains("not complete yet"), "{said}");
    import_file(&repo, "s.jsonl", &text(4), &[]);
    assert_eq!(kinds(&repo, "vscode-copilot/"), "1 traces: assistant 2, title 1, user 2");
    import_file(&repo, "s.jsonl", &text(6), &[]);
    let context = repo.text(&["materialize", "--format", "text", "vscode-copilot/s"]);
    assert!(context.contains("re three") && context.contains("re one"), "{context}");
    assert!(!context.contains("two") && !context.contains("four"), "{context}");
    // A line that is no edit, and an edit of something that is not there, are damage.
    let odd = format!("{}{}\nnot json\n", text(3), json!({"kind": 1, "k": ["requests", 9, "x"], "v": 1}));
    fs::write(repo.folder().join("odd.jsonl"), odd).unwrap();
    let output = repo.run(&["import", "odd.jsonl", "--trace", "odd"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    repo.fsck();
}

#[test]
fn chats_of_vs_code_are_found_by_the_folder_of_their_workspace() {
    let repo = TestRepo::new();
    let here = repo.folder().canonicalize().unwrap();
    let workspace = repo.home().join(".config/Code/User/workspaceStorage/1f/");
    fs::create_dir_all(workspace.join("chatSessions")).unwrap();
    let uri = format!("file://{}", here.to_str().unwrap().replace('t', "%74"));
    fs::write(workspace.join("workspace.json"), json!({"folder": uri}).to_string()).unwrap();
    fs::copy(sample("vscode-copilot/chat-session-log.jsonl"), workspace.join("chatSessions/7de89a80.jsonl")).unwrap();
    assert!(
        repo.text(&["import", "vscode-copilot"])
            .contains("imported into trace `vscode-copilot/7de89a80-6d93-43e7-be0a-0a9afe980198`")
    );
    assert!(repo.text(&["import", "--all"]).contains("0 imported"));
}

#[test]
fn logs_of_inspect_have_usage_attachments_and_an_archive() {
    let repo = TestRepo::new();
    let text = fs::read_to_string(sample("inspect/browser-tools.json")).unwrap();
    let content = "Use the web browser tool to navigate to https://www.aisi.gov.uk/. Then, see if";
    assert!(import_file(&repo, "log.json", &text, &[]).contains("_1_epoch_1`"));
    let trace = "inspect/ZB2vu5GNujYaBdPSReCeop_1_epoch_1";
    assert_eq!(kinds(&repo, "inspect/"), "1 traces: assistant 1, call 4, result 4, user 1");
    let usage = |trace: &str| {
        repo.lines(&["export", trace])
            .iter()
            .map(|item| item["meta"]["usage"]["output_tokens"].as_u64().unwrap_or_default())
            .sum::<u64>()
    };
    assert!((1..=281).contains(&usage(trace)), "{}", usage(trace));
    let long = format!("\"content\": \"{content}");
    assert!(text.contains(&long));
    let mut log: Value = serde_json::from_str(&text).unwrap();
    log["samples"][0]["messages"][0]["content"] = "attachment://56c151821a08a09f93e9b2f18d02cd5f".into();
    log["samples"][0]["id"] = "other".into();
    import_file(&repo, "attached.json", &log.to_string(), &["--trace", "attached"]);
    assert!(repo.text(&["export", "attached"]).contains(content));

    let archive = fs::read(sample("inspect/popularity.eval")).unwrap();
    fs::write(repo.folder().join("log.eval"), &archive).unwrap();
    assert!(
        repo.trace(&["import", "log.eval"])
            .contains("3 imported into trace `inspect/PV42ZvREM6CdVdjeiEGW9e_1_epoch_1`")
    );
    // Archives that are compressed in another way, or are something else.
    let other: Vec<u8> = [&archive[..8], &[93, 0], &archive[10..]].concat();
    fs::write(repo.folder().join("zstd.eval"), other).unwrap();
    assert!(repo.refused(&["import", "zstd.eval"]).contains("inspect log dump"));
    for cut in [20, 60, 900, archive.len() / 2] {
        fs::write(repo.folder().join("cut.eval"), &archive[..cut]).unwrap();
        let output = repo.run(&["import", "inspect", "cut.eval", "--trace", "cut"], b"");
        assert!(output.status.code().is_some_and(|status| status <= 2), "{cut}");
    }
    // The length of the first part is wrong, so what follows is no part.
    let wrong: Vec<u8> = [&archive[..18], &[1, 0, 0, 0], &archive[22..]].concat();
    fs::write(repo.folder().join("wrong.eval"), wrong).unwrap();
    assert!(repo.refused(&["import", "inspect", "wrong.eval"]).contains("no inspect record"));
    repo.fsck();
}

#[test]
fn runs_and_traces_of_langchain_programs_are_read_once() {
    let repo = TestRepo::new();
    let file = sample("langfuse/langgraph-trace.json");
    repo.text(&["--trace", "fuse", "import", file.to_str().unwrap()]);
    assert_eq!(kinds(&repo, "fuse"), "1 traces: assistant 1, call 1, result 1, user 1");
    // Messages as LangChain serializes them, with a second run that repeats them, and another conversation.
    let message = |class: &str, kwargs: Value| json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": kwargs});
    let call = json!([{"id": "c1", "name": "grep", "args": {"a": 1}}]);
    let asked = message("HumanMessage", json!({"content": "find it"}));
    let called = message(
        "AIMessage",
        json!({"content": "", "tool_calls": call, "additional_kwargs": {"tool_calls": [{"id": "c1", "function": {"name": "grep", "arguments": "{\"a\":1}"}}]}}),
    );
    let found = json!({"type": "tool", "data": {"content": "here", "tool_call_id": "c1", "status": "success"}});
    let told = json!({"type": "ai", "content": "It is here.", "usage_metadata": {"input_tokens": 9, "output_tokens": 4, "input_token_details": {"cache_read": 2}}, "response_metadata": {"model_name": "m"}});
    let run = |id: &str, trace: &str, inputs: Value, outputs: Value| {
        json!({"id": id, "trace_id": trace, "dotted_order": id, "run_type": "llm", "parent_run_id": "p",
        "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z", "inputs": inputs, "outputs": outputs})
    };
    let runs = [
        run(
            "1",
            "t",
            json!({"messages": [[asked.clone()]]}),
            json!({"generations": [[{"text": "", "message": called.clone()}]]}),
        ),
        run("2", "t", json!({"messages": [[asked, called, found]]}), json!({"generations": [[{"message": told}]]})),
        run(
            "3",
            "other",
            json!({"messages": [{"role": "user", "content": "else"}]}),
            json!({"choices": [{"message": {"role": "assistant", "content": "ok"}}]}),
        ),
    ];
    for (name, text) in [
        ("runs.jsonl", runs.iter().map(|run| format!("{run}\n")).collect::<String>()),
        ("list.json", json!(runs).to_string()),
    ] {
        import_file(&repo, name, &text, &["--trace", name]);
        assert_eq!(kinds(&repo, name), "2 traces: assistant 2, call 1, result 1, user 2", "{name}");
        let usage = repo.lines(&["export", name]).iter().filter(|item| item["meta"]["usage"].is_object()).count();
        assert_eq!(usage, 1, "{name}");
    }
    repo.fsck();
}
