//! Every command that stores text screens it for secrets.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::repo::TestRepo;

/// Commands that store no text of the user, or only text that another command has screened. `check` and the pre-commit hook
/// screen checkpoints, which are written as files.
const WITHOUT_TEXT: &str = "bisect blame branch brief check checkpoint cherry-pick clean complete count delete demo diff doctor expand \
    export fetch fsck gc grep help hook init install log materialize mcp merge merge-driver op pin priority pull purge push rebase redo \
    remote reset restore resume revert sessions show skip status switch top types undo uninstall unpin view";

#[test]
fn every_command_that_stores_text_screens_it() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let token = token.as_str();
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let item = repo.say("first");
    repo.say("second");
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
    let cases: Vec<(Vec<&str>, &[u8])> = vec![
        (vec!["commit", "-m", token], b""),
        (vec!["commit", "-m", "x", "--meta", &meta], b""),
        (vec!["commit", "--batch"], line.as_bytes()),
        (vec!["edit", &item, "-m", token], b""),
        (vec!["edit", &item, "--meta", &meta], b""),
        (vec!["compress", "#0..#1", "-m", token], b""),
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
        (vec!["forward", "leave", "--summary", token], b""),
        (vec!["forward", "leave", "--summary", "x", "--unfinished", token], b""),
        (vec!["forward", "migrate", "note.md"], b""),
        (vec!["forward", "import", "-"], crumb.to_string().into_bytes().leak()),
    ];
    let refs = repo.refs();
    for (args, input) in &cases {
        let answer = repo.trace_with(args, input);
        assert!(answer.contains("a GitHub token") && !answer.contains("[exit 0]"), "{args:?}: {answer}");
        assert!(!answer.contains(token), "{args:?} prints the secret: {answer}");
    }
    assert_eq!(repo.refs(), refs, "nothing was recorded");
    let walked: BTreeSet<&str> = cases.iter().map(|(args, _)| args[0]).chain(WITHOUT_TEXT.split_whitespace()).collect();
    let help = repo.text(&["help", "--all"]);
    let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let is_name = |word: &&str| !word.is_empty() && !word.starts_with('-');
    let unknown: Vec<_> = listed.filter(is_name).filter(|name| !walked.contains(name)).collect();
    assert_eq!(unknown, [""; 0], "add these commands to the cases, or to the list of those that store no text");
}

#[test]
fn without_a_setting_a_forward_crumb_with_a_secret_warns_and_an_import_removes_it() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let left = repo.trace(&["forward", "leave", "--summary", &token]);
    assert!(left.contains("warning: the item holds what looks like a GitHub token"), "{left}");
    fs::write(repo.folder().join("note.md"), format!("Session summary: {token}!\n")).unwrap();
    let migrated = repo.trace(&["forward", "migrate", "note.md"]);
    assert!(migrated.contains("a GitHub token was taken out"), "{migrated}");
    let exported = repo.text(&["forward", "export"]);
    assert_eq!(exported.matches(&token).count(), 1, "only in the one that was left");
}
