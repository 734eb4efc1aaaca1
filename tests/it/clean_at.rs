//! The hooks of agents say once that a session fills its context window.

use std::fs;

use serde_json::{Value, json};

use crate::repo::TestRepo;

const CODEX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-small.jsonl");
const GEMINI: &[u8] = include_bytes!("../fixtures/transcripts/gemini-cli/session-chat.json");

/// A session of Claude Code, which grows.
struct Growing<'r> {
    repo: &'r TestRepo,
    lines: String,
    last: Option<String>,
    count: usize,
}

impl<'r> Growing<'r> {
    fn new(repo: &'r TestRepo) -> Self {
        Self { repo, lines: String::new(), last: None, count: 0 }
    }

    fn add(&mut self, role: &str, content: &Value, input_tokens: Option<u64>) {
        let uuid = format!("00000000-0000-4000-a000-{:012}", self.count);
        let mut message = json!({ "role": role, "content": content, "id": format!("m{}", self.count) });
        if let Some(tokens) = input_tokens {
            message["usage"] = json!({ "input_tokens": tokens, "output_tokens": 0 });
        }
        let line = json!({ "parentUuid": self.last, "isSidechain": false, "sessionId": "s1", "type": role, "uuid": uuid,
            "timestamp": format!("2026-03-01T09:{:02}:{:02}Z", self.count / 60, self.count % 60), "cwd": "/", "message": message });
        self.lines += &line.to_string();
        self.lines.push('\n');
        self.last = Some(uuid);
        self.count += 1;
    }

    fn step(&mut self, result: &str) {
        let id = format!("c{}", self.count);
        self.add(
            "assistant",
            &json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "make" } }]),
            None,
        );
        self.add("user", &json!([{ "type": "tool_result", "tool_use_id": id, "content": result }]), None);
    }

    /// The model answers, with a report of its provider, and the hook runs. Returns what that prints.
    fn answer(&mut self, input_tokens: u64, event: &str) -> String {
        self.add("assistant", &json!([{ "type": "text", "text": "Done." }]), Some(input_tokens));
        fs::write(self.repo.home().join("session"), &self.lines).unwrap();
        hook(self.repo, "claude-code", event)
    }
}

fn hook(repo: &TestRepo, agent: &str, event: &str) -> String {
    repo.git(&["config", "trace.record", "true"]);
    let file = repo.home().join("session");
    let call = json!({ "session_id": "s1", "transcript_path": file, "hook_event_name": event, "cwd": "/" });
    String::from_utf8(repo.bytes_with(&["hook", agent, "--wait"], call.to_string().as_bytes())).unwrap()
}

fn message(printed: &str) -> String {
    let printed: Value = serde_json::from_str(printed).unwrap();
    assert_eq!(printed.as_object().unwrap().len(), 1, "{printed}");
    printed["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn each_crossing_is_told_once() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.window", "20000"]);
    let mut session = Growing::new(&repo);
    session.add("user", &json!("build it"), None);
    session.step(&"a line of output\n".repeat(2_000));
    for _ in 0..12 {
        session.step("ok");
    }
    assert_eq!(session.answer(15_800, "Stop"), "", "79% is not enough");
    assert_eq!(session.answer(16_400, "SessionEnd"), "", "nobody would read it");
    insta::assert_snapshot!(message(&session.answer(16_400, "Stop")), @"git-trace: this session fills ≈ 82% of the context window. `git trace clean claude-code/s1 --yes` would save ≈ 10k tokens, which leaves ≈ 32%; `git trace resume claude-code/s1.clean` continues there.");
    assert_eq!(session.answer(17_000, "Stop"), "", "it was told");
    assert_eq!(session.answer(9_000, "Stop"), "", "the agent compacted the session");
    insta::assert_snapshot!(message(&session.answer(18_000, "Stop")), @"git-trace: this session fills ≈ 90% of the context window. `git trace clean claude-code/s1 --yes` would save ≈ 10k tokens, which leaves ≈ 40%; `git trace resume claude-code/s1.clean` continues there.");
    assert_eq!(hook(&repo, "claude-code", "Stop"), "", "nothing is new");

    // The commands of the message are complete.
    repo.text(&["clean", "claude-code/s1", "--yes"]);
    let resumed = repo.run(&["resume", "claude-code/s1.clean", "--print"], b"");
    let said = String::from_utf8(resumed.stderr).unwrap();
    assert!(said.contains(", ≈ 40% of the context window; its first request costs the full input"), "{said}");
    assert!(!said.contains("hardly worth"), "{said}");
    repo.text(&[
        "clean",
        "claude-code/s1",
        "--yes",
        "--preset",
        "thinking,old-calls,failures,old-results",
        "--keep",
        "13",
    ]);
    repo.fsck();
}

#[test]
fn a_setting_moves_the_limit_or_turns_it_off() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.window", "20000"]);
    let mut session = Growing::new(&repo);
    session.add("user", &json!("build it"), None);
    repo.git(&["config", "trace.cleanAt", "false"]);
    assert_eq!(session.answer(19_000, "Stop"), "");
    repo.git(&["config", "trace.cleanAt", "96"]);
    assert_eq!(session.answer(19_000, "Stop"), "");
    repo.git(&["config", "trace.cleanAt", "90%"]);
    insta::assert_snapshot!(message(&session.answer(19_000, "Stop")), @"git-trace: this session fills ≈ 95% of the context window. `git trace clean` would save only ≈ 0 tokens, which is not worth losing the prompt cache.");
    repo.git(&["config", "trace.cleanAt", "nearly"]);
    assert!(message(&session.answer(19_000, "Stop")).contains("failed: git config `trace.cleanAt` is `nearly`"));
    let log = fs::read_to_string(repo.git_dir().join("trace/hook.log")).unwrap();
    assert!(log.contains("`trace.cleanAt`") && log.contains("a percentage, or false"), "{log}");
    assert_eq!(repo.json(&["status", "claude-code/s1", "--json"])["items"], 5, "it was recorded all the same");
}

#[test]
fn all_agents_tell_it_in_their_message_field() {
    for (agent, event, bytes) in [("codex", "Stop", CODEX), ("gemini-cli", "AfterAgent", GEMINI)] {
        let repo = TestRepo::new();
        repo.git(&["config", "trace.window", "10"]);
        fs::write(repo.home().join("session"), bytes).unwrap();
        let message = message(&hook(&repo, agent, event));
        assert!(message.starts_with("git-trace: this session fills "), "{message}");
    }
}
