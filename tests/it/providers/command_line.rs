//! What the command line says of it all, and how it ends.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

impl Sample {
    /// Runs `git trace`; its status, what it printed, and what it said beside.
    fn git_trace(&self, words: &[&str], stdin: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_git-trace"));
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
fn what_is_changed_is_said_beside_the_answer_and_in_the_envelope() {
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
    let expected = "error: what is pinned takes 10 tokens, more than the budget of 4\n";
    assert_eq!((status, answer.as_str(), notes.as_str()), (Some(1), "", expected));
    let (status, _, notes) = sample.git_trace(&["materialize", "--budget", "10"], "");
    assert_eq!((status, notes), (Some(0), format!("{dangling}: left out: over the budget\n")));
}

#[test]
fn an_import_with_faults_ends_with_one() {
    let sample = Sample::new();
    let request = r#"{"messages":[{"role":"user","content":"Where is x?"},{"role":"owner","content":""}]}"#;
    let (status, answer, notes) = sample.git_trace(&["import", "anthropic", "-"], request);
    assert_eq!((status, answer.as_str()), (Some(1), "1 imported into trace `main`\n"));
    assert_eq!(notes, "-: line 1, $.messages[1].role: `owner` is not a role that is known\n");
    let (status, answer, _) = sample.git_trace(&["materialize", "--format", "anthropic"], "");
    assert_eq!(status, Some(0));
    let (status, again, _) = sample.git_trace(&["import", "anthropic", "-"], &answer);
    assert_eq!((status, again.as_str()), (Some(0), "0 imported into trace `main`, 1 were there already\n"));
}
