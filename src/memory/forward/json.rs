//! The JSON of the protocol: what `get` and `export` return, and one forward crumb in it.
//!
//! The names and the order of fields are the protocol's, so these are structs: a `serde_json::Value` sorts its keys.

use std::collections::HashSet;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::crumb::{CrumbType, DamagedCrumb, ForwardCrumb, Priority};
use super::error::ForwardError;
use super::query::{Query, QueryResult, search};
use super::text;
use crate::git::Repo;
use crate::trace::{AgentName, Time};

/// The text of a JSON string, or any other value as JSON.
pub(crate) fn value_to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Ids in an array, or separated by commas in one string.
pub(crate) fn parse_ids(value: &Value) -> Vec<String> {
    match value {
        Value::Array(ids) => ids.iter().map(value_to_text).collect(),
        other => {
            let text = value_to_text(other);
            text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
        }
    }
}

#[derive(Serialize, Debug)]
pub(crate) struct CrumbList {
    success: bool,
    pub crumbs: Vec<CrumbJson>,
    most_recent: Option<CrumbJson>,
    unfinished_tasks: Vec<String>,
    key_references: KeyReferences,
    summary: Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedJson>,
}

#[derive(Serialize, Debug)]
struct KeyReferences {
    message_ids: Vec<String>,
    thread_ids: Vec<String>,
}

#[derive(Serialize, Debug)]
struct Summary {
    total_found: usize,
    by_priority: Counts,
    by_type: Counts,
}

/// The number of occurrences of each word, in the order of the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Counts(pub Vec<(&'static str, usize)>);

impl Counts {
    pub(crate) fn count<'w>(words: &[&'static str], occurrences: impl Iterator<Item = &'w str>) -> Self {
        let mut counts: Vec<_> = words.iter().map(|word| (*word, 0)).collect();
        for occurrence in occurrences {
            for (word, count) in &mut counts {
                *count += usize::from(*word == occurrence);
            }
        }
        Self(counts)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[derive(Clone, Serialize, Debug)]
pub(crate) struct CrumbJson {
    id: String,
    text: String,
    metadata: MetadataJson,
}

#[derive(Clone, Serialize, Debug)]
struct MetadataJson {
    agent_id: String,
    category: &'static str,
    timestamp: String,
    crumb_priority: &'static str,
    crumb_type: &'static str,
    crumb_status: &'static str,
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_crumb: Option<String>,
    source: String,
    visibility: &'static str,
}

#[derive(Serialize, Debug)]
pub(crate) struct DamagedJson {
    id: String,
    pub path: String,
    pub cause: String,
}

impl CrumbJson {
    pub(crate) fn new(agent: &AgentName, crumb: &ForwardCrumb) -> Self {
        let metadata = &crumb.metadata;
        let source = match &metadata.source {
            Some(source) => source.to_string(),
            None => format!("forward_crumb_{}", metadata.session_id),
        };
        Self {
            id: crumb.id.to_string(),
            text: crumb.text.clone(),
            metadata: MetadataJson {
                agent_id: agent.to_string(),
                category: "forward_crumb",
                timestamp: metadata.created.to_string(),
                crumb_priority: metadata.priority.as_str(),
                crumb_type: metadata.crumb_type.as_str(),
                crumb_status: metadata.status.as_str(),
                session_id: metadata.session_id.clone(),
                parent_crumb: metadata.parent.map(|parent| parent.to_string()),
                source,
                visibility: "private",
            },
        }
    }
}

/// What `leave` returns: the forward crumb, with `success` and `category`.
pub(crate) fn added_to_json(agent: &AgentName, crumb: &ForwardCrumb) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(CrumbJson::new(agent, crumb))?;
    value["success"] = json!(true);
    value["category"] = json!("forward_crumb");
    Ok(value)
}

impl CrumbList {
    pub(crate) fn new(agent: &AgentName, crumbs: &[ForwardCrumb], damaged: &[DamagedCrumb]) -> Self {
        let listed: Vec<CrumbJson> = crumbs.iter().map(|crumb| CrumbJson::new(agent, crumb)).collect();
        let damaged = damaged.iter().map(|DamagedCrumb { id, path, cause }| DamagedJson {
            id: id.to_string(),
            path: path.clone(),
            cause: cause.clone(),
        });
        Self {
            success: true,
            most_recent: listed.first().cloned(),
            crumbs: listed,
            unfinished_tasks: unique(crumbs.iter().flat_map(|crumb| text::tasks(&crumb.text))),
            key_references: KeyReferences {
                message_ids: unique(crumbs.iter().flat_map(|crumb| text::message_ids(&crumb.text))),
                thread_ids: unique(crumbs.iter().flat_map(|crumb| text::thread_ids(&crumb.text))),
            },
            summary: Summary {
                total_found: crumbs.len(),
                by_priority: Counts::count(Priority::VALUES, crumbs.iter().map(|one| one.metadata.priority.as_str())),
                by_type: Counts::count(CrumbType::VALUES, crumbs.iter().map(|one| one.metadata.crumb_type.as_str())),
            },
            damaged: damaged.collect(),
        }
    }
}

/// All forward crumbs of an agent, oldest first.
///
/// The shape is the one of `get`, so [`import`](super::import) reads what `get --json` printed, too.
pub(crate) fn export(repo: &Repo, agent: &AgentName, now: Time) -> Result<CrumbList, ForwardError> {
    let QueryResult { mut crumbs, damaged } = search(repo, agent, &Query::all(), now)?;
    let most_recent = crumbs.first().map(|newest| CrumbJson::new(agent, newest));
    crumbs.reverse();
    Ok(CrumbList { most_recent, ..CrumbList::new(agent, &crumbs, &damaged) })
}

fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
