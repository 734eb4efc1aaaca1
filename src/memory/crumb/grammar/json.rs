//! A crumb file as JSON.

use serde_json::{Value, json};

use crate::memory::crumb::compress::tier::Tier;
use crate::memory::crumb::grammar::document::CrumbFile;

/// The header, and the sections with their entries. Lines count from 1. Members that an entry lacks are omitted.
pub(crate) fn to_json(crumb: &CrumbFile<'_>) -> Value {
    let header = crumb.header();
    let mut sections: Vec<Value> = Vec::new();
    for section in crumb.sections() {
        let entries = (section.start..section.end).filter_map(|index| {
            let entry = crumb.lines[index].entry()?;
            let mut value = json!({ "line": index + 1, "kind": entry.kind, "text": entry.text });
            if let Some(agent) = entry.agent {
                value["agent"] = agent.to_string().into();
            }
            if let Some(reference) = entry.reference {
                value["sessions"] = json!({ "from": reference.from.to_string(), "latest": reference.later().latest() });
                if let Some(to) = reference.to {
                    value["sessions"]["to"] = to.to_string().into();
                }
            }
            if let Some(counter) = entry.counter {
                value["counter"] = json!({ "count": counter.count, "last": counter.last.to_string() });
            }
            if let Some(key) = entry.key() {
                value["key"] = key.into();
            }
            if let (true, Some(latest), Some(header)) = (entry.kind.is_dated(), entry.latest(), header) {
                value["heat"] = Tier::of(latest, header.session).as_str().into();
            }
            if !entry.tags.is_empty() {
                let tags = entry.tags.iter().map(|tag| json!({ "name": tag.name, "text": tag.text }));
                value["tags"] = tags.collect();
            }
            Some(value)
        });
        let entries: Vec<Value> = entries.collect();
        sections.push(json!({ "name": section.name, "line": section.start + 1, "entries": entries }));
    }
    json!({ "header": header, "sections": sections })
}
