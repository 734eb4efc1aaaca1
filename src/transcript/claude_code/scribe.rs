//! What a record means, given those before it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque, hash_map};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FORMAT;
use super::item::{Call, Origin, Page};
use super::record::{Attachment, IGNORED, IGNORED_SYSTEM, Message, Record, UNSAID_ATTACHMENTS};
use super::standing::Standing;
use super::turns::Turns;
use crate::tokens::parse_usage;
use crate::trace::change::bulk::Usage;
use crate::trace::model::item::Role;
use crate::trace::model::source::Source;
use crate::transcript::reader::{self, Outcome};
use crate::transcript::rewind::Rewound;
use crate::transcript::sheet::hash;
use crate::transcript::{Entry, clean, packed, raw};

/// Longer usage objects are not kept; real ones have some four hundred bytes.
const MAX_USAGE: usize = 8 * 1024;

/// What the records so far have taught.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Scribe {
    /// Whether bodies are left away; what is learned is the same without.
    #[serde(skip)]
    only_learns: bool,
    /// By call id as it stands in the file.
    calls: HashMap<String, Call>,
    /// The threads of sidechain records, by uuid.
    threads: HashMap<String, String>,
    /// Hash of a record's uuid, and of what it said first.
    #[serde(with = "packed")]
    said: HashMap<u64, u64>,
    /// By thread: message id and usage of the last record that had one.
    usage: HashMap<String, (String, String)>,
    /// The threads in which anything was said.
    spoken: HashSet<Option<String>>,
    /// The threads of which a compaction was told and not replayed, or in which turns were left: what is reported from then on is not of what their traces hold.
    compacted: HashSet<Option<String>>,
    turns: Turns,
    /// Whether turns were left or taken up since the last item.
    turned: bool,
    #[serde(skip)]
    rewound: Rewound,
    /// Where compactions are replayed: what stands.
    standing: Option<Standing>,
}

impl reader::Scribe for Scribe {
    const FORMAT: &'static str = FORMAT;
    type Record<'a> = Record<'a>;

    fn is_record(record: &Record<'_>) -> bool {
        record.kind.and_then(raw::text).is_some()
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        record.session.and_then(raw::text).map(Into::into)
    }

    fn set_writing(&mut self, writes: bool) {
        self.only_learns = !writes;
    }

    fn set_as_seen(&mut self, as_seen: bool) {
        self.standing = as_seen.then(Standing::default);
    }

    fn take_rewound(&mut self) -> Rewound {
        std::mem::take(&mut self.rewound)
    }

    fn take(&mut self, record: &Record<'_>, bytes: &[u8], end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        let thread = self.thread(record, bytes);
        let Some(kind) = record.kind.and_then(raw::text) else { return Outcome::Unknown("(no type)".to_owned()) };
        let subtype = record.subtype.and_then(raw::text).unwrap_or_default();
        let name = clean::one_line(&kind, 64).unwrap_or_else(|| "(no type)".to_owned());

        let message = record.message.map(message_of).unwrap_or_default();
        if thread.is_none() {
            let bare = record.message.filter(|message| !message.get().starts_with('{'));
            let content = message.content.or(bare).or(record.content);
            self.turned |= self.turns.take(record, content, &mut self.rewound);
        }
        if let (Some(standing), Some(compaction)) = (&mut self.standing, record.compaction) {
            standing.announce(thread.as_deref(), compaction);
        }
        let content = match &*kind {
            "user" | "assistant" => {
                let bare = record.message.filter(|message| !message.get().starts_with('{'));
                message.content.or(bare).or(record.content)
            }
            "system" => record.content.filter(|_| !IGNORED_SYSTEM.contains(&&*subtype)),
            "summary" => record.summary,
            "attachment" => record.attachment,
            other if IGNORED.contains(&other) => return Outcome::Ignored(name),
            _ => return Outcome::Unknown(name),
        };
        let Some(content) = content else {
            return match &*kind {
                "system" => {
                    let name = clean::one_line(&format!("system/{subtype}"), 64).unwrap_or(name);
                    let known = IGNORED_SYSTEM.contains(&&*subtype);
                    if known { Outcome::Ignored(name) } else { Outcome::Unknown(name) }
                }
                _ => Outcome::Ignored(format!("{name}/empty")),
            };
        };
        let Some(origin) = self.origin(record, bytes, content) else { return Outcome::Repeated };

        let mut page = Page {
            origin,
            role: if kind == "assistant" { Role::Assistant } else { Role::User },
            created: record.timestamp.and_then(raw::text).and_then(|text| text.parse().ok()),
            meta: Map::new(),
            thread,
            skip: None,
            end_offset,
            writes: !self.only_learns,
            calls: &mut self.calls,
            entries: Vec::new(),
            next_extra: 0,
        };
        match &*kind {
            "summary" => {
                page.skip = Some("session title, not said to the model");
                if let Some(leaf) = record.leaf.and_then(raw::text) {
                    page.meta.insert("leaf".to_owned(), leaf.into());
                }
                page.note("summary", content);
            }
            "system" => {
                // Of these the agent sends on only what came of the person's own commands.
                page.skip = (subtype != "local_command").then_some("shown to the person, not said to the model");
                page.note(if subtype.is_empty() { "system" } else { &subtype }, content);
            }
            "attachment" => take_attachment(&mut page, content),
            _ => {
                describe(&mut page, record, &message);
                let compacts = raw::is_true(record.is_compact_summary) && self.spoken.contains(&page.thread);
                if compacts && self.standing.is_none() {
                    page.skip = Some("compaction summary; its originals are here");
                }
                page.content(content);
            }
        }
        let mut made = page.entries;
        if made.is_empty() {
            return Outcome::Ignored(format!("{name}/empty"));
        }
        if made[0].thread.is_none() {
            let items = made.iter().filter(|entry| entry.skip.is_none()).map(|entry| entry.id);
            self.turns.add(record, items, &mut self.rewound);
        }
        if let Some(standing) = &mut self.standing {
            let compacts = raw::is_true(record.is_compact_summary) && self.spoken.contains(&made[0].thread);
            standing.take(record, &mut made, compacts.then(|| self.turns.left()));
        }
        self.group(&mut made, record, bytes, &message, kind == "assistant");
        if let Some(entry) = made.iter().find(|entry| entry.skip.is_none() && !self.spoken.contains(&entry.thread)) {
            self.spoken.insert(entry.thread.clone());
        }
        entries.extend(made);
        Outcome::Imported
    }
}

impl Scribe {
    /// The sub-agent whose record this is.
    fn thread(&mut self, record: &Record<'_>, bytes: &[u8]) -> Option<String> {
        if !raw::is_true(record.sidechain) {
            return None;
        }
        let uuid = record.uuid.and_then(raw::text).filter(|uuid| !uuid.is_empty());
        let agent = record.agent.and_then(raw::text).filter(|agent| !agent.is_empty());
        let thread = if let Some(agent) = agent {
            clean::thread(&agent)
        } else if let Some(known) = uuid.as_deref().and_then(|uuid| self.threads.get(uuid)) {
            known.clone()
        } else if let Some(parent) =
            record.parent.and_then(raw::text).and_then(|parent| self.threads.get(&*parent).cloned())
        {
            parent
        } else {
            let root = uuid.as_deref().map_or(bytes, str::as_bytes);
            blake3::hash(root).to_hex()[..8].to_owned()
        };
        if let Some(uuid) = uuid {
            self.threads.entry(uuid.into_owned()).or_insert_with(|| thread.clone());
        }
        Some(thread)
    }

    /// What the record's items are named after; `None` if it says again what it said before.
    fn origin(&mut self, record: &Record<'_>, bytes: &[u8], content: &RawValue) -> Option<Origin> {
        let Some(uuid) = record.uuid.and_then(raw::text).filter(|uuid| !uuid.is_empty()) else {
            // Two like it may both have been said, as "continue" often is; a title is one title.
            let times = self.said.entry(hash([&b"record"[..], bytes])).or_insert(0);
            *times += 1;
            return match *times {
                1 => Some(Origin::Bytes(bytes.to_vec())),
                _ if record.summary.is_some() => None,
                times => Some(Origin::Bytes([bytes, format!("\n{times}").as_bytes()].concat())),
            };
        };
        // The content alone: what is written again may have come to know its usage meanwhile.
        let what = hash([&b"content"[..], content.get().as_bytes()]);
        match self.said.entry(hash([&b"uuid"[..], uuid.as_bytes()])) {
            hash_map::Entry::Vacant(place) => {
                place.insert(what);
                Some(Origin::Uuid(uuid.into_owned()))
            }
            hash_map::Entry::Occupied(place) if *place.get() == what => None,
            hash_map::Entry::Occupied(_) => {
                let other = format!("{uuid}\n{}", content.get());
                let again = self.said.insert(hash([&b"other"[..], other.as_bytes()]), what).is_some();
                (!again).then(|| Origin::Bytes(other.into_bytes()))
            }
        }
    }

    /// Says which entries came in one message, and what it cost.
    fn group(&mut self, made: &mut [Entry], record: &Record<'_>, bytes: &[u8], message: &Message<'_>, by_model: bool) {
        let message_id = message.id.filter(|_| by_model).and_then(raw::text).and_then(|id| clean::id(&id));
        let turn = message_id.clone().or_else(|| {
            (made.len() > 1).then(|| {
                let uuid = record.uuid.and_then(raw::text).and_then(|uuid| clean::id(&uuid));
                uuid.unwrap_or_else(|| Source::of_content(FORMAT, bytes, 0).record().to_owned())
            })
        });
        for entry in made.iter_mut() {
            entry.draft.fields.turn.clone_from(&turn);
        }
        let compacts =
            made.iter().any(|entry| entry.skip.is_some() && entry.draft.fields.meta.contains_key("compact_summary"));
        let replaces = made.iter().any(|entry| entry.replaces.is_some());
        let Some(last) = made.last_mut() else { return };
        if replaces {
            last.usage = Usage::Void;
            return;
        }
        // What was left is in the trace, and in no report.
        if last.thread.is_none() && std::mem::take(&mut self.turned) && self.compacted.insert(None) {
            last.usage = Usage::Void;
            return;
        }
        if compacts && self.compacted.insert(last.thread.clone()) {
            last.usage = Usage::Void;
            return;
        }
        let Some(usage) = message.usage.filter(|usage| by_model && usage.get().len() <= MAX_USAGE) else { return };
        let now = (turn.unwrap_or_default(), usage.get().to_owned());
        let place = self.usage.entry(last.thread.clone().unwrap_or_default()).or_default();
        if *place != now {
            if let Ok(usage @ Value::Object(_)) = serde_json::from_str(usage.get()) {
                if !self.compacted.contains(&last.thread)
                    && let Ok(reported) = parse_usage(usage.to_string().as_bytes())
                {
                    last.usage = Usage::Reported(reported.context_tokens());
                }
                last.draft.fields.meta.insert("usage".to_owned(), usage);
            }
            *place = now;
        }
    }
}

/// Notes on every item of a message what the record says of all of it.
fn describe(page: &mut Page<'_>, record: &Record<'_>, message: &Message<'_>) {
    let model = message.model.and_then(raw::text).and_then(|model| clean::one_line(&model, 128));
    if let Some(model) = model.filter(|_| page.role == Role::Assistant) {
        page.meta.insert("model".to_owned(), model.into());
    }
    for (flag, name) in [
        (record.is_meta, "is_meta"),
        (record.is_compact_summary, "compact_summary"),
        (record.is_api_error, "api_error"),
    ] {
        if raw::is_true(flag) {
            page.meta.insert(name.to_owned(), true.into());
        }
    }
}

/// What the agent added to the conversation by itself, or the person while the model was busy.
fn take_attachment(page: &mut Page<'_>, attachment: &RawValue) {
    let view: Attachment<'_> = serde_json::from_str(attachment.get()).unwrap_or_default();
    let kind = view.kind.and_then(raw::text).unwrap_or(Cow::Borrowed("attachment"));
    if let Some(prompt) = view.prompt.filter(|_| kind == "queued_command") {
        page.meta.insert("queued".to_owned(), true.into());
        page.content(prompt);
    } else {
        let unsaid = UNSAID_ATTACHMENTS.contains(&&*kind);
        page.skip = unsaid.then_some("shown to the person, not said to the model");
        page.other(0, &kind, attachment);
    }
}

fn message_of(message: &RawValue) -> Message<'_> {
    serde_json::from_str(message.get()).unwrap_or_default()
}
