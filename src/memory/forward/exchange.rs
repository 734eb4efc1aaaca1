//! Crumbs as a JSON file, and back; and writing many at once.
//!
//! An export has the shape that `get` returns, with every crumb in it, oldest first, so what `get --json` printed can be
//! imported too. Ids, texts and times come back as they were. A crumb whose id is not one of ours gets one that is derived
//! from it, so importing again brings nothing twice.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::crumb::{About, CrumbStatus, CrumbType};
use super::error::ForwardError;
use super::json::{self, Answer};
use super::read::{Query, get, slots};
use super::{leave, order, text};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::change::bulk::{self, Feed, Incoming, Usage};
use crate::trace::model::schema;
use crate::trace::model::source::Source;
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Item, ItemId, Time, Tip, TraceError, TraceName};

/// What sources of imported crumbs are called.
const FORMAT: &str = "forward-crumb";

/// All crumbs of an agent, of whatever status and age, oldest first.
///
/// # Errors
///
/// Those of reading objects. What cannot be read is named in the export, and is not in it.
pub(crate) fn export(repo: &Repo, agent: &AgentName, now: Time) -> Result<Answer, ForwardError> {
    let mut found = get(repo, agent, &Query::all(), now)?;
    let most_recent = found.crumbs.first().map(|newest| json::crumb(agent, newest));
    found.crumbs.reverse();
    Ok(Answer { most_recent, ..json::answer(agent, &found.crumbs, &found.damaged) })
}

/// What was written of many crumbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Imported {
    /// How many came in.
    pub recorded: usize,
    /// How many were there already, or once were.
    pub known: usize,
    /// How many of these were active here and are no more, as the input says.
    pub closed: usize,
}

#[derive(Deserialize)]
struct Entry {
    id: Option<String>,
    text: String,
    #[serde(default)]
    metadata: Meta,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta {
    agent_id: Option<String>,
    timestamp: Option<String>,
    crumb_priority: Option<String>,
    crumb_type: Option<String>,
    crumb_status: Option<String>,
    session_id: Option<String>,
    parent_crumb: Option<String>,
    source: Option<String>,
}

/// A crumb that comes in.
pub(crate) struct Arrival {
    pub(crate) id: ItemId,
    pub(crate) about: About,
    pub(crate) text: String,
}

/// Imports an export into the crumbs of `agent`.
///
/// What an entry does not say is taken from the head of its text. Nothing is written if one entry is not what it should be. Of
/// a crumb that is there already, an active one takes over that it is completed or superseded; nothing becomes active again.
///
/// # Errors
///
/// [`ForwardError::BadExport`], [`ForwardError::BadCrumb`], [`ForwardError::OtherAgent`].
pub(crate) fn import(
    repo: &Repo,
    agent: &AgentName,
    signature: &Signature,
    encoding: Encoding,
    bytes: &[u8],
) -> Result<Imported, ForwardError> {
    let no_export = |cause: String| ForwardError::BadExport { cause };
    let mut file: Value = serde_json::from_slice(bytes).map_err(|error| no_export(error.to_string()))?;
    let Some(Value::Array(crumbs)) = file.get_mut("crumbs").map(Value::take) else {
        return Err(no_export("it is not a JSON object with a list `crumbs`".to_owned()));
    };
    let mut arrivals = Vec::new();
    for (index, value) in crumbs.into_iter().enumerate() {
        let number = index + 1;
        let bad = |cause: String| ForwardError::BadCrumb { number, cause };
        if !value.is_object() {
            return Err(bad("it is not a JSON object".to_owned()));
        }
        let entry: Entry = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        let head = text::parse(&entry.text).map(|(head, _)| head);
        let theirs = entry.metadata.agent_id.as_deref().or(head.as_ref().map(|head| head.agent.as_str()));
        if let Some(theirs) = theirs.filter(|theirs| *theirs != agent.as_str()) {
            return Err(ForwardError::OtherAgent { number, theirs: theirs.to_owned(), agent: agent.clone() });
        }
        let arrival = arrival(agent, entry, head.as_ref()).map_err(bad)?;
        arrivals.push(arrival);
    }
    let is_over = |arrival: &&Arrival| arrival.about.status != CrumbStatus::Active;
    let over: Vec<_> = arrivals.iter().filter(is_over).map(|arrival| (arrival.id, arrival.about.status)).collect();
    let imported = write(repo, agent, signature, encoding, arrivals)?;
    let mut closed = 0;
    if imported.known > 0 && !over.is_empty() {
        let query = Query { status: Some(CrumbStatus::Active), ..Query::all() };
        let active = get(repo, agent, &query, signature.at)?.crumbs;
        let mut active: HashSet<ItemId> = active.into_iter().map(|crumb| crumb.id).collect();
        for (id, status) in over.into_iter().filter(|(id, _)| active.remove(id)) {
            let done = leave::set_status(repo, agent, signature, encoding, id, status, Some("as an import says"))?;
            closed += usize::from(done.is_some());
        }
    }
    Ok(Imported { closed, ..imported })
}

fn arrival(agent: &AgentName, entry: Entry, head: Option<&text::Head>) -> Result<Arrival, String> {
    fn word<T: std::str::FromStr<Err: std::fmt::Display>>(
        name: &str,
        given: Option<String>,
        otherwise: Option<T>,
    ) -> Result<T, String> {
        match given {
            Some(text) => text.parse().map_err(|error| format!("`{name}`: {error}")),
            None => otherwise.ok_or_else(|| format!("neither `{name}` nor the head of its text says what it is")),
        }
    }
    let meta = entry.metadata;
    let created = match meta.timestamp {
        Some(time) => text::parse_timestamp(&time).ok_or_else(|| format!("`timestamp`: `{time}` is not a time"))?,
        None => head.map(|head| head.at).ok_or("neither `timestamp` nor the head of its text says when")?,
    };
    let (id, own) = match &entry.id {
        Some(id) => id_of(id),
        None => (ItemId::of_source(&Source::of_content(FORMAT, entry.text.as_bytes(), 0)), None),
    };
    // What we exported names its source or, where it was left and not imported, its session.
    let source = own.or_else(|| meta.source.and_then(|source| source.parse().ok()));
    let session = meta.session_id.or(head.map(|head| head.session_id.clone()));
    Ok(Arrival {
        id,
        about: About {
            created,
            priority: word("crumb_priority", meta.crumb_priority, head.map(|head| head.priority))?,
            crumb_type: word::<CrumbType>("crumb_type", meta.crumb_type, head.map(|head| head.crumb_type))?,
            status: word("crumb_status", meta.crumb_status, Some(CrumbStatus::Active))?,
            session_id: session.unwrap_or_else(|| text::session_id(agent, created)),
            parent: meta.parent_crumb.map(|parent| id_of(&parent).0),
            source,
        },
        text: entry.text,
    })
}

/// The id that a text is, or that is derived from it, then with the source it is derived from.
fn id_of(text: &str) -> (ItemId, Option<Source>) {
    if let Ok(id) = text.parse() {
        return (id, None);
    }
    let source = Source::new(FORMAT, text, 0);
    (ItemId::of_source(&source), Some(source))
}

/// Writes many crumbs, the oldest first, a commit each.
pub(crate) fn write(
    repo: &Repo,
    agent: &AgentName,
    signature: &Signature,
    encoding: Encoding,
    mut arrivals: Vec<Arrival>,
) -> Result<Imported, ForwardError> {
    let name = TraceName::of_agent(agent);
    let known: HashSet<ItemId> = slots(repo, agent)?.iter().map(|slot| slot.id).collect();
    let mut seen = known.clone();
    let all = arrivals.len();
    arrivals.retain(|arrival| seen.insert(arrival.id));
    // Of one moment they stay as they stand, and `get` puts the newest first.
    if arrivals.first().map(|first| first.about.created) > arrivals.last().map(|last| last.about.created) {
        arrivals.reverse();
    }
    arrivals.sort_by_key(|arrival| arrival.about.created);
    let tip = Tip::find(repo, &name)?;
    let newest = tip.as_ref().map(|tip| order::newest(repo, tip)).transpose()?.flatten();
    // Where somebody else writes meanwhile, the positions are others, and what is said by them is not believed.
    let seq = tip.as_ref().map(|tip| tip.next_seq(repo)).transpose()?.unwrap_or(0);
    for arrival in &arrivals {
        schema::validate(&arrival.about.draft(&arrival.text, 0, arrival.about.created))?;
    }
    let passed_over = all - arrivals.len();
    let mut feed = Arrivals { waiting: arrivals.into_iter(), seq, newest };
    let trace = Trace::new(repo, name, signature.clone()).with_encoding(encoding);
    let report = bulk::import(&trace, &mut feed)?;
    Ok(Imported { recorded: report.recorded, known: report.known + passed_over, closed: 0 })
}

struct Arrivals {
    waiting: std::vec::IntoIter<Arrival>,
    seq: u32,
    newest: Option<Time>,
}

impl Feed for Arrivals {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        let Some(Arrival { id, about, text }) = self.waiting.next() else { return Ok(None) };
        let newest = self.newest.map_or(about.created, |newest| newest.max(about.created));
        self.newest = Some(newest);
        let draft = about.draft(&text, self.seq, newest);
        self.seq += 1;
        let summary = text::parse(&text).map(|(_, content)| content.summary);
        let mut item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
        item.fields.created = Some(about.created);
        Ok(Some(Incoming {
            op: Op::Import,
            item,
            seq: None,
            subject: Some(leave::subject(&about, &summary.unwrap_or(text))),
            reason: None,
            by: None,
            at: Some(about.created),
            skip: None,
            replaces: None,
            usage: Usage::Unsaid,
            line: 0,
        }))
    }

    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}
