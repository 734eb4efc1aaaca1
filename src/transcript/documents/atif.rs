//! A trajectory in ATIF, which Harbor reads, and `git trace import atif`.
//!
//! A step is one message of the model with its calls, and their results. Files that are not text are left out, because ATIF refers to
//! them by their paths.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Entry, arguments, role, tool};
use crate::trace::model::item::Role;
use crate::trace::{Item, TraceName};
use crate::transcript::export::same_record;

const VERSION: &str = "ATIF-v1.5";

#[derive(Serialize)]
struct Trajectory<'a> {
    schema_version: &'a str,
    session_id: &'a str,
    agent: Agent<'a>,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Agent<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize, Default)]
struct Step {
    step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<Value>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
}

#[derive(Serialize)]
struct Call {
    tool_call_id: String,
    function_name: String,
    arguments: Box<RawValue>,
}

#[derive(Serialize, Default)]
struct Observation {
    results: Vec<Answer>,
}

#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_call_id: Option<String>,
    content: String,
}

#[derive(Serialize)]
struct Metrics {
    prompt_tokens: u64,
    completion_tokens: u64,
    cached_tokens: u64,
}

pub(super) fn write(name: &TraceName, entries: &[Entry]) -> String {
    let mut steps: Vec<Step> = Vec::new();
    // The last item, if it is of the model.
    let mut last: Option<&Item> = None;
    for Entry { item, results } in entries {
        let Some(text) = item.text() else { continue };
        let before = last.take();
        let is_observation = item.fields.name.as_deref() == Some("observation") && role(item) == Role::User;
        if item.fields.is_result() || is_observation {
            match steps.last_mut().filter(|step| step.tool_calls.is_empty()) {
                Some(step) => step.add_result(None, text),
                None => steps.push(Step::of("user", text)),
            }
            continue;
        }
        match role(item) {
            Role::Assistant => {
                let continues = before.is_some_and(|before| is_one_message(before, item));
                if !(continues && steps.last().is_some_and(|step| step.has_room(item))) {
                    steps.push(Step::of("agent", ""));
                }
                last = Some(item);
            }
            Role::System => steps.push(Step::of("system", text)),
            _ => steps.push(Step::of("user", text)),
        }
        let Some(step) = steps.last_mut() else { continue };
        if step.timestamp.is_none() {
            step.timestamp = item.fields.created.map(|created| created.to_string());
        }
        if last.is_some() {
            step.add(item, text, results);
        }
    }
    for (number, step) in steps.iter_mut().enumerate() {
        step.step_id = number + 1;
    }
    let format = entries.iter().find_map(|entry| Some(entry.item.fields.source.as_ref()?.format()));
    let trajectory = Trajectory {
        schema_version: VERSION,
        session_id: name.as_str().strip_prefix("atif/").unwrap_or(name.as_str()),
        agent: Agent { name: format.unwrap_or("git-trace"), version: "unknown" },
        steps,
    };
    serde_json::to_string_pretty(&trajectory).expect("all keys are texts") + "\n"
}

/// Whether two neighboring items are of one message of the model.
fn is_one_message(before: &Item, item: &Item) -> bool {
    match (&before.fields.turn, &item.fields.turn) {
        (None, None) => same_record(before, item) || before.fields.source.is_none() && item.fields.source.is_none(),
        (before, turn) => before == turn,
    }
}

impl Step {
    fn of(source: &'static str, message: &str) -> Self {
        Self { source, message: message.to_owned(), ..Self::default() }
    }

    /// Whether the step can express the next item: it has one thought, then one text, then calls.
    fn has_room(&self, item: &Item) -> bool {
        let is_open = self.tool_calls.is_empty() && self.message.is_empty();
        match item.fields.item_type.as_str() {
            "tool_io" => true,
            "reasoning" => is_open && self.reasoning_content.is_none(),
            _ => is_open,
        }
    }

    /// Adds an item of the model.
    fn add(&mut self, item: &Item, text: &str, results: &[Item]) {
        if let Some(model) = item.fields.meta.get("model") {
            self.model_name = Some(model.clone());
        }
        if let Some(usage) = item.reported_usage() {
            self.metrics = Some(Metrics {
                prompt_tokens: usage.prompt_tokens(),
                completion_tokens: usage.output_tokens,
                cached_tokens: usage.cache_read_tokens,
            });
        }
        match item.fields.item_type.as_str() {
            "reasoning" => self.reasoning_content = Some(text.to_owned()),
            "tool_io" => {
                let id = item.fields.call_id.clone().unwrap_or_else(|| item.id.to_string());
                for result in results {
                    self.add_result(Some(id.clone()), &String::from_utf8_lossy(&result.body));
                }
                let function_name = tool(item).to_owned();
                self.tool_calls.push(Call { tool_call_id: id, function_name, arguments: arguments(item) });
            }
            _ => text.clone_into(&mut self.message),
        }
    }

    fn add_result(&mut self, source_call_id: Option<String>, content: &str) {
        let results = &mut self.observation.get_or_insert_default().results;
        results.push(Answer { source_call_id, content: content.to_owned() });
    }
}
