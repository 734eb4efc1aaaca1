//! Formats whose messages have a role and blocks: one reader, to which each of them adds what is its own.
//!
//! [`super::blocks`] says what the blocks become.
//!
//! - Records that name their parent form a tree. A record whose parent is not the one before it starts a branch, and the messages
//!   that are not on its path are rewound.
//! - The working folder is stored with the first item after it became known or changed.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io::{self, Cursor, Read};

use serde::{Deserialize, Serialize};

use super::active::ActiveMessages;
use super::builder::{EntryBuilder, RecordSource, SourceTracker, dialogue, freeform, hash};
use super::calls::ToolCalls;
use super::document::{DocumentLines, JoinedLines};
use super::object::Object;
use super::packed::{self, HashedMap};
use super::reader::{Certainty, Outcome, Output, RecordReader, Transcript, TranscriptReader};
use super::{header, json};
use crate::tokens::TokenUsage;
use crate::trace::change::bulk::{Removal, Replaced, Usage};
use crate::trace::model::item::Role;
use crate::transcript::format::{first_lines, head};
use crate::transcript::{Position, TranscriptEntry};

/// As many items per record may be rewound or brought back before the end of the file.
const MAX_REWOUND: usize = 4;

/// What distinguishes a format.
pub(crate) trait Dialect: 'static {
    const FORMAT: &'static str;

    /// The member of a document whose elements are records; `None` if the format has no documents, only lines.
    const LIST: Option<&'static str> = None;

    /// How sure it is that a record is of this format.
    fn certainty(record: &Object<'_>) -> Certainty;

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>>;

    /// The paths of sessions below the agent's home, name by name; a `*` at the start of a name matches any text.
    const FILES: &'static [&'static [&'static str]] = &[];

    /// The working folder that a record names.
    fn folder<'a>(_record: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome;

    /// Adds what waited for the end of the file.
    fn end(_session: &mut Session, _output: &mut Output) {}
}

/// Takes the text of a record that has only one.
pub(crate) type TextOf = for<'a> fn(&Object<'a>) -> Option<Cow<'a, str>>;

type ReadRecord = fn(&mut Session, &Object<'_>, &[u8], &mut Output) -> Outcome;

/// The functions of a dialect, so that there is one reader for all.
#[derive(Clone, Copy)]
struct Functions {
    format: &'static str,
    session: TextOf,
    folder: TextOf,
    read: ReadRecord,
    end: fn(&mut Session, &mut Output),
}

impl Default for Functions {
    fn default() -> Self {
        let read: ReadRecord = |_, _, _, _| Outcome::Unknown(String::new());
        Self { format: "", session: |_| None, folder: |_| None, read, end: |_, _| () }
    }
}

/// The state of a session between its records.
#[derive(Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct Session {
    #[serde(skip)]
    functions: Functions,
    sources: SourceTracker,
    pub(super) calls: ToolCalls,
    /// Calls without an id that have no result yet.
    pub(super) unnamed: VecDeque<String>,
    pub(super) call_count: usize,
    /// Whether something but instructions was said.
    pub started: bool,
    pub model: Option<String>,
    folder: Option<String>,
    is_folder_new: bool,
    /// By the hash of a record's id, that of its parent.
    #[serde(with = "packed")]
    parents: HashedMap<u64>,
    /// The same for its number.
    #[serde(with = "packed")]
    numbers: HashedMap<u64>,
    leaf: u64,
    /// How many items branches rewound or brought back, and whether that waits for the end of the file.
    rewound_count: usize,
    withholds: bool,
    record_count: usize,
    messages: ActiveMessages<usize>,
    messages_changed: bool,
    /// Notes of a dialect for the next records.
    pub notes: Vec<String>,
    /// Usage that was reported before the items that it includes, and the last total of such reports.
    pub pending_usage: Option<TokenUsage>,
    pub total_usage: Option<TokenUsage>,
    /// That of the records, if the file holds several sessions.
    thread: Option<String>,
    /// The message from which on the user went back.
    pub reverted: Option<String>,
}

pub(crate) fn open<'r, D: Dialect>(reader: Box<dyn Read + 'r>) -> io::Result<Box<dyn Transcript + 'r>> {
    open_with(reader, D::LIST, functions_of::<D>())
}

/// Opens what another reader turned into lines.
pub(crate) fn open_lines<'r, D: Dialect>(lines: Box<dyn Read + 'r>) -> Box<dyn Transcript + 'r> {
    Box::new(TranscriptReader::document_of(lines, session_of(functions_of::<D>())))
}

/// Opens a list of values, or values one after another. Reading never continues in it.
pub(crate) fn open_values<'r, D: Dialect>(mut reader: Box<dyn Read + 'r>) -> io::Result<Box<dyn Transcript + 'r>> {
    let head = head(&mut *reader)?;
    let is_split = D::LIST.is_some() || first_lines(&head).next().is_some_and(|line| line.starts_with(b"["));
    let reader = Cursor::new(head).chain(reader);
    Ok(open_lines::<D>(if is_split {
        Box::new(DocumentLines::new(reader)) as Box<dyn Read + 'r>
    } else {
        Box::new(JoinedLines::new(reader))
    }))
}

pub(crate) fn resume<'r, D: Dialect>(
    reader: Box<dyn Read + 'r>,
    position: &Position,
    window: Vec<u8>,
    state: &[u8],
) -> Option<Box<dyn Transcript + 'r>> {
    let mut resumed = TranscriptReader::<_, Session>::resume(reader, position, window, state)?;
    resumed.records.functions = functions_of::<D>();
    Some(Box::new(resumed))
}

const fn functions_of<D: Dialect>() -> Functions {
    Functions { format: D::FORMAT, session: D::session, folder: D::folder, read: D::read, end: D::end }
}

fn session_of(functions: Functions) -> Session {
    Session { functions, ..Session::default() }
}

fn open_with<'r>(
    mut reader: Box<dyn Read + 'r>,
    list: Option<&str>,
    functions: Functions,
) -> io::Result<Box<dyn Transcript + 'r>> {
    let session = session_of(functions);
    let Some(list) = list else { return Ok(Box::new(TranscriptReader::with(reader, session))) };
    let head = head(&mut *reader)?;
    let first_line = first_lines(&head).next().unwrap_or_default();
    // A log has a complete record in its first line.
    let line = serde_json::from_slice::<Object<'_>>(first_line).ok();
    let value = || serde_json::Deserializer::from_slice(head.trim_ascii_start()).into_iter::<Object<'_>>().next()?.ok();
    let is_log = line.is_some();
    let first = line.or_else(value);
    let is_split = first.as_ref().map_or(!list.is_empty(), |first| first.has(list));
    drop(first);
    let reader: Box<dyn Read + 'r> = Box::new(Cursor::new(head).chain(reader));
    Ok(Box::new(if is_split {
        TranscriptReader::document_of(Box::new(DocumentLines::new(reader)) as Box<dyn Read + 'r>, session)
    } else if is_log {
        TranscriptReader::with(reader, session)
    } else {
        TranscriptReader::document_of(Box::new(JoinedLines::new(reader)) as Box<dyn Read + 'r>, session)
    }))
}

impl RecordReader for Session {
    type Record<'a> = Object<'a>;

    fn certainty(_: &Object<'_>) -> Certainty {
        Certainty::No
    }

    fn is_record(record: &Object<'_>) -> bool {
        record.has("type") || record.has("role")
    }

    fn session(&self, record: &Object<'_>) -> Option<String> {
        (self.functions.session)(record).map(Into::into)
    }

    fn read(&mut self, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let folder = (self.functions.folder)(record).and_then(|folder| header::one_line(&folder, 4096));
        if folder.is_some() && folder != self.folder {
            self.folder = folder;
            self.is_folder_new = true;
        }
        let outcome = (self.functions.read)(self, record, bytes, output);
        self.record_count += 1;
        outcome
    }

    fn end(&mut self, output: &mut Output) {
        (self.functions.end)(self, output);
        if std::mem::take(&mut self.withholds) {
            self.follow(self.leaf, output);
        }
    }
}

impl Session {
    /// Starts the entries of a record; `None` if it was read before with the same content.
    pub(crate) fn begin(&mut self, id: Option<&str>, bytes: &[u8], output: &Output) -> Option<EntryBuilder> {
        let source = match id.filter(|id| !id.is_empty()) {
            Some(id) => self.sources.by_id(id, bytes)?,
            None => match self.sources.count(bytes) {
                1 => RecordSource::content(bytes),
                count => RecordSource::content(&[bytes, format!("\n{count}").as_bytes()].concat()),
            },
        };
        let mut builder = EntryBuilder::new(self.functions.format, source, None, output.end_offset);
        builder.thread.clone_from(&self.thread);
        Some(builder)
    }

    /// Notes which session the next records are of. The first one of a file is the main thread; each other becomes a separate trace,
    /// named like one of a sub-agent.
    pub(crate) fn enter_session(&mut self, id: &str, output: &Output) {
        let is_other = output.session_id.as_ref().is_some_and(|main| main != id);
        self.thread = is_other.then(|| header::thread(id));
    }

    /// Starts the next of several independent conversations, with nothing but the notes of the one before.
    pub(crate) fn next_conversation(&mut self, id: Option<Cow<'_, str>>, output: &mut Output) {
        *self = Self { notes: std::mem::take(&mut self.notes), ..session_of(self.functions) };
        output.conversations += 1;
        output.session_id = id.map(Into::into);
    }

    pub(crate) fn set_model(&mut self, model: Option<Cow<'_, str>>) {
        self.model = model.and_then(|model| header::one_line(&model, 128)).or(self.model.take());
    }

    /// Notes the place of a record in the tree of the session, before its entries are made.
    pub(crate) fn enter(&mut self, id: &str, parent: Option<&str>, output: &mut Output) {
        let (id, parent) = (key(id), parent.map_or(0, key));
        if self.parents.contains_key(&id) {
            return;
        }
        if self.leaf == 0 && parent != 0 {
            // The root may get another child.
            self.parents.insert(parent, 0);
        }
        if self.leaf != 0 && parent != self.leaf && self.parents.contains_key(&parent) {
            // A file may change between branches with every record. Then only the last branch counts.
            self.withholds |= self.rewound_count > MAX_REWOUND * (self.record_count + 16);
            if !self.withholds {
                self.follow(parent, output);
            }
        }
        self.parents.insert(id, parent);
        self.numbers.insert(id, self.record_count as u64);
        self.leaf = id;
    }

    /// Rewinds the messages that are not on the path to a record, and brings back those that are.
    fn follow(&mut self, record: u64, output: &mut Output) {
        let mut path = HashSet::new();
        let mut at = record;
        while path.insert(at)
            && let Some(next) = self.parents.get(&at)
        {
            at = *next;
        }
        let before = output.rewound.len();
        self.messages_changed |= self.messages.set_rewound(|message| !path.contains(&message.key), &mut output.rewound);
        self.rewound_count += output.rewound.len() - before;
    }

    /// The number of a record in the file, from 0.
    pub(crate) fn number_of(&self, id: &str) -> Option<usize> {
        usize::try_from(*self.numbers.get(&key(id))?).ok()
    }

    /// Rewinds the messages from a record on.
    pub(crate) fn rewind_from(&mut self, id: &str, output: &mut Output) {
        let from = self.messages.iter().find(|(_, message)| message.key == key(id)).map(|(index, _)| index);
        if let Some(from) = from {
            self.messages_changed |= self.messages.rewind_from(from, &mut output.rewound);
        }
    }

    /// Adds the summary of a compaction. It replaces the messages before the record with a number, or all.
    pub(crate) fn summary(
        &mut self,
        builder: &mut EntryBuilder,
        text: &str,
        output: &Output,
        first_kept: Option<usize>,
    ) {
        self.summary_of(builder, text, output, |_, number| first_kept.is_some_and(|first| number >= first));
    }

    /// The same; it replaces the messages that are not kept, by the key and the number of their records.
    pub(crate) fn summary_of(
        &mut self,
        builder: &mut EntryBuilder,
        text: &str,
        output: &Output,
        is_kept: impl Fn(u64, usize) -> bool,
    ) {
        builder.add_meta("compact_summary", Some(true));
        if !output.replays_compactions {
            builder.removal = Some(Removal::Compaction);
        }
        let entry = builder.push(dialogue(Role::User), text);
        if output.replays_compactions {
            let items = self.messages.replace(|_, message| is_kept(message.key, message.tag));
            entry.replaces = (!items.is_empty()).then_some(Replaced { items, at_end: false });
        }
        self.messages_changed = true;
    }

    /// Passes the entries of a record on. Without any, content of the record is kept as it is.
    pub(crate) fn finish(
        &mut self,
        mut builder: EntryBuilder,
        kind: &str,
        bytes: &[u8],
        output: &mut Output,
    ) -> Outcome {
        if builder.entries.is_empty() && json::has_content(bytes) {
            builder.push(freeform(kind, Some(Role::User)), bytes);
        }
        builder.group_turn();
        self.finish_in_turn(builder, kind, output)
    }

    /// The same for entries whose turn is known.
    pub(crate) fn finish_in_turn(&mut self, mut builder: EntryBuilder, kind: &str, output: &mut Output) -> Outcome {
        let Some(first) = builder.entries.first_mut() else { return Outcome::Ignored(format!("{kind}/empty")) };
        if std::mem::take(&mut self.messages_changed) {
            first.usage = Usage::Void;
        }
        if std::mem::take(&mut self.is_folder_new)
            && let Some(folder) = &self.folder
        {
            first.draft.fields.meta.insert("folder".to_owned(), folder.as_str().into());
        }
        for answer in builder.entries.iter_mut().filter(|entry| entry.draft.fields.is_result()) {
            answer.draft.fields.meta.retain(|name, _| !matches!(&**name, "model" | "provider"));
        }
        if builder.removal.is_none() {
            let items = builder.entries.iter().map(|entry| entry.id).collect();
            self.messages.push(self.leaf, self.record_count, items);
        }
        output.entries.extend(builder.entries);
        Outcome::Imported
    }
}

/// The key of a record in the tree.
pub(crate) fn key(id: &str) -> u64 {
    hash([&b"message"[..], id.as_bytes()])
}

/// Gives the usage of a request to the last item that the model wrote.
pub(crate) fn add_usage<'e>(
    entries: impl IntoIterator<Item = &'e mut TranscriptEntry, IntoIter: DoubleEndedIterator>,
    usage: TokenUsage,
) {
    if let Some(last) = store_usage(entries, usage) {
        last.usage = Usage::reported(usage.context_tokens());
    }
}

/// The same for the sum of several requests, which is not the size of the context.
pub(crate) fn store_usage<'e>(
    entries: impl IntoIterator<Item = &'e mut TranscriptEntry, IntoIter: DoubleEndedIterator>,
    usage: TokenUsage,
) -> Option<&'e mut TranscriptEntry> {
    let mut entries = entries.into_iter().rev();
    let is_shown = |entry: &TranscriptEntry| entry.removal == Some(Removal::Interface);
    let last = entries.find(|entry| !entry.draft.fields.is_result() && !is_shown(entry));
    let last = last.filter(|_| usage.context_tokens() > 0)?;
    usage.store(&mut last.draft.fields.meta);
    Some(last)
}

pub(crate) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "user" | "human" => Role::User,
        "assistant" | "model" | "agent" | "ai" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "toolResult" => Role::Tool,
        _ => return None,
    })
}
