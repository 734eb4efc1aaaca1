//! Tests of the private parts of `src/message/pair.rs`.

use super::*;

fn call(id: &str) -> Content {
    Content::ToolCall { call_id: id.to_owned(), name: None, arguments: "{}".to_owned() }
}

fn result(id: &str) -> Content {
    Content::ToolResult { call_id: id.to_owned(), name: None, status: None, text: String::new() }
}

#[test]
fn a_result_belongs_to_the_first_open_call_with_its_id() {
    let contents = [result("a"), call("a"), call("a"), result("a"), result("b"), result("a"), result("a"), call("c")];
    let partners = pair_calls(&contents);
    assert_eq!(partners, [None, Some(3), Some(5), Some(1), None, Some(2), None, None]);
}
