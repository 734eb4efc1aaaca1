//! Documents for people, evaluators, and fine-tuning.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::unit::repo::TestRepo;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(name)).unwrap()
}

/// A repository with a file as the trace `t`.
fn with(format: &str, bytes: &[u8]) -> TestRepo {
    let repo = TestRepo::new();
    add(&repo, format, bytes, "t");
    repo
}

fn add(repo: &TestRepo, format: &str, bytes: &[u8], name: &str) {
    fs::write(repo.folder().join("in"), bytes).unwrap();
    let output = repo.run(&["import", format, "in", "--trace", name], b"");
    assert!(output.status.code().is_some_and(|status| status < 2), "{}", String::from_utf8_lossy(&output.stderr));
}

fn messages(repo: &TestRepo, name: &str) -> Value {
    repo.json(&["materialize", "--json", name])["messages"].clone()
}

#[test]
fn a_trajectory_reads_as_the_trace_that_it_was_written_from() {
    for name in
        ["openhands.trajectory.json", "terminus-invalid-json.trajectory.json", "terminus-linear.trajectory.json"]
    {
        let repo = with("atif", &fixture(&format!("atif/{name}")));
        let written = repo.text(&["export", "atif", "t"]);
        add(&repo, "atif", written.as_bytes(), "back");
        assert_eq!(messages(&repo, "t"), messages(&repo, "back"), "{name}");
        let again = repo.text(&["export", "atif", "back"]).replace("\"back\"", "\"t\"");
        assert_eq!(again, written, "{name}");
    }
}

#[test]
fn a_session_of_an_agent_is_a_valid_trajectory() {
    for (format, name) in [
        ("claude-code", "claude-code/branching-parallel.jsonl"),
        ("codex", "codex/rollout-small.jsonl"),
        ("gemini-cli", "gemini-cli/session-chat.json"),
        ("pi", "pi/session-v1.jsonl"),
    ] {
        let repo = with(format, &fixture(name));
        let written: Value = serde_json::from_str(&repo.text(&["export", "atif", "t"])).unwrap();
        let steps = written["steps"].as_array().unwrap();
        for (number, step) in steps.iter().enumerate() {
            assert_eq!(step["step_id"], number + 1);
            let calls: Vec<&Value> =
                step["tool_calls"].as_array().into_iter().flatten().map(|call| &call["tool_call_id"]).collect();
            for result in step["observation"]["results"].as_array().into_iter().flatten() {
                assert!(result.get("source_call_id").is_none_or(|id| calls.contains(&id)), "{name}: {step}");
            }
            let is_agent = step["source"] == "agent";
            assert!(is_agent || step.get("tool_calls").is_none() && step.get("model_name").is_none(), "{name}: {step}");
        }
        add(&repo, "atif", written.to_string().as_bytes(), "back");
        let texts = |name: &str| {
            let lines = repo.lines(&["export", name]);
            let texts = lines.iter().filter(|line| line["type"] == "tool_io").map(|line| line["text"].clone());
            texts.filter(|text| text.as_str().is_some_and(|text| !text.starts_with('{'))).collect::<Vec<_>>()
        };
        let lost: Vec<Value> = texts("t").into_iter().filter(|text| !texts("back").contains(text)).collect();
        assert!(lost.len() <= texts("t").len() / 20, "{name}: {lost:?}");
    }
}

fn talk() -> TestRepo {
    let repo = TestRepo::new();
    let text = |role: &str, text: &str| json!({"type": "dialogue", "role": role, "text": text}).to_string();
    let lines = [
        json!({"type": "instruction", "name": "rules", "text": "Be brief."}).to_string(),
        text("user", "Fix it.\n\n# Now\n\n</details><script>x</script>\n````rust\nlet open = \"<b>\";"),
        text("assistant", "I look."),
        json!({"type": "reasoning", "text": "Hm </details>"}).to_string(),
        json!({"type": "tool_io", "direction": "call", "name": "Edit", "call_id": "c1",
            "text": "{\"file_path\":\"src/<a>.rs\",\"new_string\":\"```\\n</details>\"}"})
        .to_string(),
        json!({"type": "tool_io", "direction": "result", "name": "Edit", "call_id": "c1", "status": "error",
            "text": "no ````` there\n</details>"})
        .to_string(),
        text("assistant", "Done."),
    ];
    repo.bytes_with(&["commit", "--batch"], lines.join("\n").as_bytes());
    repo
}

#[test]
fn markdown_folds_calls_and_no_text_ends_a_fence_or_a_fold() {
    insta::assert_snapshot!(talk().text(&["export", "markdown"]), @r###"
    # main

    <details><summary>instruction rules</summary>

    ```
    Be brief.
    ```

    </details>

    ## User

    Fix it.

    ### Now

    \</details>\<script>x\</script>
    ````rust
    let open = "<b>";
    ````

    ## Assistant

    I look.

    <details><summary>Thinking</summary>

    Hm \</details>

    </details>

    <details><summary>Edit src/&lt;a&gt;.rs (failed)</summary>

    ````json
    {
      "file_path": "src/<a>.rs",
      "new_string": "```\n</details>"
    }
    ````

    ``````
    no ````` there
    </details>
    ``````

    </details>

    ## Assistant

    Done.
    "###);
}

#[test]
fn conversations_for_fine_tuning_are_one_line_each() {
    let repo = talk();
    let line: Value = serde_json::from_str(&repo.text(&["export", "sharegpt"])).unwrap();
    assert_eq!(line["system"], "Be brief.");
    let from: Vec<&str> =
        line["conversations"].as_array().unwrap().iter().map(|turn| turn["from"].as_str().unwrap()).collect();
    assert_eq!(from, ["human", "gpt", "function_call", "observation", "gpt"]);
    let call: Value = serde_json::from_str(line["conversations"][2]["value"].as_str().unwrap()).unwrap();
    assert_eq!((&call["name"], &call["arguments"]["file_path"]), (&json!("Edit"), &json!("src/<a>.rs")));

    repo.text(&["--trace", "empty", "commit", "-t", "reasoning", "-m", "nothing said"]);
    repo.text(&["--trace", "other", "commit", "-m", "hello"]);
    repo.text(&["--trace", "other", "commit", "-r", "assistant", "-m", "welcome"]);
    repo.text(&["export", "chatml", "--all", "-o", "all.jsonl"]);
    let all = fs::read_to_string(repo.folder().join("all.jsonl")).unwrap();
    assert_eq!(all.lines().count(), 2, "a trace in which nobody said anything has no line");
    let first: Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    let roles: Vec<&str> =
        first["messages"].as_array().unwrap().iter().map(|said| said["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "assistant", "tool", "assistant"]);
    assert_eq!(first["messages"][3]["tool_calls"][0]["id"], first["messages"][4]["tool_call_id"]);
    assert!(
        repo.text(&["--trace", "back", "import", "openai", "all.jsonl", "--split"])
            .contains("6 imported into trace `back/0001`")
    );
    for args in [
        &["export", "markdown", "--all", "-o", "x"][..],
        &["export", "codex", "--all", "-o", "x"],
        &["export", "atif", "--item", "#1"],
    ] {
        repo.refused(args);
    }
}
