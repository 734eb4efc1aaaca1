//! The JSON of the protocol: what `get` and `export` return, and one forward crumb in it.
//!
//! The names and the order of fields are the protocol's, so these are structs: a `serde_json::Value` sorts its keys.

use std::collections::HashSet;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::crumb::{CrumbType, DamagedCrumb, ForwardCrumb, Priority};
use super::query::QueryResult;
use super::text::{self, CrumbContent};
use crate::trace::{AgentName, ItemId};

/// The protocol's category of forward crumbs in a vector database.
pub(crate) const CATEGORY: &str = "forward_crumb";

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
        other => text::split_ids(&value_to_text(other)),
    }
}

#[derive(Serialize, Debug)]
pub(crate) struct CrumbList<'c> {
    success: bool,
    pub crumbs: Vec<CrumbJson<'c>>,
    most_recent: Option<CrumbJson<'c>>,
    unfinished_tasks: Vec<String>,
    key_references: KeyReferences,
    summary: Summary,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    damaged: &'c [DamagedCrumb],
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

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Counts(pub Vec<(&'static str, usize)>);

impl Counts {
    pub(crate) fn count<'w>(words: &[&'static str], occurrences: impl Iterator<Item = &'w str>) -> Self {
        let occurrences: Vec<_> = occurrences.collect();
        let count = |word: &&'static str| (*word, occurrences.iter().filter(|other| *other == word).count());
        Self(words.iter().map(count).collect())
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[derive(Clone, Serialize, Debug)]
pub(crate) struct CrumbJson<'c> {
    id: ItemId,
    text: &'c str,
    metadata: MetadataJson<'c>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<Sections>,
}

/// The parts of a published text, parsed, without the indentation that keeps content from being structure.
#[derive(Clone, Serialize, Debug)]
struct Sections {
    session_summary: String,
    key_discoveries: Vec<String>,
    emotional_state: Map<String, Value>,
    unfinished_business: Vec<String>,
    references: Map<String, Value>,
    if_disoriented: Vec<String>,
}

impl From<CrumbContent> for Sections {
    fn from(content: CrumbContent) -> Self {
        Self {
            session_summary: content.summary,
            key_discoveries: content.discoveries,
            emotional_state: content.emotional.into_iter().map(|(name, value)| (name, value.into())).collect(),
            unfinished_business: content.unfinished,
            references: content.references.into_iter().map(|(kind, ids)| (kind, ids.into())).collect(),
            if_disoriented: content.if_disoriented,
        }
    }
}

#[derive(Clone, Serialize, Debug)]
struct MetadataJson<'c> {
    agent_id: &'c str,
    category: &'static str,
    timestamp: String,
    crumb_priority: &'static str,
    crumb_type: &'static str,
    crumb_status: &'static str,
    session_id: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_crumb: Option<ItemId>,
    source: String,
    visibility: &'static str,
}

impl<'c> CrumbJson<'c> {
    pub(crate) fn new(agent: &'c AgentName, crumb: &'c ForwardCrumb) -> Self {
        let ForwardCrumb { id, metadata, text, .. } = crumb;
        let source = match &metadata.source {
            Some(source) => source.to_string(),
            None => format!("forward_crumb_{}", metadata.session_id),
        };
        let metadata = MetadataJson {
            agent_id: agent.as_str(),
            category: CATEGORY,
            timestamp: metadata.created.to_string(),
            crumb_priority: metadata.priority.as_str(),
            crumb_type: metadata.crumb_type.as_str(),
            crumb_status: metadata.status.as_str(),
            session_id: &metadata.session_id,
            parent_crumb: metadata.parent,
            source,
            visibility: "private",
        };
        Self { id: *id, text, metadata, sections: None }
    }

    /// Adds the parts of the text, if it is a published one.
    #[must_use]
    pub(crate) fn with_sections(mut self) -> Self {
        self.sections = text::parse(self.text).map(|(_, content)| content.into());
        self
    }
}

/// What `leave` returns: the forward crumb, with `success` and `category`.
pub(crate) fn added_to_json(agent: &AgentName, crumb: &ForwardCrumb) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(CrumbJson::new(agent, crumb))?;
    value["success"] = json!(true);
    value["category"] = json!(CATEGORY);
    Ok(value)
}

impl<'c> CrumbList<'c> {
    /// `crumbs` are sorted by time.
    pub(crate) fn new(agent: &'c AgentName, crumbs: &'c [ForwardCrumb], damaged: &'c [DamagedCrumb]) -> Self {
        let listed: Vec<_> = crumbs.iter().map(|crumb| CrumbJson::new(agent, crumb)).collect();
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
            damaged,
        }
    }

    /// Adds the parts of each text.
    #[must_use]
    pub(crate) fn with_sections(mut self) -> Self {
        self.crumbs = self.crumbs.into_iter().map(CrumbJson::with_sections).collect();
        self.most_recent = self.most_recent.map(CrumbJson::with_sections);
        self
    }

    /// All forward crumbs of an agent, oldest first. [`import`](super::import) reads this shape, so what `get --json` printed, too.
    pub(crate) fn export(agent: &'c AgentName, all: &'c mut QueryResult) -> Self {
        let QueryResult { crumbs, damaged, .. } = all;
        crumbs.reverse();
        let list = Self::new(agent, crumbs, damaged);
        Self { most_recent: list.crumbs.last().cloned(), ..list }
    }
}

fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
