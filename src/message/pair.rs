//! Pairs tool calls with their results.

use std::collections::{HashMap, VecDeque};

use super::Content;

/// For each content, the index of its call or result: a result belongs to the earliest open call before it with its id.
pub(crate) fn pair_calls<'c>(contents: impl IntoIterator<Item = &'c Content>) -> Vec<Option<usize>> {
    let mut partners = Vec::new();
    let mut open: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, content) in contents.into_iter().enumerate() {
        partners.push(None);
        match content {
            Content::ToolCall { call_id, .. } => open.entry(call_id).or_default().push_back(index),
            Content::ToolResult { call_id, .. } => {
                if let Some(call) = open.get_mut(call_id.as_str()).and_then(VecDeque::pop_front) {
                    partners[call] = Some(index);
                    partners[index] = Some(call);
                }
            }
            _ => {}
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> Content {
        Content::ToolCall { call_id: id.to_owned(), name: None, arguments: "{}".to_owned() }
    }

    fn result(id: &str) -> Content {
        Content::ToolResult { call_id: id.to_owned(), name: None, status: None, text: String::new() }
    }

    #[test]
    fn a_result_belongs_to_the_first_open_call_with_its_id() {
        let contents =
            [result("a"), call("a"), call("a"), result("a"), result("b"), result("a"), result("a"), call("c")];
        let partners = pair_calls(&contents);
        assert_eq!(partners, [None, Some(3), Some(5), Some(1), None, Some(2), None, None]);
    }
}
