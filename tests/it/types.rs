//! Types of items: what is built in, what git config and `.traceconfig` declare, and what items say for themselves.

use std::fs;

use serde_json::{Value, json};

use super::repo::TestRepo;

/// A repository whose project declares types.
fn sharing(settings: &str) -> TestRepo {
    let repo = TestRepo::new();
    fs::write(repo.folder().join(".traceconfig"), settings).unwrap();
    repo
}

fn messages(repo: &TestRepo, args: &[&str]) -> Value {
    repo.json(&[&["materialize", "--format", "messages"], args].concat())
}

#[test]
fn types_lists_built_in_and_declared_types() {
    let repo =
        sharing("[traceType \"finding\"]\n\trole = assistant\n\torder = -1\n\taggregate = no\n\tprioriti = pinned\n");
    repo.git(&["config", "traceType.finding.priority", "pinned"]);
    repo.git(&["config", "traceType.output.role", "user"]);
    repo.git(&["config", "traceType.output.compressOrder", "5"]);
    insta::assert_snapshot!(repo.trace(&["types"]));
    let line = repo.lines(&["types", "--json", "finding"]);
    assert_eq!(line.len(), 1);
    assert_eq!(line[0]["type"], "finding");
    assert_eq!(line[0]["compress_order"], 50);
    assert!(line[0]["compress"].as_str().unwrap().contains("{items}"));
    for rules in TestRepo::new().lines(&["types", "--json"]) {
        let prompt = rules["compress"].as_str().unwrap();
        for place in ["{count}", "{tokens}", "{target}", "{items}"] {
            assert!(prompt.contains(place), "{rules}");
        }
    }
    insta::assert_snapshot!(repo.trace(&["types", "nothing"]));
}

#[test]
fn a_declared_type_has_a_role_a_priority_and_an_order() {
    let repo = sharing(
        "[traceType \"finding\"]\n\trole = assistant\n\tpriority = skip\n[traceType \"retrieved\"]\n\torder = -1\n\taggregate = false\n",
    );
    repo.git(&["config", "traceType.finding.priority", "pinned"]);
    repo.commit(&["-t", "instruction", "-m", "Be careful."]);
    repo.say("Where?");
    repo.commit(&["-t", "finding", "-m", "In a."]);
    repo.commit(&["-t", "finding", "-m", "In b."]);
    repo.commit(&["-t", "retrieved", "-m", "Page 1."]);
    repo.commit(&["-t", "retrieved", "-m", "Page 2."]);
    let expected = json!([
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": "Page 1."},
        {"role": "user", "content": "Page 2."},
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "In a.\n\nIn b."},
    ]);
    assert_eq!(messages(&repo, &[]), expected);
    let apart = messages(&repo, &["--aggregate", "none"]);
    assert_eq!(apart[1]["content"], "Where?", "one message per item, in reading order");
    assert_eq!(repo.json(&["status", "--json"])["by_priority"], json!({"skip": 0, "normal": 3, "pinned": 3}));
    repo.total("main");
    // Git config belongs to the user and comes first; the project's file is the fallback.
    repo.git(&["config", "--unset", "traceType.finding.priority"]);
    assert_eq!(repo.json(&["status", "--json"])["by_priority"]["skip"], 2);
    assert_eq!(messages(&repo, &[]).as_array().unwrap().len(), 4);
    repo.total("main");
    repo.fsck();
}

#[test]
fn meta_keys_override_the_type() {
    let repo = TestRepo::new();
    repo.say("a");
    let apart = repo.commit(&["-m", "b", "--meta", "aggregate=false"]);
    repo.say("c");
    let texts = |repo: &TestRepo| -> Vec<String> {
        let messages = messages(repo, &[]);
        messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&repo), ["a", "b", "c"]);
    repo.bytes(&["edit", &apart, "--meta", "aggregate=true"]);
    assert_eq!(texts(&repo), ["a\n\nb\n\nc"]);
    let level = |id: &str| repo.json(&["priority", id, "--json"])["level"].as_str().unwrap().to_owned();
    let pinned = repo.commit(&["-m", "d", "--meta", "priority=pinned"]);
    assert_eq!(level(&pinned), "pinned");
    repo.bytes(&["edit", &pinned, "--meta", "priority=skip"]);
    assert_eq!(level(&pinned), "skip");
    repo.bytes(&["edit", &pinned, "-m", "d2"]);
    assert_eq!(
        repo.text(&["priority", &pinned, "--history"]).lines().count(),
        2,
        "what did not change is not set again"
    );
    repo.bytes(&["priority", &pinned, "pinned"]);
    repo.bytes(&["edit", &pinned, "--meta", "reviewed=yes"]);
    assert_eq!(level(&pinned), "pinned", "another key changes no level");
    let normal = repo.commit(&["-m", "e", "--meta", "priority=pinned", "-p", "normal"]);
    assert_eq!(level(&normal), "normal", "a flag outranks the meta key");
    let line = r#"{"type":"freeform","text":"f","meta":{"priority":"pinned"}}"#;
    repo.bytes_with(&["--trace", "other", "import", "jsonl", "-"], line.as_bytes());
    assert_eq!(repo.lines(&["--trace", "other", "priority", "--list", "pinned", "--json"]).len(), 1);
    let refusals = ["priority=high", "aggregate=maybe", "compress=1"]
        .map(|meta| repo.refused(&["commit", "-m", "x", "--meta", meta]))
        .concat();
    insta::assert_snapshot!(refusals);
}

#[test]
fn a_body_must_match_the_schema_of_its_type() {
    let repo = sharing("[traceType \"finding\"]\n\tschema = schemas/finding.json\n");
    fs::create_dir(repo.folder().join("schemas")).unwrap();
    let file = repo.folder().join("schemas/finding.json");
    fs::write(
        &file,
        r#"{"type":"object","properties":{"at":{"type":"array","items":{"type":"integer"}}},"required":["at"]}"#,
    )
    .unwrap();
    let id = repo.commit(&["-t", "finding", "-m", r#"{"at":[1,2]}"#]);
    let mut page = String::new();
    for body in [r#"{"at":[1,"x\u001b[31m"]}"#, "{}", "no JSON", "[1"] {
        page += &repo.refused(&["commit", "-t", "finding", "-m", body]);
        page += &repo.refused(&["edit", &id, "-m", body]);
    }
    insta::assert_snapshot!(page);
    repo.git(&["config", "traceType.finding.schema", r#"{"type":"string"}"#]);
    repo.commit(&["-t", "finding", "-m", "\"a\""]);
}

#[test]
fn invalid_type_rules_are_named() {
    let repo = TestRepo::new();
    repo.say("a");
    let mut page = String::new();
    for setting in [
        "traceType.x.role=tool",
        "traceType.tool_io.aggregate=true",
        "traceType.x.priority=high",
        "traceType.x.aggregate=perhaps",
        "traceType.x.order=1.5",
        "traceType.x.compressOrder=",
        "traceType.x.compress= ",
    ] {
        page +=
            &repo.snapshot(&super::repo::run(repo.command("git").args(["-c", setting, "trace", "materialize"]), b""));
        page.push('\n');
    }
    for schema in ["{", "{\"type\":7}", "missing.json", "../outside.json", "{\"$ref\":\"file:///etc/hostname\"}"] {
        let setting = format!("traceType.x.schema={schema}");
        page += &repo.snapshot(&super::repo::run(repo.command("git").args(["-c", &setting, "trace", "types"]), b""));
        page.push('\n');
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_type_that_no_item_can_have_is_ignored_with_a_warning() {
    let repo = sharing("[traceType \"X\"]\n\trole = user\n[traceType \"finding\"]\n\trole = assistant\n");
    repo.git(&["config", "traceType.A b\x1b.role", "user"]);
    insta::assert_snapshot!(repo.trace(&["commit", "-t", "finding", "-m", "In a."]), @r"
    [main #0] finding: In a. [ID]
    --- stderr
    warning: ignored the type `X` in .traceconfig: expected a letter a-z, then at most 63 of a-z, 0-9 and _
    warning: ignored the type `A b\u{1b}` in git config: expected a letter a-z, then at most 63 of a-z, 0-9 and _
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["materialize"]), @r#"
    [
    {"role":"assistant","content":"In a."}
    ]
    --- stderr
    warning: ignored the type `X` in .traceconfig: expected a letter a-z, then at most 63 of a-z, 0-9 and _
    warning: ignored the type `A b\u{1b}` in git config: expected a letter a-z, then at most 63 of a-z, 0-9 and _
    [exit 0]
    "#);
    assert_eq!(repo.trace(&["log", "--oneline"]).matches("warning").count(), 0, "history has no types");
}

#[test]
fn a_role_of_dialogue_or_tools_is_set_in_config_as_on_the_command_line() {
    let repo = TestRepo::new();
    repo.say("List it.");
    repo.commit(&["-t", "tool_io", "-r", "assistant", "--name", "ls", "--call-id", "c1", "-m", "{}"]);
    repo.commit(&["-t", "tool_io", "--reply-to", "#1", "-m", "a.rs"]);
    let roles = ["--role", "dialogue=system", "--role", "tool_io=assistant"];
    let given = messages(&repo, &roles);
    assert_eq!(
        given,
        json!([
            {"role": "system", "content": "List it."},
            {"role": "assistant", "content": "[call of ls, c1]\n{}"},
            {"role": "assistant", "content": "[result of ls, c1]\na.rs"},
        ])
    );
    repo.git(&["config", "traceType.dialogue.role", "system"]);
    repo.git(&["config", "traceType.tool_io.role", "assistant"]);
    assert_eq!(messages(&repo, &[]), given);
    assert_eq!(messages(&repo, &["--role", "dialogue=user"])[0]["role"], "user", "the command line outranks it");
    insta::assert_snapshot!(repo.refused(&["materialize", "--role", "dialouge=user"]), @"
    --- stderr
    error: unknown type `dialouge` in --role
    hint: the types are instruction, dialogue, tool_io, reasoning, artifact, output, freeform
    [exit 2]
    ");
}

#[test]
fn the_shared_file_sets_only_harmless_settings() {
    let repo = sharing(
        "[trace]\n\tencoding = cl100k_base\n\tbudget = 9\n\tmaterializer = touch ran\n\tbudgetAction = touch ran\n",
    );
    repo.say("a word");
    let status = repo.json(&["status", "--json"]);
    assert_eq!((&status["tokens"]["encoding"], &status["tokens"]["budget"]), (&"cl100k_base".into(), &9.into()));
    repo.git(&["config", "trace.budget", "5000"]);
    assert_eq!(repo.json(&["status", "--json"])["tokens"]["budget"], 5000, "git config outranks it");
    repo.git(&["config", "--unset", "trace.budget"]);
    repo.bytes(&["commit", "-m", "far too many words for such a budget"]);
    repo.bytes(&["materialize"]);
    assert!(!repo.folder().join("ran").exists());

    let path = repo.folder().join(".traceconfig");
    fs::write(&path, "[include]\n\tpath = other\n").unwrap();
    fs::write(repo.folder().join("other"), "[trace]\n\tbudget = 7\n").unwrap();
    assert_eq!(repo.json(&["status", "--json"])["tokens"]["budget"], Value::Null, "nothing is included");
    let mut page = String::new();
    for bytes in [
        &b"[trace\n"[..],
        b"[trace]\n\tbudget = many\n",
        b"[trace]\n\tencoding = morse\n",
        b"[trace]\n\tencoding = \xff\n",
    ] {
        fs::write(&path, bytes).unwrap();
        page += &repo.trace(&["status"]);
        page.push('\n');
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    page += &repo.trace(&["status"]);
    insta::assert_snapshot!(page);
}

#[test]
fn a_bare_repository_uses_the_types_of_its_head() {
    let repo = sharing("[traceType \"finding\"]\n\trole = assistant\n");
    repo.git(&["add", ".traceconfig"]);
    repo.git(&["commit", "--quiet", "-m", "types"]);
    let mut bare = TestRepo::init(&["--bare"]);
    bare.git(&["fetch", "--quiet", repo.folder().to_str().unwrap(), "code:refs/heads/code"]);
    bare.commit(&["-t", "finding", "-m", "a"]);
    assert_eq!(messages(&bare, &[]), json!([{"role": "assistant", "content": "a"}]));
    bare.fsck();
    let other = bare.home().join("linked");
    bare.git(&["worktree", "add", "--quiet", other.to_str().unwrap(), "code"]);
    bare.within(&other, |repo| {
        fs::remove_file(repo.folder().join(".traceconfig")).unwrap();
        assert_eq!(messages(repo, &[])[0]["role"], "user", "a working tree has its own");
        repo.refused(&["commit", "-t", "finding", "-m", "b"]);
    });
}

/// Commits a body of a type with this schema; returns the error without its beginning. It must not take long, whatever the schema.
fn refusal(schema: &str, body: &str) -> String {
    let repo = sharing("[traceType \"finding\"]\n\tschema = schema.json\n");
    fs::write(repo.folder().join("schema.json"), schema).unwrap();
    let output = repo.run(&["commit", "-t", "finding", "-"], body.as_bytes());
    assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(repo.git(&["for-each-ref", "refs/traces"]), "");
    said.strip_prefix("error: ").unwrap().to_owned()
}

/// A schema in which each definition refers to the next one.
fn chain(len: usize) -> String {
    let one = |i: usize| format!("\"d{i}\":{{\"$ref\":\"#/$defs/d{}\"}}", i + 1);
    let all = (0..len).map(one).collect::<Vec<_>>().join(",");
    format!("{{\"$defs\":{{{all},\"d{len}\":{{}}}},\"$ref\":\"#/$defs/d0\"}}")
}

#[test]
fn a_hostile_schema_is_refused_before_it_is_compiled() {
    let patterns = (0..200).map(|i| format!("\"a{i}\":{{\"pattern\":\"a{i}\"}}")).collect::<Vec<_>>().join(",");
    let mut page = String::new();
    for schema in [
        chain(8000),
        format!("{{\"allOf\":[{}{{}}]}}", "{},".repeat(3000)),
        format!("{}{{}}{}", "{\"not\":".repeat(80), "}".repeat(80)),
        r#"{"pattern":"((a{1000}){1000}){1000}"}"#.to_owned(),
        format!("{{\"pattern\":\"{}\"}}", "a".repeat(2000)),
        format!("{{\"properties\":{{{patterns}}}}}"),
        r#"{"patternProperties":{"(\\w{100}){100}":{}}}"#.to_owned(),
        r##"{"$dynamicRef":"#x"}"##.to_owned(),
        r#"{"$defs":{"a":{"$id":"http://a/"}}}"#.to_owned(),
        r#"{"pattern":"("}"#.to_owned(),
    ] {
        page += &refusal(&schema, "{}");
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_check_that_would_not_end_is_refused() {
    let doubling = |of: &str| {
        let one = |i: usize| {
            format!("\"d{i}\":{{\"{of}\":[{{\"$ref\":\"#/$defs/d{0}\"}},{{\"$ref\":\"#/$defs/d{0}\"}}]}}", i + 1)
        };
        let all = (0..40).map(one).collect::<Vec<_>>().join(",");
        format!("{{\"$defs\":{{{all},\"d40\":{{\"type\":\"string\"}}}},\"$ref\":\"#/$defs/d0\"}}")
    };
    let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    let twice = r##"{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##;
    let pattern = r#"{"pattern":"(x|y)*x(x|y){300}$"}"#;
    let mut page = String::new();
    for (schema, body) in [
        (&*doubling("allOf"), "{}"),
        (&doubling("oneOf"), "{}"),
        (twice, &deep),
        (r##"{"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##, "1"),
        (&chain(1500), "1"),
        (pattern, &format!("\"{}\"", "xy".repeat(1 << 21))),
    ] {
        page += &refusal(schema, body);
    }
    let said = "the body of finding must satisfy `traceType.finding.schema`: $: ";
    insta::assert_snapshot!(page.replace(said, ""), @r"
    checking it takes too many steps
    checking it takes too many steps
    checking it takes too many steps
    the schema and the body nest too deep
    the schema and the body nest too deep
    checking it takes too many steps
    ");
}

#[test]
fn a_schema_may_refer_to_itself_and_to_its_parts() {
    let repo = sharing("[traceType \"finding\"]\n\tschema = schema.json\n");
    let schema = r##"{"$id":"http://example.org/x","$defs":{"n":{"type":"object","properties":{
        "left":{"$ref":"#/$defs/n"},"right":{"$ref":"#/$defs/n"},"name":{"pattern":"^\\w+$"}},
        "unevaluatedProperties":false}},"$ref":"#/$defs/n"}"##;
    fs::write(repo.folder().join("schema.json"), schema).unwrap();
    let mut body = "{\"name\":\"a\"}".to_owned();
    for _ in 0..100 {
        body = format!("{{\"left\":{body},\"right\":{{}}}}");
    }
    let commit = |body: &str| repo.run(&["commit", "-t", "finding", "-"], body.as_bytes()).status.code();
    assert_eq!(commit(&body), Some(0));
    assert_eq!(commit(&body.replace("\"a\"", "\"a b\"")), Some(2));
    assert_eq!(commit(&format!("{{\"name\":\"{}\"}}", "a".repeat(1 << 18))), Some(0));
    fs::write(repo.folder().join("schema.json"), chain(480)).unwrap();
    assert_eq!(commit("{}"), Some(0));
}

#[test]
fn a_shared_rule_of_a_built_in_type_is_told() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "-m", "Never push to production."]);
    repo.say("hi");
    fs::write(repo.folder().join(".traceconfig"), "[traceType \"instruction\"]\n\tpriority = skip\n").unwrap();
    let warning = "warning: .traceconfig gives the built-in type instruction another `priority`; set `traceType.instruction.priority` in git config to decide yourself\n";
    for args in [&["materialize"][..], &["commit", "-m", "more"]] {
        assert!(repo.trace(args).contains(warning), "{args:?}");
    }
    repo.git(&["config", "traceType.instruction.priority", "normal"]);
    let said = repo.trace(&["materialize", "--format", "text"]);
    assert!(said.contains("Never push") && !said.contains("warning"), "{said}");
}
