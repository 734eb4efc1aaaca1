//! `git trace mcp`: what a model receives from its tools. `tests/mcp/run` drives the server with real clients.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use git_trace::Encoding;
use serde_json::{Value, json};

use crate::repo::TestRepo;
use crate::samples::SAMPLES;

/// Sends requests and returns the answers.
fn serve(repo: &TestRepo, args: &[&str], lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = repo.run(&[&["mcp"], args].concat(), input.as_bytes());
    assert!(output.status.success() && output.stderr.is_empty(), "{}", repo.exact(&output));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A request of revision 2026-07-28.
fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// The results of calls.
fn results(repo: &TestRepo, calls: &[(&str, Value)]) -> Vec<Value> {
    let lines: Vec<_> = calls.iter().enumerate().map(|(id, (tool, arguments))| call(id, tool, arguments)).collect();
    serve(repo, &["--tools", "all"], &lines).into_iter().map(|mut answer| answer["result"].take()).collect()
}

fn result(repo: &TestRepo, tool: &str, arguments: Value) -> Value {
    results(repo, &[(tool, arguments)]).remove(0)
}

/// All text of a result.
fn content(result: &Value) -> Vec<&str> {
    result["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect()
}

/// The tokens that a client puts before a model: `content`, `structuredContent`, or, at worst, the larger one.
fn received(result: &Value) -> u64 {
    let structured = result.get("structuredContent").map(ToString::to_string).unwrap_or_default();
    count(&content(result).concat()).max(count(&structured))
}

fn count(text: &str) -> u64 {
    Encoding::default().count(text.as_bytes())
}

/// A trace of 600 items: prose, results of tools as JSON on one line, other scripts, and a text of 300 KB.
fn large() -> TestRepo {
    let repo = TestRepo::new();
    let line = |n: usize| match n % 5 {
        0 => {
            json!({ "type": "dialogue", "role": "user", "text": format!("Why does parser {n} fail?\n").repeat(1 + n % 7) })
        }
        1 => {
            json!({ "type": "dialogue", "role": "assistant", "text": "\"quoted\\\" \t\u{1} and {braces}\n".repeat(n % 40) + "x" })
        }
        2 => json!({ "type": "tool_io", "direction": "result", "call_id": format!("c{n}"), "status": "ok",
            "text": json!({ "rows": vec![json!({ "parser": n, "line": "0a1b2c" }); n % 60] }).to_string() }),
        3 => {
            json!({ "type": "dialogue", "role": "user", "text": "Γιατί αποτυγχάνει ο parser; なぜ失敗するのか🙂 ".repeat(n % 30 + 1) })
        }
        _ => {
            json!({ "type": "artifact", "kind": "file", "path": format!("src/{n}.rs"), "text": "fn parser() {}\n".repeat(n % 50 + 1) })
        }
    };
    let mut input: String = (0..600).map(|n| line(n).to_string() + "\n").collect();
    input += &(json!({ "type": "dialogue", "role": "user", "text": "The parser, once more. ".repeat(13_000) })
        .to_string()
        + "\n");
    input += &(json!({ "type": "dialogue", "role": "user", "text": "The end of the parser." }).to_string() + "\n");
    repo.bytes_with(&["import", "jsonl", "-"], input.as_bytes());
    repo
}

#[test]
fn everything_a_model_receives_from_a_text_tool_is_within_the_budget() {
    let repo = large();
    repo.text(&["branch", "early", "#3"]);
    for n in 0..60 {
        repo.text(&["breadcrumb", "set", &format!("auth.k{n}"), &"a fact about the parser ".repeat(9)]);
    }
    let texts = [
        ("trace_show", json!({ "item": "#600" })),
        ("trace_show", json!({ "item": "#12" })),
        ("trace_grep", json!({ "pattern": "parser" })),
        ("trace_grep", json!({ "pattern": "PARSER", "history": true, "ignore_case": true })),
        ("trace_log", json!({})),
        ("trace_log", json!({ "grep": "parser" })),
        ("trace_diff", json!({ "states": ["early", "main"] })),
        ("trace_diff", json!({ "states": ["#600"] })),
        ("trace_top", json!({})),
        ("brief", json!({ "breadcrumbs": ["auth.", "nothing.", "no-such-key"] })),
        ("trace_materialize", json!({})),
        ("trace_materialize", json!({ "format": "openai", "aggregate": "none" })),
        ("trace_materialize", json!({ "format": "responses" })),
        ("trace_materialize", json!({ "format": "anthropic", "recent": 3 })),
        ("trace_materialize", json!({ "format": "gemini" })),
        ("trace_materialize", json!({ "format": "text" })),
    ];
    for budget in [500, 2_000, 10_000] {
        let calls = texts.clone().map(|(tool, mut arguments)| {
            arguments["budget"] = budget.into();
            (tool, arguments)
        });
        for ((tool, arguments), result) in calls.iter().zip(results(&repo, &calls)) {
            assert_eq!(result["isError"], json!(false), "{tool} {arguments}: {result}");
            assert_eq!(result.get("structuredContent"), None, "{tool}");
            // Gemini CLI takes JSON for structured content.
            assert!(serde_json::from_str::<Value>(content(&result)[0]).is_err(), "{tool} {arguments}");
            let tokens = received(&result);
            assert!(tokens <= budget, "{tool} {arguments}: {tokens} tokens");
            // A page that is not the last one is not much shorter than it may be.
            let has_more = content(&result).last().unwrap().starts_with("[more");
            assert!(!has_more || tokens > budget / 2, "{tool} {arguments}: {tokens} tokens");
        }
    }
}

#[test]
fn pages_of_a_text_join_to_the_text() {
    let repo = large();
    repo.text(&["edit", "#600", "-m", &"Now shorter. ".repeat(900)]);
    for (tool, mut arguments) in [
        ("trace_show", json!({ "item": "#600", "revision": 1 })),
        ("trace_show", json!({ "item": "#3" })),
        ("trace_grep", json!({ "pattern": "parser|なぜ" })),
        ("trace_log", json!({})),
        ("trace_diff", json!({})),
    ] {
        arguments["budget"] = 1_000_000.into();
        let whole = content(&result(&repo, tool, arguments.clone())).concat();
        arguments["budget"] = 4_000.into();
        let mut joined = String::new();
        for page in 0.. {
            let result = result(&repo, tool, arguments.clone());
            let texts = content(&result);
            joined += texts[0];
            let Some(rest) = texts.get(1) else { break };
            arguments["cursor"] = rest.split('`').nth(1).unwrap().into();
            // A commit between two pages does not move the text.
            if page == 0 {
                repo.say("The parser again.");
            }
        }
        assert!(joined == whole, "{tool}: {} of {} bytes", joined.len(), whole.len());
    }
    let past = result(&repo, "trace_show", json!({ "item": "#3", "cursor": "+99999" }));
    assert!(content(&past)[0].starts_with("error: argument `cursor`: the text ends after"), "{past}");
    for cursor in ["", "7", "x+1", "+-1", "beefbeefbeef+1"] {
        let refused = result(&repo, "trace_show", json!({ "item": "#3", "cursor": cursor }));
        assert_eq!(refused["isError"], true);
        assert!(content(&refused)[0].contains("`cursor`"), "{refused}");
    }
}

/// The first text of a result, and the cursor of the next page.
fn page(result: &Value) -> (String, Option<String>) {
    let texts = content(result);
    let cursor = texts.get(1).map(|rest| rest.split('`').nth(1).unwrap().to_owned());
    (texts[0].to_owned(), cursor)
}

#[test]
fn a_commit_between_two_pages_does_not_change_what_is_compared() {
    let repo = large();
    repo.text(&["branch", "early", "#3"]);
    for (tool, mut arguments) in [
        ("trace_top", json!({})),
        ("trace_diff", json!({ "states": ["early"] })),
        ("trace_diff", json!({ "states": ["#590.."] })),
    ] {
        arguments["budget"] = 1_000_000.into();
        let whole = content(&result(&repo, tool, arguments.clone())).concat();
        arguments["budget"] = 2_000.into();
        let (mut joined, mut cursor) = page(&result(&repo, tool, arguments.clone()));
        repo.trace_with(&["commit", "-F", "-"], "Heavier than the others, once more. ".repeat(20_000).as_bytes());
        for _ in 0..2 {
            arguments["cursor"] = cursor.clone().unwrap().into();
            let (text, next) = page(&result(&repo, tool, arguments.clone()));
            joined += &text;
            cursor = next;
        }
        assert!(whole.starts_with(&joined), "{tool} {arguments}");
        repo.text(&["undo"]);
    }
    let mut arguments = json!({ "states": ["early", "main"], "budget": 2_000 });
    let (_, cursor) = page(&result(&repo, "trace_diff", arguments.clone()));
    arguments["cursor"] = cursor.unwrap().into();
    assert_eq!(result(&repo, "trace_diff", arguments.clone())["isError"], false);
    repo.say("The end, once more.");
    let refused = result(&repo, "trace_diff", arguments);
    insta::assert_snapshot!(content(&refused)[0], @"error: argument `cursor`: one of the states has changed since the first page");
}

#[test]
fn a_tool_that_commits_creates_the_trace_that_it_names() {
    let repo = TestRepo::new();
    let committed = result(&repo, "trace_commit", json!({ "text": "Hello.", "trace": "new" }));
    assert_eq!(committed["isError"], false, "{committed}");
    assert_eq!(repo.bodies("new"), ["Hello."]);
    let refused = result(&repo, "trace_show", json!({ "item": "#0", "trace": "ne" }));
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn a_record_is_the_same_json_in_both_forms_and_has_a_cap() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let value = |n: usize| format!("{n} {}", "0a1b2c3d ".repeat(1_000));
    for n in 0..12 {
        repo.text(&["breadcrumb", "set", &format!("k.n{n:02}"), &value(n)]);
        repo.text(&["forward", "leave", "--summary", &"A session about the parser. ".repeat(60)]);
    }
    let damage = "x: \"".repeat(9) + "\n";
    std::fs::write(repo.folder().join("bad.crumb"), damage.repeat(3_000)).unwrap();
    let calls = [
        ("trace_commit", json!({ "text": "Hello." })),
        ("trace_status", json!({})),
        ("set_breadcrumb", json!({ "key": "a.b", "value": "x" })),
        ("get_breadcrumb", json!({ "key": "k.n03" })),
        ("list_breadcrumbs", json!({})),
        ("forward_crumbs_get", json!({ "limit": 100 })),
        ("trace_branch", json!({})),
        ("crumb_validate", json!({ "file": "bad.crumb" })),
    ];
    for ((tool, _), result) in calls.iter().zip(results(&repo, &calls)) {
        let text = content(&result).concat();
        assert_eq!(result["isError"], false, "{tool}: {text}");
        assert_eq!(result["structuredContent"], serde_json::from_str::<Value>(&text).unwrap(), "{tool}");
        assert!(received(&result) <= 8_000, "{tool}: {} tokens", received(&result));
    }
    let mut keys = Vec::new();
    let mut cursor = json!(0);
    while !cursor.is_null() {
        let mut listed = result(&repo, "list_breadcrumbs", json!({ "prefix": "k.", "cursor": cursor }));
        let listed = listed["structuredContent"].take();
        assert_eq!(listed["total"], 12);
        keys.extend(
            listed["breadcrumbs"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()),
        );
        cursor = listed["next"].clone();
    }
    assert_eq!(keys, (0..12).map(|n| format!("k.n{n:02}")).collect::<Vec<_>>());
}

#[test]
fn breadcrumbs_expire_and_are_found_by_time() {
    let repo = TestRepo::new();
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let calls = [
        ("set_breadcrumb", json!({ "key": "api.a", "value": "x", "expires_at": "2100-01-01T00:00:00Z" })),
        ("set_breadcrumb", json!({ "key": "api.b", "value": "x", "expires_at": "2020-01-01" })),
        ("set_breadcrumb", json!({ "key": "secret.a", "value": "x" })),
        ("set_breadcrumb", json!({ "key": "api.c", "value": token })),
        ("get_breadcrumb", json!({ "key": "api.a" })),
        ("list_breadcrumbs", json!({ "updated_after": "yesterday" })),
        ("list_breadcrumbs", json!({ "updated_after": "2100-01-01" })),
    ];
    let results = results(&repo, &calls);
    let text = |at: usize| content(&results[at]).concat();
    let value = |at: usize| &results[at]["structuredContent"];
    insta::assert_snapshot!(text(1), @"error: argument `expires_at`: cannot set a breadcrumb that expired already, at 2020-01-01T00:00:00Z");
    assert_eq!(
        value(2)["warnings"],
        json!(["added `breadcrumbs-secret.jsonl` to `.git/info/exclude`, so that git ignores secrets"])
    );
    insta::assert_snapshot!(text(3), @"
    error: argument `value`: the value of `api.c` holds what looks like a GitHub token, and it would be committed
    hint: keep it where git does not look: `set_breadcrumb` with the key `secret.api.c`; if this is a false alarm, ask the user to run: git config --add trace.allowSecret 89891546d9a953db
    ");
    assert_eq!(value(4)["breadcrumb"]["expires_at"], "2100-01-01T00:00:00Z");
    assert_eq!((&value(5)["total"], &value(6)["total"]), (&json!(2), &json!(0)));
}

#[test]
fn a_damaged_breadcrumb_is_no_missing_one_and_no_fault_of_an_argument() {
    let repo = TestRepo::new();
    repo.text(&["breadcrumb", "set", "api.a", "x"]);
    std::fs::write(repo.folder().join(".synapse/breadcrumbs.jsonl"), "{\"key\":\"api.b\",\"val\n").unwrap();
    let calls = [
        ("get_breadcrumb", json!({ "key": "api.b" })),
        ("get_breadcrumb", json!({ "key": "api.a" })),
        ("set_breadcrumb", json!({ "key": "api.a", "value": "x" })),
    ];
    let results = results(&repo, &calls);
    insta::assert_snapshot!(content(&results[0]).concat(), @"
    error: breadcrumb `api.b` may be on a line that was skipped
      warning: breadcrumbs.jsonl:1: skipped: the line is truncated
    ");
    assert_eq!(results[1]["structuredContent"]["found"], false);
    let text = content(&results[2]).concat().replace(repo.folder().to_str().unwrap(), "[REPO]");
    insta::assert_snapshot!(text, @"
    error: cannot write `[REPO]/.synapse/breadcrumbs.jsonl`: it has 1 invalid line: line 1 is invalid: the line is truncated
    hint: correct or delete the line; `git trace breadcrumb resolve` resolves a merge conflict
    ");
}

#[test]
fn the_default_tools_fit_into_2000_tokens() {
    let repo = TestRepo::new();
    let list = |args: &[&str]| {
        let answer = serve(&repo, args, &[request(1, "tools/list", json!({}))]).remove(0);
        answer["result"]["tools"].as_array().unwrap().clone()
    };
    let default = list(&[]);
    let names: Vec<_> = default.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    insta::assert_snapshot!(names.join(" "), @"brief set_breadcrumb get_breadcrumb list_breadcrumbs delete_breadcrumb forward_crumbs_get forward_crumb_leave trace_commit trace_materialize trace_status trace_show trace_grep");
    let tokens = count(&Value::from(default.clone()).to_string());
    assert!(tokens <= 2_000, "{tokens} tokens");
    let texts: Vec<_> = list(&["--tools", "all"]);
    let texts: Vec<_> = texts.iter().filter(|tool| tool.get("outputSchema").is_none()).collect();
    let names: Vec<_> = texts.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    insta::assert_snapshot!(names.join(" "), @"brief trace_materialize trace_show trace_grep trace_log trace_diff trace_top");
}

#[test]
fn a_tool_that_fails_after_it_recorded_something_says_so() {
    let repo = TestRepo::new();
    // It counts the item, and not the answer.
    repo.git(&["config", "trace.tokenCounter", "read -r line; echo 7"]);
    let failed = result(&repo, "trace_commit", json!({ "text": "Hello." }));
    let said = content(&failed).concat();
    assert!(said.contains("ended without an answer"), "{said}");
    assert_eq!(said.lines().last(), Some("note: what it recorded until then is kept; trace_undo reverses it"));
    assert_eq!((&failed["isError"], repo.bodies("main")), (&json!(true), vec!["Hello.".to_owned()]));
    // The next call fails before it.
    let failed = result(&repo, "trace_show", json!({ "item": "#9" }));
    assert!(!content(&failed).concat().contains("note:"), "{failed}");
}

#[test]
fn an_operation_of_a_tool_can_be_undone() {
    let repo = TestRepo::new();
    let items = |calls: &[(&str, Value)]| {
        let answer = results(&repo, calls).remove(0)["structuredContent"].take();
        (answer, repo.json(&["status", "--json"])["items"].clone())
    };
    for text in ["one", "two", "three"] {
        results(&repo, &[("trace_commit", json!({ "text": text }))]);
    }
    results(&repo, &[("trace_delete", json!({ "item": "#0..#1" }))]);
    let (undone, left) = items(&[("trace_undo", json!({}))]);
    assert_eq!((&undone["operations"][0]["command"], left), (&json!("mcp trace_delete"), json!(3)));
    let (undone, left) = items(&[("trace_undo", json!({}))]);
    assert_eq!((&undone["operations"][0]["command"], left), (&json!("mcp trace_commit"), json!(2)));
    let refused = result(&repo, "trace_undo", json!({ "operation": "beef" }));
    assert!(content(&refused)[0].contains("`operation`"), "{refused}");
}

/// What the server writes for these lines.
#[test]
fn a_session_is_cleaned_on_a_new_trace_if_that_is_asked_for() {
    let repo = TestRepo::new();
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "main"], SAMPLES[3].1);
    let traces = || repo.git(&["for-each-ref", "refs/traces"]);
    let before = traces();
    let planned = result(&repo, "trace_clean", json!({}))["structuredContent"].take();
    let mut expected = repo.json(&["clean", "--dry-run", "--json"]);
    expected["items"] = expected["items"].as_array().unwrap().len().into();
    expected["trace"] = Value::Null;
    expected["warnings"] =
        json!(["note: this drops the provider's prompt cache from turn 1 on; the cut pays off after 6 requests"]);
    assert_eq!((&planned, traces()), (&expected, before.clone()), "it changes nothing by default");

    let arguments = json!({ "presets": ["aggressive"], "keep": 2, "apply": true });
    let cut = result(&repo, "trace_clean", arguments)["structuredContent"].take();
    assert_eq!(cut["trace"], "main.clean");
    assert!(cut["after"].as_u64() < planned["after"].as_u64());
    let left = repo.json(&["materialize", "main.clean", "--json", "--aggregate", "none"]);
    assert_eq!(cut["after"], left["tokens"]["request"]);
    result(&repo, "trace_undo", json!({}));
    assert_eq!(traces(), before);

    let refused = result(&repo, "trace_clean", json!({ "presets": ["harsh"] }));
    assert!(content(&refused)[0].contains("argument `presets`"), "{refused}");
    repo.fsck();
}

fn raw(repo: &TestRepo, lines: &[&str]) -> String {
    let output = repo.run(&["mcp"], (lines.join("\n") + "\n").as_bytes());
    repo.exact(&output)
}

fn initialize(revision: &str) -> String {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

#[test]
fn the_answer_to_an_unreadable_line_has_its_id_if_that_can_be_read() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(raw(&repo, &[
        "not json",
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{oops}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/"#,
        r#"{"jsonrpc":"2.0","method":"tools/list","params":{oops},"id":8}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
        r#"{"jsonrpc":"1.0","id":9,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        &request(10, "server/nothing", json!({})).to_string(),
        "{",
    ]), @r#"
    {"error":{"code":-32700,"message":"the line is not JSON: expected ident at line 1 column 2"},"id":null,"jsonrpc":"2.0"}
    {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"the line is not JSON: key must be a string at line 1 column 57"}}
    {"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"the line is not JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 42"}}
    {"error":{"code":-32700,"message":"the line is not JSON: key must be a string at line 1 column 50"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"the id of a request must be a string or an integer"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"the id of a request must be a string or an integer"},"id":null,"jsonrpc":"2.0"}
    {"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"the line is not a JSON-RPC 2.0 message"}}
    {"jsonrpc":"2.0","id":10,"error":{"code":-32601,"message":"unknown method: server/nothing"}}
    {"jsonrpc":"2.0","error":{"code":-32700,"message":"the line is not JSON: EOF while parsing an object at line 2 column 0"}}
    [exit 0]
    "#);
}

#[test]
fn only_revision_2025_03_26_has_batches() {
    let repo = TestRepo::new();
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let get = json!({ "name": "get_breadcrumb", "arguments": { "key": "a" } });
    let get = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": get });
    let batches = [
        json!([]).to_string(),
        json!([note, note]).to_string(),
        json!([ping(2), note, get, { "jsonrpc": "2.0", "id": null, "method": "ping" }, 7]).to_string(),
        "[{".to_owned(),
        ping(6).to_string(),
    ];
    let sent = |revision: &str| {
        let lines = [vec![initialize(revision)], batches.to_vec()].concat();
        let said = raw(&repo, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        said.split_once('\n').unwrap().1.to_owned()
    };
    insta::assert_snapshot!(sent("2025-03-26"), @r#"
    {"error":{"code":-32600,"message":"the batch is empty"},"id":null,"jsonrpc":"2.0"}
    [{"id":2,"jsonrpc":"2.0","result":{}},{"id":5,"jsonrpc":"2.0","result":{"content":[{"text":"{\"found\":false}","type":"text"}],"isError":false,"structuredContent":{"found":false}}},{"error":{"code":-32600,"message":"the id of a request must be a string or an integer"},"id":null,"jsonrpc":"2.0"},{"error":{"code":-32600,"message":"the line is not a JSON-RPC 2.0 message"},"id":null,"jsonrpc":"2.0"}]
    {"error":{"code":-32700,"message":"the line is not JSON: EOF while parsing an object at line 2 column 0"},"id":null,"jsonrpc":"2.0"}
    {"jsonrpc":"2.0","id":6,"result":{}}
    [exit 0]
    "#);
    insta::assert_snapshot!(sent("2025-06-18"), @r#"
    {"error":{"code":-32600,"message":"only revision 2025-03-26 has batches"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"only revision 2025-03-26 has batches"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"only revision 2025-03-26 has batches"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32700,"message":"the line is not JSON: EOF while parsing an object at line 2 column 0"},"id":null,"jsonrpc":"2.0"}
    {"jsonrpc":"2.0","id":6,"result":{}}
    [exit 0]
    "#);
}

#[test]
fn revision_2026_07_28_needs_no_handshake() {
    let repo = TestRepo::new();
    let answers = serve(
        &repo,
        &[],
        &[
            request(1, "server/discover", json!({})),
            call(2, "get_breadcrumb", &json!({ "key": "a" })),
            request(3, "prompts/list", json!({})),
            request(4, "resources/list", json!({})),
        ],
    );
    assert!(answers.iter().all(|answer| answer["result"]["resultType"] == "complete"), "{answers:?}");
    for listed in [0, 2, 3] {
        assert!(answers[listed]["result"]["ttlMs"].is_u64(), "{answers:?}");
        assert_eq!(answers[listed]["result"]["cacheScope"], "private");
    }
    assert!(answers[0]["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
}

#[test]
fn a_canceled_request_is_not_answered() {
    let repo = TestRepo::new();
    let items: String = (0..1_000)
        .map(|n| json!({ "type": "dialogue", "role": "user", "text": format!("{n}") }).to_string() + "\n")
        .collect();
    repo.bytes_with(&["import", "jsonl", "-"], items.as_bytes());
    let slow = call(1, "trace_grep", &json!({ "pattern": "7", "history": true }));
    let mut server = repo.command("git-trace").arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{slow}").unwrap();
    for id in [1, 3] {
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        writeln!(input, "{cancel}").unwrap();
    }
    for id in [2, 3, 4] {
        writeln!(input, "{}", call(id, "get_breadcrumb", &json!({ "key": "a" }))).unwrap();
    }
    drop(input);
    let answers = BufReader::new(server.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let answers: Vec<Value> = answers.map(|line| serde_json::from_str(&line).unwrap()).collect();
    assert!(server.wait().unwrap().success());
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [2, 4]);
}

#[test]
fn cancellation_ends_the_programs_of_a_request() {
    let repo = TestRepo::new();
    repo.say("a question");
    repo.git(&["config", "trace.budget", "1"]);
    repo.git(&["config", "trace.budgetAction", "sleep 300 & echo $! >pid; wait"]);
    let mut server = repo.command("git-trace").arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{}", call(1, "trace_commit", &json!({ "text": "an answer" }))).unwrap();
    let started = Instant::now();
    let pid = loop {
        match std::fs::read_to_string(repo.folder().join("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => assert!(started.elapsed().as_secs() < 60, "the program was not started"),
        }
        std::thread::yield_now();
    };
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    writeln!(input, "{cancel}").unwrap();
    writeln!(input, "{}", call(2, "get_breadcrumb", &json!({ "key": "a" }))).unwrap();
    drop(input);
    let answers: Vec<String> =
        BufReader::new(server.stdout.take().unwrap()).lines().map(|line| line.unwrap()).collect();
    assert!(server.wait().unwrap().success());
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(started.elapsed().as_secs() < 200, "the program was waited for");
    // A signal was sent; the program ends soon.
    let has_ended = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    while !has_ended() {
        assert!(started.elapsed().as_secs() < 200, "the program still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn items_of_tools_can_be_filtered() {
    let repo = TestRepo::new();
    let call = json!({ "text": "{}", "type": "tool_io", "direction": "call", "name": "read", "call_id": "1" });
    let result = json!({ "text": "fn lock() {}", "type": "tool_io", "direction": "result", "call_id": "1" });
    let texts = ["one", "two"].map(|text| json!({ "text": text }));
    for item in texts.iter().chain([&call, &result]) {
        results(&repo, &[("trace_commit", item.clone())]);
    }
    let ask = |tool: &str, arguments: Value| results(&repo, &[(tool, arguments)]).remove(0);
    let shown = ask("trace_show", json!({ "filter": { "tool": "read", "grep": "lock" } }));
    let text = shown["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("fn lock() {}") && text.contains("#3") && !text.contains("#2"), "{text}");
    let skipped = ask("trace_priority", json!({ "level": "skip", "item": "#0..#2", "filter": { "type": "dialogue" } }));
    assert_eq!(skipped["structuredContent"]["items"].as_array().unwrap().len(), 2, "{skipped}");
    let refused = ask("trace_delete", json!({ "filter": { "kind": "x" } }));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("argument `filter`") && text.contains("no filter is named `kind`"), "{text}");
    assert!(
        ask("trace_delete", json!({}))["content"][0]["text"].as_str().unwrap().contains("argument `item` is missing")
    );
}

#[test]
fn a_reason_with_a_secret_is_refused() {
    let repo = TestRepo::new();
    let item = repo.say("one");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let refs = repo.refs();
    for (tool, arguments) in [
        ("trace_edit", json!({ "item": item, "text": "x", "reason": token })),
        ("trace_delete", json!({ "item": item, "reason": token })),
        ("trace_priority", json!({ "item": item, "level": "skip", "reason": token })),
    ] {
        let answer = result(&repo, tool, arguments);
        assert!(answer.to_string().contains("a GitHub token"), "{tool}: {answer}");
    }
    assert_eq!(repo.refs(), refs);
}

#[test]
fn recall_answers_the_best_hits_of_all_memories() {
    let repo = TestRepo::new();
    repo.text(&["breadcrumb", "set", "auth.method", "JWT in a cookie"]);
    repo.text(&["breadcrumb", "set", "auth.ttl", "15 minutes for each JWT, or for the cookie that has it"]);
    repo.say("Cookies are fine.");
    let hits = |arguments| result(&repo, "recall", arguments)["structuredContent"]["hits"].take();
    let best = hits(json!({ "query": "cookies", "limit": 1 }));
    let members =
        ["kind", "place", "id", "agent", "key", "section", "snippet", "command"].map(|name| best[0][name].clone());
    let command = "git trace breadcrumb get auth.method";
    let place = ".synapse/breadcrumbs.jsonl";
    let right = json!(["breadcrumb", place, "auth.method", null, "auth.method", null, "JWT in a cookie", command]);
    assert_eq!(json!(members), right);
    assert!(
        best[0]["score"].as_f64() > Some(0.0) && best[0]["time"].is_string() && best.as_array().unwrap().len() == 1
    );
    assert_eq!(hits(json!({ "query": "cookies", "traces": true })).as_array().unwrap().len(), 3);
    assert_eq!(hits(json!({ "query": "cookies", "since": "2030-01-01" })), json!([]));
    assert!(content(&result(&repo, "recall", json!({ "query": "kind:x" })))[0].contains("unknown kind `x`"));
}
