//! `git trace clean`: cuts what a session no longer needs.

use std::process::Output;

use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use crate::repo::{TestRepo, run};
use crate::samples::SAMPLES;

/// A session with something for most presets, and twelve short steps after it.
fn session() -> TestRepo {
    let repo = TestRepo::classic(&[]);
    let long = |text: &str, lines: usize| (0..lines).map(|line| format!("{text} {line}\n")).collect::<String>();
    let call = |id: &str, name: &str, arguments: Value| json!({ "type": "tool_io", "direction": "call", "name": name, "call_id": id, "turn": format!("t{id}"), "text": arguments.to_string() });
    let result =
        |id: &str, text: String| json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": text });
    let failed = |id: &str, text: String| json!({ "type": "tool_io", "direction": "result", "call_id": id, "status": "error", "text": text });
    let reminder = "<system-reminder>Do not forget the list.</system-reminder>";
    let mut lines = vec![
        json!({ "type": "instruction", "name": "rules", "text": long("Be careful", 60) }),
        json!({ "text": format!("Where is the lock taken? {reminder}") }),
        json!({ "type": "reasoning", "text": "Let me look.", "turn": "t1" }),
        call("1", "Read", json!({ "file_path": "src/lock.rs" })),
        result("1", long("lock", 60)),
        call("2", "Edit", json!({ "file_path": "src/lock.rs", "old_string": "a", "new_string": long("b", 90) })),
        result("2", long("edited", 60)),
        call("3", "Read", json!({ "file_path": "src/main.rs", "offset": 10, "limit": 20 })),
        result("3", long("main", 60)),
        call("4", "Read", json!({ "file_path": "src/main.rs" })),
        result("4", long("main now", 60)),
        call("5", "Bash", json!({ "command": "cargo test --all" })),
        failed("5", "error[E0425]: no value `x`\n".to_owned() + &long("at", 60)),
        call("6", "Bash", json!({ "command": "cd /work && cargo test" })),
        result("6", long("test", 600)),
        call("7", "Bash", json!({ "command": "make" })),
        failed("7", long("never solved", 60)),
        call("8", "AskUserQuestion", json!({ "question": "Which?" })),
        result("8", long("The user answers", 60)),
        json!({ "text": "And where is it released?" }),
    ];
    for step in 20..32 {
        lines.push(call(&step.to_string(), "Glob", json!({ "pattern": "*" })));
        lines.push(result(&step.to_string(), "none".to_owned()));
    }
    lines.push(json!({ "text": format!("Done? {reminder}") }));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
    repo
}

/// The blocks of a trace's messages, one item each: what the user and the model said, and the calls and results by id.
fn said(repo: &TestRepo, trace: &str) -> (Vec<Value>, Vec<Value>, u64) {
    let view = repo.json(&["materialize", "--json", "--aggregate", "none", trace]);
    let (mut texts, mut pairs) = (Vec::new(), Vec::new());
    for message in view["messages"].as_array().unwrap() {
        match &message["content"] {
            Value::Array(blocks) => {
                let tools = blocks.iter().filter(|block| block["call_id"].is_string());
                pairs.extend(
                    tools.map(|block| json!([block["type"], block["call_id"], block["name"], block["status"]])),
                );
            }
            text => texts.push(without_reminders(text.as_str().unwrap()).into()),
        }
    }
    texts.retain(|text| text != "");
    (texts, pairs, view["tokens"]["request"].as_u64().unwrap())
}

/// The results that no preset may cut, apart from reminders in them: errors that no success follows, lists of tasks, and the newest
/// two.
fn protected(repo: &TestRepo, trace: &str) -> Vec<(Value, String)> {
    let view = repo.json(&["materialize", "--json", "--aggregate", "none", trace]);
    let blocks =
        view["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array()).flatten();
    let results: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_result").collect();
    let is_error = |result: &&&Value| result["status"] == "error";
    let errors = results.iter().rev().take_while(is_error).count().max(2);
    let is_new = |index: usize| index + errors >= results.len();
    let kept = results.iter().enumerate().filter(|(index, result)| is_new(*index) || result["name"] == "TodoWrite");
    kept.map(|(_, result)| (result["call_id"].clone(), without_reminders(result["text"].as_str().unwrap()))).collect()
}

fn without_reminders(text: &str) -> String {
    let reminder = Regex::new("(?s)<system-reminder>.*?</system-reminder>").unwrap();
    reminder.replace_all(text, "").trim().to_owned()
}

/// Each call is followed by a message with its result, and no result is alone.
fn assert_pairs(request: &Value) {
    let ids = |message: &Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == kind);
        blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect()
    };
    let messages = request["messages"].as_array().unwrap();
    for (message, next) in messages.iter().zip(messages.iter().skip(1).chain([&Value::Null])) {
        let (mut calls, mut results) = (ids(message, "tool_use", "id"), ids(next, "tool_result", "tool_use_id"));
        calls.sort();
        results.sort();
        assert_eq!(calls, results);
    }
}

/// What holds for every run on the trace `main`.
fn assert_laws(repo: &TestRepo, options: &[&str]) {
    let clean = |args: &[&str]| repo.json(&[&["clean", "--json"], args, options].concat());
    let number = |value: &Value| value.as_u64().unwrap();
    let traces = || repo.git(&["for-each-ref", "refs/traces", "refs/trace-priority"]);
    let before = traces();
    let plan = clean(&["--dry-run"]);
    assert_eq!((&plan["commit"], traces()), (&Value::Null, before.clone()), "a dry run changes nothing");

    let mut done = clean(&["--yes"]);
    let (texts, pairs, tokens) = said(repo, "main");
    assert_eq!(number(&done["before"]), tokens);
    let sum = |list: &str, before: &str, after: &str| -> u64 {
        done[list].as_array().unwrap().iter().map(|row| number(&row[before]) - number(&row[after])).sum()
    };
    assert_eq!(number(&done["saved"]), sum("items", "tokens", "after"));
    assert_eq!(number(&done["saved"]), sum("presets", "before", "after"));
    assert_eq!(number(&done["before"]) - number(&done["saved"]), number(&done["after"]));
    if done["commit"].is_null() {
        assert_eq!((plan, traces()), (done, before), "there was nothing to cut");
        return;
    }
    let (texts_after, pairs_after, tokens_after) = said(repo, "main.clean");
    assert_eq!(number(&done["after"]), tokens_after);
    assert_eq!((texts, pairs), (texts_after, pairs_after), "nothing that was said is lost, and all pairs stay");
    if number(&done["keep"]) >= 3 {
        assert_eq!(protected(repo, "main"), protected(repo, "main.clean"), "what no preset may cut stays");
    }
    done["commit"] = Value::Null;
    assert_eq!(plan, done, "the same items and parameters give the same selection");
    for format in ["anthropic", "openai", "responses", "gemini"] {
        let request = repo.json(&["materialize", "main.clean", "--format", format]);
        if format == "anthropic" {
            assert_pairs(&request);
        }
    }

    let again = repo.json(&[&["clean", "--json", "--yes", "main.clean"], options].concat());
    assert_eq!((&again["items"], &again["commit"]), (&json!([]), &Value::Null), "a second run cuts nothing");
    repo.text(&["undo"]);
    assert_eq!(traces(), before, "undo takes the commit and the trace back");
}

#[test]
fn real_sessions_keep_what_was_said_and_their_pairs() {
    for (_, bytes) in SAMPLES {
        let repo = TestRepo::new();
        repo.bytes_with(&["import", "claude-code", "-", "--as-seen", "--trace", "main"], bytes);
        assert_laws(&repo, &["--preset", "default"]);
        assert_laws(&repo, &["--preset", "aggressive"]);
    }
}

/// Lines for `commit --batch`: steps with a call of a few tools and files, and prompts between them. Some calls have no result, but
/// not those of the newest two steps.
fn steps() -> impl Strategy<Value = Vec<Value>> {
    let tool = prop_oneof![
        Just("Read"),
        Just("Edit"),
        Just("Write"),
        Just("Bash"),
        Just("Task"),
        Just("TodoWrite"),
        Just("Glob")
    ];
    let text = (1..24_usize).prop_map(|lines| "some line of text\n".repeat(lines * lines));
    let extra = prop_oneof![
        4 => Just(None),
        1 => Just(Some(json!({ "text": "go on" }))),
        1 => Just(Some(json!({ "text": "<system-reminder>remember</system-reminder>", "meta": { "is_meta": true } }))),
        1 => Just(Some(json!({ "type": "reasoning", "text": "so I think" }))),
        1 => Just(Some(json!({ "role": "assistant", "text": "I think so" }))),
    ];
    let step = (tool, "[ab]", text, 0..4_u8, 0..4_u8, extra);
    proptest::collection::vec(step, 1..30).prop_map(|steps| {
        let mut lines = vec![json!({ "type": "instruction", "text": "rules" }), json!({ "text": "do it" })];
        let newest = steps.len().saturating_sub(2);
        for (number, (tool, path, text, outcome, priority, extra)) in steps.into_iter().enumerate() {
            let (id, turn) = (format!("c{number}"), format!("m{number}"));
            let arguments = json!({ "file_path": path, "command": format!("make {path}"), "content": text });
            let priority = if priority == 0 { "pinned" } else { "normal" };
            lines.extend(extra.map(|mut extra| {
                if extra["type"] == "reasoning" || extra["role"] == "assistant" {
                    extra["turn"] = json!(turn);
                }
                extra
            }));
            lines.push(json!({ "type": "tool_io", "direction": "call", "name": tool, "call_id": id, "turn": turn, "text": arguments.to_string() }));
            let status = if outcome == 0 { "error" } else { "ok" };
            if outcome < 3 || number % 3 == 0 || number >= newest {
                lines.push(json!({ "type": "tool_io", "direction": "result", "call_id": id, "status": status, "priority": priority,
                    "text": format!("{text}<system-reminder>{path}</system-reminder>") }));
            }
        }
        lines
    })
}

/// A reminder that occurs again later goes, and then two results have the same bytes.
#[test]
fn results_that_differ_in_repeated_reminders_are_duplicates() {
    let repo = TestRepo::new();
    let mut lines = vec![json!({ "text": "do it" })];
    for (number, reminder) in ["a", "b", "a", "b"].into_iter().enumerate() {
        let text = match number {
            0 | 1 => "some line of text\n".repeat(100),
            _ => "short\n".to_owned(),
        };
        let text = format!("{text}<system-reminder>{reminder}</system-reminder>");
        lines.push(json!({ "type": "tool_io", "direction": "call", "name": "Bash", "call_id": number.to_string(), "text": "{}" }));
        lines.push(json!({ "type": "tool_io", "direction": "result", "call_id": number.to_string(), "text": text }));
    }
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
    let cut = repo.json(&["clean", "--json", "--dry-run", "--preset", "safe", "--keep", "0"]);
    let presets: Vec<_> = cut["items"].as_array().unwrap().iter().map(|item| &item["preset"]).collect();
    assert_eq!(presets, ["duplicates", "reminders"]);
    assert_laws(&repo, &["--preset", "safe", "--keep", "0"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_session_keeps_what_was_said_and_its_pairs(lines in steps(), bundle in 0..3_usize, keep in 0..12_usize) {
        let repo = TestRepo::new();
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
        assert_laws(&repo, &["--preset", ["safe", "default", "aggressive"][bundle], "--keep", &keep.to_string()]);
    }
}

#[test]
fn diff_shows_what_the_prompt_cache_costs() {
    let repo = session();
    let exact = |args: &[&str]| repo.exact(&repo.run(args, b""));
    repo.text(&["clean", "--yes", "--preset", "aggressive", "--keep", "10"]);
    insta::assert_snapshot!(exact(&["diff", "--cache", "main", "main.clean"]), @"
                 before      after      equal
    tokens        5,346      1,867        304
    bytes        12,088      4,777        830
    the requests differ from #1 on
    the next request costs 1,984 instead of 535, each later one 187 (tokens of uncached input; cached ones cost 0.1 to read, 1.25 to write)
    the change pays off after 6 requests
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["diff", "--cache", "main.clean", "main", "--json"]), @r#"
    {"bytes":{"after":12088,"before":4777,"equal":830},"cost":{"first":6333,"later":535,"unchanged":187},"first":"288789721f49f706","pays_after":null,"prices":{"read":0.1,"write":1.25},"tokens":{"after":5346,"before":1867,"equal":304}}
    [exit 0]
    "#);
    insta::assert_snapshot!(exact(&["diff", "--cache", "--exit-code", "main", "main"]), @"
                 before      after      equal
    tokens        5,346      5,346      5,346
    bytes        12,088     12,088     12,088
    the requests are equal
    [exit 0]
    ");
    insta::assert_snapshot!(repo.refused(&["diff", "--cache", "#1"]), @"
    --- stderr
    error: --cache compares two states: an item's revisions are not requests
    [exit 2]
    ");
    repo.git(&["config", "trace.cachePrices", "cheap"]);
    insta::assert_snapshot!(repo.refused(&["diff", "--cache", "main.clean"]), @"
    --- stderr
    error: git config `trace.cachePrices` is `cheap`, which is not two prices, such as 0.1,1.25
    [exit 2]
    ");
}

#[test]
fn each_preset_leaves_its_stub() {
    let repo = session();
    let exact = |args: &[&str]| repo.exact(&repo.run(args, b""));
    insta::assert_snapshot!(exact(&["clean", "--dry-run", "--preset", "aggressive,safe", "--keep", "10"]), @"
     preset         items   tokens    saves
     reminders          1       24       15
     stale-reads        1      243      205
     edit-echoes        1      243      212
     failures           1      253      207
     thinking           1        7        7
     edited-reads       1      243      201
     old-results        1    2,403    2,368
     old-reads          1      303      267
     before 5,349  after 1,867  saved 3,482 (65%)
    --- stderr
    note: this saves fewer than 5,000 tokens and drops the provider's prompt cache from turn 1 on; the cut pays off after 6 requests
    dry run; nothing was changed
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["clean", "--edit", "--dry-run", "--preset", "aggressive", "--keep", "10"]), @"
    cut    28878972    24  reminders      dialogue Where is the lock taken? <system-reminder>Do not forget the
    delete de39e0b7     7  thinking       reasoning Let me look.
    cut    9287e5fc   243  edited-reads   Read src/lock.rs
    keep   2c66dd9e   382  -              Edit src/lock.rs
    cut    fa6191a7   243  edit-echoes    Edit src/lock.rs
    cut    6fcc556d   243  stale-reads    Read src/main.rs 10-29
    cut    352aa992   303  old-reads      Read src/main.rs
    cut    bbe1530e   253  failures       Bash cargo test --all
    cut    c85a2b59  2403  old-results    Bash cd /work && cargo test
    keep   60bd18bf   303  -              Bash make
    keep   45e3008b   363  -              AskUserQuestion
    #
    # cut:    put a stub in place of the content; of a call, of its long arguments
    # trim:   keep the first and the last lines
    # delete: delete thinking, or a call with its results
    # keep:   change nothing
    # summarize: put one summary in place of the item and of those next to it that are marked too
    #
    # The newest items are last. A removed line keeps its item. If the list is empty, nothing is done.
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["clean"]), @"
     preset         items   tokens    saves
     reminders          1       24       15
     stale-reads        1      243      205
     edit-echoes        1      243      212
     failures           1      253      207
     thinking           1        7        7
     edited-reads       1      243      201
     old-results        1    2,403    2,368
     before 5,349  after 2,134  saved 3,215 (60%)
    --- stderr
    note: this saves fewer than 5,000 tokens and drops the provider's prompt cache from turn 1 on; the cut pays off after 7 requests
    dry run, because there is no terminal: --yes writes; nothing was changed
    [exit 0]
    ");
    insta::assert_snapshot!(exact(&["clean", "--yes", "--preset", "aggressive", "--keep", "10"]), @"
     preset         items   tokens    saves
     reminders          1       24       15
     stale-reads        1      243      205
     edit-echoes        1      243      212
     failures           1      253      207
     thinking           1        7        7
     edited-reads       1      243      201
     old-results        1    2,403    2,368
     old-reads          1      303      267
     before 5,349  after 1,867  saved 3,482 (65%)   undo: git trace undo
    [main.clean] 73b9cde
    `main` is unchanged; `git trace diff main main.clean` shows what was cut
    `git trace resume main.clean` continues with the result
    --- stderr
    note: this saves fewer than 5,000 tokens and drops the provider's prompt cache from turn 1 on; the cut pays off after 6 requests
    [exit 0]
    ");
    let cut = repo.text(&["materialize", "main.clean", "--format", "text"]);
    let cut: String = cut.lines().filter(|line| line.contains("[git-")).flat_map(|line| [line, "\n"]).collect();
    insta::assert_snapshot!(cut, @"
    [git-trace cut Read src/lock.rs, 243 tokens, edited later; read it again before editing, or git trace show 9287e5fc --revision 1]
    [git-trace cut Edit src/lock.rs, 243 tokens; git trace show fa6191a7 --revision 1]
    [git-trace cut Read src/main.rs 10-29, 243 tokens, read again later; git trace show 6fcc556d --revision 1]
    [git-trace cut Read src/main.rs, 303 tokens; read it again before editing, or git trace show 352aa992 --revision 1]
    [git-trace cut Bash cargo test --all, 253 tokens, failed, later successful: error[E0425]: no value `x`; git trace show bbe1530e --revision 1]
    [git-trace cut Bash cd /work && cargo test, 2403 tokens; git trace show c85a2b59 --revision 1]
    ");
    insta::assert_snapshot!(exact(&["clean", "main.clean", "--yes", "--preset", "aggressive", "--keep", "10"]), @"
    nothing to cut
    --- stderr
    hint: the newest steps stay; `--keep N` changes how many, and `--preset aggressive` cuts more
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "-n", "1", "main.clean", "--reason", "edited-reads"]), @"
    clean #1 dialogue [ID], #2 reasoning [ID], #4 tool_io [ID] and 5 more
    Commit: [OID]
    Author: A U Thor <author@example.com>
    Date:   2026-02-10T09:00:06Z
    Reason: reminders, stale-reads, edit-echoes, failures, thinking, edited-reads, old-results, old-reads; keep 10

        clean 8 items: 5349 → [N] tokens
    [exit 0]
    ");
    repo.text(&["fsck"]);
    repo.fsck();
}

/// Runs `clean --edit` with a shell command as the editor of the list.
fn edited(repo: &TestRepo, editor: &str, args: &[&str]) -> Output {
    let mut command = repo.command("git-trace");
    command.args(["clean", "--edit"]).args(args).env("GIT_SEQUENCE_EDITOR", editor);
    run(&mut command, b"")
}

#[test]
fn a_purge_while_the_list_was_edited_leaves_no_branch_of_what_it_removed() {
    let repo = session();
    let purge = "git trace purge --pattern 'forget the list' --yes >../purged";
    let editor = format!("edit() {{ cp \"$1\" ../list; {purge}; cp ../list \"$1\"; }}; edit");
    let output = edited(&repo, &editor, &["--yes"]);
    let said = repo.exact(&output);
    assert!(output.status.code() == Some(2) && said.contains("something was purged while this command ran"), "{said}");
    assert!(!repo.refs().contains("main.clean"));
    repo.fsck();
}

#[test]
fn marked_items_become_one_summary() {
    let repo = session();
    let traces = || repo.git(&["for-each-ref", "refs/traces"]);
    let bodies = |trace: &str| repo.bodies(trace);
    let before = traces();
    let summarize = "sed -i '/Read src.main.rs/s/^[a-z]*/summarize/'";
    for only in ["", ";/^summarize/!d"] {
        let editor = format!("{}{only}'", summarize.trim_end_matches('\''));
        let output = edited(&repo, &editor, &["--json"]);
        assert!(output.status.success(), "{}", repo.exact(&output));
        let done: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (_, _, tokens) = said(&repo, "main.clean");
        assert_eq!(done["after"], tokens, "the summary is counted");
        // Both reads and their calls, which are too small for the list.
        let items = done["items"].as_array().unwrap();
        assert_eq!(items.iter().filter(|item| item["action"] == "summarize").count(), 4);
        let commits = repo.git(&["rev-list", "--count", "refs/traces/main..refs/traces/main.clean"]);
        assert_eq!(commits.trim(), if only.is_empty() { "2" } else { "1" });
        let item = "--format=%(trailers:key=Trace-Item,valueonly,separator=)";
        let summary = repo.git(&["log", "-1", item, "refs/traces/main.clean"]).trim().to_owned();
        repo.text(&["--trace", "main.clean", "expand", &summary]);
        if only.is_empty() {
            assert_eq!(bodies("main.clean").len(), bodies("main").len() - 1, "thinking is deleted");
        } else {
            assert_eq!(bodies("main.clean"), bodies("main"));
        }
        repo.text(&["undo", "-n", "2"]);
        assert_eq!(traces(), before, "the cuts and the summary are one operation");
    }
    repo.fsck();
}

#[test]
fn the_list_in_the_editor_decides() {
    let repo = session();
    let before = repo.refs();
    let exact = |editor: &str| repo.exact(&edited(&repo, editor, &[]));
    insta::assert_snapshot!(exact("sed -i /^#/!d"), @"
    --- stderr
    the list is empty; nothing was changed
    [exit 0]
    ");
    insta::assert_snapshot!(exact("sed -i s/^cut/drop/"), @"
    --- stderr
    error: line 1: unknown action `drop`: expected one of cut, trim, delete, summarize, keep
    hint: nothing was changed; run the command again
    [exit 2]
    ");
    insta::assert_snapshot!(exact("echo cut 0123456789abcdef >"), @"
    --- stderr
    error: line 1: no item of the list has the id `0123456789abcdef`
    hint: nothing was changed; run the command again
    [exit 2]
    ");
    insta::assert_snapshot!(exact("sed -i p"), @"
    --- stderr
    error: line 2: item 288789721f49f706 is listed twice
    hint: nothing was changed; run the command again
    [exit 2]
    ");
    insta::assert_snapshot!(exact("sed -i '/Edit/s/^cut/trim/;1s/^[a-z]*/trim/'"), @"
    --- stderr
    error: line 1: item 288789721f49f706 cannot be trimmed, or that saves nothing
    hint: nothing was changed; run the command again
    [exit 2]
    ");
    insta::assert_snapshot!(exact("false"), @"
    --- stderr
    error: the editor `false` failed, so nothing was committed
    [exit 2]
    ");
    assert_eq!(repo.refs(), before);
    // Only the cuts of shell results stay, and a pair is deleted by one of its halves.
    insta::assert_snapshot!(exact("sed -i '/ Bash /!d;s/^keep/delete/'"), @"
     preset         items   tokens    saves
     failures           1      253      207
     old-results        1    2,403    2,368
     by hand            2      312      312
     before 5,349  after 2,462  saved 2,887 (54%)   undo: git trace undo
    [main.clean] f79073a
    `main` is unchanged; `git trace diff main main.clean` shows what was cut
    `git trace resume main.clean` continues with the result
    --- stderr
    note: this saves fewer than 5,000 tokens and drops the provider's prompt cache from turn 1 on; the cut pays off after 3 requests
    [exit 0]
    ");
    let (_, pairs, _) = said(&repo, "main.clean");
    let (_, all, _) = said(&repo, "main");
    assert_eq!(all.len() - pairs.len(), 2);
}

#[test]
fn a_branch_has_a_new_name_and_in_place_has_none() {
    let repo = session();
    let exact = |args: &[&str]| repo.exact(&repo.run(&[&["clean", "--yes"], args].concat(), b""));
    let names = || repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"]);
    exact(&["--preset", "thinking"]);
    exact(&["--preset", "safe"]);
    exact(&["main.clean", "--preset", "default"]);
    insta::assert_snapshot!(names(), @"
    refs/traces/main
    refs/traces/main.clean
    refs/traces/main.clean-2
    refs/traces/main.clean-3
    ");
    let first = repo.git(&["rev-parse", "refs/traces/main"]);
    insta::assert_snapshot!(exact(&["--in-place"]), @"
     preset         items   tokens    saves
     reminders          1       24       15
     stale-reads        1      243      205
     edit-echoes        1      243      212
     failures           1      253      207
     thinking           1        7        7
     edited-reads       1      243      201
     old-results        1    2,403    2,368
     before 5,349  after 2,134  saved 3,215 (60%)   undo: git trace undo
    [main] bd5949a
    --- stderr
    note: this saves fewer than 5,000 tokens and drops the provider's prompt cache from turn 1 on; the cut pays off after 7 requests
    [exit 0]
    ");
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main~1"]), first);
    insta::assert_snapshot!(repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]).lines().filter(|line| !line.starts_with("Trace-T")).flat_map(|line| [line, "\n"]).collect::<String>(), @"
    clean 7 items: 5349 → 2134 tokens

    Trace-Op: clean
    Trace-Item: 288789721f49f706
    Trace-Item: de39e0b788349d16
    Trace-Item: 9287e5fc26ef2b45
    Trace-Item: fa6191a72b6e050a
    Trace-Item: 6fcc556d259d1801
    Trace-Item: bbe1530e376189a4
    Trace-Item: c85a2b590e1528a8
    Trace-Next: 45
    Trace-Reason: reminders, stale-reads, edit-echoes, failures, thinking, edited-reads, old-results; keep 10
    ");
    repo.text(&["undo"]);
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), first);
    insta::assert_snapshot!(repo.refused(&["clean", "--preset", "safe,all"]), @"
    --- stderr
    error: `--preset <P,…>`: unknown preset `all`: expected one of safe, default, aggressive, duplicates, reminders, stale-reads, edit-echoes, images, failures, thinking, edited-reads, old-results, oversize, old-reads, agent-reports, old-calls
    hint: for example `git trace clean --preset aggressive --keep 5`; `git trace clean -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["clean", "none"]), @"
    --- stderr
    error: no trace is named `none`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
}

#[test]
fn restore_takes_back_a_cut_without_a_revision() {
    let repo = session();
    let before = repo.bytes(&["show", "#4"]);
    repo.text(&["clean", "--yes", "--preset", "aggressive", "--keep", "10", "--in-place"]);
    assert_ne!(repo.bytes(&["show", "#4"]), before);
    repo.text(&["restore", "#4"]);
    assert_eq!(repo.bytes(&["show", "#4"]), before);
    // Its last change is the restoration now.
    assert_eq!(repo.run(&["restore", "#4"], b"").status.code(), Some(2));
    repo.fsck();
}
