//! `git trace top`: what fills the context.

use serde_json::Value;

use crate::repo::TestRepo;
use crate::samples::SAMPLES;

fn talk() -> TestRepo {
    let repo = TestRepo::classic(&[]);
    let lines = r#"{"type":"instruction","text":"Answer in one word.","name":"rules"}
{"text":"Where is the lock taken?"}
{"type":"reasoning","text":"Let me search the sources.","turn":"a"}
{"type":"tool_io","direction":"call","name":"Grep","call_id":"1","turn":"a","text":"{\"path\":\"src\",\"pattern\":\"lock\"}"}
{"type":"tool_io","direction":"result","call_id":"1","text":"src/lock.rs:12: lock()\nsrc/lock.rs:40: unlock()\n\u001b[31msrc/main.rs:3: lock()"}
{"type":"tool_io","direction":"call","name":"Read","call_id":"2","turn":"b","text":"{\"file_path\":\"src/lock.rs\"}"}
{"type":"tool_io","direction":"result","call_id":"2","text":"fn lock() {\n    todo!()\n}"}
{"text":"<command-name>/model</command-name>"}
{"text":"this was rewound","priority":"skip"}
{"text":"And where is it released?"}
{"role":"assistant","text":"Nowhere.","turn":"c"}
"#;
    repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
    repo
}

#[test]
fn items_and_groups_are_listed_heaviest_first() {
    let repo = talk();
    let top = |args: &[&str]| repo.exact(&repo.run(&[&["top"], args].concat(), b""));
    insta::assert_snapshot!(top(&["-n", "6"]), @"
    tokens      %  item
        33   25.8  #4     f22cf4f2 turn 1    tool_io result Grep src  src/lock.rs:12: lock() src/lock.rs:40: unlock()…
        13   10.2  #3     76df257b turn 1    tool_io call Grep src  lock
        13   10.2  #5     1ff52316 turn 1    tool_io call Read src/lock.rs
        12    9.4  #6     b45910c5 turn 1    tool_io result Read src/lock.rs  fn lock() { todo!() }
        12    9.4  #7     844d0e0e turn 1    dialogue  <command-name>/model</command-name>
         9    7.0  #0     457bad55 turn 1    instruction  Answer in one word.
       128  100.0  total; 4 more rows: -n 10
    [exit 0]
    ");
    insta::assert_snapshot!(top(&["--by", "turn"]), @"
    tokens      %  turn  items  prompt
       110   85.9     1      8  Where is the lock taken?
        15   11.7     2      2  And where is it released?
       128  100.0  total
    [exit 0]
    ");
    insta::assert_snapshot!(top(&["--by", "tool"]), @"
    tokens      %  items
        46   35.9      2  Grep
        25   19.5      2  Read
       128  100.0  total
    [exit 0]
    ");
    insta::assert_snapshot!(top(&["--by", "path"]), @"
    tokens      %  items
        46   35.9      2  src
        25   19.5      2  src/lock.rs
       128  100.0  total
    [exit 0]
    ");
    insta::assert_snapshot!(top(&["--by", "type"]), @"
    tokens      %  items
        71   55.5      4  tool_io
        36   28.1      4  dialogue
         9    7.0      1  instruction
         9    7.0      1  reasoning
       128  100.0  total
    [exit 0]
    ");
    insta::assert_snapshot!(top(&["--json", "-n", "1"]), @r#"
    {"by":"item","encoding":"o200k_base","rows":[{"age":2,"call_id":"1","direction":"result","id":"f22cf4f2ceb72f2f","path":"src","percent":25.8,"priority":"normal","revision":1,"role":"tool","seq":4,"text":"src/lock.rs:12: lock() src/lock.rs:40: unlock() [31msrc/main.rs:3: lock…","tokens":33,"tool":"Grep","turn":1,"type":"tool_io"}],"tokens":128,"trace":"main"}
    [exit 0]
    "#);
    insta::assert_snapshot!(top(&["--json", "-n", "1", "--by", "turn"]), @r#"
    {"by":"turn","encoding":"o200k_base","rows":[{"items":8,"percent":85.9,"text":"Where is the lock taken?","tokens":110,"turn":1}],"tokens":128,"trace":"main"}
    [exit 0]
    "#);
}

#[test]
fn an_unknown_unit_or_trace_is_refused() {
    let repo = talk();
    insta::assert_snapshot!(repo.refused(&["top", "--by", "weight"]), @"
    --- stderr
    error: `--by <UNIT>`: unknown unit `weight`: expected one of item, turn, tool, path, type
    hint: for example `git trace top --by tool`; `git trace top -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["top", "none"]), @"
    --- stderr
    error: no trace is named `none`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
}

#[test]
fn the_rows_of_a_session_add_up_to_what_is_materialized() {
    for (name, bytes) in SAMPLES {
        let repo = TestRepo::new();
        repo.bytes_with(&["import", "claude-code", "-", "--as-seen", "--trace", "main"], bytes);
        let sum = |by: &str| {
            let top = repo.json(&["top", "--json", "-n", "9999", "--by", by]);
            let tokens = |row: &Value| row["tokens"].as_u64().unwrap();
            let rows: u64 = top["rows"].as_array().unwrap().iter().map(tokens).sum();
            assert_eq!(top["tokens"], rows + 3, "{name}: the reply has three tokens");
            rows
        };
        let materialized = repo.json(&["materialize", "--json", "--aggregate", "none"]);
        assert_eq!(materialized["tokens"]["request"], sum("item") + 3, "{name}");
        assert_eq!(sum("item"), sum("turn"), "{name}");
        assert_eq!(sum("item"), sum("type"), "{name}");
    }
}

#[test]
fn the_share_of_the_window_is_shown_if_it_is_known() {
    let repo = talk();
    repo.git(&["config", "trace.window", "1000"]);
    insta::assert_snapshot!(repo.exact(&repo.run(&["top", "-n", "2"], b"")), @"
    tokens      %  window  item
        33   25.8     3.3  #4     f22cf4f2 turn 1    tool_io result Grep src  src/lock.rs:12: lock() src/lock.rs:40: unlock()…
        13   10.2     1.3  #3     76df257b turn 1    tool_io call Grep src  lock
       128  100.0          total; 13% of the window is full, content only; 8 more rows: -n 10
    [exit 0]
    ");
    let top = repo.json(&["top", "--json", "-n", "1", "--window", "2000"]);
    assert_eq!((&top["window"], &top["window_percent"]), (&Value::from(2000), &Value::from(6)));
    assert_eq!(top["rows"][0]["window_percent"], 1.7);
}
