//! Numbers at the end of their range, and files without an end: refused or borne, never wrapped around.

use serde_json::json;

use crate::repo::TestRepo;

const ID: &str = "0be7719d3a2f61c8";

fn import(repo: &TestRepo, lines: &[serde_json::Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["import", "--trace", "t", "jsonl", "-"], text.as_bytes());
}

#[test]
fn revisions_saturate() {
    let repo = TestRepo::new();
    let line = |op: &str, revision: u32, at: u32| {
        json!({ "op": op, "id": ID, "type": "dialogue", "role": "user", "text": format!("text {at}"), "revision": revision,
                "at": format!("2026-02-10T09:00:0{at}Z"), "by": "a <a@b>" })
    };
    import(&repo, &[line("append", u32::MAX, 0), line("edit", 2, 1)]);
    repo.text(&["--trace", "t", "edit", ID, "-m", "again"]);
    assert_eq!(repo.json(&["--trace", "t", "show", "--json", ID])["revision"], u32::MAX);
    repo.fsck();
}

#[test]
fn a_reported_total_that_cannot_be_is_counted() {
    let repo = TestRepo::new();
    let usage = json!({ "prompt_tokens": u64::MAX, "completion_tokens": 0, "total_tokens": u64::MAX });
    repo.text(&["commit", "-m", "one", "--usage", &usage.to_string()]);
    repo.say("two");
    assert_eq!(repo.json(&["status", "--json"])["tokens"]["total"], 11);
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_refused() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.refused(&["commit", "-F", "/dev/zero"]), @"
    --- stderr
    error: cannot read `/dev/zero`: it is not a regular file
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["crumb", "show", "/dev/zero"]), @"
    --- stderr
    error: cannot read `/dev/zero`: it is not a regular file
    [exit 2]
    ");
}

#[test]
fn an_item_has_at_most_a_thousand_unknown_fields() {
    let repo = TestRepo::new();
    let item = |count: u32| {
        let fields = (0..count).map(|number| (format!("x{number}"), json!("y")));
        let item = fields
            .chain([("text", "a"), ("type", "freeform")].map(|(field, value)| (field.to_owned(), json!(value))))
            .collect::<serde_json::Map<_, _>>();
        serde_json::Value::from(item).to_string()
    };
    repo.bytes_with(&["commit", "--batch"], item(1000).as_bytes());
    let answer = repo.run(&["commit", "--batch"], item(1001).as_bytes());
    insta::assert_snapshot!(repo.snapshot(&answer), @r#"
    {"error":"an item has at most 1000 unknown fields"}
    [exit 1]
    "#);
}
