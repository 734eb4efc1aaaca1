//! A user's counter: the command in `trace.tokenCounter`, or the file in `trace.tokenizer`.

use std::fs;

use serde_json::{Value, json};

use super::repo::TestRepo;

/// One token per character between the quotes. Each start adds a line to the file `starts`.
const LETTERS: &str = r"echo >>starts; while IFS= read -r line; do echo $((${#line} - 2)); done";

fn counted_by(command: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.tokenCounter", command]);
    repo
}

fn starts(repo: &TestRepo) -> usize {
    fs::read_to_string(repo.folder().join("starts")).unwrap_or_default().lines().count()
}

#[test]
fn every_command_counts_with_the_counter_of_the_trace() {
    let repo = counted_by(LETTERS);
    let item = repo.say("0123456789");
    repo.commit(&["-r", "assistant", "-m", "01234567890123456789"]);
    // 3 for each message, and 3 for the reply.
    let (total, counter) = (10 + 20 + 2 * 3 + 3, repo.json(&["status", "--json"])["tokens"]["encoding"].clone());
    assert!(counter.as_str().unwrap().starts_with("command@"), "{counter}");
    let figure = |args: &[&str], pointer: &str| {
        let answer = repo.json(args);
        answer.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{args:?}: {answer}"))
    };
    let totals = [
        figure(&["status", "--json"], "/tokens/counted"),
        figure(&["materialize", "--json"], "/tokens/request"),
        figure(&["top", "--json"], "/tokens"),
        figure(&["clean", "--dry-run", "--json"], "/before"),
        figure(&["compress", "--to", "30", "--dry-run", "--json"], "/tokens/before"),
        figure(&["branch", "--json"], "/tokens/total"),
    ];
    assert_eq!(totals, [total; 6]);
    assert_eq!(figure(&["show", &item, "--json"], "/tokens"), 10);
    for args in [&["show", &item, "--json"][..], &["top", "--json"]] {
        assert_eq!(repo.json(args)["encoding"], counter, "{args:?}");
    }
    let counted: Value = serde_json::from_slice(&repo.bytes_with(&["count", "--json"], b"0123456789")).unwrap();
    assert_eq!((counted["total"].as_u64(), &counted["encoding"]), (Some(10), &counter));
    repo.git(&["config", "trace.budget", "42"]);
    repo.git(&["config", "trace.budgetAction", "reject"]);
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "01"]), @r"
    --- stderr
    error: trace `main` would take [N] tokens (command@[ID]), more than its budget of 42
    hint: skip, edit or delete what is not needed, or raise `trace.budget`
    [exit 1]
    ");
    // The item and the trailers name the counter.
    let counter = counter.as_str().unwrap();
    let file = repo.text(&["show", "--header", &item]);
    assert!(file.contains(&format!("\ntokens: 10 {counter} ")), "{file}");
    let message = repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]);
    assert!(message.contains(&format!("\nTrace-Total: 39 {counter}\n")), "{message}");
    repo.fsck();
}

#[test]
fn a_command_is_started_once_and_only_to_count() {
    let repo = counted_by(LETTERS);
    let items: String = (0..20).map(|n| format!("{{\"type\":\"dialogue\",\"text\":\"item {n}\"}}\n")).collect();
    repo.bytes_with(&["commit", "--batch"], items.as_bytes());
    assert_eq!(starts(&repo), 1);
    repo.bytes(&["log"]);
    repo.bytes(&["status", "--json"]);
    assert_eq!(starts(&repo), 1, "the counts are stored");
}

#[test]
fn another_counter_counts_again_and_ours_reads_its_items() {
    let repo = counted_by(LETTERS);
    repo.say("0123456789");
    repo.git(&["config", "trace.tokenCounter", "while read -r line; do echo 7; done"]);
    assert_eq!(repo.total("main"), 7 + 6);
    repo.git(&["config", "--unset", "trace.tokenCounter"]);
    let by_default = repo.total("main");
    assert_ne!(by_default, 7 + 6);
    repo.say("0123456789");
    assert_eq!(repo.total("main"), 2 * (by_default - 3) + 3);
    repo.fsck();
}

#[test]
fn a_command_that_fails_stops_the_command_that_needs_a_count() {
    let repo = TestRepo::new();
    repo.say("before");
    let tip = repo.trace_head();
    for (command, reason) in [
        ("exit 3", "`exit 3` ended without an answer"),
        ("read -r line; echo many", "`read -r line; echo many` answered `many`, which is not a number of tokens"),
        ("read -r line; echo -1", "`read -r line; echo -1` answered `-1`, which is not a number of tokens"),
    ] {
        repo.git(&["config", "trace.tokenCounter", command]);
        for args in [&["commit", "-m", "x"][..], &["status"], &["materialize", "--json"], &["count", ".git/HEAD"]] {
            let said = repo.refused(args);
            let hint = "hint: to count with `trace.encoding` this once: git -c trace.tokenCounter= trace …";
            let error = format!("--- stderr\nerror: cannot count tokens with command@[ID]: {reason}\n{hint}\n[exit 2]");
            assert_eq!(said.trim_end(), error, "{args:?}");
        }
        assert_eq!(repo.trace_head(), tip);
    }
    let by_encoding = repo.git(&["-c", "trace.tokenCounter=", "trace", "count", ".git/HEAD"]);
    assert!(by_encoding.contains(".git/HEAD"), "{by_encoding}");
}

#[test]
fn traces_whose_names_match_a_pattern_have_a_counter_of_their_own() {
    let repo = counted_by(LETTERS);
    repo.say("hello world");
    repo.git(&["config", "traceName.gemini-cli/*.tokenCounter", "while read -r line; do echo 7; done"]);
    repo.git(&["config", "traceName.codex/*.tokenCounter", ""]);
    repo.git(&["config", "traceName.codex/*.encoding", "cl100k_base"]);
    for name in ["gemini-cli/a", "codex/b"] {
        repo.commit(&["--trace", name, "-m", "hello world"]);
    }
    let status = |name: &str| {
        let tokens = repo.json(&["status", name, "--json"])["tokens"].clone();
        let counter = tokens["encoding"].as_str().unwrap().to_owned();
        (tokens["total"].as_u64().unwrap(), counter)
    };
    let (letters, sevens, encoding) = (status("main"), status("gemini-cli/a"), status("codex/b"));
    assert_eq!((letters.0, sevens.0), (11 + 6, 7 + 6));
    assert_ne!(letters.1, sevens.1);
    assert_eq!(encoding, (2 + 6, "cl100k_base".to_owned()));
    // Each trace keeps its counter in lists, and wherever it is named.
    for trace in repo.lines(&["branch", "--json"]) {
        let (total, counter) = status(trace["trace"].as_str().unwrap());
        assert_eq!((&trace["tokens"]["total"], &trace["tokens"]["encoding"]), (&json!(total), &json!(counter)));
    }
    assert_eq!(repo.json(&["materialize", "gemini-cli/a", "--json"])["tokens"]["request"], 13);
    assert_eq!(repo.json(&["--trace", "gemini-cli/a", "show", "#0", "--json"])["tokens"], 7);
    assert_eq!(repo.json(&["top", "codex/b", "--json"])["encoding"], "cl100k_base");
    assert_eq!(repo.text(&["--trace", "gemini-cli/a", "show", "--larger-than", "6"]), "hello world");
    // A merge counts in the trace that it changes.
    repo.text(&["--trace", "codex/b", "merge", "gemini-cli/a"]);
    assert_eq!(status("codex/b"), (2 * 5 + 3, "cl100k_base".to_owned()));
    repo.git(&["config", "traceName.codex/*.encoding", "klingon"]);
    insta::assert_snapshot!(repo.refused(&["status", "codex/b"]), @"
    --- stderr
    error: git config `tracename.codex/*.encoding` is `klingon`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
    repo.fsck();
}

/// A trace whose stored counts are those of another counter. Its own counter answers as often as the file `left` says.
fn counted_until_it_fails() -> TestRepo {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    let command = "left=$(cat left); while [ $left -gt 0 ] && read -r line; do left=$((left-1)); echo 7; done";
    repo.git(&["config", "trace.tokenCounter", command]);
    repo
}

#[test]
fn a_counter_that_fails_after_something_was_recorded_is_not_a_refusal() {
    let mut notes = Vec::new();
    for args in [
        &["commit", "-m", "x", "-p", "pinned"][..],
        &["edit", "#1", "-m", "x"],
        &["delete", "#1"],
        &["skip", "#1"],
        &["compress", "#0..#1", "-m", "x", "--json"],
    ] {
        let repo = counted_until_it_fails();
        let before = repo.refs();
        for left in 0.. {
            fs::write(repo.folder().join("left"), left.to_string()).unwrap();
            let output = repo.run(args, b"");
            let said = repo.snapshot(&output);
            if repo.refs() == before {
                assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
                continue;
            }
            if !output.status.success() {
                notes.push(said);
                repo.text(&["undo"]);
                assert_eq!(repo.bodies("main"), ["one", "two", "three"]);
            }
            break;
        }
    }
    insta::assert_snapshot!(notes.join("\n"), @"
    --- stderr
    error: cannot count tokens with command@[ID]: `left=$(cat left); while [ $left -gt 0 ] && read -r line; do left=$((left-1)); echo 7; done` ended without an answer
    hint: to count with `trace.encoding` this once: git -c trace.tokenCounter= trace …
    note: what it recorded until then is kept; `git trace undo [ID]` reverses it
    [exit 1]
    ");
}

#[test]
fn a_batch_goes_on_after_a_line_that_cannot_be_counted() {
    let repo = counted_by(r"while read -r line; do case $line in *two*) exit 3; esac; echo 7; done");
    let output = repo.run(&["commit", "--batch"], b"{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n");
    insta::assert_snapshot!(repo.snapshot(&output), @r#"
    {"commit":"[OID]","id":"[ID]","op":"append","revision":1,"seq":0,"tokens":"[N]"}
    {"error":"cannot count tokens with command@[ID]: `while read -r line; do case $line in *two*) exit 3; esac; echo 7; done` ended without an answer","hint":"to count with `trace.encoding` this once: git -c trace.tokenCounter= trace …"}
    {"commit":"[OID]","id":"[ID]","op":"append","revision":1,"seq":1,"tokens":"[N]"}
    [exit 1]
    "#);
    assert_eq!(repo.bodies("main"), ["one", "three"]);
}

#[test]
fn the_file_that_a_project_shares_runs_no_counter() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\ttokenCounter = \"touch ran; echo 7\"\n").unwrap();
    repo.say("hello world");
    assert_eq!(repo.total("main"), 2 + 6);
    assert!(!repo.folder().join("ran").exists());
}

/// A `tokenizer.json` that is generated here: each piece of this pattern is a token, `special` is added to each text, and texts are
/// cut to one token and padded to 64.
fn tokenizer(pattern: &str) -> Vec<u8> {
    let special = json!({ "SpecialToken": { "id": "[S]", "type_id": 0 } });
    let text = json!({ "Sequence": { "id": "A", "type_id": 0 } });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": { "direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0 },
        "padding": { "strategy": { "Fixed": 64 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[S]" },
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": { "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false },
        "post_processor": { "type": "TemplateProcessing", "single": [special, text], "pair": [special, text],
            "special_tokens": { "[S]": { "id": "[S]", "ids": [0], "tokens": ["[S]"] } } },
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "[S]": 0, "[U]": 1, "lorem": 2 }, "unk_token": "[U]" },
    });
    tokenizer.to_string().into_bytes()
}

#[test]
fn every_command_counts_with_the_tokenizer_that_a_file_describes() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.home().join("models/tiny")).unwrap();
    let path = repo.home().join("models/tiny/tokenizer.json");
    // Lookahead needs a backtracking engine; tokenizers of models use it.
    fs::write(&path, tokenizer(r"[a-z]+|\s+(?!\S)|\s|\d{1,3}")).unwrap();
    repo.git(&["config", "trace.tokenizer", "~/models/tiny/tokenizer.json"]);
    let item = repo.say("lorem ipsum  12345");
    // lorem, a space, ipsum, a space, a space, 123, 45: without the special token, and neither cut nor padded.
    let shown = repo.json(&["show", &item, "--json"]);
    assert_eq!(shown["tokens"], 7);
    let counter = shown["encoding"].as_str().unwrap().to_owned();
    assert!(counter.starts_with("tiny@"), "{counter}");
    let status = repo.json(&["status", "--json"])["tokens"].clone();
    assert_eq!((&status["encoding"], &status["counted"]), (&json!(counter), &json!(7 + 6)));
    let top = repo.json(&["top", "--json"]);
    assert_eq!((&top["encoding"], &top["tokens"]), (&json!(counter), &json!(7 + 6)));
    let message = repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]);
    assert!(message.contains(&format!("\nTrace-Total: 13 {counter}\n")), "{message}");
    // Another tokenizer with the same name has another digest, and counts again.
    fs::write(&path, tokenizer("[a-z]+|.")).unwrap();
    assert_eq!(repo.json(&["show", &item, "--json"])["tokens"], 10);
    assert_eq!(repo.total("main"), 10 + 6);
    // A command comes before it.
    repo.git(&["config", "trace.tokenCounter", LETTERS]);
    assert_eq!(repo.total("main"), 18 + 6);
    repo.fsck();
}

#[test]
fn a_file_that_is_no_tokenizer_stops_the_command_that_needs_a_count() {
    let repo = TestRepo::new();
    repo.say("before");
    let tip = repo.trace_head();
    let set = |path: &str| repo.git(&["config", "trace.tokenizer", path]);
    set("missing.json");
    let hint = "hint: to count with `trace.encoding` this once: git -c trace.tokenizer= trace …";
    let error =
        "--- stderr\nerror: cannot count tokens with [HOME]/repo/missing.json: No such file or directory (os error 2)";
    assert_eq!(repo.refused(&["commit", "-m", "x"]).trim_end(), format!("{error}\n{hint}\n[exit 2]"));
    fs::write(repo.folder().join("bad.json"), "{}").unwrap();
    set("bad.json");
    let error = "--- stderr\nerror: cannot count tokens with bad@[ID]: the file is not a tokenizer: Model missing. at line 1 column 2";
    assert_eq!(repo.refused(&["commit", "-m", "x"]).trim_end(), format!("{error}\n{hint}\n[exit 2]"));
    assert_eq!(repo.trace_head(), tip);
}
