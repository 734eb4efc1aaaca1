//! Every command that stores text screens it for secrets.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::repo::{TestRepo, run};

/// Commands that store no text of the user, or only text that another command has screened.
const WITHOUT_TEXT: &str = "archive attribute bisect blame branch brief check clean complete count demo diff disable doctor enable export fetch fsck gc grep \
    help hook init install log materialize mcp merge-driver op pull push rebase recall redo remote reset resume sessions show status \
    switch top types undo uninstall view why \
    breadcrumb/delete breadcrumb/export breadcrumb/get breadcrumb/history breadcrumb/list breadcrumb/migrate breadcrumb/namespaces \
    breadcrumb/prune breadcrumb/resolve checkpoint/breadcrumbs checkpoint/current checkpoint/doctor checkpoint/follow checkpoint/list \
    checkpoint/prime checkpoint/remove-breadcrumb checkpoint/status checkpoint/tree checkpoint/validate crumb/compress crumb/expand \
    crumb/fmt crumb/remove crumb/send crumb/show crumb/start crumb/textconv crumb/triage crumb/validate forward/chain forward/dedupe forward/expire \
    forward/export forward/fetch forward/get forward/pull forward/push forward/show forward/stats";

/// The names of the commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let names = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|word| !word.is_empty() && !word.starts_with(['-', '[', '<'])).map(str::to_owned).collect()
}

/// Commands whose subcommands are visited, too.
const GROUPS: [&str; 4] = ["breadcrumb", "checkpoint", "crumb", "forward"];

/// Whether each command is refused because of a token, and changes nothing.
#[track_caller]
fn assert_refused(repo: &TestRepo, token: &str, cases: &[(Vec<&str>, &[u8])]) {
    let refs = repo.refs();
    for (args, input) in cases {
        let answer = repo.trace_with(args, input);
        assert!(answer.contains("a GitHub token") && !answer.contains("[exit 0]"), "{args:?}: {answer}");
        assert!(!answer.contains(token), "{args:?} prints the secret: {answer}");
    }
    assert_eq!(repo.refs(), refs, "nothing was recorded");
}

#[test]
fn every_command_that_stores_text_screens_it() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let token = token.as_str();
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let item = repo.say("first");
    let second = repo.say("second");
    repo.text(&["skip", &second]);
    repo.text(&["forward", "leave", "--summary", "left before"]);
    let left = repo.text(&["forward", "get", "--oneline"])[..16].to_owned();
    repo.text(&["checkpoint", "new", "known"]);
    fs::write(repo.folder().join(".gitignore"), "breadcrumbs-secret.jsonl\n").unwrap();
    repo.text(&["breadcrumb", "set", "secret.key", token]);
    repo.text(&["crumb", "new", "a.crumb"]);
    repo.git(&["config", "trace.secrets", "refuse"]);
    let meta = format!("key={token}");
    let note = format!("Session summary: the token is {token}\n");
    fs::write(repo.folder().join("note.md"), &note).unwrap();
    let crumb = json!({ "crumbs": [{ "text": note, "metadata": { "timestamp": "2026-01-01T00:00:00Z",
        "crumb_priority": "HIGH", "crumb_type": "task" } }] });
    let record = format!(
        "{{\"created_at\":\"2026-01-01T00:00:00Z\",\"key\":\"auth.t\",\"updated_at\":\"2026-01-01T00:00:00Z\",\"value\":\"{token}\"}}\n"
    );
    let sent = format!("∴CRUMB2 ECHO s1\n\n§core\n. {token}\n");
    let line = json!({ "type": "dialogue", "role": "user", "text": token }).to_string();
    repo.git(&["update-ref", "refs/traces/side", "refs/traces/main~1"]);
    repo.text(&["commit", "-m", "x", "--trace", "side"]);
    let cases: Vec<(Vec<&str>, &[u8])> = vec![
        (vec!["commit", "-m", token], b""),
        (vec!["commit", "-m", "x", "--meta", &meta], b""),
        (vec!["commit", "--batch"], line.as_bytes()),
        (vec!["edit", &item, "-m", token], b""),
        (vec!["edit", &item, "--meta", &meta], b""),
        (vec!["compress", "#0..#1", "-m", token], b""),
        (vec!["merge", "side", "--no-ff", "-s", token], b""),
        (vec!["import", "jsonl", "-"], line.as_bytes()),
        (vec!["breadcrumb", "set", "auth.t", token], b""),
        (vec!["breadcrumb", "rename", "secret.key", "auth.t"], b""),
        (vec!["breadcrumb", "import"], record.as_bytes()),
        (vec!["crumb", "new", "b.crumb", "--fact", token], b""),
        (vec!["crumb", "note", "a.crumb", token], b""),
        (vec!["crumb", "fact", "a.crumb", token], b""),
        (vec!["crumb", "rule", "a.crumb", token], b""),
        (vec!["crumb", "warn", "a.crumb", token], b""),
        (vec!["crumb", "direct", "a.crumb", token], b""),
        (vec!["crumb", "fail", "a.crumb", "a:b", token], b""),
        (vec!["crumb", "receive", "a.crumb"], sent.as_bytes()),
        (vec!["crumb", "new", "b.crumb", "--identity", token], b""),
        (vec!["commit", "-m", "x", "-p", "skip", "--reason", token], b""),
        (vec!["pin", &item, "--reason", token], b""),
        (vec!["skip", &item, "--reason", token], b""),
        (vec!["unpin", &item, "--reason", token], b""),
        (vec!["priority", &item, "skip", "--reason", token], b""),
        (vec!["delete", &item, "--reason", token], b""),
        (vec!["restore", &item, "--reason", token], b""),
        (vec!["expand", &item, "--reason", token], b""),
        (vec!["revert", "TRACE_HEAD", "--reason", token], b""),
        (vec!["cherry-pick", "other", "#0", "--reason", token], b""),
        (vec!["purge", &item, "--reason", token], b""),
        (vec!["forward", "status", &left, "completed", "--reason", token], b""),
        (vec!["checkpoint", "new", "more", "-p", token], b""),
        (vec!["checkpoint", "new", "more", "-i", token], b""),
        (vec!["checkpoint", "delta", "known", "-m", token], b""),
        (vec!["checkpoint", "delta", "known", "-m", "x", "--artifact", "a.rs", "created", token], b""),
        (vec!["checkpoint", "archive", "known", "-o", "x", "-l", token], b""),
        (vec!["checkpoint", "add-breadcrumb", "decision", "why", token, "-c", "known"], b""),
        (vec!["forward", "leave", "--summary", token], b""),
        (vec!["forward", "leave", "--summary", "x", "--unfinished", token], b""),
        (vec!["forward", "migrate", "note.md"], b""),
        (vec!["forward", "import", "-"], crumb.to_string().into_bytes().leak()),
    ];
    assert_refused(&repo, token, &cases);
    let is_group = |name: &str| GROUPS.contains(&name);
    let name = |args: &[&str]| if is_group(args[0]) { args[..2].join("/") } else { args[0].to_owned() };
    let walked: BTreeSet<String> = cases.iter().map(|(args, _)| name(args)).collect();
    let known: BTreeSet<String> = WITHOUT_TEXT.split_whitespace().map(str::to_owned).chain(walked).collect();
    let mut names = listed(&repo.text(&["help", "--all"]));
    names.retain(|name| !is_group(name));
    for group in GROUPS {
        let help = repo.text(&[group, "-h"]);
        let commands = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
        names.extend(listed(commands).iter().map(|command| format!("{group}/{command}")));
    }
    let unknown: Vec<_> = names.iter().filter(|name| !known.contains(*name)).collect();
    assert_eq!(unknown, [""; 0], "add these commands to the cases, or to the list of those that store no text");
}

#[test]
fn fields_and_lines_about_an_item_are_screened() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let token = token.as_str();
    let repo = TestRepo::new();
    let item = repo.say("first");
    repo.say("second");
    repo.git(&["config", "trace.secrets", "refuse"]);
    let key = json!({ "text": "x", "meta": { token: 1 } }).to_string();
    let call =
        json!({ "type": "tool_io", "direction": "call", "name": "f", "call_id": token, "text": "{}" }).to_string();
    let added = json!({ "op": "append", "id": "00000000000000ab", "text": "x" });
    let deletion = json!({ "op": "delete", "id": "00000000000000ab", "reason": token });
    let deletion = format!("{added}\n{deletion}\n");
    let pin = json!({ "op": "priority", "id": item, "priority": "pinned", "reason": token }).to_string();
    let by =
        json!({ "op": "append", "id": "00000000000000ab", "text": "x", "by": format!("{token} <a@b>") }).to_string();
    let request = json!({ "messages": [{ "role": "user", "name": token, "content": "x" }] }).to_string();
    let set: [String; 4] = ["path", "language", "source", "other"]
        .map(|field| format!("{field}={}", if field == "source" { format!("a {token} 0") } else { token.to_owned() }));
    let cases: Vec<(Vec<&str>, &[u8])> = vec![
        (vec!["commit", "-m", "x", "-s", token], b""),
        (vec!["commit", "-m", "x", "--name", token], b""),
        (vec!["commit", "-m", "x", "-t", "artifact", "--set", &set[0]], b""),
        (vec!["commit", "-m", "x", "-t", "artifact", "--set", &set[1]], b""),
        (vec!["commit", "-m", "x", "--set", &set[2]], b""),
        (vec!["commit", "-m", "x", "--set", &set[3]], b""),
        (vec!["commit", "--batch"], key.as_bytes()),
        (vec!["edit", &item, "--set", &set[3]], b""),
        (vec!["edit", &item, "-m", "y", "-s", token], b""),
        (vec!["edit", &item, "-m", "y", "--reason", token], b""),
        (vec!["compress", "#0..#1", "-m", "y", "-s", token], b""),
        (vec!["compress", "#0..#1", "-m", "y", "--reason", token], b""),
        (vec!["import", "jsonl", "-"], key.as_bytes()),
        (vec!["import", "jsonl", "-"], call.as_bytes()),
        (vec!["import", "jsonl", "-"], deletion.as_bytes()),
        (vec!["import", "jsonl", "-"], pin.as_bytes()),
        (vec!["import", "jsonl", "-"], by.as_bytes()),
        (vec!["import", "openai", "-"], request.as_bytes()),
    ];
    assert_refused(&repo, token, &cases);
}

#[test]
fn without_a_setting_a_forward_crumb_with_a_secret_warns_and_an_import_removes_it() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let left = repo.trace(&["forward", "leave", "--summary", &token]);
    assert!(left.contains("warning: the text holds what looks like a GitHub token"), "{left}");
    fs::write(repo.folder().join("note.md"), format!("Session summary: {token}!\n")).unwrap();
    let migrated = repo.trace(&["forward", "migrate", "note.md"]);
    assert!(migrated.contains("a GitHub token was taken out"), "{migrated}");
    let exported = repo.text(&["forward", "export"]);
    assert_eq!(exported.matches(&token).count(), 1, "only in the one that was left");
}

#[test]
fn a_secret_outside_of_the_text_is_replaced_by_an_import_and_reported_by_a_commit() {
    let repo = TestRepo::new();
    let item = repo.say("first");
    let token = |digit: char| format!("ghp_{}", digit.to_string().repeat(4) + &"a1B2".repeat(8));
    let [one, two, three] = ['1', '2', '3'].map(token);
    let call = |id: &str| {
        let called = json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
        json!({ "role": "assistant", "tool_calls": [called] })
    };
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "done" });
    let messages = [call(&one), result(&one), call(&two), result(&two)];
    let request = json!({ "messages": messages }).to_string();
    let imported = repo.snapshot(&repo.run(&["--trace", "other", "import", "openai", "-"], request.as_bytes()));
    assert_eq!(imported, "4 imported into trace `other`, 4 secrets taken out\n[exit 0]");
    let ids: Vec<_> = repo
        .lines(&["export", "other"])
        .iter()
        .filter_map(|line| line["call_id"].as_str().map(str::to_owned))
        .collect();
    assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2], "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with("redacted-")), "{ids:?}");
    let lines = [
        json!({ "text": "x", "meta": { &*one: 1, &*ids[0]: 2, &*two: { &*three: "kept" } } }),
        json!({ "op": "priority", "id": item, "priority": "pinned", "reason": format!("why {one}") }),
        json!({ "op": "append", "id": "00000000000000ab", "text": "y" }),
        json!({ "op": "delete", "id": "00000000000000ab", "reason": format!("why {one}"), "by": format!("{two} <a@b>") }),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let imported = repo.snapshot(&repo.run(&["import", "jsonl", "-"], lines.as_bytes()));
    assert!(imported.starts_with("3 imported into trace `main`, 5 secrets taken out\n"), "{imported}");
    let objects = run(repo.command("git").args(["cat-file", "--batch", "--batch-all-objects"]), b"");
    let stored = String::from_utf8_lossy(&objects.stdout);
    assert!(!stored.contains("ghp_"), "no secret is stored");
    assert!(stored.contains("why [redacted: a GitHub token]") && stored.contains("\"kept\""));
    assert!(stored.contains(&format!("{}-2", ids[0])), "a replaced key replaces no other");
    for args in [["-s", &one], ["--name", &one], ["--meta", &format!("{one}=1")]] {
        let answer = repo.trace(&[&["commit", "-m", "x"], &args[..]].concat());
        let warnings = answer.lines().filter(|line| line.contains("holds what looks like a GitHub token"));
        assert_eq!(warnings.count(), 1, "{args:?}: {answer}");
    }
}

#[test]
fn a_value_that_only_its_name_shows_to_be_a_secret_is_found() {
    let repo = TestRepo::new();
    let item = repo.say("first");
    let value = "hunterZ9x8Q7w6E5";
    let set = format!("password={value}");
    let nested = json!({ "text": "x", "meta": { "of": [{ "password": value }], "kept": "b" } }).to_string();
    let quoted = json!({ "text": "x", "meta": { "password": "hunter\\Z9x8Q7w6E5" } }).to_string();
    repo.git(&["config", "trace.secrets", "refuse"]);
    let refs = repo.refs();
    for (args, input) in [
        (&["commit", "-m", "x", "--meta", &set][..], ""),
        (&["commit", "-m", "x", "--set", &set], ""),
        (&["edit", &item, "--meta", &set], ""),
        (&["edit", &item, "--set", &set], ""),
        (&["commit", "--batch"], &nested),
        (&["import", "jsonl", "-"], &nested),
        (&["import", "jsonl", "-"], &quoted),
    ] {
        let refused = repo.trace_with(args, input.as_bytes());
        assert!(refused.contains("by its name") && !refused.contains(value), "{args:?} {input}: {refused}");
    }
    assert_eq!(repo.refs(), refs, "nothing was recorded");
    repo.git(&["config", "trace.secrets", "redact"]);
    repo.bytes_with(&["import", "jsonl", "-"], [nested, quoted].join("\n").as_bytes());
    let exported = repo.lines(&["export"]);
    let note = "[redacted: a secret by its name]";
    assert_eq!(exported[1]["meta"], json!({ "of": [{ "password": note }], "kept": "b" }));
    assert_eq!(exported[2]["meta"], json!({ "password": "[redacted: a password by its name]" }));
}

#[test]
fn an_edit_removes_a_signature_with_a_secret_or_of_a_text_with_one() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.secrets", "redact"]);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    repo.text(&["commit", "-t", "reasoning", "-m", "think", "--set", "signature=abc"]);
    for (text, signature, kept) in [
        (format!("new {token}"), "abc2", None),
        ("newer".to_owned(), &*token, None),
        ("newest".to_owned(), "abc3", Some("abc3")),
    ] {
        repo.text(&["edit", "#0", "-m", &text, "--set", &format!("signature={signature}")]);
        assert_eq!(repo.lines(&["export"]).last().unwrap()["signature"].as_str(), kept, "{text}");
    }
}
