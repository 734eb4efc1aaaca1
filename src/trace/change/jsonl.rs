//! Reading an export back: one operation a line.
//!
//! A line with `op` keeps its item's id, time and author, so that an export that is imported elsewhere is the same context
//! with the same history. A line without one is an item that comes in; its id is that of its content.

use std::collections::HashMap;
use std::io::BufRead;

use serde_json::{Map, Value};

use super::bulk::{self, Feed, Incoming, Report};
use super::running_total::Usage;
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::Fields;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Draft, Item, ItemType};
use crate::trace::model::json::draft_from;
use crate::trace::model::schema;
use crate::trace::model::source::Source;
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::model::tree::CAPACITY;
use crate::trace::model::types::{Types, level_in_meta};
use crate::trace::store::priority::{self, Level, Record, Request};
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;

/// What the sources of lines without an id are called.
const FORMAT: &str = "jsonl";

/// Imports an export, or plain items, one JSON object per line.
pub(crate) fn import(trace: &Trace<'_>, input: &mut dyn BufRead) -> Result<Report, TraceError> {
    let repo = trace.repo();
    let types = Types::read(repo)?;
    let mut lines = Lines { types, input, number: 0, seen: HashMap::new(), settings: Vec::new() };
    let report = bulk::import(trace, &mut lines)?;
    if let Some(tip) = report.tip {
        let tip = Tip::read(repo, tip)?;
        priority::set(repo, &*trace.signature()?, &requests(repo, &tip, lines.settings)?)?;
    }
    Ok(report)
}

/// A change of priority that a line asks for.
struct Ask {
    item: ItemId,
    level: Level,
    at: Option<Time>,
    by: Option<String>,
    reason: Option<String>,
}

/// Lines as changes.
struct Lines<'i> {
    types: Types,
    input: &'i mut dyn BufRead,
    number: usize,
    /// How often a content without an id has come.
    seen: HashMap<[u8; 32], usize>,
    settings: Vec<Ask>,
}

impl Feed for Lines<'_> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.input.read_until(b'\n', &mut line);
            if read.map_err(|source| TraceError::Stream { action: "read the input", source })? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(incoming) = self.incoming(line.trim_ascii()).map_err(|cause| self.bad(cause))? {
                return Ok(Some(incoming));
            }
        }
    }

    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}

impl Lines<'_> {
    fn bad(&self, cause: String) -> TraceError {
        TraceError::BadLine { line: self.number, cause }
    }

    /// Reads a line; a change of priority is kept for later.
    fn incoming(&mut self, line: &[u8]) -> Result<Option<Incoming>, String> {
        let object: Map<String, Value> =
            serde_json::from_slice(line).map_err(|error| format!("it is not a JSON object: {error}"))?;
        let text = |field: &str| match object.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("field `{field}`: expected a string")),
        };
        let at = text("at")?.map(|at| at.parse()).transpose().map_err(|error| format!("field `at`: {error}"))?;
        let (by, reason, subject) = (text("by")?, text("reason")?, text("subject")?);
        let level = text("priority")?.map(|level| level.parse::<Level>()).transpose();
        let level = level.map_err(|error| format!("field `priority`: {error}"))?;
        let id = || -> Result<ItemId, String> {
            let id = text("id")?.ok_or("the field `id` is missing")?;
            id.parse().map_err(|error| format!("field `id`: {error}"))
        };
        let op = match text("op")?.as_deref() {
            Some("priority") => {
                let level = level.ok_or("the field `priority` is missing")?;
                self.settings.push(Ask { item: id()?, level, at, by, reason });
                return Ok(None);
            }
            Some(op) => Some(op.parse::<Op>().map_err(|error| format!("field `op`: {error}"))?),
            None => None,
        };
        let item = if op == Some(Op::Delete) {
            item_of(id()?, Draft { fields: Fields::new(ItemType::freeform()), body: Vec::new() })
        } else {
            let apart = ["op", "at", "by", "reason", "subject"];
            let mut draft = draft_from(&object, &apart).map_err(|error| error.to_string())?;
            schema::complete(&mut draft.fields);
            self.types.validate(&draft).map_err(|error| error.to_string())?;
            item_of(if op.is_some() { id()? } else { self.id_of_content(line) }, draft)
        };
        let item = with_revision(item, object.get("revision"))?;
        // An export tells of priorities in lines of their own.
        let level = level.or_else(|| level_in_meta(&item.fields));
        if let (None, Some(level)) = (op, level) {
            self.settings.push(Ask { item: item.id, level, at, by: by.clone(), reason: reason.clone() });
        }
        let seq = object.get("seq").filter(|_| op.is_some()).map(|seq| position(seq).ok_or(BAD_SEQ)).transpose()?;
        let op = op.unwrap_or(Op::Import);
        let at = at.or(item.fields.created);
        Ok(Some(Incoming {
            op,
            item,
            seq,
            subject,
            reason,
            by,
            at,
            skip: None,
            replaces: None,
            usage: Usage::Unsaid,
            line: self.number,
        }))
    }

    /// The id of a line without one; the same line a second time is another item.
    fn id_of_content(&mut self, line: &[u8]) -> ItemId {
        let count = self.seen.entry(*blake3::hash(line).as_bytes()).or_default();
        *count += 1;
        ItemId::of_source(&Source::of_content(FORMAT, line, *count - 1))
    }
}

/// What is said of a position that is none.
const BAD_SEQ: &str = "field `seq`: a position from 0 to 999999 is expected";

fn position(seq: &Value) -> Option<u32> {
    seq.as_u64().and_then(|seq| u32::try_from(seq).ok()).filter(|seq| *seq < CAPACITY)
}

fn item_of(id: ItemId, draft: Draft) -> Item {
    Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body }
}

fn with_revision(item: Item, revision: Option<&Value>) -> Result<Item, String> {
    let Some(revision) = revision else { return Ok(item) };
    let revision = revision.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    Ok(Item { revision: revision.ok_or("field `revision`: a number from 1 is expected")?, ..item })
}

/// The changes of priority that the record does not have yet.
fn requests(repo: &Repo, tip: &Tip, asks: Vec<Ask>) -> Result<Vec<Request>, TraceError> {
    let record = Record::open(repo)?;
    let introductions = priority::tags::introductions(repo, tip, asks.iter().map(|ask| ask.item))?;
    let mut requests = Vec::new();
    for ask in asks {
        let known = record.history(repo, ask.item)?.iter().any(|setting| {
            setting.level == ask.level && ask.at.is_none_or(|at| at == setting.at) && setting.reason == ask.reason
        });
        let Some(introduced) = introductions.get(&ask.item).copied() else { continue };
        if !known {
            requests.push(Request {
                item: ask.item,
                level: ask.level,
                reason: ask.reason,
                seq: None,
                at: ask.at.unwrap_or_else(|| tip.time()),
                by: ask.by,
                introduced,
            });
        }
    }
    Ok(requests)
}
