//! `git trace breadcrumb`, as it is used.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::playground::{Playground, STORE, fixture, line};

#[test]
fn a_breadcrumb_is_set_read_listed_and_deleted() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth.method", "JWT"]), @"auth.method = JWT");
    insta::assert_snapshot!(
        place.trace(&["breadcrumb", "set", "auth.method", "OAuth\n2", "--task-id", "15"]),
        @r"auth.method = OAuth\n2"
    );
    insta::assert_snapshot!(
        place.trace(&["breadcrumb", "set", "api.limit", "-5", "--json"]),
        @r#"{"created":true,"key":"api.limit","success":true,"updated_at":"[TIME]"}"#
    );
    assert_eq!(place.ok(&["breadcrumb", "get", "auth.method"]), "OAuth\n2\n");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "auth.method", "--format", "json"]), @r#"
    {
      "key": "auth.method",
      "value": "OAuth\n2",
      "task_id": 15,
      "created_at": "[TIME]",
      "updated_at": "[TIME]"
    }
    "#);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @r"
    KEY          VALUE     TASK  CREATED           UPDATED
    api.limit    -5        -     [TIME]  [TIME]
    auth.method  OAuth\n2  15    [TIME]  [TIME]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "auth.method"]), @"
    --- stderr
    error: cannot ask whether to delete breadcrumb `auth.method`: stdin is not a terminal
    hint: give --confirm to delete without being asked
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "auth.method", "--confirm"]), @"deleted auth.method");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "auth.method"]), @"
    --- stderr
    no breadcrumb `auth.method`
    [exit 1]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "auth.method", "--confirm"]), @"
    --- stderr
    error: no breadcrumb is named `auth.method`
    [exit 1]
    ");
    place.ok(&["breadcrumb", "set", "db.a", "1", "--task-id", "7"]);
    place.ok(&["breadcrumb", "set", "db.b", "2", "--task-id", "7"]);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "--task-id", "7", "--confirm", "--json"]),
        @r#"{"deleted":true,"keys":["db.a","db.b"],"success":true}"#);
    assert_eq!(place.read(STORE).lines().count(), 1);
}

#[test]
fn values_are_read_from_files_and_stdin() {
    let place = Playground::new();
    place.trace_with(&["breadcrumb", "set", "error.trace", "-F", "-"], "one\ntwo\r\n");
    assert_eq!(place.ok(&["breadcrumb", "get", "error.trace"]), "one\ntwo\n");
    place.write("note", "from a file");
    place.ok(&["breadcrumb", "set", "error.trace", "--file", "note"]);
    assert_eq!(place.ok(&["breadcrumb", "get", "error.trace"]), "from a file\n");
}

#[test]
fn a_refused_breadcrumb_is_not_written() {
    let place = Playground::new();
    let long = "x".repeat(10 * 1024 + 1);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth.long", &long]), @"
    --- stderr
    error: value of `auth.long` too long: 10241 bytes, the limit is 10240
    hint: put the value in a file and store its path
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth-method", "JWT"]), @"
    --- stderr
    error: `<KEY>`: invalid key `auth-method`: '-' is not an ASCII letter, digit, dot, or underscore
    hint: for example `git trace breadcrumb set auth.method 'JWT in a cookie'`; `git trace breadcrumb set -h` explains it
    [exit 2]
    ");
    let answer = place.trace(&["breadcrumb", "set", "auth.a", "1", "--task-id", "-3"]);
    assert!(answer.contains("`--task-id <N>`: -3 is not in 1.."), "{answer}");
    assert!(!place.at.join(".synapse").exists());
    place.ok(&["breadcrumb", "set", "auth.a", "1"]);
    place.ok(&["breadcrumb", "set", "auth.b", "2"]);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "rename", "auth.a", "auth.b"]), @"
    --- stderr
    error: breadcrumb `auth.b` already exists
    hint: use --force to replace it
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "rename", "auth.a", "auth.b", "--force"]), @"auth.a -> auth.b");
    assert_eq!(place.ok(&["breadcrumb", "get", "auth.b"]), "1\n");
}

#[test]
fn an_unreadable_line_blocks_writes_and_is_named_when_reading() {
    let place = Playground::new();
    let deep = format!("{{\"key\":\"d\",\"value\":\"v\",\"x\":{}{}}}", "[".repeat(400), "]".repeat(400));
    let bad: [&[u8]; 9] = [
        b"{\"key\":\"b\",\"val",
        b"[1]",
        b"{\"key\":\"b\",\"value\":1}",
        b"<<<<<<< HEAD",
        b"{\"key\":\"b\",\"value\":\"\xff\"}",
        b"\0",
        b"{\"key\":\"b\",\"value\":\"1\"}{\"key\":\"c\",\"value\":\"1\"}",
        deep.as_bytes(),
        b"{\"key\":\"b\",\"key\":\"b\",\"value\":\"1\"}",
    ];
    for bad in bad {
        let text = [line("auth.a", "1", 0).as_bytes(), bad, b"\n", line("z", "1", 0).as_bytes()].concat();
        place.write(STORE, &text);
        let answer = place.trace(&["breadcrumb", "set", "auth.a", "2"]);
        assert!(answer.contains("line 2 is invalid") && answer.ends_with("[exit 2]\n"), "{answer}");
        assert!(answer.contains(STORE), "{answer}");
        assert_eq!(fs::read(place.at.join(STORE)).unwrap(), text);
        let answer = place.trace(&["breadcrumb", "list", "--format", "jsonl"]);
        assert!(answer.contains(&format!("warning: {STORE}:2: skipped: ")), "{answer}");
        assert!(answer.starts_with(&(line("auth.a", "1", 0) + &line("z", "1", 0))), "{answer}");
        assert!(answer.ends_with("[exit 3]\n"), "{answer}");
    }
    // These are read and written all the same: marks of editors, line ends of Windows, very long lines.
    let long = line("long", &"x".repeat(200_000), 0);
    place.write(STORE, format!("\u{feff}{}{long}", line("auth.a", "1", 0).replace('\n', "\r\n")));
    place.ok(&["breadcrumb", "set", "zz", "2"]);
    assert!(place.read(STORE).starts_with(&format!("\u{feff}{}", line("auth.a", "1", 0).replace('\n', "\r\n"))));
    assert!(place.read(STORE).contains(&long));
}

#[test]
fn lists_are_sorted_filtered_and_limited() {
    let place = Playground::new();
    place.write(STORE, fixture("breadcrumbs/design-document.jsonl"));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @r#"
    KEY            VALUE                             TASK  CREATED           UPDATED
    api.base_url   https://api.example.com           42    2025-12-21 10:00  2025-12-21 10:00
    auth.method    JWT                               15    2025-12-20 14:30  2025-12-21 09:15
    db.connection  {"host":"localhost","port":5432}  8     2025-12-19 08:00  2025-12-19 08:00
    "#);
    let keys = |args: &[&str]| {
        let args = [&["breadcrumb", "list", "--json"], args].concat();
        let list: Value = serde_json::from_str(&place.ok(&args)).unwrap();
        list.as_array().unwrap().iter().map(|crumb| crumb["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&["auth."]), ["auth.method"]);
    assert_eq!(keys(&["nothing."]), [""; 0]);
    assert_eq!(keys(&["--sort", "updated", "--order", "desc", "--limit", "2"]), ["api.base_url", "auth.method"]);
    assert_eq!(keys(&["--sort", "created"]), ["db.connection", "auth.method", "api.base_url"]);
    assert_eq!(keys(&["--task-id", "42"]), ["api.base_url"]);
    assert_eq!(keys(&["--older-than", "2025-12-20T00:00:00Z"]), ["db.connection"]);
    assert_eq!(keys(&["--newer-than", "2025-12-21T09:30:00Z"]), ["api.base_url"]);
    assert_eq!(keys(&["--older-than", "30d"]).len(), 3);
    place.write(STORE, fixture("breadcrumbs/written-by-synapse-1.0.7.jsonl"));
    assert_eq!(keys(&[]).len(), 8);
}

#[test]
fn secret_breadcrumbs_are_stored_outside_of_gits_reach() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "secret.token", "t0p"]), @"
    secret.token = (secret)
    --- stderr
    added `breadcrumbs-secret.jsonl` to `.git/info/exclude`, so that git ignores secrets
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "secret.token", "t0p"]), @"secret.token = (secret)");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @"
    KEY           VALUE     TASK  CREATED           UPDATED
    secret.token  (secret)  -     [TIME]  [TIME]
    ");
    assert_eq!(place.ok(&["breadcrumb", "get", "secret.token"]), "t0p\n");
    assert_eq!(place.ok(&["breadcrumb", "export"]), "[]\n");
    assert!(place.ok(&["breadcrumb", "export", "--secrets"]).contains("t0p"));
    place.commit("all");
    assert_eq!(place.git(&["ls-files"]), "");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "history", "secret.token"]), @"
    --- stderr
    error: `secret.token` has no history: secrets are not committed
    hint: `git trace breadcrumb get` prints its value
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "rename", "secret.token", "auth.token"]), @"
    --- stderr
    error: cannot rename `secret.token` to `auth.token`: the value would leave the file that git ignores
    [exit 2]
    ");
    // A file that git tracks, or that the project wants to see, stays where it is.
    place.git(&["add", "-f", ".synapse/breadcrumbs-secret.jsonl"]);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "secret.token", "new"]), @"
    --- stderr
    error: cannot write `[ROOT]/repo/.synapse/breadcrumbs-secret.jsonl`: git does not ignore it
    hint: add `breadcrumbs-secret.jsonl` to `.gitignore`; if it is committed, run `git rm --cached` on it
    [exit 2]
    ");
}

#[test]
fn times_that_cannot_be_read_are_warned_about_and_repaired_by_migrate() {
    let place = Playground::new();
    let bad = line("api.a", "1", 0).replacen("2025-01-01T00:00:00Z", "soon", 1);
    place.write(STORE, &bad);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "api.a"]), @"
    1
    --- stderr
    warning: `created_at` of `api.a` is not a valid time: `soon`
    ");
    for args in [
        &["list"][..],
        &["export"],
        &["set", "api.a", "1"],
        &["rename", "api.a", "api.b"],
        &["rename", "api.b", "api.a"],
    ] {
        let answer = place.trace(&[&["breadcrumb"], args].concat());
        assert!(answer.contains("warning: `created_at` of `api."), "{answer}");
    }
    let migrate = ["breadcrumb", "migrate", "--from", "1.0", "--to", "2.0"];
    insta::assert_snapshot!(place.trace(&migrate), @"breadcrumbs in version 2.0: 1, repaired: 1");
    insta::assert_snapshot!(place.trace(&migrate), @"breadcrumbs in version 2.0: 1, repaired: 0");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "api.a"]), @"1");
}

#[test]
fn metadata_is_set_shown_and_removed_by_member() {
    let place = Playground::new();
    let set = |args: &[&str]| place.ok(&[&["breadcrumb", "set", "api.a", "1"], args].concat());
    set(&["--metadata", "source=spec.md", "--metadata", "note=a=b"]);
    let metadata = || {
        let record: Value = serde_json::from_str(&place.ok(&["breadcrumb", "get", "api.a", "--json"])).unwrap();
        record["metadata"].to_string()
    };
    assert_eq!(metadata(), r#"{"note":"a=b","source":"spec.md"}"#);
    set(&["--metadata", "note="]);
    assert_eq!(metadata(), r#"{"source":"spec.md"}"#);
    set(&["--metadata", "source="]);
    assert_eq!(metadata(), "null");
    // Other members keep their spelling.
    place.write(STORE, line("api.a", "1", 0).replace("}\n", ",\"metadata\":{\"n\":1.50}}\n"));
    set(&["--metadata", "m=x"]);
    assert!(place.read(STORE).contains(r#""metadata":{"m":"x","n":1.50}"#), "{}", place.read(STORE));
    place.write(STORE, line("api.a", "1", 0).replace("}\n", ",\"metadata\":[]}\n"));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "api.a", "1", "--metadata", "m=x"]), @"
    --- stderr
    error: cannot set metadata of `api.a`: its `metadata` is not a JSON object
    [exit 2]
    ");
}

#[test]
fn columns_align_also_after_wide_characters() {
    let place = Playground::new();
    place.write(STORE, line("api.a", "\u{6771}\u{4eac}", 0) + &line("api.b", "abcd", 0));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @"
    KEY    VALUE  TASK  CREATED           UPDATED
    api.a  東京   -     2025-01-01 00:00  2025-01-01 00:00
    api.b  abcd   -     2025-01-01 00:00  2025-01-01 00:00
    ");
}

#[test]
fn the_store_is_found_from_subfolders_and_worktrees_and_refused_in_bare_repositories() {
    let mut place = Playground::new();
    place.ok(&["breadcrumb", "set", "auth.method", "JWT"]);
    place.commit("one");
    place.write("a/b/file", "");
    place.cd("repo/a/b");
    assert_eq!(place.ok(&["breadcrumb", "get", "auth.method"]), "JWT\n");
    place.ok(&["breadcrumb", "set", "auth.method", "OAuth"]);
    place.git(&["worktree", "add", "-q", "../../../linked"]);
    place.cd("linked");
    assert_eq!(place.ok(&["breadcrumb", "get", "auth.method"]), "JWT\n");
    place.ok(&["breadcrumb", "set", "auth.here", "yes"]);
    assert!(place.read(STORE).contains("auth.here"));
    place.git(&["clone", "-q", "--bare", "../repo", "../bare.git"]);
    place.cd("bare.git");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @"
    --- stderr
    error: this needs a working tree, and there is none here
    hint: change into a working tree of the repository; `git worktree add` makes one
    [exit 2]
    ");
    place.cd("");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");
    place.git(&["init", "-q", "--ref-format=reftable", "tables"]);
    place.cd("tables");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth.method", "JWT"]), @"auth.method = JWT");
}

#[test]
fn a_value_that_a_merge_kept_is_committed() {
    let place = Playground::new();
    place.ok(&["install", "--no-hooks"]);
    place.write(STORE, line("auth.method", "JWT", 0));
    place.commit("one");
    for (branch, other) in [("side", "db.x"), ("third", "db.y")] {
        place.git(&["checkout", "-q", "-b", branch, "main"]);
        place.write(STORE, line("auth.method", branch, if branch == "side" { 5 } else { 1 }) + &line(other, "1", 0));
        place.commit(branch);
    }
    place.git(&["merge", "-q", "side", "-m", "both"]);
    assert!(place.read(STORE).contains("\"side\""));
    let history = place.ok(&["breadcrumb", "history", "auth.method"]);
    assert!(!history.contains("not committed") && history.lines().count() == 3, "{history}");
}

#[test]
fn history_shows_earlier_values_of_a_breadcrumb() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["breadcrumb", "history", "auth.method"]), @"
    --- stderr
    no commit has a breadcrumb `auth.method`
    [exit 1]
    ");
    place.write(STORE, line("auth.method", "JWT", 0));
    place.commit("one");
    place.write(STORE, line("auth.method", "JWT", 0) + &line("db.x", "1", 0));
    place.commit("another key");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, line("auth.method", "side", 1) + &line("db.x", "1", 0));
    place.commit("side");
    place.git(&["checkout", "-q", "main"]);
    place.write(STORE, line("db.x", "1", 0));
    place.commit("gone");
    place.git(&["merge", "-q", "--no-ff", "-X", "theirs", "-s", "ours", "side", "-m", "ours"]);
    place.write(STORE, line("auth.method", "again", 2));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "history", "auth.method"]), @"
    -------  again  [not committed]
    [OID]  [TIME]  (deleted)  [gone]
    [OID]  [TIME]  JWT  [one]
    ");
    let last = place.ok(&["breadcrumb", "history", "auth.method", "--json"]).lines().last().unwrap().to_owned();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((&last["deleted"], &last["breadcrumb"]["value"]), (&false.into(), &"JWT".into()));
}

#[test]
fn a_breadcrumb_that_was_damaged_is_not_shown_as_deleted() {
    let place = Playground::new();
    let whole = line("auth.method", "JWT", 0);
    let damaged = whole.replace("\"auth.method\",", "\"auth.method\"");
    for text in [&whole, &damaged, &whole] {
        place.write(STORE, text);
        place.commit("change");
    }
    insta::assert_snapshot!(place.trace(&["breadcrumb", "history", "auth.method"]), @"
    [OID]  [TIME]  JWT  [change]
    [OID]  [TIME]  (damaged)  [change]
    [OID]  [TIME]  JWT  [change]
    [exit 3]
    ");
    place.write(STORE, damaged);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "--task-id", "5", "--confirm"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1: skipped: invalid JSON: expected `,` or `}`
    [exit 3]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "prune", "--dry-run"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1: skipped: invalid JSON: expected `,` or `}`
    [exit 3]
    ");
    let changed = place.trace(&["breadcrumb", "history", "auth.method", "-n", "0", "--json"]);
    assert!(changed.contains("\"damaged\":true,\"deleted\":false") && changed.ends_with("[exit 3]\n"), "{changed}");
}

#[test]
fn breadcrumbs_are_exported_and_imported() {
    let place = Playground::new();
    let fixture = fixture("breadcrumbs/written-by-synapse-1.0.7.jsonl");
    place.write("in.jsonl", &fixture);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "import", "in.jsonl"]), @"8 added, 0 replaced, 0 kept");
    let array = place.ok(&["breadcrumb", "export"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&array).unwrap().len(), 8);
    insta::assert_snapshot!(
        place.trace_with(&["breadcrumb", "import", "--json"], &array),
        @r#"{"added":0,"kept":8,"replaced":0}"#
    );
    insta::assert_snapshot!(place.trace_with(&["breadcrumb", "import"], "{\"key\":\"a b\",\"value\":\"1\"}"), @"
    --- stderr
    error: cannot import `-`: cannot import breadcrumb 0: invalid key `a b`: ' ' is not an ASCII letter, digit, dot, or underscore
    [exit 2]
    ");
}

#[test]
fn expired_breadcrumbs_are_hidden_and_pruned() {
    let place = Playground::new();
    let expired = ",\"expires_at\":\"2025-01-02T00:00:00Z\"}\n";
    place.write(STORE, line("build.flag", "1", 0).replace("}\n", expired));
    place.ok(&["breadcrumb", "set", "build.other", "1", "--expires", "30d"]);
    assert!(place.trace(&["breadcrumb", "get", "build.flag"]).ends_with("[exit 1]\n"));
    assert_eq!(place.ok(&["breadcrumb", "list", "--expired"]).lines().count(), 3);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "prune", "--dry-run"]), @"would delete build.flag");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "prune"]), @"deleted build.flag");
    assert_eq!(place.ok(&["breadcrumb", "list", "--expired"]).lines().count(), 2);
}

#[test]
fn namespaces_are_listed_and_unknown_ones_cause_a_warning() {
    let place = Playground::new();
    place.write(".synapse/config.json", "{\"breadcrumb_namespaces\":{\"ml\":\"Models\"}}");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "ml.model", "x"]), @"ml.model = x");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "odd.thing", "x"]), @r#"
    odd.thing = x
    --- stderr
    warning: the namespace `odd` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"odd": "DESCRIPTION"}}
    "#);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "namespaces"]), @"
    NAME    BREADCRUMBS  KIND      DESCRIPTION
    api     0            standard  API endpoints and behavior
    auth    0            standard  Authentication and authorization
    build   0            standard  Build system discoveries
    config  0            standard  Application configuration
    db      0            standard  Database configuration
    deploy  0            standard  Deployment information
    error   0            standard  Known errors and solutions
    ml      1            declared  Models
    odd     1            unknown
    secret  0            standard  Values that git must not see
    test    0            standard  Testing-related knowledge
    ");
    place.write(
        STORE,
        (0..10_000).map(|n| line(&format!("api.{n:06}"), "some value of some length", 0)).collect::<String>(),
    );
    let answer = place.trace(&["breadcrumb", "set", "api.x", "1"]);
    assert!(answer.contains("more than 1 MiB"), "{answer}");
    // It was said; tomorrow it is said again, by any command that writes.
    assert!(!place.trace(&["breadcrumb", "set", "api.x", "2"]).contains("MiB"));
    fs::remove_file(place.at.join(".git/trace/breadcrumbs-large")).unwrap();
    assert!(place.trace(&["breadcrumb", "delete", "api.x", "--confirm"]).contains("more than 1 MiB"));
    fs::remove_file(place.at.join(".git/trace/breadcrumbs-large")).unwrap();
    let block = format!("<<<<<<< a\n{}=======\n{}>>>>>>> b\n", line("zz.a", "1", 0), line("zz.b", "1", 0));
    place.write(STORE, place.read(STORE) + &block);
    assert!(place.trace(&["breadcrumb", "resolve"]).contains("more than 1 MiB"));
}

#[test]
fn resolve_decides_conflicts_as_the_merge_driver_does() {
    let place = Playground::new();
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "0", 0) + &line("api.c", "0", 0));
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "theirs", 2) + &line("api.c", "0", 0));
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    // The line of `api.c` is gone, and only git knows that it was there.
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "ours", 1));
    place.commit("ours");
    assert!(place.try_git(&["merge", "side"]).contains("CONFLICT"));
    assert!(place.trace(&["breadcrumb", "set", "api.x", "1"]).ends_with("[exit 2]\n"));
    let with_markers = place.read(STORE);
    place.git(&["checkout", "--ours", STORE]);
    assert!(place.trace(&["breadcrumb", "resolve"]).contains("has no conflicts"), "the user chose our version");
    place.write(STORE, &with_markers);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "resolve"]), @"
    resolved .synapse/breadcrumbs.jsonl; now `git add` it
    --- stderr
    .synapse/breadcrumbs.jsonl: `api.b`: both sides changed it; took theirs
    ");
    assert_eq!(place.read(STORE), line("api.a", "0", 0) + &line("api.b", "theirs", 2));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "resolve"]), @".synapse/breadcrumbs.jsonl has no conflicts");
    place.commit("merged");
    // Once the merge is over, the markers alone do not show that `api.c` was deleted; nothing is lost by that.
    place.write(STORE, &with_markers);
    place.ok(&["breadcrumb", "resolve"]);
    assert!(place.read(STORE).contains("api.c"));
    place.write(STORE, "<<<<<<< a\nnonsense\n=======\nrubbish\n>>>>>>> b\n");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "resolve"]), @"
    --- stderr
    .synapse/breadcrumbs.jsonl: conflict: line 1 of ours is invalid: invalid JSON: expected ident
    .synapse/breadcrumbs.jsonl: conflict: line 1 of theirs is invalid: invalid JSON: expected value
    .synapse/breadcrumbs.jsonl: conflicts left to resolve: 1
    [exit 1]
    ");
}

#[test]
fn resolve_merges_the_versions_in_the_index_if_markers_cannot_be_parsed() {
    let place = Playground::new();
    place.write(STORE, line("api.a", "0", 0));
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, line("api.a", "theirs", 2));
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    // Markers that were committed, so that git puts its own around them.
    let ours = line("api.a", "ours", 1);
    let b = line("api.b", "1", 1);
    place.write(STORE, format!("<<<<<<< HEAD\n{ours}=======\n{b}>>>>>>> topic\n"));
    place.commit("ours");
    assert!(place.try_git(&["merge", "side"]).contains("CONFLICT"));
    insta::assert_snapshot!(place.trace(&["breadcrumb", "resolve"]), @"
    resolved .synapse/breadcrumbs.jsonl; now `git add` it
    --- stderr
    .synapse/breadcrumbs.jsonl: unexpected conflict marker on line 2; merged the versions in the index instead
    .synapse/breadcrumbs.jsonl: ours contains committed conflict markers; merged the lines of both halves
    .synapse/breadcrumbs.jsonl: `api.a`: both sides changed it; took theirs
    ");
    assert_eq!(place.read(STORE), line("api.a", "theirs", 2) + &b);
}

#[test]
fn forty_processes_set_forty_keys() {
    let place = Playground::new();
    let set = |n: usize| {
        let mut command = place.command("git-trace");
        command.args(["breadcrumb", "set", &format!("api.k{n:02}"), "v"]).stdout(Stdio::null());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..40).map(set).collect();
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    let store = place.read(STORE);
    assert_eq!(store.lines().count(), 40);
    assert!(store.lines().is_sorted());
}

#[test]
fn a_writer_killed_anywhere_leaves_the_old_file_or_the_new_one() {
    let place = Playground::new();
    let text: String = (0..5000).map(|n| line(&format!("api.{n:06}"), "0", 0)).collect();
    place.write(STORE, &text);
    for n in 0..25_u64 {
        let mut command = place.command("git-trace");
        let mut child =
            command.args(["breadcrumb", "set", "api.002500", &n.to_string()]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(n * 900));
        let _ = child.kill();
        child.wait().unwrap();
        let now = place.read(STORE);
        assert_eq!(now.lines().count(), 5000);
        assert!(now.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
    place.ok(&["breadcrumb", "set", "api.002500", "done"]);
    let left: Vec<_> = fs::read_dir(place.at.join(".synapse")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_damaged_line_is_no_missing_breadcrumb() {
    let place = Playground::new();
    place.write(STORE, line("a", "1", 0) + "{\"key\":\"b\",\"val\n");
    assert_eq!(place.ok(&["breadcrumb", "get", "a"]), "1\n");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "b"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:2: skipped: the line is truncated
    breadcrumb `b` may be on a line that was skipped
    [exit 3]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "c"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:2: skipped: the line is truncated
    no breadcrumb `c`
    [exit 1]
    ");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "export", "--format", "jsonl"]), @r#"
    {"key":"a","value":"1","created_at":"2025-01-01T00:00:00Z","updated_at":"2025-01-01T00:00:00Z"}
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:2: skipped: the line is truncated
    [exit 3]
    "#);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "delete", "b", "--confirm"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:2: skipped: the line is truncated
    breadcrumb `b` may be on a line that was skipped
    [exit 3]
    ");
    // The line may have any key.
    place.write(STORE, line("a", "1", 0) + "<<<<<<< HEAD\n");
    assert!(place.trace(&["breadcrumb", "get", "c"]).ends_with("[exit 3]\n"));
}

#[test]
fn lines_that_synapse_reads_are_read_and_repaired_by_a_write() {
    let place = Playground::new();
    place.write(
        STORE,
        "{\"Key\":\"a.x\",\"VALUE\":\"1\",\"Task_ID\":7}\n\
         {\"key\":\"b.x\",\"value\":\"2\",\"created_at\":null,\"updated_at\":null,\"Value\":\"kept\"}\n",
    );
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list"]), @"
    KEY  VALUE  TASK  CREATED  UPDATED
    a.x  1      7     -        -
    b.x  2      -     -        -
    ");
    place.ok(&["breadcrumb", "set", "a.x", "3"]);
    place.ok(&["breadcrumb", "set", "b.x", "4"]);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "list", "--format", "jsonl"]), @r#"
    {"key":"a.x","value":"3","task_id":7,"created_at":"[TIME]","updated_at":"[TIME]"}
    {"key":"b.x","value":"4","created_at":"[TIME]","updated_at":"[TIME]","Value":"kept"}
    "#);
    place.write(STORE, "{\"Key\":5,\"value\":\"1\"}\n");
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "x"]), @"
    --- stderr
    warning: .synapse/breadcrumbs.jsonl:1: skipped: `key` is not a string
    breadcrumb `x` may be on a line that was skipped
    [exit 3]
    ");
}

#[test]
fn a_breadcrumb_cannot_have_expired_already() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "auth.a", "1", "--expires", "2020-01-01T00:00:00Z"]), @"
    --- stderr
    error: cannot set a breadcrumb that expired already, at 2020-01-01T00:00:00Z
    [exit 2]
    ");
    assert!(place.trace(&["breadcrumb", "get", "auth.a"]).ends_with("[exit 1]\n"));
}

#[test]
fn an_unknown_namespace_is_named_once() {
    let place = Playground::new();
    place.write(STORE, line("zoo.a", "1", 0) + &line("zoo.b", "1", 0));
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.trace(&["check", "--staged"]), @r#"
    .synapse/breadcrumbs.jsonl:1:1: unknown-namespace: namespace `zoo` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"zoo": "DESCRIPTION"}}
    --- stderr
    files checked: 1, errors: 0, warnings: 1
    "#);
    // Only a new key is news.
    place.commit("zoo");
    place.write(STORE, line("zoo.a", "2", 1) + &line("zoo.b", "1", 0));
    place.git(&["add", "-A"]);
    assert_eq!(place.trace(&["check", "--staged"]), "--- stderr\nfiles checked: 1, errors: 0, warnings: 0\n");
}
