//! A plan as JSON.

use serde_json::{Value, json};

use super::apply::Cleaned;
use super::plan::{Plan, Row, Share};
use super::preset::Preset;
use crate::trace::query::size::ContextSize;

impl Plan {
    /// The plan, and the commit if one was written. `size` is that of the trace before.
    pub(crate) fn to_json(&self, size: &ContextSize, done: Option<&Cleaned>) -> Value {
        let presets: Vec<Value> = self.shares().iter().map(share).collect();
        let items: Vec<Value> = self.changed().map(item).collect();
        json!({
            "before": self.before,
            "after": self.after(),
            "saved": self.saved(),
            "unit": self.counter().id().to_string(),
            "window": size.window.as_ref().map(|window| window.tokens),
            "percent_before": size.percent(size.size.tokens),
            "percent_after_at_most": size.percent(self.size_after(size)),
            "keep": self.parameters.keep,
            "presets": presets,
            "items": items,
            "commit": done.map(|done| done.commit.to_string()),
        })
    }
}

fn share(share: &Share) -> Value {
    let name = share.preset.map(Preset::as_str);
    json!({ "name": name, "items": share.items, "before": share.before, "after": share.after })
}

fn item(row: &Row) -> Value {
    let entry = &row.entry;
    json!({
        "id": entry.slot.id.to_string(),
        "step": entry.place.step,
        "age": entry.age,
        "type": entry.slot.item_type.as_str(),
        "name": entry.tool(),
        "target": entry.target(),
        "tokens": entry.tokens,
        "after": row.after,
        "preset": row.preset.map(Preset::as_str),
        "action": row.action.as_str(),
        "revision": entry.item.revision,
    })
}
