//! What the command line says of it all, and how it ends.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

impl Sample {
    /// Runs `git trace` and returns its status, stdout, and stderr.
    fn git_trace(&self, words: &[&str], stdin: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(crate::unit::repo::binary());
        command.args(words).current_dir(self.repo.worktree().unwrap()).env_clear();
        for name in ["PATH", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            command.env(name, self.repo.env().text(name).unwrap());
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn changes_are_reported_on_stderr_and_in_the_envelope() {
    let sample = Sample::new();
    let mut fields = Fields::new(ItemType::tool_io());
    (fields.role, fields.name, fields.call_id) =
        (Some(Role::Assistant), Some("grep".to_owned()), Some("c1".to_owned()));
    let user = sample.say(0, "Where is x?");
    let dangling = sample.put(1, fields, "{}");
    let (status, answer, notes) = sample.git_trace(&["materialize", "--format", "openai", "--json"], "");
    assert_eq!((status, notes), (Some(0), format!("{dangling}: sent as text: a call without a result\n")));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let changed = serde_json::json!([{ "id": dangling.to_string(), "fate": "text", "why": "call_without_result" }]);
    assert_eq!(answer["changed"], changed);
    assert_eq!(answer["format"], "openai");
    assert_eq!(answer["messages"][0]["content"], "Where is x?");
    sample.set(2, user, Level::Pinned);
    let (status, answer, notes) = sample.git_trace(&["materialize", "--budget", "4"], "");
    let expected = "error: pinned items take 10 tokens, more than the budget of 4\n";
    assert_eq!((status, answer.as_str(), notes.as_str()), (Some(1), "", expected));
    let (status, _, notes) = sample.git_trace(&["materialize", "--budget", "10"], "");
    assert_eq!((status, notes), (Some(0), format!("{dangling}: left out: over the budget\n")));
}

#[test]
fn a_user_command_receives_only_what_a_cut_keeps() {
    let sample = Sample::new();
    let first = sample.say(0, "first words");
    sample.put(1, Fields::new(ItemType::instruction()), "Be careful.");
    sample.say(2, "last words");
    let git = |words: &[&str]| {
        assert!(
            Command::new("git").current_dir(sample.repo.worktree().unwrap()).args(words).status().unwrap().success()
        );
    };
    git(&["config", "trace.materializer", "cat"]);
    let told = |cut: &[&str]| {
        let (status, answer, notes) = sample.git_trace(&[&["materialize"], cut].concat(), "");
        let texts: Vec<Value> = answer
            .lines()
            .map(|line| {
                let item: Value = serde_json::from_str(line).unwrap();
                Value::Array(vec![item["text"].clone(), item["shortened"].clone()])
            })
            .collect();
        (status, Value::Array(texts).to_string(), notes)
    };
    let whole = r#"[["first words",null],["Be careful.",null],["last words",null]]"#;
    assert_eq!(told(&[]), (Some(0), whole.to_owned(), String::new()));
    let since = r#"[["Be careful.",null],["last words",null]]"#;
    let note = format!("{first}: left out: before the item to begin with\n");
    assert_eq!(told(&["--since-item", "#2"]), (Some(0), since.to_owned(), note));
    let note = format!("{first}: left out: over the budget\n");
    assert_eq!(told(&["--budget", "15"]), (Some(0), since.to_owned(), note));
    let recent = r#"[["dialogue user: first words",true],["Be careful.",null],["last words",null]]"#;
    let note = format!("{first}: shortened to their subjects: not among the newest\n");
    assert_eq!(told(&["--recent", "2"]), (Some(0), recent.to_owned(), note));
    let note = "error: pinned items take 9 tokens, more than the budget of 5\n";
    assert_eq!(told(&["--budget", "5"]), (Some(1), "[]".to_owned(), note.to_owned()));
    let (status, _, notes) = sample.git_trace(&["materialize", "--edit-markers"], "");
    assert_eq!((status, notes.lines().count()), (Some(2), 1), "{notes}");
}

#[test]
fn usage_in_a_response_becomes_the_total() {
    for (api, response, expected) in [
        (
            "openai",
            r#"{"choices":[{"message":{"role":"assistant","content":"In b."}}],"usage":{"prompt_tokens":90,"completion_tokens":10}}"#,
            100,
        ),
        (
            "responses",
            r#"{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"In b."}]}],"usage":{"input_tokens":80,"input_tokens_details":{"cached_tokens":7},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":81}}"#,
            81,
        ),
        (
            "anthropic",
            r#"{"role":"assistant","content":[{"type":"text","text":"In b."}],"usage":{"input_tokens":50,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0,"output_tokens":7}}"#,
            1057,
        ),
        (
            "gemini",
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"In b."}]}}],"usageMetadata":{"promptTokenCount":60,"candidatesTokenCount":3,"totalTokenCount":63}}"#,
            63,
        ),
    ] {
        let sample = Sample::new();
        sample.say(0, "Where is x?");
        let (status, _, notes) = sample.git_trace(&["import", api, "-"], response);
        assert_eq!((status, notes.as_str()), (Some(0), ""), "{api}");
        let (_, answer, _) = sample.git_trace(&["status", "--json"], "");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let tokens = &answer["tokens"];
        assert_eq!([&tokens["total"], &tokens["reported"]["total"]], [expected, expected], "{api}");
        assert_eq!(tokens["source"], "reported", "{api}");
    }
    let sample = Sample::new();
    let wrong = r#"{"choices":[{"message":{"role":"assistant","content":"a"}}],"usage":{"prompt_tokens":-1,"completion_tokens":1}}"#;
    let (status, answer, notes) = sample.git_trace(&["import", "openai", "-"], wrong);
    assert_eq!((status, answer.as_str()), (Some(1), "1 imported into trace `main`\n"));
    assert_eq!(notes, "-: line 1, $.usage: `prompt_tokens` is -1, which is not a number of tokens\n");
}

#[test]
fn an_import_with_faults_exits_with_one() {
    let sample = Sample::new();
    let request = r#"{"messages":[{"role":"user","content":"Where is x?"},{"role":"owner","content":""}]}"#;
    let (status, answer, notes) = sample.git_trace(&["import", "anthropic", "-"], request);
    assert_eq!((status, answer.as_str()), (Some(1), "1 imported into trace `main`\n"));
    assert_eq!(notes, "-: line 1, $.messages[1].role: `owner` is an unknown role\n");
    let (status, answer, _) = sample.git_trace(&["materialize", "--format", "anthropic"], "");
    assert_eq!(status, Some(0));
    let (status, again, _) = sample.git_trace(&["import", "anthropic", "-"], &answer);
    assert_eq!((status, again.as_str()), (Some(0), "0 imported into trace `main`, 1 were there already\n"));
}
