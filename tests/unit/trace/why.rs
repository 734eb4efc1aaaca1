//! The lines that calls wrote.

use serde_json::{Value, json};

use super::edit::Files;
use crate::trace::model::item::{Direction, Fields, Item};
use crate::trace::{ItemId, ItemType};

fn call(body: &Value) -> Item {
    let fields = Fields { direction: Some(Direction::Call), ..Fields::new(ItemType::tool_io()) };
    let id: ItemId = "0be7719d3a2f61c8".parse().unwrap();
    let body = body.to_string().into_bytes();
    Item { id, fields, revision: 1, tokens: None, body }
}

/// The edits of calls: the path, and the lines with `+` before those that are added.
fn edits(calls: &[Value]) -> Vec<String> {
    let mut files = Files::default();
    let edits = calls.iter().flat_map(|body| files.edits_of(&call(body))).collect::<Vec<_>>();
    let shown = edits.iter().map(|edit| {
        let lines = edit.lines.iter().map(|line| format!("{}{}", if line.is_added { "+" } else { " " }, line.text));
        format!("{}: {}", edit.path.as_deref().unwrap_or("(command)"), lines.collect::<Vec<_>>().join("|"))
    });
    shown.collect()
}

#[test]
fn the_lines_that_calls_of_all_agents_write_are_found() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a\n same\n-old\n+new\n@@\n+more\n*** Add File: b.rs\n+b\n*** End Patch";
    let unified = "diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1 +1,2 @@\n one\n+two\n";
    for (body, expected) in [
        (
            json!({"file_path": "a", "old_string": "one\ntwo", "new_string": "one\nthree\ntwo"}),
            &["a:  one|+three| two"][..],
        ),
        (json!({"filePath": "a", "oldString": "x", "newString": "y"}), &["a: +y"]),
        (json!({"path": "a", "command": "str_replace", "old_str": "x", "new_str": "y\n"}), &["a: +y"]),
        (json!({"path": "a", "oldText": "x", "newText": "y"}), &["a: +y"]),
        (
            json!({"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]}),
            &["a: +2", "a: +4"],
        ),
        (json!({"file_path": "a", "content": "one\ntwo\n"}), &["a: +one|+two"]),
        (json!({"path": "a", "command": "create", "file_text": "one"}), &["a: +one"]),
        (json!({"notebook_path": "a", "new_source": "one"}), &["a: +one"]),
        (json!({"input": patch}), &["src/a.rs:  same|+new", "src/a.rs: +more", "b.rs: +b"]),
        (json!(patch), &["src/a.rs:  same|+new", "src/a.rs: +more", "b.rs: +b"]),
        (
            json!({"command": ["bash", "-lc", format!("apply_patch <<'E'\n{patch}\nE")]}),
            &["src/a.rs:  same|+new", "src/a.rs: +more", "b.rs: +b"],
        ),
        (json!({"patch": unified}), &["y:  one|+two"]),
        (json!({"command": "echo one > a"}), &["(command): +echo one > a"]),
        (json!({"file_path": "a"}), &[]),
        (json!([1]), &[]),
        (json!({"file_path": "a", "edits": [17]}), &[]),
    ] {
        assert_eq!(edits(std::slice::from_ref(&body)), expected, "{body}");
    }
}

#[test]
fn a_file_that_is_written_again_adds_only_its_new_lines() {
    let write = |text: &str| json!({"file_path": "a", "content": text});
    let edit = json!({"file_path": "a", "old_string": "two", "new_string": "three"});
    let found = edits(&[write("one\ntwo\n"), edit, write("one\nthree\nfour\n")]);
    assert_eq!(found, ["a: +one|+two", "a: +three", "a:  one| three|+four"]);
}
