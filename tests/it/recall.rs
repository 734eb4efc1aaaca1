//! `git trace recall`: search in all memories.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::repo::{TestRepo, run};

const CHECKPOINT: &str = "---
checkpoint: login
created: 2026-01-03T10:00:00Z
---

# Checkpoint: Login

## Problem

Nobody can log in while the cache is cold.

## Delta: 2026-01-04T10:00:00Z

The limit of `maxRetries` was wrong.
";

/// A repository with something in every memory.
fn furnished() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    repo.text(&["breadcrumb", "set", "auth.method", "JWT in a cookie"]);
    repo.text(&["breadcrumb", "set", "cache.size", "512 megabytes, then evicted"]);
    fs::write(
        repo.folder().join("SPARK.crumb"),
        "∴CRUMB2 SPARK s40\n\n§failures\n~ api:rate-limit hit 429 when retrying — 3x @s8\n\n§volatile\nn @39 measured the caches\n",
    )
    .unwrap();
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "Split the parser from the validator."]);
    let folder = repo.folder().join("checkpoints/active");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("chk-login.md"), CHECKPOINT).unwrap();
    repo.say("The payment_timeout in src/net/HttpClient.rs is too short.");
    repo
}

/// The labels of the entries that a search finds.
fn found(repo: &TestRepo, args: &[&str]) -> Vec<String> {
    let output = repo.run(&[&["recall", "--json"], args].concat(), b"");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", repo.exact(&output));
    assert!(output.stderr.is_empty(), "{}", repo.exact(&output));
    let hits = String::from_utf8(output.stdout).unwrap();
    let name = |hit: Value| {
        let key = hit["key"].as_str().or(hit["section"].as_str()).unwrap_or_default().to_owned();
        format!("{} {key}", hit["kind"].as_str().unwrap())
    };
    hits.lines().map(|line| name(serde_json::from_str(line).unwrap())).collect()
}

fn index_files(repo: &TestRepo) -> Vec<PathBuf> {
    let folder = repo.git_dir().join("trace/cache/recall");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_memory_is_searched_and_each_hit_says_where_it_is() {
    let repo = furnished();
    insta::assert_snapshot!(repo.trace(&["recall", "cache", "validate", "cookies"]), @"
    breadcrumb auth.method: JWT in a cookie (git trace breadcrumb get auth.method)
    forward azoth [ID]: Split the parser from the validator. (git trace forward show --agent azoth [ID])
    breadcrumb cache.size: 512 megabytes, then evicted (git trace breadcrumb get cache.size)
    crumb SPARK.crumb §volatile: n @39 measured the caches (git trace crumb show SPARK.crumb)
    checkpoint checkpoints/active/chk-login.md §Problem: Nobody can log in while the cache is cold. (cat checkpoints/active/chk-login.md)
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["recall", "timeout"]), @"[exit 1]");
    insta::assert_snapshot!(repo.trace(&["recall", "--traces", "timeout"]), @"
    trace main [ID]: The payment_timeout in src/net/HttpClient.rs is too short. (git trace show --trace main [ID])
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["recall", "--json", "key:rate"]), @r#"
    {"agent":"SPARK","command":"git trace crumb show SPARK.crumb","id":null,"key":"api:rate-limit","kind":"crumb","place":"SPARK.crumb","score":0.0,"section":"failures","snippet":"~ api:rate-limit hit 429 when retrying — 3x @s8","time":null}
    [exit 0]
    "#);
    repo.fsck();
}

#[test]
fn a_query_without_a_word_is_refused() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.refused(&["recall", "!?"]), @"
    --- stderr
    error: the query has no word
    hint: `git trace recall 'rate limit'` searches for words, and `agent:spark` for a field
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["recall", "kind:memory"]), @"
    --- stderr
    error: unknown kind `memory`: expected one of breadcrumb, crumb, forward, archive, checkpoint, trace
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["recall", "--kind", "memory", "x"]), @"
    --- stderr
    error: invalid --kind: unknown kind `memory`: expected one of breadcrumb, crumb, forward, archive, checkpoint, trace
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["recall", "key:", "x"]), @"
    --- stderr
    error: the field `key` of the query has no word
    [exit 2]
    ");
}

#[test]
fn rarer_words_shorter_entries_and_keys_rank_higher() {
    let repo = TestRepo::new();
    for (key, value) in [
        ("a.common", "server port"),
        ("b.common", "server host"),
        ("c.rare", "server and zeppelin"),
        ("d.short", "gateway"),
        ("e.long", "the gateway is a machine in the cellar, next to the boiler"),
        ("f.zeppelin", "lands at noon"),
    ] {
        repo.text(&["breadcrumb", "set", key, value]);
    }
    assert_eq!(found(&repo, &["server zeppelin"])[..2], ["breadcrumb c.rare", "breadcrumb f.zeppelin"]);
    assert_eq!(found(&repo, &["gateway"]), ["breadcrumb d.short", "breadcrumb e.long"]);
    assert_eq!(found(&repo, &["zeppelin"]), ["breadcrumb f.zeppelin", "breadcrumb c.rare"]);
    // Of equal entries, the newest is first.
    let path = repo.folder().join(".synapse/breadcrumbs.jsonl");
    let newest = "{\"key\":\"g.short\",\"value\":\"gateway\",\"updated_at\":\"2090-01-01T00:00:00Z\"}\n";
    fs::write(&path, fs::read_to_string(&path).unwrap() + newest).unwrap();
    assert_eq!(found(&repo, &["-n", "1", "gateway"]), ["breadcrumb g.short"]);
}

#[test]
fn words_are_found_in_any_form_and_as_parts_of_identifiers() {
    let repo = furnished();
    for word in ["retry", "retries", "Retrying", "rate", "rate-limit", "429"] {
        assert_eq!(found(&repo, &["kind:crumb", word])[..], ["crumb api:rate-limit"], "{word}");
    }
    for word in ["maxretries", "maxRetries", "max"] {
        assert_eq!(found(&repo, &["kind:checkpoint", word]), ["checkpoint login"], "{word}");
    }
    for word in ["payment", "payment_timeout", "HttpClient", "client", "http", "net/HttpClient.rs"] {
        assert_eq!(found(&repo, &["kind:trace", word]), ["trace dialogue"], "{word}");
    }
    repo.text(&["breadcrumb", "set", "lang.zh", "网络请求超时"]);
    assert_eq!(found(&repo, &["超时"]), ["breadcrumb lang.zh"]);
    assert!(found(&repo, &["超网"]).is_empty());
}

#[test]
fn fields_and_options_must_match() {
    let repo = furnished();
    assert_eq!(found(&repo, &["agent:azoth"]), ["forward orientation"]);
    assert_eq!(found(&repo, &["--agent", "spark", "cache"]), ["crumb volatile"]);
    assert_eq!(found(&repo, &["section:failures"]), ["crumb api:rate-limit"]);
    assert_eq!(found(&repo, &["key:auth"]), ["breadcrumb auth.method"]);
    assert_eq!(found(&repo, &["--kind", "checkpoint", "cache"]), ["checkpoint login"]);
    assert_eq!(found(&repo, &["kind:crumb", "cache"]), ["crumb volatile"]);
    assert_eq!(found(&repo, &["kind:checkpoint", "kind:crumb", "cache"]), [""; 0]);
    assert_eq!(found(&repo, &["key:auth", "megabytes"]), [""; 0]);
    assert_eq!(found(&repo, &["--since", "2026-01-04", "kind:checkpoint", "limit", "cold"]).len(), 2);
    assert_eq!(found(&repo, &["--since", "2026-01-05", "kind:checkpoint", "limit", "cold"]).len(), 0);
    // Another colon is part of the text.
    assert_eq!(found(&repo, &["http://cookie"]), ["breadcrumb auth.method"]);
}

#[test]
fn the_index_follows_every_change() {
    let repo = furnished();
    assert_eq!(found(&repo, &["zebra"]), [""; 0]);
    repo.text(&["breadcrumb", "set", "x.y", "a zebra"]);
    assert_eq!(found(&repo, &["zebra"]), ["breadcrumb x.y"]);
    repo.text(&["crumb", "note", "SPARK.crumb", "saw a zebra"]);
    repo.text(&["forward", "leave", "--agent", "other", "--summary", "The zebra is striped."]);
    repo.say("zebra");
    let mut all = found(&repo, &["--traces", "zebra"]);
    all.sort();
    assert_eq!(all, ["breadcrumb x.y", "crumb volatile", "forward orientation", "trace dialogue"]);
    repo.text(&["breadcrumb", "delete", "x.y", "--confirm"]);
    repo.text(&["delete", "#1"]);
    fs::remove_file(repo.folder().join("SPARK.crumb")).unwrap();
    assert_eq!(found(&repo, &["--traces", "zebra"]), ["forward orientation"]);
    // The same size, at once.
    for value in ["heron", "eagle", "robin"] {
        fs::write(
            repo.folder().join(".synapse/breadcrumbs.jsonl"),
            format!("{{\"key\":\"a.b\",\"value\":\"{value}\"}}\n"),
        )
        .unwrap();
        assert_eq!(found(&repo, &[value]), ["breadcrumb a.b"]);
    }
    assert_eq!(found(&repo, &["heron"]), [""; 0]);
}

#[test]
fn branches_give_an_item_once() {
    let repo = furnished();
    repo.text(&["branch", "idea"]);
    assert_eq!(found(&repo, &["--traces", "timeout"]).len(), 1);
    repo.text(&["branch", "-D", "idea"]);
    assert_eq!(found(&repo, &["--traces", "timeout"]).len(), 1);
}

#[test]
fn an_archive_is_searched() {
    let repo = TestRepo::new();
    let notes: String = (1..30).map(|session| format!("n @{session} tested part {session} of the walrus\n")).collect();
    fs::write(repo.folder().join("SPARK.crumb"), format!("∴CRUMB2 SPARK s90\n\n§volatile\n{notes}")).unwrap();
    repo.text(&["crumb", "compress", "SPARK.crumb"]);
    let hits = repo.lines(&["recall", "--json", "kind:archive", "walrus"]);
    let shown = hits[0]["command"].as_str().unwrap().replace('\'', "");
    let shown = repo.git(&shown.split(' ').skip(1).collect::<Vec<_>>());
    assert!(shown.contains("of the walrus"), "{shown}");
}

#[test]
fn a_damaged_index_is_made_again() {
    let repo = furnished();
    let query = ["cache retries cookie limit parser"];
    let right = found(&repo, &query);
    assert_eq!(right.len(), 7);
    for file in index_files(&repo).iter().map(|file| file.file_name().unwrap().to_owned()) {
        let path = || repo.git_dir().join("trace/cache/recall").join(&file);
        let damages: [fn(&mut Vec<u8>); 5] = [
            |bytes| bytes.truncate(bytes.len() / 2),
            |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0x55),
            Vec::clear,
            |bytes| bytes.iter_mut().skip(40).for_each(|byte| *byte = 0xff),
            |bytes| bytes.push(0),
        ];
        for damage in damages {
            // The time of the file stays, so that only its content tells.
            let Ok(mut bytes) = fs::read(path()) else { continue };
            let modified = fs::metadata(path()).unwrap().modified().unwrap();
            damage(&mut bytes);
            fs::write(path(), bytes).unwrap();
            fs::File::options().write(true).open(path()).unwrap().set_modified(modified).unwrap();
            assert_eq!(found(&repo, &query), right, "{file:?}");
        }
        let _ = fs::remove_file(path());
        assert_eq!(found(&repo, &query), right, "{file:?}");
    }
    // A folder that cannot be made costs time only.
    fs::remove_dir_all(repo.git_dir().join("trace/cache")).unwrap();
    fs::write(repo.git_dir().join("trace/cache"), "").unwrap();
    assert_eq!(found(&repo, &query), right);
}

#[test]
fn searches_and_writers_at_the_same_time_do_no_harm() {
    let repo = furnished();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let repo = &repo;
            scope.spawn(move || {
                for round in 0..4 {
                    repo.text(&["breadcrumb", "set", &format!("n{number}.r{round}"), "a heron"]);
                    let own = format!("breadcrumb n{number}.r{round}");
                    assert!(found(repo, &["-n", "99", "heron"]).contains(&own));
                }
            });
        }
    });
    assert_eq!(found(&repo, &["-n", "99", "heron"]).len(), 16);
    // The list and the segments that it names; no other file is left.
    assert!(index_files(&repo).len() <= 4, "{:?}", index_files(&repo));
}

#[test]
fn secrets_are_not_indexed_and_a_purge_removes_the_index() {
    let repo = furnished();
    repo.text(&["breadcrumb", "set", "secret.token", "hunter2hunter2"]);
    repo.text(&["breadcrumb", "set", "x.y", "the walrus sings"]);
    let moved = "{\"key\":\"secret.other\",\"value\":\"hunter3\"}\n";
    let path = repo.folder().join(".synapse/breadcrumbs.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap() + moved).unwrap();
    assert_eq!(found(&repo, &["hunter2hunter2 hunter3 secret"]), [""; 0]);
    assert_eq!(found(&repo, &["--traces", "walrus"]), ["breadcrumb x.y"]);
    let has = |text: &str| {
        index_files(&repo).iter().any(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).contains(text))
    };
    assert!(has("walrus") && !has("hunter"));
    repo.text(&["breadcrumb", "delete", "x.y", "--confirm"]);
    repo.run(&["purge", "--pattern", "walrus", "--yes"], b"");
    assert!(!repo.git_dir().join("trace/cache/recall").exists());
}

#[test]
fn text_of_others_is_shown_escaped() {
    let repo = TestRepo::new();
    let line = "{\"key\":\"a\\u001b[31m.b\",\"value\":\"red \\u001b]0;owned\\u0007 \\u202ecookie\\nforged: line\"}\n";
    fs::create_dir(repo.folder().join(".synapse")).unwrap();
    fs::write(repo.folder().join(".synapse/breadcrumbs.jsonl"), line).unwrap();
    insta::assert_snapshot!(repo.trace(&["recall", "cookie"]), @"
    breadcrumb a [31m.b: red ]0;owned \\u202ecookie forged: line (git trace breadcrumb get 'a\\u001b[31m.b')
    [exit 0]
    ");
}

#[test]
fn a_key_that_looks_like_an_option_is_none_in_the_command() {
    let repo = TestRepo::new();
    fs::create_dir(repo.folder().join(".synapse")).unwrap();
    fs::write(repo.folder().join(".synapse/breadcrumbs.jsonl"), "{\"key\":\"--help\",\"value\":\"cookie\"}\n").unwrap();
    insta::assert_snapshot!(repo.trace(&["recall", "cookie"]), @"
    breadcrumb --help: cookie (git trace breadcrumb get -- --help)
    [exit 0]
    ");
}

#[test]
fn each_working_tree_has_its_own_index() {
    let mut repo = furnished();
    repo.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = repo.home().join("linked");
    repo.within(&linked, |linked| {
        linked.text(&["breadcrumb", "set", "x.y", "a heron"]);
        assert_eq!(found(linked, &["heron"]), ["breadcrumb x.y"]);
        assert_eq!(found(linked, &["kind:trace", "timeout"]).len(), 1);
    });
    assert_eq!(found(&repo, &["heron"]), [""; 0]);
}

#[test]
fn a_bare_repository_has_what_refs_have() {
    let repo = TestRepo::init(&["--bare"]);
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "Split the parser."]);
    assert_eq!(found(&repo, &["parser"]), ["forward orientation"]);
}

#[test]
fn a_missing_object_is_named_and_the_rest_is_searched() {
    let repo = furnished();
    let missing = repo.git(&["rev-parse", "refs/crumbs/azoth"]).trim().replace(|_| true, "1");
    let commit = format!("tree {missing}\nauthor a <a@b.c> 1 +0000\ncommitter a <a@b.c> 1 +0000\n\nx\n");
    let mut hash_object = repo.command("git");
    let written = run(hash_object.args(["hash-object", "-t", "commit", "-w", "--stdin"]), commit.as_bytes()).stdout;
    repo.git(&["update-ref", "refs/crumbs/broken", String::from_utf8(written).unwrap().trim()]);
    insta::assert_snapshot!(repo.snapshot(&repo.run(&["recall", "cookie"], b"")), @"
    breadcrumb auth.method: JWT in a cookie (git trace breadcrumb get auth.method)
    --- stderr
    warning: cannot search `refs/crumbs/broken`: object [OID] is not in this repository
    [exit 3]
    ");
}

#[test]
fn an_agent_whose_name_is_not_ascii_is_found() {
    let repo = TestRepo::new();
    repo.text(&["forward", "leave", "--agent", "Élodie", "--summary", "the limit was raised"]);
    let hit = repo.json(&["recall", "--json", "agent:Élodie", "limits"]);
    assert_eq!((hit["agent"].as_str(), hit["kind"].as_str()), (Some("Élodie"), Some("forward")));
    assert!(repo.text(&["recall", "--agent", "Élodie", "limit"]).contains("the limit was raised"));
}
