//! The shapes of the protocol: what `get` returns, and a crumb in it.
//!
//! Field names and their order are the protocol's; `metadata` holds what it says a crumb has, and what it lists as future.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::crumb::{Crumb, CrumbType, Damaged, Priority};
use super::text;
use crate::trace::AgentName;

/// A value that is given for a text: a text as it is, any other value as JSON.
#[must_use]
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Ids as they are given: an array, or one text with commas between.
#[must_use]
pub(crate) fn ids(value: &Value) -> Vec<String> {
    match value {
        Value::Array(ids) => ids.iter().map(plain).collect(),
        other => plain(other).split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect(),
    }
}

/// What `get` returns.
#[derive(Serialize, Debug)]
pub(crate) struct Answer {
    /// Always true: what could not be done is an error of its own.
    pub success: bool,
    /// The crumbs, newest first.
    pub crumbs: Vec<CrumbJson>,
    /// The first of them.
    pub most_recent: Option<CrumbJson>,
    /// Their open tasks, in order, each once.
    pub unfinished_tasks: Vec<String>,
    /// What they point at.
    pub key_references: KeyReferences,
    /// Figures of them.
    pub summary: Summary,
    /// Crumbs that could not be read; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedJson>,
}

/// What crumbs point at, each once.
#[derive(Serialize, Debug)]
pub(crate) struct KeyReferences {
    /// Messages, from anywhere in the text.
    pub message_ids: Vec<String>,
    /// Threads, from the line that names them.
    pub thread_ids: Vec<String>,
}

/// Figures of the crumbs that are returned.
#[derive(Serialize, Debug)]
pub(crate) struct Summary {
    /// How many.
    pub total_found: usize,
    /// How many matter how much.
    pub by_priority: Counts,
    /// How many are about what.
    pub by_type: Counts,
}

/// How many there are of each word, in the words' own order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Counts(pub Vec<(&'static str, usize)>);

impl Counts {
    /// None of any of these words.
    #[must_use]
    pub(crate) fn of(words: &[&'static str]) -> Self {
        Self(words.iter().map(|word| (*word, 0)).collect())
    }

    /// Counts one more of a word.
    pub(crate) fn add(&mut self, word: &str) {
        for (known, count) in &mut self.0 {
            *count += usize::from(*known == word);
        }
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// One crumb.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct CrumbJson {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// What is said of it.
    pub metadata: Metadata,
}

/// What is said of a crumb.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct Metadata {
    /// Whose it is.
    pub agent_id: String,
    /// Always `forward_crumb`.
    pub category: &'static str,
    /// When it was left, in UTC.
    pub timestamp: String,
    /// How much it matters.
    pub crumb_priority: &'static str,
    /// What it is about.
    pub crumb_type: &'static str,
    /// Whether it still asks for something.
    pub crumb_status: &'static str,
    /// The session that left it.
    pub session_id: String,
    /// The crumb that it goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_crumb: Option<String>,
    /// Where it came from, as the protocol writes it.
    pub source: String,
    /// Always `private`.
    pub visibility: &'static str,
}

/// A crumb that could not be read.
#[derive(Serialize, Debug)]
pub(crate) struct DamagedJson {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: String,
    /// What is wrong with it.
    pub cause: String,
}

/// One crumb of `agent` in the protocol's shape.
#[must_use]
pub(crate) fn crumb(agent: &AgentName, crumb: &Crumb) -> CrumbJson {
    let about = &crumb.about;
    let source = match &about.source {
        Some(source) => source.to_string(),
        None => format!("forward_crumb_{}", about.session_id),
    };
    CrumbJson {
        id: crumb.id.to_string(),
        text: crumb.text.clone(),
        metadata: Metadata {
            agent_id: agent.to_string(),
            category: "forward_crumb",
            timestamp: about.created.to_string(),
            crumb_priority: about.priority.as_str(),
            crumb_type: about.crumb_type.as_str(),
            crumb_status: about.status.as_str(),
            session_id: about.session_id.clone(),
            parent_crumb: about.parent.map(|parent| parent.to_string()),
            source,
            visibility: "private",
        },
    }
}

/// What `leave` returns: the crumb, with `success` and `category` before it.
///
/// # Errors
///
/// Never in practice: a crumb is text.
pub(crate) fn left(agent: &AgentName, one: &Crumb) -> Result<Value, serde_json::Error> {
    let mut answer = json!({ "success": true, "category": "forward_crumb" });
    if let (Some(answer), Value::Object(crumb)) = (answer.as_object_mut(), serde_json::to_value(crumb(agent, one))?) {
        answer.extend(crumb);
    }
    Ok(answer)
}

/// What `get` returns for these crumbs of `agent`.
#[must_use]
pub(crate) fn answer(agent: &AgentName, crumbs: &[Crumb], damaged: &[Damaged]) -> Answer {
    let listed: Vec<CrumbJson> = crumbs.iter().map(|one| crumb(agent, one)).collect();
    let (mut by_priority, mut by_type) = (Counts::of(Priority::VALUES), Counts::of(CrumbType::VALUES));
    for one in crumbs {
        by_priority.add(one.about.priority.as_str());
        by_type.add(one.about.crumb_type.as_str());
    }
    Answer {
        success: true,
        most_recent: listed.first().cloned(),
        crumbs: listed,
        unfinished_tasks: each_once(crumbs.iter().flat_map(|one| text::tasks(&one.text))),
        key_references: KeyReferences {
            message_ids: each_once(crumbs.iter().flat_map(|one| text::message_ids(&one.text))),
            thread_ids: each_once(crumbs.iter().flat_map(|one| text::thread_ids(&one.text))),
        },
        summary: Summary { total_found: crumbs.len(), by_priority, by_type },
        damaged: damaged
            .iter()
            .map(|one| DamagedJson { id: one.id.to_string(), path: one.path.clone(), cause: one.cause.clone() })
            .collect(),
    }
}

fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
