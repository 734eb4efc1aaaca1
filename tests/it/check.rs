//! `git trace check`, on commits and on the index.

use crate::playground::{Playground, STORE, fixture, line};

#[test]
fn check_reports_findings_by_line() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["check"]), @"
    --- stderr
    error: `HEAD` is not a commit or tree
    hint: before the first commit, use `--staged` to check the index
    [exit 2]
    ");
    place.write(STORE, line("api.a", "1", 0) + &line("auth.b", "1", 0));
    place.commit("good");
    insta::assert_snapshot!(place.trace(&["check"]), @"
    --- stderr
    files checked: 1, errors: 0, warnings: 0
    ");
    let long = "x".repeat(10_241);
    let text = [
        line("auth.b", "1", 0),
        line("api.a", "1", 0),
        line("api.a", "2", 0),
        "<<<<<<< HEAD\n".to_owned(),
        line("secret.token", "t0p", 0),
        line("api.long", &long, 0),
        line("odd key", "1", 0),
        line("zoo.a", "1", 0).replace("2025-01-01T00:00:00Z", "yesterday"),
        "{\"key\":\"zz\"".to_owned(),
    ];
    place.write(STORE, text.concat());
    place.write("sub/.synapse/breadcrumbs.jsonl", line("ml.x", "1", 0));
    place.write("sub/.synapse/config.json", "{\"breadcrumb_namespaces\":{\"ml\":\"Models\"}}");
    place.write(".synapse/breadcrumbs-secret.jsonl", line("secret.a", "1", 0));
    place.commit("bad");
    insta::assert_snapshot!(place.trace(&["check"]), @r#"
    .synapse/breadcrumbs-secret.jsonl:1:1: secret-file: the file of the secrets is in git; `git rm --cached` it, add it to `.gitignore`, and replace the secrets if it was pushed
    .synapse/breadcrumbs.jsonl:2:1: unsorted: `api.a` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    .synapse/breadcrumbs.jsonl:3:1: duplicate-key: `api.a` is already on line 2; keep the correct line
    .synapse/breadcrumbs.jsonl:4:1: conflict-marker: the line is a conflict marker; `git trace breadcrumb resolve` merges both sides
    .synapse/breadcrumbs.jsonl:5:1: secret-in-shared-file: secret `secret.token` is in the file that is committed; delete the line, set it again, and replace the secret if it was pushed
    .synapse/breadcrumbs.jsonl:6:1: value-too-long: the value of `api.long` has 10241 bytes, more than 10240; put the value in a file and store its path
    .synapse/breadcrumbs.jsonl:6:1: unsorted: `api.long` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    .synapse/breadcrumbs.jsonl:7:1: bad-key: invalid key `odd key`: ' ' is not an ASCII letter, digit, dot, or underscore; rename it with `breadcrumb rename`
    .synapse/breadcrumbs.jsonl:7:1: unsorted: `odd key` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    .synapse/breadcrumbs.jsonl:8:1: unknown-namespace: namespace `zoo` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"zoo": "DESCRIPTION"}}
    .synapse/breadcrumbs.jsonl:8:1: bad-time: `created_at` of `zoo.a` is not a valid time: `yesterday`; write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z
    .synapse/breadcrumbs.jsonl:8:1: bad-time: `updated_at` of `zoo.a` is not a valid time: `yesterday`; write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z
    .synapse/breadcrumbs.jsonl:9:1: cut-off: the line is truncated; restore the line from git or delete it
    .synapse/breadcrumbs.jsonl:9:12: no-final-newline: the last line has no line ending; add a line feed
    --- stderr
    files checked: 3, errors: 12, warnings: 2
    [exit 1]
    "#);
    // The working tree does not matter.
    place.write(STORE, "");
    assert!(place.trace(&["check"]).ends_with("[exit 1]\n"));
    assert!(!place.trace(&["check", "HEAD~1"]).contains("[exit"));
    insta::assert_snapshot!(place.trace(&["check", "nothing"]), @"
    --- stderr
    error: `nothing` is not a commit or tree
    [exit 2]
    ");
}

#[test]
fn check_takes_any_name_of_a_commit_or_tree() {
    let place = Playground::new();
    place.write(STORE, "rubbish\n");
    place.write("sub/.synapse/breadcrumbs.jsonl", line("ml.x", "1", 0));
    place.write("sub/.synapse/config.json", "{\"breadcrumb_namespaces\":{\"ml\":\"Models\"}}");
    place.commit("first");
    insta::assert_snapshot!(place.trace(&["check", "HEAD:sub"]), @"
    --- stderr
    files checked: 1, errors: 0, warnings: 0
    ");
    let of_head = place.trace(&["check", "HEAD"]);
    assert!(of_head.contains("not-json"), "{of_head}");
    assert_eq!(place.trace(&["check", ":/first"]), of_head);
    assert!(place.trace(&["check", "HEAD:sub/.synapse/config.json"]).contains("is not a commit or tree"));
}

#[test]
fn check_reads_the_index_and_nothing_else() {
    let place = Playground::new();
    place.write(STORE, "rubbish\n");
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @"
    .synapse/breadcrumbs.jsonl:1:1: not-json: invalid JSON: expected value; restore the line from git or delete it
    --- stderr
    files checked: 1, errors: 1, warnings: 0
    [exit 1]
    ");
    place.commit("committed all the same");
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @"
    --- stderr
    files checked: 0, errors: 0, warnings: 0
    ");
    place.write(STORE, line("api.a", "1", 0));
    place.git(&["add", "-A"]);
    place.write(STORE, "rubbish in the working tree\n");
    insta::assert_snapshot!(place.trace(&["check", "--staged", "--json"]), @r#"{"errors":0,"files":[{"kind":"breadcrumbs","path":".synapse/breadcrumbs.jsonl"}],"findings":[],"warnings":0}"#);
    place.commit("rubbish");
    place.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    place.write(STORE, "other rubbish\n");
    place.commit("side");
    place.try_git(&["merge", "main"]);
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @"
    .synapse/breadcrumbs.jsonl:1:1: unmerged: the file has conflicts; resolve them and `git add` it
    --- stderr
    files checked: 1, errors: 1, warnings: 0
    [exit 1]
    ");
}

#[test]
fn a_file_that_is_stored_through_a_filter_is_not_judged_by_its_blob() {
    let mut place = Playground::new();
    for (key, value) in [("clean", "base64"), ("smudge", "base64 -d"), ("required", "true")] {
        place.git(&["config", "--global", &format!("filter.hidden.{key}"), value]);
    }
    place.write(".gitattributes", "*.jsonl filter=hidden merge=binary\n");
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "0", 0));
    place.git(&["add", "-A"]);
    let warned = "\
.synapse/breadcrumbs.jsonl:1:1: filtered: git stores the file through the filter `hidden`, so it was not checked; \
except it from the filter in `.gitattributes`
--- stderr
files checked: 1, errors: 0, warnings: 1
";
    assert_eq!(place.trace(&["check", "--staged"]), warned);
    // The attributes that the blob was stored with count, not those of the work tree.
    let attributes = place.read(".gitattributes");
    place.write(".gitattributes", "");
    assert_eq!(place.trace(&["check", "--staged"]), warned);
    place.write(".gitattributes", &attributes);
    place.commit("base");
    assert_eq!(place.trace(&["check"]), warned);
    place.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    place.cd("bare.git");
    assert_eq!(place.trace(&["check", "main"]), warned);
    place.cd("repo");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "history", "api.a"]), @"
    --- stderr
    error: cannot read the history of `.synapse/breadcrumbs.jsonl`: git stores it through the filter `hidden`
    hint: `git cat-file --filters REV:.synapse/breadcrumbs.jsonl` prints a version of the file
    [exit 2]
    ");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "theirs", 2));
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.write(STORE, line("api.a", "ours", 1) + &line("api.b", "0", 0));
    place.commit("ours");
    // Git leaves our version, without markers.
    assert!(place.try_git(&["merge", "side"]).contains("CONFLICT"));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "resolve"]), @"resolved .synapse/breadcrumbs.jsonl; now `git add` it");
    assert_eq!(place.read(STORE), line("api.a", "ours", 1) + &line("api.b", "theirs", 2));
    // Everybody can read a secret in the blob.
    place.git(&["config", "filter.none.clean", "cat"]);
    place.write(".gitattributes", "*.jsonl filter=none\n");
    place.write(STORE, "rubbish ghp_".to_owned() + &"a1B2".repeat(9) + "\n");
    place.git(&["add", "-A"]);
    let found = place.trace(&["check", "--staged"]);
    assert!(found.contains(":1:9: secret: ") && found.contains("errors: 1, warnings: 1"), "{found}");
    // Without a program, git stores the file itself.
    place.git(&["config", "filter.none.clean", ""]);
    let found = place.trace(&["check", "--staged"]);
    assert!(found.contains(":1:1: ") && !found.contains("filtered") && found.contains("errors: 2"), "{found}");
}

#[test]
fn check_works_without_a_working_tree() {
    let mut place = Playground::new();
    place.write(STORE, "rubbish\n");
    place.commit("bad");
    place.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    place.cd("bare.git");
    assert!(place.trace(&["check", "main"]).ends_with("[exit 1]\n"));
}

#[test]
fn secrets_are_refused_when_written_and_found_in_commits() {
    let place = Playground::new();
    let token = "ghp_".to_owned() + &"a1B2".repeat(9);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth.token", &token]), @"
    --- stderr
    error: the value of `auth.token` holds what looks like a GitHub token, and it would be committed
    hint: keep it where git does not look: git trace breadcrumb set secret.auth.token -F -; if this is a false alarm: git config --add trace.allowSecret f95ddb36486e283f
    [exit 2]
    ");
    let answer = place.trace_with(&["breadcrumb", "import"], &line("auth.token", &token, 0));
    assert!(answer.contains("a GitHub token") && answer.ends_with("[exit 2]\n"), "{answer}");
    place.write(STORE, line("auth.token", &token, 0));
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @"
    .synapse/breadcrumbs.jsonl:1:30: secret: this looks like a GitHub token; keep it under a key `secret.*`, and replace it if it was pushed; if this is a false alarm: git config --add trace.allowSecret f95ddb36486e283f
    --- stderr
    files checked: 1, errors: 1, warnings: 0
    [exit 1]
    ");
}

#[test]
fn shared_settings_exempt_no_file_from_the_search_for_secrets() {
    let place = Playground::new();
    let text = format!("# A\n\ntoken: ghp_{}\n", "a1B2".repeat(9));
    place.write("checkpoints/active/A.md", &text);
    place.write("checkpoints/README.md", "# Checkpoints\n");
    place.write(".traceconfig", "[trace]\n\tcheckpoints = elsewhere/*.md\n");
    place.git(&["add", "-A"]);
    let found = "checkpoints/active/A.md:3:8: secret: this looks like a GitHub token";
    let answer = place.trace(&["check", "--staged"]);
    assert!(answer.starts_with(found) && answer.ends_with("[exit 1]\n"), "{answer}");
    place.commit("by another tool");
    let answer = place.trace(&["check", "HEAD"]);
    assert!(answer.starts_with(found) && answer.ends_with("[exit 1]\n"), "{answer}");
}

/// Synapse writes keys such as `a-c`. Teams that use both can commit, but new keys follow our rules.
#[test]
fn keys_that_were_there_before_are_warnings() {
    let place = Playground::new();
    place.write(STORE, line("api.a-c", "1", 0));
    place.commit("by Synapse");
    assert!(place.trace(&["check"]).ends_with("files checked: 1, errors: 1, warnings: 0\n[exit 1]\n"));
    place.write(STORE, line("api.a-c", "2", 1) + &line("api.b", "1", 0));
    place.git(&["add", "."]);
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @"
    .synapse/breadcrumbs.jsonl:1:1: bad-key: invalid key `api.a-c`: '-' is not an ASCII letter, digit, dot, or underscore; rename it with `breadcrumb rename`
    --- stderr
    files checked: 1, errors: 0, warnings: 1
    ");
    place.commit("both");
    assert!(place.trace(&["check"]).ends_with("errors: 0, warnings: 1\n"));
    place.write(STORE, line("api.a-c", "2", 1) + &line("api.b-c", "1", 0));
    place.git(&["add", "."]);
    assert!(place.trace(&["check", "--staged"]).ends_with("errors: 1, warnings: 1\n[exit 1]\n"));
}

#[test]
fn stale_breadcrumbs_and_mixed_line_endings_are_warnings() {
    let place = Playground::new();
    place.write(STORE, line("api.a", "1", 0).replace('\n', "\r\n") + &line("api.b", "1", 0) + &line("api.c", "1", 0));
    place.git(&["add", "."]);
    place.git(&["config", "trace.breadcrumbStale", "2025-01-01T00:00:00Z"]);
    insta::assert_snapshot!(place.trace(&["hook", "pre-commit", "--fix"]), @"
    warning: .synapse/breadcrumbs.jsonl:1:1: mixed-line-endings: lines that do not end with LF, as most do: 1; fix it with `git trace hook pre-commit --fix`
    --- stderr
    fixed `.synapse/breadcrumbs.jsonl`; review it with `git diff`, then: git add -- .synapse/breadcrumbs.jsonl
    ");
    assert_eq!(place.read(STORE), line("api.a", "1", 0) + &line("api.b", "1", 0) + &line("api.c", "1", 0));
    place.git(&["add", "."]);
    place.git(&["config", "trace.breadcrumbStale", "2025-01-01T00:00:01Z"]);
    assert!(place.trace(&["check", "--staged"]).ends_with("errors: 0, warnings: 3\n"));
    place.git(&["config", "trace.breadcrumbStale", "30 days"]);
    assert!(place.trace(&["check", "--staged"]).contains(
        ":1:1: stale: `api.a` was last set at 2025-01-01T00:00:00Z; set it again if it still holds, or delete it"
    ));
}

/// The files of the formats' own repositories, which were written without git-trace.
#[test]
fn the_repositories_of_the_formats_authors_pass() {
    let place = Playground::new();
    place.write("checkpoints/active/INDEX.md", fixture("checkpoints/INDEX-empty.md"));
    place.write("checkpoints/archive/INDEX.md", fixture("checkpoints/INDEX-archive.md"));
    let archived = [
        "chk-checkpoint-branches-plan.md",
        "chk-dialectic-audit.md",
        "chk-issue-backlog.md",
        "chk-unified-command.md",
        "chk-v170-cli-commands.md",
    ];
    for name in archived {
        place.write(&format!("checkpoints/archive/{name}"), fixture(&format!("checkpoints/{name}")));
    }
    place.write(STORE, fixture("breadcrumbs/upstream-repository.jsonl"));
    place.commit("as they are");
    assert!(place.trace(&["check", "HEAD"]).ends_with("files checked: 8, errors: 0, warnings: 20\n"));
    for store in ["design-document.jsonl", "written-by-synapse-1.0.7.jsonl"] {
        place.write(STORE, fixture(&format!("breadcrumbs/{store}")));
        place.commit(store);
        let answer = place.trace(&["check", "HEAD"]);
        assert!(answer.contains("errors: 0") && !answer.contains("[exit"), "{store}: {answer}");
    }
}
