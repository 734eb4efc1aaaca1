//! The tool calls that a reader remembers for their results.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::builder::hash;
use super::packed::{HashedMap, Numbers, incomplete};
use crate::trace::model::id::ItemId;

#[derive(Clone)]
pub(crate) struct ToolCall {
    pub id: ItemId,
    pub name: String,
    pub thread: Option<String>,
}

/// By a hash of the call id in the file.
#[derive(Default)]
pub(crate) struct ToolCalls {
    /// The item, and the numbers of its name and its thread.
    calls: HashedMap<[u64; 3]>,
    /// Names and threads. Number 0 is no thread; the first text has number 1.
    texts: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl ToolCalls {
    pub(crate) fn insert(&mut self, call: &str, ToolCall { id, name, thread }: &ToolCall) {
        let texts = [Some(name), thread.as_ref()].map(|text| text.map_or(0, |text| self.number(text)));
        self.calls.insert(key(call), [id.number(), texts[0], texts[1]]);
    }

    pub(crate) fn get(&self, call: &str) -> Option<ToolCall> {
        let [id, name, thread] = *self.calls.get(&key(call))?;
        Some(ToolCall { id: ItemId::of_number(id), name: self.text(name)?, thread: self.text(thread) })
    }

    pub(crate) fn contains(&self, call: &str) -> bool {
        self.calls.contains_key(&key(call))
    }

    pub(crate) fn remove(&mut self, call: &str) {
        self.calls.remove(&key(call));
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.to_owned());
        let number = self.texts.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn text(&self, number: u64) -> Option<String> {
        self.texts.get(usize::try_from(number.checked_sub(1)?).ok()?).cloned()
    }
}

fn key(call: &str) -> u64 {
    hash([&b"call"[..], call.as_bytes()])
}

impl Serialize for ToolCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut numbers = Vec::with_capacity(self.calls.len() * 4);
        for (key, [id, name, thread]) in &self.calls {
            numbers.extend([*key, *id, *name, *thread]);
        }
        (&self.texts, Numbers(numbers)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (texts, Numbers(numbers)) = <(Vec<String>, Numbers)>::deserialize(deserializer)?;
        let (rows, []) = numbers.as_chunks::<4>() else { return Err(incomplete()) };
        let calls = rows.iter().map(|[key, id, name, thread]| (*key, [*id, *name, *thread])).collect();
        let numbers = texts.iter().cloned().zip(1..).collect();
        Ok(Self { calls, texts, numbers })
    }
}
