//! Turns, steps, and ages of items.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::git::{Env, Repo};
use crate::trace::store::turns::{Place, Turns};
use crate::trace::{TraceName, View};
use crate::unit::repo::TestRepo;
use crate::unit::samples::SAMPLES;

/// The current trace: its places, and each item's as a line.
fn turns(test: &TestRepo) -> (Turns, String) {
    let repo = Repo::open(test.folder(), Env::capture([])).unwrap();
    let view = View::open(&repo, &TraceName::default_name(), None).unwrap();
    let turns = Turns::of_view(&repo, &view).unwrap();
    let mut lines = String::new();
    let mut index = 0;
    let print = |place: Place, age, text: &str| {
        let call = place.call.map(|call| format!(", call {call}")).unwrap_or_default();
        format!("{} turn {} step {} age {age}{call}\n", text, place.turn, place.step)
    };
    view.for_each_item(&repo, |_, reading| {
        let text = String::from_utf8_lossy(&reading.item.body).into_owned();
        lines += &print(turns.place(index), turns.age(index), &format!("{text:<20}"));
        index += 1;
        Ok(())
    })
    .unwrap();
    (turns, lines)
}

#[test]
fn each_item_has_a_turn_a_step_and_an_age() {
    let test = TestRepo::new();
    let user = |text: &str| json!({ "text": text });
    let model = |text: &str, turn: Value| json!({ "role": "assistant", "text": text, "turn": turn });
    let call = |id: &str, turn: Value| json!({ "type": "tool_io", "direction": "call", "name": "Read", "call_id": id, "text": "{}", "turn": turn });
    let result =
        |id: &str, text: &str| json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": text });
    let lines = [
        json!({ "type": "instruction", "text": "the rules" }),
        user("first prompt"),
        json!({ "type": "reasoning", "text": "it thinks", "turn": "a" }),
        call("1", json!("a")),
        result("1", "result 1"),
        // Agents write the blocks of a message one by one, with results between them.
        call("2", json!("a")),
        model("second message", json!("b")),
        result("2", "late result 2"),
        json!({ "text": "added by the agent", "meta": { "is_meta": true } }),
        user("<command-name>/clear"),
        json!({ "text": "rewound prompt", "priority": "skip" }),
        json!({ "text": "second prompt", "turn": "u" }),
        json!({ "text": "its second part", "turn": "u" }),
        // Without a header, neighbors are one message.
        model("third message", Value::Null),
        call("1", Value::Null),
        result("1", "reused id"),
        model("fourth message", Value::Null),
        result("9", "answers nothing"),
        user("last prompt"),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    test.bytes_with(&["commit", "--batch"], lines.as_bytes());
    let (turns, lines) = turns(&test);
    insta::assert_snapshot!(lines, @"
    the rules            turn 1 step 0 age 4
    first prompt         turn 1 step 0 age 4
    it thinks            turn 1 step 1 age 3
    {}                   turn 1 step 1 age 3, call 1
    result 1             turn 1 step 1 age 3, call 1
    {}                   turn 1 step 1 age 3, call 2
    second message       turn 1 step 2 age 2
    late result 2        turn 1 step 1 age 3, call 2
    added by the agent   turn 1 step 2 age 2
    <command-name>/clear turn 1 step 2 age 2
    rewound prompt       turn 1 step 2 age 2
    second prompt        turn 2 step 2 age 2
    its second part      turn 2 step 2 age 2
    third message        turn 2 step 3 age 1
    {}                   turn 2 step 3 age 1, call 3
    reused id            turn 2 step 3 age 1, call 3
    fourth message       turn 2 step 4 age 0
    answers nothing      turn 2 step 4 age 0, call 4
    last prompt          turn 3 step 4 age 0
    ");
    assert_eq!(turns.count(), 3);
}

#[test]
fn real_sessions_have_a_step_for_each_message_of_the_model() {
    for (name, bytes) in SAMPLES {
        let test = TestRepo::new();
        test.bytes_with(&["import", "claude-code", "-", "--as-seen", "--trace", "main"], bytes);
        let (turns, _) = turns(&test);

        let records: Vec<Value> =
            std::str::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let start = records.iter().position(|record| record["isCompactSummary"] == true).unwrap_or(0);
        let seen = records[start..].iter().filter(|record| record["isSidechain"] != true);
        let messages: BTreeSet<&str> = seen.filter_map(|record| record["message"]["id"].as_str()).collect();
        assert_eq!(turns.steps(), messages.len(), "{name}");
    }
}
