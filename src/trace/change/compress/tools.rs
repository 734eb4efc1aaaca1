//! Exact counts of tool calls, made without a model: calls, failures, and distinct paths of each tool.
//!
//! A summary keeps the counts of the items that it replaces in its meta key `called`, so they stay exact however often summaries are
//! compressed again:
//!
//! ```json
//! {"called":{"grep":{"times":100,"failures":50}}}
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::REPLACED;
use crate::git::Repo;
use crate::message::Status;
use crate::trace::model::trailers::one_line;
use crate::trace::store::total::Reading;
use crate::trace::{Item, ItemEntry, TraceError};

const KEY: &str = "called";

/// How many paths of a tool are listed.
const LISTED: usize = 6;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    by_name: BTreeMap<String, Uses>,
}

#[derive(Clone, Debug, Default)]
struct Uses {
    calls: u64,
    failures: u64,
    paths: BTreeSet<String>,
}

/// The names of calls by the provider's id, for results without a name.
pub(super) type Names = HashMap<String, String>;

impl Tools {
    /// Reads the items.
    pub(super) fn of(repo: &Repo, items: &[ItemEntry]) -> Result<Self, TraceError> {
        let (mut tools, mut names) = (Self::default(), Names::new());
        repo.for_each_blob(items.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            tools.add(&Reading::of(slot, bytes).item, &mut names);
            Ok::<_, TraceError>(())
        })?;
        Ok(tools)
    }

    pub(super) fn add(&mut self, item: &Item, names: &mut Names) {
        let fields = &item.fields;
        if let Some(Value::Object(called)) = fields.meta.get(KEY).filter(|_| fields.meta.contains_key(REPLACED)) {
            self.add_counts(called);
        }
        if !fields.is_call() && !fields.is_result() {
            return;
        }
        let named = fields.call_id.as_ref().and_then(|id| names.get(id).cloned());
        let is_answer = fields.is_result() && named.is_some();
        let name = fields.name.as_deref().map(one_line).or(named).unwrap_or_else(|| "a tool without a name".to_owned());
        if fields.is_call() {
            names.extend(fields.call_id.clone().map(|id| (id, name.clone())));
        }
        let uses = self.by_name.entry(name).or_default();
        uses.calls += u64::from(!is_answer);
        uses.failures += u64::from(fields.status == Some(Status::Error));
        uses.paths.extend(item.path_or_argument().map(|path| one_line(&path)));
    }

    fn add_counts(&mut self, called: &Map<String, Value>) {
        for (name, counts) in called {
            let count = |key: &str| counts.get(key).and_then(Value::as_u64).unwrap_or_default();
            let uses = self.by_name.entry(one_line(name)).or_default();
            uses.calls = uses.calls.saturating_add(count("times"));
            uses.failures = uses.failures.saturating_add(count("failures"));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(super) fn write_meta(&self, meta: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        let counts = |uses: &Uses| json!({ "times": uses.calls, "failures": uses.failures });
        let called = self.by_name.iter().map(|(name, uses)| (name.clone(), counts(uses))).collect();
        meta.insert(KEY.to_owned(), Value::Object(called));
    }

    /// One line for each tool, the one called most first.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut tools: Vec<_> = self.by_name.iter().collect();
        tools.sort_by_key(|(_, uses)| Reverse(uses.calls));
        tools.into_iter().map(|(name, uses)| line(name, uses)).collect()
    }
}

fn line(name: &str, uses: &Uses) -> String {
    let plural = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut line = format!("called {name} {}, {}", plural(uses.calls, "time"), plural(uses.failures, "failure"));
    let paths: Vec<&str> = uses.paths.iter().take(LISTED).map(String::as_str).collect();
    if !paths.is_empty() {
        line.extend(["; paths: ", &paths.join(", ")]);
    }
    if let Some(more) = uses.paths.len().checked_sub(LISTED).filter(|more| *more > 0) {
        line.extend([" and ", &more.to_string(), " more"]);
    }
    line
}
