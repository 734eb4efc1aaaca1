//! Importing an export: one operation per line.
//!
//! A line with `op` keeps the id, time, and author of its item, so that the imported trace has the same content and history. A line
//! without `op` is a new item, whose id is derived from the line.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use serde_json::{Map, Value};

use super::bulk::{self, Feed, Incoming, Report, Usage};
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::secrets::{Fingerprint, Policy};
use crate::trace::model::json::{BadField, COUNTED_TOTAL, REPORTED_TOTAL, draft_from, parsed_field, text_field};
use crate::trace::model::schema;
use crate::trace::model::source::Source;
use crate::trace::model::tree::{self, CAPACITY};
use crate::trace::model::types::{Types, level_in_meta};
use crate::trace::store::priority::{self, Before, ChangedPriority, Knows, Level, Record, Request, Setting};
use crate::trace::store::secrets::{Found, SecretScanner};
use crate::trace::store::tombstone::{Tombstones, require_no_purge};
use crate::trace::{Draft, Fields, Item, ItemId, ItemType, Op, Tip, Trace, TraceError};

/// The format in the sources of lines without an id.
const FORMAT: &str = "jsonl";

/// Imports an export, or plain items, one JSON object per line.
pub(crate) fn import(trace: &Trace<'_>, input: &mut dyn BufRead) -> Result<Report, TraceError> {
    let repo = trace.repo();
    let types = Types::read(repo)?;
    let is_new = Tip::find(repo, trace.name())?.is_none();
    let scanner = SecretScanner::new(repo, Policy::Redact);
    let (seen, settings, secrets, record) = (HashMap::new(), Vec::new(), Vec::new(), Record::open(repo)?);
    let mut lines = Lines { types, is_new, input, number: 0, seen, settings, repo, record, scanner, secrets };
    let earlier = Before::read(repo)?;
    let mut report = bulk::import(trace, &mut lines)?;
    let known: HashSet<Fingerprint> = report.secrets.iter().map(|found| found.fingerprint.clone()).collect();
    report.secrets.extend(lines.secrets.into_iter().filter(|found| !known.contains(&found.fingerprint)));
    let mut asks = lines.settings;
    if let (Some(tip), false) = (report.tip, asks.is_empty()) {
        let _objects = require_no_purge(repo)?;
        let signature = trace.signature()?;
        let tip = Tip::read(repo, tip)?;
        let mut introductions = priority::tags::introductions(repo, &tip, asks.iter().map(|ask| ask.item))?;
        // A shallow clone may lack the commits that introduced them.
        for slot in tree::list(repo, tip.commit.tree)? {
            introductions.entry(slot.id).or_insert(tip.commit.oid);
        }
        let requests = requests(repo, tip.time(), &introductions, &signature.author.person(), &mut asks)?;
        priority::set(repo, &signature, &requests)?;
        report.priorities = priority::in_traces(repo, &earlier)?;
        // An import sets those of a trace that it creates.
        let is_here = |change: &ChangedPriority| change.place.as_ref().is_some_and(|(name, _)| name == trace.name());
        report.priorities.retain(|change| !is_new || !is_here(change));
    }
    report.without_item = asks.iter().filter(|ask| ask.is_change).map(|ask| ask.item).collect();
    Ok(report)
}

/// Refuses a file with more new items than a trace has positions, before any of them is written. Lines with an `op` do not count:
/// many of them may be about one item.
pub(crate) fn check_size(file: &mut dyn BufRead) -> Result<(), TraceError> {
    let (mut items, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line);
        if read.map_err(|source| TraceError::Stream { action: "read the input", source })? == 0 {
            break;
        }
        items += usize::from(!line.trim_ascii().is_empty() && memchr::memmem::find(&line, b"\"op\"").is_none());
    }
    if items > CAPACITY as usize { Err(TraceError::TooMany { items }) } else { Ok(()) }
}

struct Ask {
    item: ItemId,
    level: Level,
    at: Option<Time>,
    by: Option<String>,
    reason: Option<String>,
    seq: Option<u32>,
    /// `None` if the line does not say it.
    knows: Option<Knows>,
    /// Whether it is a separate line, and not a field of an item.
    is_change: bool,
}

struct Lines<'i> {
    types: Types,
    /// Whether the trace has no commits yet, so that totals in the input are its own.
    is_new: bool,
    input: &'i mut dyn BufRead,
    number: usize,
    seen: HashMap<[u8; 32], usize>,
    settings: Vec<Ask>,
    repo: &'i Repo,
    record: Record,
    scanner: SecretScanner<'i>,
    /// Those of the settings.
    secrets: Vec<Found>,
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
            let before = self.settings.len();
            let incoming = self.incoming(line.trim_ascii()).map_err(|cause| self.bad(cause))?;
            for Ask { by, reason, .. } in &mut self.settings[before..] {
                self.secrets.extend(self.scanner.scan_texts(reason.iter_mut().chain(by))?);
            }
            if incoming.is_some() {
                return Ok(incoming);
            }
        }
    }
}

impl Lines<'_> {
    fn bad(&self, cause: String) -> TraceError {
        TraceError::BadLine { line: self.number, cause }
    }

    /// Reads a line, or keeps it for later if it changes a priority.
    fn incoming(&mut self, line: &[u8]) -> Result<Option<Incoming>, String> {
        let object: Map<String, Value> =
            serde_json::from_slice(line).map_err(|error| format!("it is not a JSON object: {error}"))?;
        let bad = |error: BadField| error.to_string();
        let at: Option<Time> = parsed_field(&object, "at").map_err(bad)?;
        let [by, reason, subject] = ["by", "reason", "subject"].map(|field| text_field(&object, field).map_err(bad));
        let (by, reason, subject) = (by?, reason?, subject?);
        let level = parsed_field::<Level>(&object, "priority").map_err(bad)?;
        let id = || parsed_field(&object, "id").map_err(bad)?.ok_or_else(|| "the field `id` is missing".to_owned());
        if object.get("op").is_some_and(|op| op == "priority") {
            let level = level.ok_or("the field `priority` is missing")?;
            let known = |after: &Value| if after.is_null() { Some(None) } else { digests(after).map(Some) };
            let after = object.get("after").map(|after| known(after).ok_or(BAD_AFTER)).transpose()?;
            let knows = after.map(Knows::Elsewhere);
            let seq = object.get("seq").map(|seq| position(seq).ok_or(BAD_SEQ)).transpose()?;
            let item = id()?;
            if let Some(at) = at.filter(|at| !at.is_plausible() && !self.has_time(item, *at)) {
                return Err(TraceError::BadClock { at }.to_string());
            }
            self.settings.push(Ask { item, level, at, by, reason, seq, knows, is_change: true });
            return Ok(None);
        }
        let op = parsed_field::<Op>(&object, "op").map_err(bad)?;
        let item = if op == Some(Op::Delete) {
            Item::new(id()?, Draft { fields: Fields::new(ItemType::freeform()), body: Vec::new() })
        } else {
            let apart = ["op", "at", "by", "reason", "subject", REPORTED_TOTAL, COUNTED_TOTAL];
            let mut draft = draft_from(&object, &apart).map_err(|error| error.to_string())?;
            schema::complete(&mut draft.fields);
            self.types.validate(&draft).map_err(|error| error.to_string())?;
            Item::new(if op.is_some() { id()? } else { self.id_of_content(line) }, draft)
        };
        let item = with_revision(item, object.get("revision"))?;
        // An export has separate lines for priorities.
        let level = level.or_else(|| level_in_meta(&item.fields));
        if let (None, Some(level)) = (op, level) {
            let (by, reason) = (by.clone(), reason.clone());
            self.settings.push(Ask { item: item.id, level, at, by, reason, seq: None, knows: None, is_change: false });
        }
        let seq = object.get("seq").filter(|_| op.is_some()).map(|seq| position(seq).ok_or(BAD_SEQ)).transpose()?;
        let usage = match object.get(REPORTED_TOTAL) {
            _ if op.is_none() || !self.is_new => Usage::Unsaid,
            None => Usage::Void,
            Some(total) => {
                let total = total.as_u64().ok_or("field `reported_total`: a number from 0 is expected")?;
                let counted = object.get(COUNTED_TOTAL).and_then(Value::as_u64);
                counted.map_or(Usage::Void, |counted| Usage::Exported { total, counted })
            }
        };
        let (op, at, line) = (op.unwrap_or(Op::Import), at.or(item.fields.created), self.number);
        if let Some(at) = at.filter(|at| !at.is_plausible()) {
            return Err(TraceError::BadClock { at }.to_string());
        }
        Ok(Some(Incoming { op, seq, subject, reason, by, at, usage, line, ..Incoming::new(item) }))
    }

    /// Whether the record has a change of an item with this time. A pull accepts any time.
    fn has_time(&self, item: ItemId, at: Time) -> bool {
        self.record.history(self.repo, item).is_ok_and(|history| history.iter().any(|known| known.at == at))
    }

    /// The id of a line without one. A repeated line is another item.
    fn id_of_content(&mut self, line: &[u8]) -> ItemId {
        let count = self.seen.entry(*blake3::hash(line).as_bytes()).or_default();
        *count += 1;
        ItemId::of_source(&Source::of_content(FORMAT, line, *count - 1))
    }
}

const BAD_AFTER: &str = "field `after`: a list of digests with 16 hex digits is expected";

fn digests(after: &Value) -> Option<Vec<String>> {
    let is_digest = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    after.as_array()?.iter().map(|digest| digest.as_str().filter(|text| is_digest(text)).map(str::to_owned)).collect()
}

const BAD_SEQ: &str = "field `seq`: a position from 0 to 999999 is expected";

fn position(seq: &Value) -> Option<u32> {
    seq.as_u64().and_then(|seq| u32::try_from(seq).ok()).filter(|seq| *seq < CAPACITY)
}

fn with_revision(item: Item, revision: Option<&Value>) -> Result<Item, String> {
    let Some(revision) = revision else { return Ok(item) };
    let revision = revision.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    Ok(Item { revision: revision.ok_or("field `revision`: a number from 1 is expected")?, ..item })
}

/// The requests for changes that the record does not have yet. One with a time was made elsewhere: it knew of the changes that it names
/// or, in an export of earlier versions, of the earlier one by its author. Leaves those of items that the trace never had in `asks`.
fn requests(
    repo: &Repo,
    now: Time,
    introductions: &HashMap<ItemId, Oid>,
    author: &str,
    asks: &mut Vec<Ask>,
) -> Result<Vec<Request>, TraceError> {
    let record = Record::open(repo)?;
    let (mut requests, tombstones) = (Vec::new(), Tombstones::find(repo)?);
    let mut earlier: HashMap<(ItemId, String), String> = HashMap::new();
    for ask in asks.extract_if(.., |ask| introductions.contains_key(&ask.item)) {
        let Ask { item, level, at, by, reason, seq, knows, is_change } = ask;
        let Some(&introduced) = introductions.get(&item) else { continue };
        let reason =
            reason.map(|reason| tombstones.as_ref().map_or(reason.clone(), |known| known.reason(item, reason)));
        let (at, knows, is_known) = match at {
            Some(at) => {
                let by = by.clone().unwrap_or_else(|| author.to_owned());
                let digest = Setting { at, by: by.clone(), level, seq: None, reason: None, after: None }.digest();
                let before = earlier.insert((item, by), digest.clone());
                let knows = knows.unwrap_or_else(|| Knows::Elsewhere(Some(before.into_iter().collect())));
                let named = if let Knows::Elsewhere(Some(after)) = &knows { &**after } else { &[] };
                let mut known = record.history(repo, item)?;
                known.retain(|known| known.digest() == digest);
                let is_named =
                    |name: &String| known.iter().any(|known| known.after.iter().flatten().any(|it| it == name));
                let is_known = !known.is_empty() && named.iter().all(is_named);
                (at, knows, is_known)
            }
            None => {
                let is_it = |known: &Setting| known.level == level && known.reason == reason;
                let is_known = if is_change {
                    record.in_force(repo, item)?.is_some_and(|now| is_it(&now.setting) && now.rivals.is_empty())
                } else {
                    record.history(repo, item)?.iter().any(is_it)
                };
                (now, Knows::AllHere, is_known)
            }
        };
        if is_known {
            continue;
        }
        requests.push(Request { item, level, reason, seq, at, knows, by, introduced });
    }
    Ok(requests)
}
