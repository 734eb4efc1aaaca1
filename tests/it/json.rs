//! `--json` prints what `docs/json.md` and its schemas describe.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use boon::{Compiler, Schemas};
use regex::Regex;
use serde_json::{Map, Value};

use crate::repo::TestRepo;

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn schema(name: &str) -> Value {
    serde_json::from_slice(&fs::read(docs().join(format!("schemas/{name}.json"))).unwrap()).unwrap()
}

/// Sees to it that each line satisfies the schema and has only members that it names.
pub(crate) fn check(name: &str, lines: &[Value]) {
    assert!(!lines.is_empty(), "{name} prints something");
    let schema = schema(name);
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("docs:/schema", schema.clone()).unwrap();
    let index = compiler.compile("docs:/schema", &mut schemas).unwrap();
    for line in lines {
        if let Err(error) = schemas.validate(line, index) {
            panic!("{name}: {error:#}\n{line:#}");
        }
        named(name, &schema, line);
    }
}

fn named(place: &str, schema: &Value, value: &Value) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| named(place, &schema["items"], element)),
        Value::Object(members) => {
            let Some(known) = schema["properties"].as_object() else { return };
            for (name, value) in members {
                let place = format!("{place}.{name}");
                named(&place, known.get(name).unwrap_or_else(|| panic!("{place} is not documented")), value);
            }
        }
        _ => {}
    }
}

/// A trace with all that the store may know: calls, metadata, usage, priorities, revisions, a deletion, and a merge.
fn full() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    let batch = br#"{"text":"Be kind.","type":"instruction","name":"tone"}
{"text":"Where is the limit?","meta":{"model":"opus"}}
{"text":"{\"path\":\"src/limit.rs\"}","type":"tool_io","direction":"call","name":"Read","call_id":"c"}
{"text":"LIMIT = 10","type":"tool_io","direction":"result","call_id":"c","status":"ok"}
{"text":"It is ten.","role":"assistant","meta":{"usage":{"input_tokens":900,"output_tokens":12,"cache_read_input_tokens":50,"context_window":200000}}}
{"base64":"AP8=","type":"artifact","path":"a.png","media_type":"image/png"}
"#;
    repo.bytes_with(&["commit", "--batch"], batch);
    repo.text(&["branch", "side"]);
    repo.text(&["edit", "#1", "-m", "Where is the limit set?", "--reason", "clearer"]);
    repo.text(&["delete", "#3", "--reason", "read again"]);
    repo.text(&["pin", "#1", "--reason", "the question"]);
    repo.commit(&["--trace", "side", "-m", "beside"]);
    repo.text(&["merge", "side"]);
    repo
}

#[test]
fn json_is_what_the_schemas_say() {
    let repo = full();
    let cases: [(&str, &[&str]); 26] = [
        ("log", &["log"]),
        ("log", &["log", "--all", "--reason", "question|again"]),
        ("show", &["show", "#0.."]),
        ("show", &["show", "#3"]),
        ("show", &["show", "#1", "--revision", "1"]),
        ("status", &["status"]),
        ("status", &["status", "--window", "1000"]),
        ("diff", &["diff"]),
        ("diff", &["diff", "main~2", "main"]),
        ("diff", &["diff", "side", "main"]),
        ("branch", &["branch"]),
        ("priority", &["priority"]),
        ("priority", &["priority", "#1"]),
        ("priority", &["priority", "#1", "--history"]),
        ("priority", &["priority", "--list", "normal"]),
        ("top", &["top"]),
        ("top", &["top", "--by", "turn"]),
        ("top", &["top", "--by", "tool", "--window", "5000"]),
        ("grep", &["grep", "limit"]),
        ("grep", &["grep", "--all-history", "limit"]),
        ("blame", &["blame", "#1"]),
        ("types", &["types"]),
        ("op", &["op", "log"]),
        ("recall", &["recall", "--traces", "limit"]),
        ("delete", &["delete", "#4"]),
        ("delete", &["restore", "#4"]),
    ];
    for (name, args) in cases {
        let args: Vec<String> = args.iter().map(|arg| arg.replace("main~2", "refs/traces/main~2")).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--json"]).collect();
        check(name, &repo.lines(&args));
    }
    for args in
        [&["pin", "#0", "--reason", "always"][..], &["skip", "#2"], &["unpin", "#2"], &["priority", "#4", "pinned"]]
    {
        check("pin", &repo.lines(&[args, &["--json"]].concat()));
    }
    check("priority", &repo.lines(&["priority", "#3", "--json"]));
    check("undo", &repo.lines(&["undo", "--json"]));
    check("undo", &repo.lines(&["redo", "--json"]));
}

#[test]
fn json_of_shared_and_archived_traces_is_what_the_schemas_say() {
    let repo = full();
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "vault", "../vault.git"]);
    repo.text(&["push", "vault"]);
    check("remote", &repo.lines(&["remote", "--json"]));
    repo.text(&["archive", "vault", "side"]);
    check("archived", &repo.lines(&["sessions", "--archived", "--json"]));
    repo.text(&["undo"]);
    check("op", &repo.lines(&["undo", "--list", "--json"]));
}

#[test]
fn json_of_memory_files_is_what_the_schemas_say() {
    let repo = TestRepo::new();
    repo.text(&["breadcrumb", "set", "auth.mode", "JWT"]);
    repo.text(&["crumb", "new", "a.crumb", "--fact", "reviews"]);
    repo.text(&["checkpoint", "new", "auth", "-p", "Nobody can log in."]);
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "-m", "memory"]);
    repo.text(&["breadcrumb", "delete", "--confirm", "auth.mode"]);
    repo.git(&["commit", "--quiet", "--all", "-m", "forget"]);
    check("history", &repo.lines(&["breadcrumb", "history", "auth.mode", "--json"]));
    check("triage", &repo.lines(&["crumb", "triage", "a.crumb", "--json"]));
    check("recall", &repo.lines(&["recall", "log", "--json"]));
    for command in ["list", "status"] {
        check("checkpoint", repo.json(&["checkpoint", command, "--json"]).as_array().unwrap());
    }
}

#[test]
fn json_of_sessions_is_what_the_schema_says() {
    let repo = TestRepo::new();
    let session = repo.bytes(&["demo", "--session"]);
    fs::write(repo.folder().join("session.jsonl"), session).unwrap();
    repo.text(&["import", "session.jsonl"]);
    for command in ["sessions", "status", "top", "branch", "show"] {
        check(command, &repo.lines(&[command, "--json"]));
    }
    check("log", &repo.lines(&["log", "-n", "20", "--json"]));
}

/// The JSON that a command prints, with elements of lists one by one. Its exit status may say no.
fn values(repo: &TestRepo, args: &[&str]) -> Vec<Value> {
    let args: Vec<String> = args.iter().map(|arg| arg.replace("main~", "refs/traces/main~")).collect();
    let asked = args.iter().any(|arg| arg == "--json");
    let args: Vec<&str> = args.iter().map(String::as_str).chain((!asked).then_some("--json")).collect();
    let output = repo.run(&args, b"");
    assert!(output.status.code() < Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().map(Result::unwrap);
    let elements = |value| if let Value::Array(elements) = value { elements } else { vec![value] };
    values.flat_map(elements).collect()
}

fn check_all(repo: &TestRepo, cases: &[(&str, &[&str])]) {
    for (name, args) in cases {
        check(name, &values(repo, args));
    }
}

#[test]
fn json_of_commands_that_change_traces_is_what_the_schemas_say() {
    let repo = full();
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "origin", "../vault.git"]);
    repo.text(&["branch", "other"]);
    repo.commit(&["--trace", "other", "-m", "more"]);
    fs::write(repo.folder().join("session.jsonl"), repo.bytes(&["demo", "--session"])).unwrap();
    check_all(
        &repo,
        &[
            ("commit", &["commit", "-m", "A new item."]),
            ("commit", &["edit", "#1", "-m", "Which limit is set?"]),
            ("commit", &["--trace", "other", "edit", "#1", "-m", "Whose limit is set?"]),
            ("merge", &["merge", "other"]),
            ("merge", &["merge", "other", "--strategy", "ours"]),
            ("merge", &["merge", "other"]),
            ("pick", &["cherry-pick", "other", "#0"]),
            ("pick", &["revert", "main~1"]),
            ("pick", &["rebase", "other", "--strategy", "theirs"]),
            ("reset", &["reset", "main~1"]),
            ("undo", &["undo"]),
            ("undo", &["redo"]),
            ("bisect", &["bisect", "run", "--json", "false"]),
            ("compress", &["compress", "#4..", "--dry-run"]),
            ("compress", &["compress", "#4..", "-m", "It is ten."]),
            ("pick", &["expand", "#4"]),
            ("clean", &["clean", "--dry-run"]),
            ("materialize", &["materialize"]),
            ("materialize", &["materialize", "--budget", "30"]),
            ("import", &["import", "session.jsonl"]),
            ("import", &["import", "session.jsonl"]),
            ("import", &["import", "--all"]),
            ("clean", &["clean", "--yes"]),
            ("export", &["export", "claude-code"]),
            ("resume", &["resume", "--print"]),
            ("push", &["push", "origin", "*"]),
            ("fetch", &["fetch", "origin"]),
            ("pull", &["pull", "origin"]),
            ("archive", &["archive", "origin", "other"]),
            ("count", &["count", "session.jsonl"]),
            ("fsck", &["fsck"]),
            ("brief", &["brief", "--budget", "60"]),
            ("doctor", &["doctor"]),
            ("install", &["install"]),
            ("install", &["uninstall"]),
            ("purge", &["--trace", "main", "purge", "#0", "--dry-run"]),
            ("purge", &["--trace", "main", "purge", "#0", "--yes"]),
        ],
    );
}

#[test]
fn json_of_commands_that_change_memories_is_what_the_schemas_say() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "ada"]);
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "origin", "../vault.git"]);
    check_all(
        &repo,
        &[
            ("breadcrumb-change", &["breadcrumb", "set", "auth.mode", "JWT"]),
            ("breadcrumb", &["breadcrumb", "get", "auth.mode"]),
            ("breadcrumb", &["breadcrumb", "list"]),
            ("namespaces", &["breadcrumb", "namespaces"]),
            ("breadcrumb-change", &["breadcrumb", "prune"]),
            ("breadcrumb-change", &["breadcrumb", "migrate", "--from", "1.0", "--to", "2.0"]),
            ("breadcrumb-change", &["breadcrumb", "delete", "--confirm", "auth.mode"]),
            ("checkpoint-change", &["checkpoint", "new", "auth", "-p", "Nobody can log in."]),
            ("check", &["checkpoint", "validate"]),
            ("checkpoint-change", &["checkpoint", "current", "auth"]),
            ("checkpoint-change", &["checkpoint", "delta", "-m", "It was the clock."]),
            ("checkpoint-change", &["checkpoint", "add-breadcrumb", "file", "src/lib.rs", "the entry"]),
            ("checkpoint-breadcrumbs", &["checkpoint", "breadcrumbs"]),
            ("checkpoint-breadcrumbs", &["checkpoint", "breadcrumbs", "--stale"]),
            ("checkpoint-breadcrumbs", &["checkpoint", "breadcrumbs", "--cost"]),
            ("follow", &["checkpoint", "follow", "#1"]),
            ("checkpoint", &["checkpoint", "tree"]),
            ("checkpoint", &["checkpoint", "prime"]),
            ("checkpoint-change", &["checkpoint", "remove-breadcrumb", "#1"]),
            ("checkpoint-change", &["checkpoint", "archive", "auth", "--outcome", "done", "--learnings", "none"]),
            ("forward", &["forward", "leave", "--summary", "Look at the clock."]),
            ("forward-get", &["forward", "get"]),
            ("forward-stats", &["forward", "stats"]),
            ("forward-change", &["forward", "expire"]),
            ("push", &["forward", "push", "origin"]),
            ("fetch", &["forward", "fetch", "origin"]),
            ("pull", &["forward", "pull", "origin"]),
        ],
    );
    let left = repo.json(&["forward", "leave", "--summary", "Look at the clock.", "--json"])["id"].clone();
    let id = left.as_str().unwrap();
    check_all(
        &repo,
        &[
            ("forward", &["forward", "show", id]),
            ("forward-get", &["forward", "chain", id]),
            ("forward-rows", &["forward", "dedupe", "--dry-run"]),
            ("forward-change", &["forward", "status", id, "completed"]),
        ],
    );
    repo.text(&["crumb", "new", "a.crumb", "--identity", "ada", "--fact", "A limit."]);
    repo.text(&["crumb", "new", "b.crumb", "--identity", "ada", "--fact", "Another limit."]);
    check_all(
        &repo,
        &[
            ("crumb", &["crumb", "show", "a.crumb"]),
            ("crumb-validate", &["crumb", "validate", "a.crumb"]),
            ("crumb-change", &["crumb", "compress", "a.crumb", "--dry-run"]),
            ("crumb-change", &["crumb", "receive", "a.crumb", "b.crumb"]),
        ],
    );
    fs::write(repo.folder().join("b.crumb"), "no header\n").unwrap();
    fs::write(repo.folder().join(".synapse/breadcrumbs.jsonl"), "no JSON\n").unwrap();
    repo.git(&["add", "--all"]);
    check_all(&repo, &[("check", &["check", "--staged"]), ("crumb-validate", &["crumb", "validate", "b.crumb"])]);
}

/// Conflicts, findings, and errors.
#[test]
fn json_of_problems_is_what_the_schemas_say() {
    let repo = full();
    repo.git(&["init", "--quiet", "--bare", "../vault.git"]);
    repo.git(&["remote", "add", "origin", "../vault.git"]);
    repo.text(&["push", "origin"]);
    let before = repo.git(&["rev-parse", "refs/traces/main"]);
    repo.text(&["edit", "#1", "-m", "Which limit is set?"]);
    repo.text(&["push", "origin"]);
    repo.git(&["update-ref", "refs/traces/main", before.trim()]);
    repo.text(&["edit", "#1", "-m", "Whose limit is set?"]);
    check("pull", &values(&repo, &["pull", "origin"]));
    let batch = repo.run(&["commit", "--batch", "--json"], b"{\"text\":\"a\"}\n{\"type\":\"nope\"}\nno JSON\n");
    let answers = String::from_utf8(batch.stdout).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.iter().filter(|answer| answer["error"].is_string()).count(), 2, "{answers:?}");
    check("commit", &answers);
    let tree = repo.git(&["rev-parse", "refs/traces/main:"]);
    repo.git(&["update-ref", "refs/traces/tree", tree.trim()]);
    let findings = values(&repo, &["fsck"]);
    assert_ne!(findings[0]["findings"][0], Value::Null);
    check("fsck", &findings);
    check("import", &values(&repo, &["import", "--all-folders"]));
}

#[test]
fn json_of_conversions_is_what_the_schemas_say() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "ada"]);
    let write = |name: &str, text: &str| fs::write(repo.folder().join(name), text).unwrap();
    write("facts.jsonl", r#"{"key":"auth.a","value":"1","created_at":"2026-01-01T00:00:00Z"}"#);
    write("note.md", "Session summary: it works.\n\nUnfinished:\n- look at the clock\n- [x]\n");
    write("none.md", "# Title\n");
    check_all(
        &repo,
        &[
            ("breadcrumb-change", &["breadcrumb", "import", "facts.jsonl"]),
            ("forward-rows", &["forward", "migrate", "note.md", "none.md"]),
        ],
    );
    write("crumbs.json", &repo.text(&["forward", "export"]));
    let notes: String = (1..=30).map(|n| format!("n @{n} did {n}\n")).collect();
    write("a.crumb", &format!("∴CRUMB2 AGENT s30\n\n§volatile\n{notes}"));
    check_all(
        &repo,
        &[
            ("forward-import", &["forward", "import", "crumbs.json"]),
            ("crumb-change", &["crumb", "compress", "a.crumb"]),
            ("crumb-change", &["crumb", "expand", "a.crumb", "--list"]),
        ],
    );
}

/// The names of all members of a schema, as the page writes them.
fn members(prefix: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for (name, member) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let is_list = member["type"] == "array";
        let name = format!("{prefix}{name}{}", if is_list { "[]" } else { "" });
        found.insert(name.clone());
        // The items of a comparison are those of `show`.
        if !matches!(name.as_str(), "items[].before" | "items[].after") {
            members(&format!("{name}."), if is_list { &member["items"] } else { member }, found);
        }
    }
}

#[test]
fn the_page_has_the_members_of_each_schema() {
    let page = fs::read_to_string(docs().join("json.md")).unwrap();
    let sections = page.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap());
    let mut listed = BTreeSet::new();
    let link = Regex::new(r"\(schemas/([a-z-]+\.json)\)").unwrap();
    for (name, section) in sections {
        if name == "Other commands" {
            listed.extend(link.captures_iter(section).map(|link| link[1].to_owned()));
            continue;
        }
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut expected = BTreeSet::new();
        members("", &schema(name), &mut expected);
        assert_eq!(rows.map(str::to_owned).collect::<BTreeSet<_>>(), expected, "{name}");
        listed.insert(format!("{name}.json"));
    }
    let files =
        fs::read_dir(docs().join("schemas")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), listed);
}

/// Lists that print one JSON object per line, each with the arguments that give it entries.
pub(crate) const LISTS: [&[&str]; 23] = [
    &["log"],
    &["show", "#0", "#1"],
    &["grep", "i"],
    &["blame", "#0"],
    &["priority"],
    &["priority", "--list", "normal"],
    &["types"],
    &["branch"],
    &["sessions"],
    &["op", "log"],
    &["undo", "--list"],
    &["remote"],
    &["recall", "limit"],
    &["breadcrumb", "history", "auth.mode"],
    &["crumb", "triage", "a.crumb"],
    // JSON of these is one document.
    &["top"],
    &["diff", "main~2"],
    &["breadcrumb", "list"],
    &["breadcrumb", "namespaces"],
    &["checkpoint", "list"],
    &["checkpoint", "tree"],
    &["checkpoint", "status"],
    &["crumb", "show", "a.crumb"],
];

/// The repository of [`full`] with the other memories, a session, and traces of a remote.
pub(crate) fn with_memories() -> TestRepo {
    let repo = full();
    repo.text(&["breadcrumb", "set", "auth.mode", "limit\u{a0}of two lines"]);
    repo.text(&["checkpoint", "new", "limits", "-p", "The limit is lost.", "--current"]);
    let crumb = repo.folder().join("a.crumb");
    repo.text(&["crumb", "new", crumb.to_str().unwrap(), "--identity", "ada", "--fact", "A limit."]);
    let session = repo.bytes(&["demo", "--session"]);
    fs::write(repo.folder().join("session.jsonl"), session).unwrap();
    repo.text(&["import", "session.jsonl"]);
    repo.text(&["switch", "main"]);
    repo.git(&["update-ref", "refs/trace-remotes/origin/main", "refs/traces/main"]);
    repo
}

#[test]
fn lists_end_entries_with_nul_on_request() {
    let repo = with_memories();
    for (number, list) in LISTS.iter().enumerate() {
        let list: Vec<&str> =
            list.iter().map(|word| if *word == "main~2" { "refs/traces/main~2" } else { word }).collect();
        let split = |args: &[&str]| {
            let text = String::from_utf8(repo.bytes(&[&list[..], args].concat())).unwrap();
            let text = text.strip_suffix('\0').unwrap_or_else(|| panic!("{list:?} {args:?} ends with NUL: {text}"));
            text.split('\0').map(str::to_owned).collect::<Vec<_>>()
        };
        let (texts, values) = (split(&["-z"]), split(&["--json", "-z"]));
        let parsed: Vec<Value> = values.iter().map(|value| serde_json::from_str(value).unwrap()).collect();
        if number < 15 {
            assert_eq!(parsed, repo.lines(&[&list[..], &["--json"]].concat()), "{list:?}");
        } else {
            assert_eq!(parsed, [repo.json(&[&list[..], &["--json"]].concat())], "{list:?}");
        }
        let is_heading = |text: &String| text.is_empty() || text.starts_with("KEY") || text.contains("tokens      %");
        assert!(!texts.iter().any(is_heading), "{list:?} has only entries: {texts:#?}");
    }
    // An entry of several lines is one, and the content of an item is exact.
    assert_eq!(repo.bytes(&["show", "-z", "#0", "#1"]), b"Be kind.\0Where is the limit set?\0");
    assert_eq!(String::from_utf8(repo.bytes(&["log", "-z", "-n", "2"])).unwrap().matches('\0').count(), 2);
}
