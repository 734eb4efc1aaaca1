//! The status of a trace as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::trace::TraceName;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::store::view::View;

/// The status of a trace: tip, number of items by type and priority, total, and budget.
pub(crate) fn to_json(name: &TraceName, view: &View, total: Total, budget: Option<u64>) -> Value {
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_level = [Level::Skip, Level::Normal, Level::Pinned].map(|level| (level.as_str(), 0));
    for slot in &view.slots {
        *by_type.entry(slot.item_type.as_str()).or_default() += 1;
        let level = view.level(slot).level().as_str();
        by_level.iter_mut().filter(|(word, _)| *word == level).for_each(|(_, count)| *count += 1);
    }
    let by_level = BTreeMap::from(by_level);
    let mut tokens = json!({ "total": total.tokens, "source": total.basis.source() });
    if let Basis::Counted(encoding) = total.basis {
        tokens["encoding"] = encoding.as_str().into();
    }
    if let Some(budget) = budget {
        tokens["budget"] = budget.into();
    }
    let tip = &view.tip;
    json!({
        "trace": name.as_str(),
        "commit": tip.commit.oid.to_string(),
        "at": tip.time().to_string(),
        "items": view.slots.len(),
        "by_type": by_type,
        "by_priority": by_level,
        "tokens": tokens,
    })
}

/// A trace without a commit.
pub(crate) fn nothing_yet_json(name: &TraceName) -> Value {
    json!({ "trace": name.as_str(), "items": 0 })
}
