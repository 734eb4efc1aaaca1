//! The status of a trace as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::trace::model::level::Level;
use crate::trace::query::size::ContextSize;
use crate::trace::{TraceName, View};

/// The status of a trace: tip, number of items by type and priority, size, window, and budget.
pub(crate) fn to_json(name: &TraceName, view: &View, size: &ContextSize, budget: Option<u64>) -> Value {
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_level: BTreeMap<&str, usize> = Level::VALUES.iter().map(|level| (*level, 0)).collect();
    for slot in &view.slots {
        *by_type.entry(slot.item_type.as_str()).or_default() += 1;
        *by_level.entry(view.level(slot).level().as_str()).or_default() += 1;
    }
    let mut tokens = size.to_json();
    if let Some(budget) = budget {
        tokens["budget"] = budget.into();
    }
    let mut status = Value::Object(view.tip.to_json());
    status["trace"] = name.as_str().into();
    status["items"] = view.slots.len().into();
    status["by_type"] = json!(by_type);
    status["by_priority"] = json!(by_level);
    status["tokens"] = tokens;
    if view.disputed() > 0 {
        status["disputed_priorities"] = view.disputed().into();
    }
    status
}

pub(crate) fn nothing_yet_json(name: &TraceName) -> Value {
    json!({ "trace": name.as_str(), "items": 0 })
}
