//! Importing forward crumbs from JSON, and writing many at once.
//!
//! Ids, texts, and times are kept. A foreign id is replaced by one that is derived from it, so importing the same file again
//! adds nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::crumb::{self, CrumbStatus, CrumbType, Metadata, Priority};
use super::error::ForwardError;
use super::head::{Head, head};
use super::json::CATEGORY;
use super::query::{Query, entries, newest_time, refuse_other_case, search};
use super::text;
use super::write;
use crate::trace::change::bulk::{self, Feed, Incoming};
use crate::trace::model::schema;
use crate::trace::model::source::Source;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Item, ItemId, Time, Tip, TraceError};

const FORMAT: &str = "forward-crumb";

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct ImportCounts {
    pub recorded: usize,
    pub known: usize,
    /// Known ones that were active and are completed or superseded in the input.
    pub closed: usize,
    /// Entries that cannot be read: their numbers, from 1, and why.
    #[serde(skip)]
    pub skipped: Vec<(usize, String)>,
    /// The number of entries that are not forward crumbs of the agent, by agent or category.
    #[serde(skip)]
    pub others: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct Entry {
    id: Option<String>,
    #[serde(alias = "document")]
    text: String,
    #[serde(default)]
    metadata: EntryMetadata,
}

#[derive(Deserialize, Default)]
struct EntryMetadata {
    agent_id: Option<String>,
    #[serde(alias = "added_at")]
    timestamp: Option<String>,
    crumb_priority: Option<String>,
    crumb_type: Option<String>,
    crumb_status: Option<String>,
    #[serde(alias = "conversation_thread")]
    session_id: Option<String>,
    parent_crumb: Option<String>,
    source: Option<String>,
    category: Option<String>,
}

pub(crate) struct ImportedCrumb {
    pub(crate) id: ItemId,
    pub(crate) metadata: Metadata,
    pub(crate) text: String,
}

/// Imports an export into the forward crumbs of `agent`: a list, an object with the list `crumbs`, or the parallel lists `ids`,
/// `documents`, and `metadatas` of a vector database. An entry that cannot be read is skipped and reported.
///
/// A vector database holds the memory of all agents: what is not a forward crumb of `agent` is skipped. In the other shapes,
/// nothing is written if an entry belongs to another agent.
///
/// Metadata that an entry lacks is taken from the header of its text. An active forward crumb that exists already becomes
/// completed or superseded if the input says so; none becomes active again.
pub(crate) fn import(trace: &Trace<'_>, agent: &AgentName, bytes: &[u8]) -> Result<ImportCounts, ForwardError> {
    refuse_other_case(trace.repo(), agent)?;
    let bad_export = |cause: String| ForwardError::BadExport { cause };
    // Bytes that are not UTF-8 make one entry unreadable, not the others.
    let text = String::from_utf8_lossy(bytes);
    let is_damaged = matches!(text, Cow::Owned(_));
    let file: Value = serde_json::from_str(&text).map_err(|error| bad_export(error.to_string()))?;
    let Some((entries, is_store)) = entries_of(file) else {
        let expected =
            "an array, an object with an array `crumbs`, or one with the arrays `ids`, `documents`, and `metadatas`";
        return Err(bad_export(format!("expected {expected}")));
    };
    let (mut crumbs, mut skipped, mut others) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (entry, number) in entries.into_iter().zip(1..) {
        if is_damaged && entry.to_string().contains(char::REPLACEMENT_CHARACTER) {
            skipped.push((number, "it is not UTF-8".to_owned()));
            continue;
        }
        match parse_entry(agent, entry, number) {
            Ok(crumb) => crumbs.push(crumb),
            Err(ForwardError::BadEntry { cause, .. }) => skipped.push((number, cause)),
            Err(ForwardError::OtherCategory { category, .. }) => {
                *others.entry(format!("category `{category}`")).or_default() += 1;
            }
            Err(ForwardError::OtherAgent { theirs, .. }) if is_store => {
                *others.entry(format!("agent `{theirs}`")).or_default() += 1;
            }
            Err(error) => return Err(error),
        }
    }
    let closing = crumbs.iter().map(|crumb| (crumb.id, crumb.metadata.status));
    let closing: Vec<_> = closing.filter(|(_, status)| *status != CrumbStatus::Active).collect();
    let counts = write_all(trace, crumbs)?;
    let mut closed = 0;
    if counts.known > 0 && !closing.is_empty() {
        let query = Query { status: Some(CrumbStatus::Active), ..Query::all() };
        let active = search(trace.repo(), agent, &query, trace.signature()?.at)?.crumbs;
        let mut active: HashSet<ItemId> = active.into_iter().map(|crumb| crumb.id).collect();
        for (id, status) in closing.into_iter().filter(|(id, _)| active.remove(id)) {
            let commit = write::set_status(trace, id, status, Some("as an import says"))?;
            closed += usize::from(commit.is_some());
        }
    }
    Ok(ImportCounts { closed, skipped, others, ..counts })
}

/// The entries of an export, and whether it is that of a vector database.
fn entries_of(file: Value) -> Option<(Vec<Value>, bool)> {
    let mut members = match file {
        Value::Array(entries) => return Some((entries, false)),
        Value::Object(members) => members,
        _ => return None,
    };
    if let Some(Value::Array(entries)) = members.remove("crumbs") {
        return Some((entries, false));
    }
    let mut list = |name: &str| match members.remove(name) {
        Some(Value::Array(values)) => Some(values),
        _ => None,
    };
    let (ids, documents, metadatas) = (list("ids"), list("documents")?, list("metadatas"));
    let (mut ids, mut metadatas) = (ids.into_iter().flatten(), metadatas.into_iter().flatten());
    let entries = documents.into_iter().map(|text| {
        let metadata = metadatas.next().filter(Value::is_object).unwrap_or_else(|| json!({}));
        json!({ "id": ids.next(), "text": text, "metadata": metadata })
    });
    Some((entries.collect(), true))
}

fn parse_entry(agent: &AgentName, value: Value, number: usize) -> Result<ImportedCrumb, ForwardError> {
    let bad = |cause: String| ForwardError::BadEntry { number, cause };
    if !value.is_object() {
        return Err(bad("expected a JSON object".to_owned()));
    }
    let entry: Entry = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
    let category = entry.metadata.category.as_ref();
    if let Some(category) = category.filter(|category| *category != CATEGORY) {
        return Err(ForwardError::OtherCategory { number, category: category.clone() });
    }
    let head = head(&entry.text);
    let theirs = entry.metadata.agent_id.as_deref().or(head.as_ref().and_then(|head| head.agent));
    if let Some(theirs) = theirs.filter(|theirs| theirs.parse().ok().as_ref() != Some(agent)) {
        return Err(ForwardError::OtherAgent { number, theirs: theirs.to_owned(), agent: agent.clone() });
    }
    imported_crumb(agent, &entry, head.as_ref()).map_err(bad)
}

fn imported_crumb(agent: &AgentName, entry: &Entry, head: Option<&Head<'_>>) -> Result<ImportedCrumb, String> {
    fn parse<T: FromStr<Err: Display>>(
        name: &str,
        given: Option<&String>,
        written: Option<Result<T, String>>,
        default: Option<T>,
    ) -> Result<T, String> {
        match (given, written) {
            (Some(text), _) => text.parse().map_err(|error| format!("`{name}`: {error}")),
            (None, Some(written)) => written.map_err(|error| format!("header of the text: {error}")),
            (None, None) => default.ok_or_else(|| format!("`{name}` is missing, also in the header of the text")),
        }
    }
    let metadata = &entry.metadata;
    let created = match &metadata.timestamp {
        Some(time) => text::parse_timestamp(time).ok_or_else(|| format!("`timestamp`: `{time}` is not a time"))?,
        None => head.and_then(|head| head.at).ok_or("`timestamp` is missing, also in the header of the text")?,
    };
    let (id, id_source) = match &entry.id {
        Some(id) => parse_id(id),
        None => (ItemId::of_source(&Source::of_content(FORMAT, entry.text.as_bytes(), 0)), None),
    };
    // In our own exports, `source` is a source only for imported forward crumbs; otherwise it contains the session.
    let source = id_source.or_else(|| metadata.source.as_ref()?.parse().ok());
    let session_id = metadata.session_id.clone().or_else(|| Some(head?.session_id?.to_owned()));
    // The protocol takes a forward crumb for one of medium priority if nothing says otherwise, as after its own migration of notes.
    let is_stated = head.is_none() && metadata.category.is_some();
    let (priority, crumb_type) = (Priority::Medium, CrumbType::Orientation);
    let (written, stated) = (head.and_then(Head::priority), is_stated.then_some(priority));
    let priority = parse("crumb_priority", metadata.crumb_priority.as_ref(), written, stated)?;
    let (written, stated) = (head.and_then(Head::crumb_type), is_stated.then_some(crumb_type));
    let crumb_type = parse("crumb_type", metadata.crumb_type.as_ref(), written, stated)?;
    let status = parse("crumb_status", metadata.crumb_status.as_ref(), None, Some(CrumbStatus::Active))?;
    Ok(ImportedCrumb {
        id,
        metadata: Metadata {
            created,
            priority,
            crumb_type,
            status,
            session_id: session_id.unwrap_or_else(|| text::session_id(agent, created)),
            parent: metadata.parent_crumb.as_deref().map(|parent| parse_id(parent).0),
            source,
        },
        text: entry.text.clone(),
    })
}

/// An item id, or one that is derived from a foreign id, with the source from which it is derived.
fn parse_id(text: &str) -> (ItemId, Option<Source>) {
    if let Ok(id) = text.parse() {
        return (id, None);
    }
    let source = Source::new(FORMAT, text, 0);
    (ItemId::of_source(&source), Some(source))
}

/// Writes forward crumbs, oldest first, one commit each.
pub(crate) fn write_all(trace: &Trace<'_>, mut crumbs: Vec<ImportedCrumb>) -> Result<ImportCounts, ForwardError> {
    let (repo, name) = (trace.repo(), trace.name());
    let mut seen: HashSet<ItemId> = entries(repo, name)?.iter().map(|entry| entry.id).collect();
    let total = crumbs.len();
    crumbs.retain(|crumb| seen.insert(crumb.id));
    // A text that came under another id, by an import or a migration, is the same forward crumb.
    let here = crumb::read_backwards(repo, &entries(repo, name)?)?.into_iter().filter_map(|(crumb, _)| crumb.ok());
    let by_text: HashMap<String, ItemId> = here.map(|crumb| (crumb.text, crumb.id)).collect();
    let (same, mut crumbs): (Vec<_>, Vec<_>) = crumbs.into_iter().partition(|crumb| by_text.contains_key(&crumb.text));
    let same: HashMap<ItemId, ItemId> = same.iter().map(|crumb| (crumb.id, by_text[&crumb.text])).collect();
    for crumb in &mut crumbs {
        crumb.metadata.parent = crumb.metadata.parent.map(|parent| same.get(&parent).copied().unwrap_or(parent));
    }
    let known = total - crumbs.len();
    // `get --json` lists the newest first. Reversing before the stable sort keeps the order of those of the same time.
    if crumbs.first().map(|first| first.metadata.created) > crumbs.last().map(|last| last.metadata.created) {
        crumbs.reverse();
    }
    crumbs.sort_by_key(|crumb| crumb.metadata.created);
    // If another process writes meanwhile, the positions differ, and readers ignore the `newest` headers written here.
    let (newest, seq) = match Tip::find(repo, name)? {
        Some(tip) => (newest_time(repo, &tip)?, tip.next_seq(repo)?),
        None => (None, 0),
    };
    for crumb in &crumbs {
        let draft = crumb.metadata.draft(&crumb.text, 0, crumb.metadata.created);
        schema::validate(&draft).map_err(TraceError::from)?;
    }
    let mut feed = CrumbFeed { crumbs: crumbs.into_iter(), seq, newest };
    let report = bulk::import(trace, &mut feed)?;
    report.secrets.iter().for_each(|found| trace.warn(&found.to_string()));
    Ok(ImportCounts { recorded: report.recorded, known: report.known + known, closed: 0, ..ImportCounts::default() })
}

struct CrumbFeed {
    crumbs: std::vec::IntoIter<ImportedCrumb>,
    seq: u32,
    newest: Option<Time>,
}

impl Feed for CrumbFeed {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        let Some(ImportedCrumb { id, metadata, text }) = self.crumbs.next() else { return Ok(None) };
        self.newest = self.newest.max(Some(metadata.created));
        let draft = metadata.draft(&text, self.seq, self.newest.unwrap_or(metadata.created));
        self.seq += 1;
        let subject = Some(write::commit_subject(&metadata, &text::gist(&text)));
        let item = Item::new(id, draft);
        Ok(Some(Incoming { subject, at: Some(metadata.created), ..Incoming::new(item) }))
    }
}
