//! From lines of the code to the sessions that wrote them, and back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::json::check;
use crate::repo::{TestRepo, run};

const LIMIT: &str = "pub fn limit() -> usize {\n    five()\n}\n";

/// A session of Claude Code of two prompts on 2026-02-06, the times of whose records are minutes after 10:00.
fn session(folder: &Path) -> String {
    let path = folder.join("src/limit.rs");
    let path = path.to_str().unwrap();
    let mut parent = Value::Null;
    let mut line = |minute: u32, kind: &str, content: Value| {
        let uuid = format!("00000000-0000-4000-a000-0000000000{minute:02}");
        let mut message = json!({ "role": kind, "content": content });
        if kind == "assistant" {
            message["model"] = json!("claude-opus-4-6");
            message["id"] = json!(format!("msg_{minute}"));
        }
        let record = json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "cwd": folder,
            "timestamp": format!("2026-02-06T10:{minute:02}:00.000Z"), "isSidechain": false, "message": message });
        parent = json!(uuid);
        format!("{record}\n")
    };
    let call =
        |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let result = |id: &str, is_error: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": "done", "is_error": is_error }]);
    let edit = |new: &str| json!({ "file_path": path, "old_string": "five()", "new_string": new });
    [
        line(1, "user", json!("Add a limit")),
        line(2, "assistant", call("c1", "Write", json!({ "file_path": path, "content": LIMIT }))),
        line(3, "user", result("c1", false)),
        line(11, "user", json!("Make it six")),
        line(12, "assistant", call("c2", "Edit", edit("wrong_six()"))),
        line(13, "user", result("c2", true)),
        line(14, "assistant", call("c3", "Edit", edit("number_six()"))),
        line(15, "user", result("c3", false)),
        line(
            16,
            "assistant",
            call("c4", "Bash", json!({ "command": "cat > notes.md <<E\nsee src/limit.rs for more\nE" })),
        ),
        line(17, "user", result("c4", false)),
    ]
    .concat()
}

fn commit(repo: &TestRepo, minute: u32, subject: &str) {
    repo.git(&["add", "-A"]);
    let time = format!("2026-02-06T10:{minute:02}:30+00:00");
    let mut command = repo.command("git");
    command.env("GIT_COMMITTER_DATE", &time).env("GIT_AUTHOR_DATE", &time);
    assert!(command.args(["commit", "--quiet", "-m", subject]).status().unwrap().success());
}

/// A commit before the session, one after each of its prompts, and one by a person.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    let folder = repo.folder().canonicalize().unwrap();
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    write("src/main.rs", "mod limit;\n\nfn main() {}\n");
    commit(&repo, 0, "start");
    write("src/limit.rs", LIMIT);
    commit(&repo, 5, "Add the limit");
    write("src/limit.rs", &LIMIT.replace("five()", "  number_six()"));
    write("notes.md", "see src/limit.rs for more\n");
    commit(&repo, 20, "Six");
    write("src/main.rs", "mod limit;\n\nfn main() { run() }\n");
    commit(&repo, 40, "by hand");
    fs::write(repo.home().join("s1.jsonl"), session(&folder)).unwrap();
    let file = repo.home().join("s1.jsonl");
    repo.text(&["import", "claude-code", file.to_str().unwrap()]);
    repo
}

#[test]
fn a_line_leads_to_the_prompt_and_the_call_that_wrote_it() {
    let repo = repo();
    insta::assert_snapshot!(repo.trace(&["why", "src/limit.rs"]), @"
    src/limit.rs:1  [SHORT] Add the limit
      certain: trace `claude-code/s1`
      prompt #0 Add a limit [ID]
      call   #1 Write [ID]

    src/limit.rs:2  [SHORT] Six
      likely: trace `claude-code/s1`
      prompt #3 Make it six [ID]
      call   #6 Edit [ID]

    src/limit.rs:3  [SHORT] Add the limit
      likely: trace `claude-code/s1`
      prompt #0 Add a limit [ID]
      call   #1 Write [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["why", "src/limit.rs:3"]), @"
    src/limit.rs:3  [SHORT] Add the limit
      likely: trace `claude-code/s1`
      prompt #0 Add a limit [ID]
      call   #1 Write [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["why", "src/main.rs:1-3"]), @"
    src/main.rs:1-2  [SHORT] start
      unknown: no recorded session

    src/main.rs:3  [SHORT] by hand
      unknown: no recorded session
    [exit 1]
    ");
    for target in ["src/limit.rs", "src/main.rs", "HEAD~2..HEAD"] {
        let output = repo.run(&["why", target, "--json"], b"");
        let answers: Vec<Value> = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        check("why", &answers);
    }
    let answer = repo.json(&["why", "notes.md:1", "--json"]);
    let cited = |name: &str, text: &str| (answer[name]["seq"].clone(), answer[name][text].clone());
    assert_eq!((&answer["certainty"], cited("prompt", "text")), (&json!("likely"), (json!(3), json!("Make it six"))));
    assert_eq!((&answer["calls"][0]["tool"], &answer["model"]), (&json!("Bash"), &json!("claude-opus-4-6")));
    let (id, trace) = (answer["calls"][0]["id"].as_str().unwrap(), answer["trace"].as_str().unwrap());
    assert!(repo.text(&["--trace", trace, "show", id]).contains("notes.md"));
    insta::assert_snapshot!(repo.trace(&["why", "HEAD~2..HEAD"]), @"
    src/main.rs:3  [SHORT] by hand
      unknown: no recorded session

    notes.md:1  [SHORT] Six
      likely: trace `claude-code/s1`
      prompt #3 Make it six [ID]
      call   #8 Bash [ID]

    src/limit.rs:2  [SHORT] Six
      likely: trace `claude-code/s1`
      prompt #3 Make it six [ID]
      call   #6 Edit [ID]
    [exit 0]
    ");
}

#[test]
fn lines_of_a_commit_are_found_whatever_context_is_set() {
    let repo = repo();
    let mut command = repo.command("git-trace");
    command.args(["why", "HEAD~1"]).env("GIT_DIFF_OPTS", "-u3");
    assert_eq!(repo.exact(&run(&mut command, b"")), repo.exact(&repo.run(&["why", "HEAD~1"], b"")));
}

#[test]
fn a_program_that_converts_files_for_a_diff_changes_no_line() {
    let repo = repo();
    let before = repo.text(&["why", "src/limit.rs"]);
    repo.git(&["config", "diff.short.textconv", "head -n 1"]);
    fs::write(repo.git_dir().join("info/attributes"), "*.rs diff=short\n").unwrap();
    assert_eq!(repo.text(&["why", "src/limit.rs"]), before);
}

#[test]
fn lines_that_are_not_committed_belong_to_the_work_since_head() {
    let repo = repo();
    fs::write(repo.folder().join("src/limit.rs"), "fn somebody() {}\n").unwrap();
    insta::assert_snapshot!(repo.trace(&["why", "src/limit.rs:1"]), @"
    src/limit.rs:1  not committed
      unknown: no recorded session
    [exit 1]
    ");
}

#[test]
fn what_is_no_line_of_the_code_is_refused() {
    let repo = repo();
    for (target, problem) in [
        ("src/limit.rs:9", "error: `git blame` failed: fatal: file src/limit.rs has only 3 lines"),
        ("src/none.rs:1", "error: `src/none.rs:1` is neither a file nor a commit of the code"),
        ("src/limit.rs:0", "error: `src/limit.rs` has no line 0"),
        ("HEAD~9..HEAD", "error: `HEAD~9..HEAD` is neither a file nor a commit of the code"),
    ] {
        let refusal = repo.refused(&["why", target]);
        assert_eq!(refusal.lines().nth(1), Some(problem), "{refusal}");
    }
}

#[test]
fn unusual_files_are_found() {
    let repo = TestRepo::new();
    let folder = repo.folder().canonicalize().unwrap();
    let text = session(&folder).replace("src/limit.rs", "a ü\\\\t.rs");
    fs::write(folder.join("a ü\\t.rs"), LIMIT).unwrap();
    commit(&repo, 5, "one");
    fs::write(repo.home().join("s1.jsonl"), text).unwrap();
    let file = repo.home().join("s1.jsonl");
    repo.text(&["import", "claude-code", file.to_str().unwrap()]);
    for target in ["a ü\\t.rs", "HEAD"] {
        let answers = repo.lines(&["why", target, "--json"]);
        assert_eq!((answers.len(), &answers[0]["certainty"]), (1, &json!("certain")), "{target}: {answers:?}");
        assert_eq!(answers[0]["file"], "a ü\\t.rs");
    }
}

#[test]
fn commits_are_attributed_to_sessions() {
    let repo = repo();
    let records = repo.lines(&["attribute", "HEAD~3..HEAD"]);
    assert_eq!(records, repo.lines(&["attribute", "HEAD~3..HEAD"]), "a commit always has the same record");
    assert_eq!(records.len(), 2, "a person made the last commit");
    let record = &records[0];
    assert_eq!(record["vcs"], json!({ "type": "git", "revision": repo.git(&["rev-parse", "HEAD~2"]).trim() }));
    assert_eq!((&record["version"], &record["timestamp"]), (&json!("0.1"), &json!("2026-02-06T10:05:30Z")));
    let file = &record["files"][0];
    assert_eq!(file["path"], "src/limit.rs");
    let conversation = &file["conversations"][0];
    assert_eq!(conversation["url"], "git-trace:claude-code/s1");
    assert_eq!(conversation["contributor"], json!({ "type": "ai", "model_id": "anthropic/claude-opus-4-6" }));
    assert_eq!(conversation["ranges"], json!([{ "start_line": 1, "end_line": 3 }]));
    assert_eq!(conversation["related"].as_array().unwrap().len(), 1);
    assert_eq!(repo.text(&["attribute"]), "", "nothing recorded wrote the last commit");
    assert_eq!(repo.lines(&["attribute", "HEAD~1"]).len(), 1);
    let refused = repo.refused(&["attribute", "nope"]);
    assert!(refused.contains("`nope` is not a commit of the code"), "{refused}");
}

/// A commit whose file and model need escapes.
fn unusual_repo() -> TestRepo {
    let repo = TestRepo::new();
    let folder = repo.folder().canonicalize().unwrap();
    let text = session(&folder).replace("src/limit.rs", "a ü\\\\t.rs").replace("claude-opus-4-6", "größtes\\n modell");
    fs::write(folder.join("a ü\\t.rs"), LIMIT).unwrap();
    commit(&repo, 5, "one");
    let file = repo.home().join("s1.jsonl");
    fs::write(&file, text).unwrap();
    repo.text(&["import", "claude-code", file.to_str().unwrap()]);
    repo
}

#[test]
fn records_of_agent_trace_match_its_schema() {
    for (repo, range, count) in [(repo(), "HEAD~3..HEAD", 2), (unusual_repo(), "HEAD", 1)] {
        let records = repo.lines(&["attribute", range]);
        assert_eq!(records.len(), count, "{records:?}");
        let schema = include_str!("../fixtures/agent-trace/trace-record.json");
        fs::write(repo.folder().join("trace-record.json"), schema).unwrap();
        repo.git(&["config", "traceType.record.schema", "trace-record.json"]);
        for record in &records {
            let output = repo.run(&["commit", "-t", "record", "-"], record.to_string().as_bytes());
            assert!(output.status.success(), "{record}: {}", repo.exact(&output));
        }
        let mut bad = records[0].clone();
        bad["version"] = json!("0.1.0");
        repo.refused_with(&["commit", "-t", "record", "-"], bad.to_string().as_bytes());
    }
}

#[test]
fn markdown_shows_the_sessions_behind_commits() {
    let repo = repo();
    insta::assert_snapshot!(repo.trace(&["why", "HEAD~3..HEAD", "--markdown"]), @"
    **Context** of `HEAD~3..HEAD`: 5 of 6 added lines are from 1 session

    **`Add a limit`** `claude-code/s1` `claude-opus-4-6`: [N] tokens; lines: 3 certain, 2 likely

    - `#0` `Add a limit`: `src/limit.rs` +3
    - `#3` `Make it six`: `notes.md` +1, `src/limit.rs` +1
    [exit 0]
    ");
    let hostile =
        session(&repo.folder().canonicalize().unwrap()).replace("\"sessionId\":\"s1\"", "\"sessionId\":\"s2\"");
    let hostile = hostile.replace("Add a limit", "\u{3000}").replace("Make it six", "a\u{202e}b");
    let file = repo.home().join("s2.jsonl");
    fs::write(&file, hostile).unwrap();
    repo.text(&["--trace", "other", "commit", "-m", "other"]);
    repo.text(&["switch", "other"]);
    repo.text(&["branch", "-D", "claude-code/s1"]);
    repo.text(&["import", "claude-code", file.to_str().unwrap()]);
    let page = repo.text(&["why", "HEAD~3..HEAD", "--markdown"]);
    // Two backticks without a text would begin a span that ends at the next two.
    assert!(page.contains("- `#0` ` `: `src/limit.rs` +3\n- `#3` `a\\u202eb`: `notes.md`"), "{page}");
    insta::assert_snapshot!(repo.trace(&["why", "HEAD", "--markdown"]), @"
    **Context** of `HEAD`: 0 of 1 added lines are from a recorded session
    [exit 1]
    ");
    insta::assert_snapshot!(repo.refused(&["why", "src/main.rs", "--markdown"]), @"
    --- stderr
    error: --markdown is for a commit or a range, A..B, not for a file
    [exit 2]
    ");
}
