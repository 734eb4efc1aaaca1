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
#[path = "../../tests/unit/message/pair.rs"]
mod tests;
