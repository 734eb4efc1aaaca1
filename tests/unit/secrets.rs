//! Secrets: where they are refused, taken out or told, and that nothing prints them.

mod corpus;

use std::fs;
use std::path::Path;

use crate::secrets::{find, redact};
use proptest::prelude::*;

use crate::unit::playground::{Playground, STORE, line};
use crate::unit::repo::TestRepo;

/// A token as none was ever given out.
fn token() -> String {
    "ghp_".to_owned() + &"a1B2".repeat(9)
}

fn fingerprint(answer: &str) -> String {
    let at = answer.find("trace.allowSecret ").unwrap() + "trace.allowSecret ".len();
    answer[at..at + 16].to_owned()
}

fn session(texts: &[&str]) -> String {
    let line = |(n, text): (usize, &&str)| {
        let content = serde_json::json!(text);
        let parent = n.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"u{parent}\""));
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{n}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:0{n}Z\",\
             \"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n"
        )
    };
    texts.iter().enumerate().map(line).collect()
}

#[test]
fn no_sample_contains_a_secret() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read(&path).unwrap();
            let found: Vec<_> =
                find(&text).into_iter().map(|s| String::from_utf8_lossy(&text[s.span]).into_owned()).collect();
            assert_eq!(found, [""; 0], "{}", path.display());
        }
    }
}

#[test]
fn staged_secrets_are_refused_unless_allowed() {
    let place = Playground::new();
    place.ok(&["install"]);
    place.write(STORE, line("api.a", &token(), 0));
    place.git(&["add", "-A"]);
    let answer = place.try_git(&["commit", "-q", "-m", "x"]);
    assert!(answer.contains("jsonl:1:25: secret: this looks like a GitHub token; "), "{answer}");
    assert!(!answer.contains(&token()) && answer.ends_with("[exit 1]\n"), "{answer}");
    let fingerprint = fingerprint(&answer);
    place.git(&["-c", "trace.secrets=off", "hook", "run", "pre-commit"]);
    let warned = place.try_git(&["-c", "trace.secrets=warn", "hook", "run", "pre-commit"]);
    assert!(warned.contains("warning: ") && !warned.contains("[exit"), "{warned}");
    assert!(place.try_git(&["hook", "run", "pre-commit"]).ends_with("[exit 1]\n"));
    place.git(&["-c", &format!("trace.allowSecret={fingerprint}"), "hook", "run", "pre-commit"]);
    // Committed for everybody.
    place.write(".traceconfig", format!("[trace]\n\tallowSecret = 0000 {fingerprint}\n"));
    place.commit("allowed");
    assert!(!place.trace(&["check"]).contains("[exit"));
}

#[test]
fn breadcrumbs_with_secret_keys_are_refused() {
    let place = Playground::new();
    let random = "q8Zr2LpX0vTn5KdW7yBs";
    for (key, value) in [("auth.note", token()), ("auth.api_key", random.to_owned())] {
        let answer = place.trace(&["breadcrumb", "set", key, &value]);
        assert!(answer.ends_with("[exit 2]\n") && !answer.contains(&value), "{answer}");
    }
    place.ok(&["breadcrumb", "set", "auth.note", random]);
    let answer = place.trace(&["breadcrumb", "set", "auth.note", &token()]);
    place.git(&["config", "trace.allowSecret", &fingerprint(&answer)]);
    place.ok(&["breadcrumb", "set", "auth.note", &token()]);
    place.git(&["config", "--unset", "trace.allowSecret"]);
    place.write(STORE, line("auth.api_key", random, 0));
    place.git(&["add", "-A"]);
    assert!(place.trace(&["check", "--staged"]).contains("secret: this looks like a secret by its name"));
}

#[test]
fn a_commit_warns_about_secrets_and_follows_the_setting() {
    let repo = TestRepo::new();
    let text = format!("use {}\n", token());
    let answer = repo.exact(&repo.run(&["commit", "-m", &text], b""));
    assert!(answer.contains("warning: the text holds what looks like a GitHub token") && answer.contains("[exit 0]"));
    let fingerprint = fingerprint(&answer);
    assert_eq!(repo.bodies("main"), [text.as_str()]);
    repo.git(&["config", "trace.secrets", "refuse"]);
    let answer = repo.refused(&["commit", "-m", &text]);
    assert!(answer.contains("what looks like a GitHub token") && !answer.contains(&token()), "{answer}");
    let meta = format!("note={}", token());
    assert!(repo.refused(&["commit", "-m", "x", "--meta", &meta]).contains("a GitHub token"));
    assert!(repo.refused(&["edit", "#0", "-m", &format!("now {text}")]).contains("a GitHub token"));
    repo.git(&["config", "trace.allowSecret", &fingerprint]);
    assert!(!repo.trace(&["commit", "-m", &text]).contains("warning"));
    repo.git(&["config", "--unset", "trace.allowSecret"]);
    repo.git(&["config", "trace.secrets", "redact"]);
    let answer = repo.trace(&["commit", "-m", &text, "--meta", &meta, "-s", text.trim()]);
    assert!(answer.contains("a GitHub token was taken out"), "{answer}");
    assert_eq!(repo.bodies("main").last().unwrap(), "use [redacted: a GitHub token]\n");
    let tip = repo.git(&["show", "--format=%B", "refs/traces/main"]);
    assert!(!tip.contains(&token()), "{tip}");
    repo.git(&["config", "trace.secrets", "off"]);
    assert!(!repo.trace(&["commit", "-m", &text]).contains("warning"));
    repo.git(&["config", "trace.secrets", "loudly"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", &text]), @"
    --- stderr
    error: git config `trace.secrets` is `loudly`, which is not `warn`, `refuse`, `redact` or `off`
    [exit 2]
    ");
    repo.say("what holds no secret asks for no setting");
}

#[test]
fn an_import_removes_secrets_and_reports_the_number() {
    let repo = TestRepo::new();
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "a1B2c3D4".repeat(20));
    let texts = [&*format!("{} and {}", token(), token()), "nothing", &*format!("key:\n{key}\nend")];
    let input = session(&texts);
    let answer = repo.trace_with(&["import", "claude-code", "-"], input.as_bytes());
    assert!(answer.contains("3 imported into trace `claude-code/s`, 3 secrets taken out\n"), "{answer}");
    let bodies = repo.bodies("claude-code/s");
    assert_eq!(bodies[0], "[redacted: a GitHub token] and [redacted: a GitHub token]");
    assert_eq!(bodies[2], "key:\n[redacted: a private key]\nend");
    let whole = repo.git(&["log", "-p", "--format=%B", "refs/traces/claude-code/s"]);
    assert!(!whole.contains("ghp_") && !whole.contains("a1B2c3D4"), "{whole}");
    // Again it brings nothing.
    let again = repo.trace_with(&["import", "claude-code", "-", "--json"], input.as_bytes());
    assert!(again.contains("\"recorded\":0"), "{again}");
    repo.git(&["config", "trace.secrets", "refuse"]);
    let answer = repo.refused_with(&["--trace", "other", "import", "claude-code", "-"], input.as_bytes());
    assert!(answer.contains("what looks like a GitHub token"), "{answer}");
    repo.git(&["config", "trace.secrets", "warn"]);
    let answer = repo.trace_with(&["--trace", "other", "import", "claude-code", "-"], input.as_bytes());
    assert!(
        answer.contains("2 times what looks like a GitHub token, 1 times what looks like a private key"),
        "{answer}"
    );
    assert!(repo.bodies("other")[0].starts_with("ghp_"));
}

proptest! {
    #[test]
    fn any_text_can_be_scanned(
        parts in prop::collection::vec(prop::sample::select(vec![
            "ghp_", "a1B2c3D4e5F6", "-----BEGIN ", "PRIVATE KEY-----", "\n", "-----END ", "eyJ", ".", "://", ":", "@", "token",
            "\":\"", "=", "Bearer ", " ", "é", "\\n", "sk-", "AKIA", "QWERTYUIOPASDFGH", "\"key\":\"a.token\",\"value\":\"",
        ]), 0..40),
    ) {
        let text = parts.concat();
        let found = find(text.as_bytes());
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        prop_assert!(found.iter().all(|secret| secret.span.start < secret.span.end && secret.span.end <= text.len()));
        prop_assert!(String::from_utf8(redact(text.as_bytes(), &found)).is_ok());
    }
}
