//! What becomes of one file or message: item files, record files, archive files, and messages of commits.

use std::collections::{BTreeSet, HashMap};

use memchr::memmem;
use serde_json::{Map, Value};

use super::json::{self, is_json};
use super::needle::Needle;
use super::{Names, Tie};
use crate::clean::stub;
use crate::git::Oid;
use crate::memory::crumb::{Entry, EntryKind};
use crate::memory::forward::header_problem;
use crate::tokens::Counter;
use crate::trace::change::compress::rule;
use crate::trace::model::item_file;
use crate::trace::model::source::Source;
use crate::trace::store::priority::Setting;
use crate::trace::store::tombstone::is_reason;
use crate::trace::{Item, ItemId};

/// The digits of ids in names.
const ALPHABETS: [&str; 3] = ["0123456789abcdef", "ghijklmnopqrstuv", "GHIJKLMNOPQRSTUV"];

/// What to forget, and the text that replaces it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) items: BTreeSet<ItemId>,
    pub(crate) needle: Needle,
    pub(crate) reason: String,
    /// `[purged: reason]`
    pub(crate) marker: String,
    /// The new contents of item files, if somebody else purged: then nothing is searched.
    pub(crate) known: Option<HashMap<Oid, Vec<u8>>>,
}

impl Target {
    /// `None` if the reason cannot be part of what replaces a text.
    pub(crate) fn new(items: BTreeSet<ItemId>, needle: Needle, reason: &str) -> Option<Self> {
        let marker = format!("[purged: {reason}]");
        is_reason(reason).then(|| Self { items, needle, reason: reason.to_owned(), marker, known: None })
    }

    /// Whether a blob holds any of it. Reads the id of an item file without parsing the rest.
    pub(super) fn is_in_blob(&self, bytes: &[u8]) -> bool {
        self.needle.is_in(bytes)
            || (self.may_be_cut(bytes)
                && item_file::parse(bytes).is_ok_and(|item| self.without_cuts(&item.body).is_some()))
            || self.without_cuts_of_crumbs(bytes).is_some()
            || (self.is_file_of_purged(bytes) && self.item_file(None, bytes, &Names::new()).is_some())
    }

    fn is_file_of_purged(&self, bytes: &[u8]) -> bool {
        let digits = bytes.strip_prefix(b"id: ").and_then(|rest| std::str::from_utf8(rest.get(..16)?).ok());
        digits.and_then(|digits| digits.parse().ok()).is_some_and(|id| self.items.contains(&id))
    }

    /// The new item file; `id` is the one in the file's name. `None` if nothing changes.
    pub(super) fn item_file(&self, id: Option<ItemId>, bytes: &[u8], names: &Names) -> Option<Vec<u8>> {
        let Ok(item) = item_file::parse(bytes) else {
            // A damaged file has no headers that could be kept.
            return match id.filter(|id| self.items.contains(id)) {
                Some(_) if bytes == self.marker.as_bytes() => None,
                Some(_) => Some(self.marker.clone().into_bytes()),
                None => self.needle.replace(bytes, &self.marker),
            };
        };
        let mut changed = item.clone();
        if self.items.contains(&id.unwrap_or(item.id)) {
            self.blank(&mut changed);
        } else {
            self.redact(&mut changed, names);
        }
        forget_derived(&mut changed, &item);
        (changed != item).then(|| item_file::render(&changed))
    }

    /// Keeps only what a request needs to stay valid: type, role, names of tools, and ids that tie items together.
    pub(super) fn blank(&self, item: &mut Item) {
        // A purge of all of its text has left the marker of that purge.
        if !is_blank(&item.body) {
            let marker = || self.marker.clone().into_bytes();
            item.body = if item.fields.is_call() { self.blank_arguments() } else { marker() };
        }
        let fields = &mut item.fields;
        (fields.path, fields.language, fields.media_type, fields.format) = (None, None, None, None);
        fields.meta.clear();
        // The headers of a forward crumb are not content.
        if !fields.unknown.iter().any(|(key, _)| key == "crumb-priority") {
            fields.unknown.clear();
        }
    }

    /// Whether an item is as a purge of the item leaves it.
    pub(super) fn is_blanked(&self, item: &Item) -> bool {
        let mut blanked = item.clone();
        self.blank(&mut blanked);
        is_blank(&item.body) && blanked == *item
    }

    fn blank_arguments(&self) -> Vec<u8> {
        format!("{{\"purged\":\"{}\"}}", self.marker).into_bytes()
    }

    /// Whether a text may have parts of other texts that a command cut off: it has a stub, or is a summary by rule, or ends with the
    /// mark of a cut.
    fn may_be_cut(&self, bytes: &[u8]) -> bool {
        let is_in = |part: &str| memmem::find(bytes, part.as_bytes()).is_some();
        let end = bytes.trim_ascii_end();
        !self.needle.is_empty()
            && (["…", "…]"].iter().any(|mark| end.ends_with(mark.as_bytes()))
                || is_in(stub::START)
                || is_in(rule::START))
    }

    fn without_cuts(&self, body: &[u8]) -> Option<Vec<u8>> {
        if self.may_be_cut(body) { self.needle.replace_cuts(body, &self.marker) } else { None }
    }

    /// The lines of a crumb file or of its archive, without parts of the text in summaries, which are cut off at `…`.
    fn without_cuts_of_crumbs(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        memmem::find(bytes, "…".as_bytes()).filter(|_| !self.needle.is_empty())?;
        let (text, mut is_changed) = (std::str::from_utf8(bytes).ok()?, false);
        let lines = text.split_inclusive('\n').map(|line| {
            let is_summary = |entry: Entry<'_>| entry.kind == EntryKind::Summary;
            let may_be_cut =
                line.starts_with('c') && line.contains('…') && Entry::parse(line.trim_end()).is_some_and(is_summary);
            let new = if may_be_cut { self.needle.replace_cuts_of(line, &self.marker) } else { None };
            is_changed |= new.is_some();
            new.unwrap_or_else(|| line.to_owned())
        });
        let new: String = lines.collect();
        is_changed.then(|| new.into_bytes())
    }

    /// Whether a file in a work tree, such as a crumb file, contains any of the text.
    pub(super) fn is_in_file(&self, bytes: &[u8]) -> bool {
        self.needle.is_in(bytes) || self.without_cuts_of_crumbs(bytes).is_some()
    }

    /// The new file or line of an archive of a crumb file. `None` if nothing changes.
    pub(super) fn archived(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let new = self.needle.replace(bytes, &self.marker);
        self.without_cuts_of_crumbs(new.as_deref().unwrap_or(bytes)).or(new)
    }

    fn redacted_body(&self, body: &[u8]) -> Option<Vec<u8>> {
        let new = self.needle.replace(body, &self.marker);
        self.without_cuts(new.as_deref().unwrap_or(body)).or(new)
    }

    /// JSON without the text, which stays JSON; an error if only a marker could take its place. `None` if nothing changes.
    fn redacted_json(&self, json: &[u8]) -> Option<Result<Vec<u8>, ()>> {
        let replace = |bytes: &[u8]| self.redacted_body(bytes);
        let new = replace(json)?;
        if is_json(&new) {
            return Some(Ok(json::with_distinct_keys(&new, &self.marker)));
        }
        if !is_json(json) {
            return Some(Ok(new));
        }
        // A match that crosses the end of a string takes nothing else with it.
        let new = json::replaced(json, &replace, &self.marker).filter(|new| is_json(new) && replace(new).is_none());
        Some(new.map(|new| json::with_distinct_keys(&new, &self.marker)).ok_or(()))
    }

    fn redact_body(&self, item: &mut Item) {
        if !item.fields.is_call() {
            item.body = self.redacted_body(&item.body).unwrap_or_else(|| std::mem::take(&mut item.body));
            return;
        }
        match self.redacted_json(&item.body) {
            Some(Ok(body)) => item.body = body,
            Some(Err(())) => item.body = self.blank_arguments(),
            None => {}
        }
    }

    fn redact_meta(&self, meta: &mut Map<String, Value>) {
        let json = |meta: &Map<String, Value>| serde_json::to_vec(meta).unwrap_or_default();
        match self.redacted_json(&json(meta)) {
            Some(Ok(new)) => *meta = serde_json::from_slice(&new).unwrap_or_default(),
            // The match has the quotes around a value, or several values.
            Some(Err(())) => {
                let is_clean = |pair: Map<String, Value>| !self.needle.is_in(&json(&pair));
                meta.retain(|key, value| is_clean(Map::from_iter([(key.clone(), value.clone())])));
                if self.needle.is_in(&json(meta)) {
                    meta.clear();
                }
            }
            None => {}
        }
    }

    fn redact(&self, item: &mut Item, names: &Names) {
        self.redact_body(item);
        let fields = &mut item.fields;
        for tie in Tie::ALL {
            if let Some(text) = tie.of(fields)
                && let Some(first) = names.get(&(tie, text.clone()))
            {
                self.redact_tie(text, *first);
            }
        }
        for value in [
            &mut fields.name,
            &mut fields.call_id,
            &mut fields.signature,
            &mut fields.kind,
            &mut fields.path,
            &mut fields.language,
            &mut fields.media_type,
            &mut fields.format,
            &mut fields.turn,
        ] {
            if let Some(text) = value.as_mut() {
                self.redact_text(text);
            }
        }
        let before = fields.clone();
        for (key, value) in &mut fields.unknown {
            self.redact_text(key);
            self.redact_text(value);
        }
        // Nobody would read a forward crumb without its headers, so what they have of the text is only reported.
        if header_problem(&before).is_none() && header_problem(fields).is_some() {
            fields.unknown = before.unknown;
        }
        self.redact_meta(&mut fields.meta);
        let is_in = |source: &Source| self.needle.is_in(source.to_string().as_bytes());
        let is_hit = fields.source.as_ref().is_some_and(is_in);
        let new = fields.source.as_ref().filter(|_| is_hit).map(Source::without_record);
        if let Some(new) = new.filter(|new| !is_in(new)) {
            fields.source = Some(new);
        }
    }

    /// An instruction replaces the earlier one of its name, and a result belongs to the call with its id: texts that differed still
    /// differ, and equal ones are still equal.
    fn redact_tie(&self, text: &mut String, first: ItemId) {
        let new = |id: &str| self.needle.replace_text(text, &format!("[purged: {} {id}]", self.reason));
        // Digits of an id may be those of the purged text. If each way has them, the texts still differ.
        let is_clean = |new: &String| !self.needle.is_in(new.as_bytes());
        if let Some(changed) =
            spellings(first).filter_map(|id| new(&id)).find(is_clean).or_else(|| new(&first.to_string()))
        {
            *text = changed;
        }
    }

    fn redact_text(&self, text: &mut String) {
        if let Some(changed) = self.needle.replace_text(text, &self.marker) {
            *text = changed;
        }
    }

    /// The new file of the priority record; `id` is the item that its path names. Only reasons change: everything else decides which
    /// level is in force.
    pub(super) fn record_file(&self, id: ItemId, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_purged = self.items.contains(&id);
        let replaced = |text: &str| {
            let new = self.needle.replace(text.as_bytes(), &self.marker)?;
            Some(String::from_utf8_lossy(&new).into_owned())
        };
        let text = String::from_utf8_lossy(bytes);
        let mut changed = String::new();
        for line in text.lines() {
            let new = match Setting::parse(line) {
                Some(mut setting) => {
                    let replaced = |reason: &str| {
                        let is_purged = is_purged && !is_marker(reason.as_bytes());
                        if is_purged { Some(self.marker.clone()) } else { replaced(reason) }
                    };
                    setting.reason.as_deref().and_then(replaced).map(|new| {
                        setting.reason = Some(new);
                        setting.render()
                    })
                }
                // An unreadable line may contain anything.
                None if is_purged => continue,
                None => replaced(line),
            };
            changed.extend([new.as_deref().unwrap_or(line), "\n"]);
        }
        (changed.as_bytes() != bytes).then(|| changed.into_bytes())
    }
}

/// Removes what was derived from a removed text: its signature, and its count, whose digest would confirm a guess.
pub(super) fn forget_derived(changed: &mut Item, before: &Item) {
    if changed.body == before.body {
        return;
    }
    changed.fields.signature = None;
    if let Some(count) = changed.tokens.take()
        && let Some(counter) = Counter::find(count.counter)
    {
        changed.keep_token_count(counter);
    }
}

/// The ways to write an id in a name, in the order in which they are tried: all clones choose the same one.
fn spellings(id: ItemId) -> impl Iterator<Item = String> {
    let digits: Vec<u32> = id.to_string().chars().filter_map(|digit| digit.to_digit(16)).collect();
    let ways = ["", " "].into_iter().flat_map(|between| ALPHABETS.map(|alphabet| (alphabet, between)));
    ways.map(move |(alphabet, between)| {
        let letters = digits.iter().map(|digit| &alphabet[*digit as usize..=*digit as usize]);
        letters.collect::<Vec<_>>().join(between)
    })
}

/// Whether a body is a marker alone, as [`Target::blank`] leaves it.
pub(super) fn is_blank(body: &[u8]) -> bool {
    is_marker(body.strip_prefix(br#"{"purged":""#).and_then(|text| text.strip_suffix(br#""}"#)).unwrap_or(body))
}

/// Whether a text is one marker and nothing else.
pub(super) fn is_marker(text: &[u8]) -> bool {
    text.strip_prefix(b"[purged: ").is_some_and(|rest| memchr::memchr(b']', rest) == Some(rest.len().wrapping_sub(1)))
}
