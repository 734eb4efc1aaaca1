//! The figures of a trace: tokens by day, type, and tool, and the reported usage by model.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::analysis::{Recorded, recorded, usages};
use crate::app::view::redact::Redactor;
use crate::git::Repo;
use crate::tokens::TokenUsage;
use crate::trace::store::settings;
use crate::trace::store::total::read_item;
use crate::trace::store::trace_index::{Group, ListedTrace};
use crate::trace::store::turns::Turns;
use crate::trace::{Item, Tip, TraceError};

/// The model of a report without one.
pub(super) const UNKNOWN: &str = "unknown model";

/// What all items of a trace sum up to, including those that were deleted or replaced since.
#[derive(Serialize, Deserialize, Clone, Default, Debug)]
pub(super) struct Figures {
    pub prompts: usize,
    #[serde(default)]
    pub items: usize,
    /// The time of the first item that has one.
    #[serde(default)]
    pub began: Option<String>,
    /// Counted tokens by the day in UTC and by type.
    pub days: BTreeMap<String, BTreeMap<String, u64>>,
    pub tools: BTreeMap<String, Tool>,
    /// As providers reported it, by model.
    pub usage: BTreeMap<String, TokenUsage>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Default, Debug)]
pub(super) struct Tool {
    pub calls: u64,
    /// Counted tokens of the calls and their results.
    pub tokens: u64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.prompts += other.prompts;
        for (day, types) in &other.days {
            let day = self.days.entry(day.clone()).or_default();
            for (item_type, tokens) in types {
                *day.entry(item_type.clone()).or_default() += tokens;
            }
        }
        for (name, tool) in &other.tools {
            let sum = self.tools.entry(name.clone()).or_default();
            *sum = Tool { calls: sum.calls + tool.calls, tokens: sum.tokens + tool.tokens };
        }
        for (model, usage) in &other.usage {
            self.usage.entry(model.clone()).or_default().add(usage);
        }
    }
}

/// The figures of each trace of a family. An item that several traces share is in the figures of the first: that of the session, if it exists.
pub(super) fn of_family(repo: &Repo, family: &Group) -> Result<BTreeMap<String, Figures>, TraceError> {
    let (mut seen, redactor) = (HashSet::new(), Redactor::of_settings(repo)?);
    let mut traces: Vec<&ListedTrace> = family.traces.iter().collect();
    traces.sort_by_key(|trace| (trace.name != family.name, &trace.name));
    let mut figures = BTreeMap::new();
    for ListedTrace { name, tip, .. } in traces {
        let mut items = Vec::new();
        for recorded in recorded(repo, &Tip::read(repo, *tip)?)? {
            items.push((read_item(repo, &recorded.entry)?, recorded));
        }
        let counter = settings::counter(repo, Some(name))?;
        let mut sum = Figures::default();
        let mut turns = Turns::default();
        let mut tools: HashMap<usize, String> = HashMap::new();
        let usages = usages(&items);
        for (index, (item, Recorded { at, .. })) in items.iter().enumerate() {
            let added = turns.add(item, false);
            let place = turns.place(added);
            if !seen.insert(item.id) {
                continue;
            }
            let tokens = item.token_count(counter);
            let day = item.fields.created.unwrap_or(*at).to_string()[..10].to_owned();
            let item_type = item.fields.item_type.to_string();
            *sum.days.entry(day).or_default().entry(item_type).or_default() += tokens;
            if item.fields.is_call() {
                let tool = redactor.text(item.fields.name.as_deref().unwrap_or("unknown")).into_owned();
                tools.extend(place.call.map(|call| (call, tool.clone())));
                let tool = sum.tools.entry(tool).or_default();
                (tool.calls, tool.tokens) = (tool.calls + 1, tool.tokens + tokens);
            } else if let Some(tool) = place.call.and_then(|call| tools.get(&call)) {
                sum.tools.entry(tool.clone()).or_default().tokens += tokens;
            }
            if let Some(usage) = usages.get(&index) {
                sum.usage.entry(redactor.text(model(item)).into_owned()).or_default().add(usage);
            }
        }
        sum.prompts = turns.count();
        sum.items = items.len();
        sum.began = items.iter().filter_map(|(item, _)| item.fields.created).min().map(|time| time.to_string());
        figures.insert(name.to_string(), sum);
    }
    Ok(figures)
}

fn model(item: &Item) -> &str {
    item.fields.meta.get("model").and_then(Value::as_str).unwrap_or(UNKNOWN)
}
