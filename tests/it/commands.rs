//! What the commands answer.

use crate::repo::TestRepo;

/// A short talk with a named instruction, a call and its result.
fn talk() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be careful."]);
    repo.say("Where is the lock taken?");
    repo.commit(&["-t", "reasoning", "-m", "Let me search."]);
    repo.commit(&[
        "-t",
        "tool_io",
        "--set",
        "direction=call",
        "--name",
        "grep",
        "--call-id",
        "c1",
        "-m",
        r#"{"pattern":"lock"}"#,
    ]);
    repo.commit(&["-t", "tool_io", "-r", "tool", "--reply-to", "#3", "-m", "src/lock.rs:12: lock()"]);
    repo.commit(&["-r", "assistant", "-m", "In `src/lock.rs`."]);
    repo
}

#[test]
fn commit_prints_position_and_id() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "hello"]), @"
    [main #0] dialogue user: hello [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["commit", "-t", "artifact", "--set", "path=a.rs", "-m", "fn main() {}", "--json"]), @r#"
    {"commit":"[OID]","id":"[ID]","op":"append","revision":1,"seq":1,"tokens":"[N]"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace_with(&["commit", "-", "-s", "Their words"], b"two\nlines"), @"
    [main #2] Their words [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["commit", "-t", "instruction", "--name", "rules", "-m", "Be kind."]), @"
    [main #3] instruction rules: Be kind. [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["commit", "-t", "instruction", "--name", "rules", "-m", "Be brief."]), @"
    [main #3] instruction rules: Be brief. [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["commit", "-t", "instruction", "--name", "rules", "-m", "Be brief."]), @"
    [main #3] unchanged: the trace already has this text [ID]
    [exit 0]
    ");
}

#[test]
fn batch_answers_each_line_and_continues_after_a_refusal() {
    let repo = TestRepo::new();
    let input = br#"{"text":"one"}
{"text":"two","role":"nobody"}
not json

{"text":"three","type":"output","priority":"pinned","reason":"the answer","subject":"The answer"}
"#;
    insta::assert_snapshot!(repo.trace_with(&["commit", "--batch"], input), @r#"
    {"commit":"[OID]","id":"[ID]","op":"append","revision":1,"seq":0,"tokens":"[N]"}
    {"error":"field `role`: `nobody` is not a role of dialogue; accepted: user, assistant, system"}
    {"error":"the line is not a JSON object: expected ident at line 1 column 2"}
    {"commit":"[OID]","id":"[ID]","op":"append","revision":1,"seq":1,"tokens":"[N]"}
    [exit 1]
    "#);
    insta::assert_snapshot!(repo.trace(&["priority"]), @"
    pinned #1 output: three (the answer) [ID]
    [exit 0]
    ");
}

#[test]
fn log_lists_operations() {
    let repo = talk();
    repo.text(&["edit", "#1", "-m", "Where is the lock released?", "--reason", "asked wrongly"]);
    repo.text(&["delete", "#2", "--reason", "off topic"]);
    insta::assert_snapshot!(repo.trace(&["log", "-n", "3"]), @"
    delete #2 reasoning [ID]
    Commit: [OID]
    Author: A U Thor <author@example.com>
    Date:   2026-02-10T09:00:09Z
    Reason: off topic

        delete reasoning: Let me search.

    edit #1 dialogue [ID]
    Commit: [OID]
    Author: A U Thor <author@example.com>
    Date:   2026-02-10T09:00:08Z
    Reason: asked wrongly

        dialogue user: Where is the lock released?

    append #5 dialogue [ID]
    Commit: [OID]
    Author: A U Thor <author@example.com>
    Date:   2026-02-10T09:00:07Z

        dialogue assistant: In `src/lock.rs`.
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--oneline"]), @r#"
    [SHORT] #2 [SHORT] ([N] tokens) delete reasoning: Let me search.
    [SHORT] #1 [SHORT] ([N] tokens) dialogue user: Where is the lock released?
    [SHORT] #5 [SHORT] ([N] tokens) dialogue assistant: In `src/lock.rs`.
    [SHORT] #4 [SHORT] ([N] tokens) tool_io result grep: src/lock.rs:12: lock()
    [SHORT] #3 [SHORT] ([N] tokens) tool_io call grep: {"pattern":"lock"}
    [SHORT] #2 [SHORT] ([N] tokens) reasoning: Let me search.
    [SHORT] #1 [SHORT] ([N] tokens) dialogue user: Where is the lock taken?
    [SHORT] #0 [SHORT] ([N] tokens) instruction rules: Be careful.
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--grep", "lock\\(\\)"]), @"
    [SHORT] #4 [SHORT] ([N] tokens) tool_io result grep: src/lock.rs:12: lock()
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--type", "reasoning"]), @"
    [SHORT] #2 [SHORT] ([N] tokens) delete reasoning: Let me search.
    [SHORT] #2 [SHORT] ([N] tokens) reasoning: Let me search.
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--item", "#2"]), @"
    [SHORT] #2 [SHORT] revision 1 ([N] tokens) delete reasoning: Let me search.
    [SHORT] #2 [SHORT] revision 1 ([N] tokens) reasoning: Let me search.
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--json", "--reason", "wrong"]), @r#"
    {"at":"2026-02-10T09:00:08Z","by":"A U Thor <author@example.com>","commit":"[OID]","items":[{"change":"changed","id":"[ID]","priority":"normal","revision":2,"seq":1,"tokens":"[N]","type":"dialogue"}],"op":"edit","parents":["[OID]"],"reason":"asked wrongly","subject":"dialogue user: Where is the lock released?"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--since", "2026-02-10T09:00:06Z", "--until", "2026-02-10T09:00:07Z"]), @"
    [SHORT] #5 [SHORT] ([N] tokens) dialogue assistant: In `src/lock.rs`.
    [SHORT] #4 [SHORT] ([N] tokens) tool_io result grep: src/lock.rs:12: lock()
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--grep", "no such text"]), @"[exit 0]");
}

#[test]
fn status_summarizes_the_trace() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    On trace main
      nothing yet: `git trace import claude-code` imports a session, `git trace commit -m TEXT` adds an item
    [exit 0]
    ");
    let repo = talk();
    repo.text(&["skip", "#2", "--reason", "thoughts"]);
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    On trace main
      6 items, [N] tokens (o200k_base)
      last: dialogue assistant: In `src/lock.rs`. [SHORT]

      instruction       1
      dialogue          2
      tool_io           2
      reasoning         1

      pinned            1
      normal            4
      skip              1
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["status", "--json"]), @r#"
    {"at":"2026-02-10T09:00:07Z","by":"A U Thor <author@example.com>","by_priority":{"normal":4,"pinned":1,"skip":1},"by_type":{"dialogue":2,"instruction":1,"reasoning":1,"tool_io":2},"commit":"[OID]","items":6,"op":"append","parents":["[OID]"],"subject":"dialogue assistant: In `src/lock.rs`.","tokens":{"counted":51,"encoding":"o200k_base","source":"counted","total":"[N]"},"trace":"main"}
    [exit 0]
    "#);
}

#[test]
fn materialize_prints_messages_or_markdown() {
    let repo = talk();
    repo.text(&["skip", "#2", "--reason", "thoughts"]);
    repo.text(&["edit", "#1", "-m", "Where is the lock released?"]);
    insta::assert_snapshot!(repo.trace(&["materialize"]), @r#"
    [
    {"role":"system","name":"rules","content":"Be careful."},
    {"role":"user","content":"Where is the lock released?"},
    {"role":"assistant","content":[{"type":"tool_call","call_id":"c1","name":"grep","arguments":"{\"pattern\":\"lock\"}"}]},
    {"role":"tool","content":[{"type":"tool_result","call_id":"c1","name":"grep","text":"src/lock.rs:12: lock()"}]},
    {"role":"assistant","content":"In `src/lock.rs`."}
    ]
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["materialize", "--format", "text", "--edit-markers"]), @r#"
    [system rules]
    Be careful.

    [user]
    [edited, revision 2]
    Where is the lock released?

    [assistant calls grep c1]
    {"pattern":"lock"}

    [tool answers grep c1]
    src/lock.rs:12: lock()

    [assistant]
    In `src/lock.rs`.
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["materialize", "--json", "--role", "dialogue=user"]), @r#"
    {"trace":"main","commit":"[OID]","at":"2026-02-10T09:00:09Z","format":"messages","messages":[{"role":"system","name":"rules","content":"Be careful."},{"role":"user","content":"Where is the lock released?"},{"role":"assistant","content":[{"type":"tool_call","call_id":"c1","name":"grep","arguments":"{\"pattern\":\"lock\"}"}]},{"role":"tool","content":[{"type":"tool_result","call_id":"c1","name":"grep","text":"src/lock.rs:12: lock()"}]},{"role":"user","content":"In `src/lock.rs`."}],"items":[["[ID]"],["[ID]"],["[ID]"],["[ID]"],["[ID]"]],"item_tokens":[[3],[6],[5],[9],[7]],"tokens":{"total":"[N]","source":"counted","request":"[N]","encoding":"o200k_base"},"left_out":[{"id":"[ID]","reason":"thoughts","seq":2,"tokens":"[N]","type":"reasoning","why":"skip"}],"changed":[]}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["materialize", "--role", "tool_io=tool"]), @"
    --- stderr
    error: invalid value `tool_io=tool` of `--role <TYPE=ROLE>`: the roles are system, user and assistant
    hint: for example `git trace materialize`; `git trace materialize -h` explains it
    [exit 2]
    ");
}

#[test]
fn adjacent_messages_are_joined_unless_disabled() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say("two");
    repo.commit(&["--name", "Eve", "-m", "three"]);
    repo.commit(&["-t", "instruction", "-m", "Late, but first."]);
    insta::assert_snapshot!(repo.trace(&["materialize"]), @r#"
    [
    {"role":"system","content":"Late, but first."},
    {"role":"user","content":"one\n\ntwo"},
    {"role":"user","name":"Eve","content":"three"}
    ]
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["materialize", "--aggregate", "none"]), @r#"
    [
    {"role":"user","content":"one"},
    {"role":"user","content":"two"},
    {"role":"user","name":"Eve","content":"three"},
    {"role":"system","content":"Late, but first."}
    ]
    [exit 0]
    "#);
}

#[test]
fn an_item_is_edited_deleted_and_restored() {
    let repo = talk();
    insta::assert_snapshot!(repo.trace(&["edit", "#1", "-m", "Where?"]), @"
    [main #1] revision 2: dialogue user: Where? [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["edit", "#1", "-m", "Where?"]), @"
    [main #1] unchanged: the trace already has this text [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["delete", "#1", "--reason", "answered"]), @"
    [main #1] deleted dialogue user: Where? [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["delete", "#2", "--json"]), @r#"
    {"commit":"[OID]","id":"[ID]","op":"delete","revision":1,"seq":2}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["show", "#1"]), @"Where?[exit 0]");
    insta::assert_snapshot!(repo.trace(&["show", "#1", "--json"]), @r#"
    {"at":"2026-02-10T09:00:10Z","by":"A U Thor <author@example.com>","commit":"[OID]","encoding":"o200k_base","id":"[ID]","live":false,"op":"delete","priority":"normal","reason":"answered","revision":2,"revisions":[{"at":"2026-02-10T09:00:10Z","by":"A U Thor <author@example.com>","changes":["removed"],"commit":"[OID]","op":"delete","reason":"answered"},{"at":"2026-02-10T09:00:08Z","by":"A U Thor <author@example.com>","changes":["edited"],"commit":"[OID]","op":"edit","revision":2},{"at":"2026-02-10T09:00:03Z","by":"A U Thor <author@example.com>","changes":["added"],"commit":"[OID]","op":"append","revision":1}],"role":"user","seq":1,"text":"Where?","tokens":"[N]","type":"dialogue"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["restore", "#1", "1"]), @"
    [main #1] restored dialogue user: Where is the lock taken? [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["show", "#1", "--header"]), @"
    id: [ID]
    type: dialogue
    role: user
    revision: 3
    tokens: [N] o200k_base [SHORT]

    Where is the lock taken?[exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["show", "#1", "--revision", "2"]), @"Where?[exit 0]");
    repo.fsck();
    repo.total("main");
}

#[test]
fn priorities_are_set_listed_and_remembered() {
    let repo = talk();
    insta::assert_snapshot!(repo.trace(&["pin", "#1", "#5", "--reason", "the question and its answer"]), @"
    [main #1] pinned [ID]
    [main #5] pinned [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["skip", "#1"]), @"
    [main #1] skip [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["priority"]), @"
    skip #1 dialogue user: Where is the lock taken? [ID]
    pinned #5 dialogue assistant: In `src/lock.rs`. (the question and its answer) [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["priority", "#1", "--history"]), @"
    pinned since 2026-02-10T09:00:08Z by A U Thor <author@example.com>: the question and its answer [ID]
    skip since 2026-02-10T09:00:09Z by A U Thor <author@example.com> [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["priority", "--list", "pinned", "--json"]), @r#"
    {"encoding":"o200k_base","id":"[ID]","level":"pinned","name":"rules","revision":1,"seq":0,"tokens":"[N]","type":"instruction"}
    {"at":"2026-02-10T09:00:08Z","by":"A U Thor <author@example.com>","encoding":"o200k_base","id":"[ID]","level":"pinned","reason":"the question and its answer","revision":1,"role":"assistant","seq":5,"tokens":"[N]","type":"dialogue"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["unpin", "#1", "--reason", "as any other"]), @"
    [main #1] normal [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["priority", "#1", "--json"]), @r#"
    {"at":"2026-02-10T09:00:13Z","by":"A U Thor <author@example.com>","encoding":"o200k_base","id":"[ID]","level":"normal","reason":"as any other","revision":1,"role":"user","seq":1,"tokens":"[N]","type":"dialogue"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["priority", "#3"]), @r#"
    normal #3 tool_io call grep: {"pattern":"lock"} [ID]
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "--reason", "question"]), @"
    [SHORT] #5 [SHORT] ([N] tokens) dialogue assistant: In `src/lock.rs`.
    [SHORT] #1 [SHORT] ([N] tokens) dialogue user: Where is the lock taken?
    [exit 0]
    ");
}

#[test]
fn init_and_switch_choose_the_current_trace() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.trace(&["init", "ideas/first"]), @"
    The current trace is `ideas/first`; its first commit creates it.
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["init", "ideas/first"]), @"
    `ideas/first` is already the current trace; its first commit will create it.
    [exit 0]
    ");
    repo.say("an idea");
    insta::assert_snapshot!(repo.trace(&["init", "ideas/first"]), @"
    `ideas/first` is already the current trace.
    [exit 0]
    ");
    repo.text(&["commit", "--trace", "main", "-m", "elsewhere"]);
    insta::assert_snapshot!(repo.trace(&["switch", "main"]), @"
    Switched to trace `main`
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["init", "ideas/first"]), @"
    --- stderr
    error: trace `ideas/first` already exists
    hint: `git trace switch ideas/first` makes it the current one
    [exit 2]
    ");
    let commit = repo.git(&["rev-parse", "refs/traces/ideas/first"]);
    insta::assert_snapshot!(repo.trace(&["switch", commit.trim()]), @"
    --- stderr
    error: `[OID]` is a commit, not a trace
    hint: `git trace switch -c NAME [OID]` creates a trace that starts there
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["log", "--oneline"]), @"
    [SHORT] #0 [SHORT] ([N] tokens) dialogue user: elsewhere
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["switch", "nowhere"]), @"
    --- stderr
    error: no trace is named `nowhere`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
}
