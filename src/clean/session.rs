//! A conversation as cleaning sees it: its items with their steps and calls, and how they relate to later ones.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::roles::{self, Call, Role};
use super::stub::is_cut;
use crate::git::Repo;
use crate::message::{Role as Speaker, Status};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::first_words;
use crate::trace::store::total::item_cost;
use crate::trace::store::turns::{Place, Turns};
use crate::trace::{Item, ItemEntry, ItemId, TraceError, View};

/// How the results of calls begin that the user refused or interrupted.
const USERS_WORDS: [&str; 8] = [
    "The user doesn't want to",
    "The user declined",
    "The user rejected",
    "User rejected",
    "User declined",
    "[Request interrupted by user",
    "[Operation Cancelled]",
    "aborted by user",
];

/// Why a read is not the newest if a later read covers it.
pub(super) const READ_LATER: &str = "read again later";

static REMINDER: LazyLock<(Finder<'static>, Finder<'static>)> =
    LazyLock::new(|| (Finder::new("<system-reminder>"), Finder::new("</system-reminder>")));

/// The items of a trace that are in the context.
pub(crate) struct Session {
    pub(crate) entries: Vec<Entry>,
    pub(crate) counter: Counter,
    /// The number of turns.
    pub(super) turns: usize,
}

/// An item, and what cleaning must know of it.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct Entry {
    pub(crate) slot: ItemEntry,
    /// Boxed, because entries move.
    pub(crate) item: Box<Item>,
    pub(crate) place: Place,
    /// The number of steps after that of the item.
    pub(crate) age: usize,
    /// Counted, with those of its message.
    pub(crate) tokens: u64,
    /// The call that it is or answers.
    pub(super) call: Rc<Call>,
    /// Whether it is the result of a call that the user refused or interrupted.
    is_users_words: bool,
    /// Whether nobody may change it here: it is pinned, or a call without a result.
    pub(super) is_fixed: bool,
    /// Whether no preset may cut it.
    pub(super) is_protected: bool,
    /// A later result with its name and bytes.
    pub(super) duplicate: Option<ItemId>,
    /// Why a read is not the newest.
    pub(super) stale: Option<&'static str>,
    pub(super) is_edited_later: bool,
    /// Whether it is an error, or the call of one, and the target succeeded later.
    pub(super) is_resolved: bool,
    /// The reminders in its body, and whether each is repeated later.
    pub(super) reminders: Vec<(Range<usize>, bool)>,
    /// Whether it is an attachment of the agent that is repeated later.
    pub(super) is_repeated: bool,
}

impl Session {
    /// Reads every live item. Items that are left out of the context have no tokens here.
    pub(crate) fn read(repo: &Repo, view: &View, counter: Counter) -> Result<Self, TraceError> {
        let mut turns = Turns::default();
        let mut calls: HashMap<usize, Rc<Call>> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::with_capacity(view.slots.len());
        let mut indexes = Vec::with_capacity(view.slots.len());
        view.for_each_item(repo, |slot, reading| {
            let item = reading.item;
            let is_left_out = view.left_out(slot).is_some();
            let index = turns.add(&item, is_left_out);
            if is_left_out {
                return Ok(());
            }
            let place = turns.place(index);
            let unknown = || Rc::new(Call::unknown(item.fields.name.as_deref()));
            let call = match place.call {
                Some(number) if item.fields.is_call() => {
                    calls.entry(number).insert_entry(Rc::new(Call::of(&item))).get().clone()
                }
                Some(number) => calls.get(&number).cloned().unwrap_or_else(unknown),
                None => unknown(),
            };
            indexes.push(index);
            entries.push(Entry {
                slot: slot.clone(),
                place,
                age: 0,
                tokens: item_cost(&item, counter),
                call,
                is_users_words: item.fields.is_result() && is_users_words(&item),
                is_fixed: view.level(slot).level() == Level::Pinned || reading.damage.is_some(),
                is_protected: false,
                duplicate: None,
                stale: None,
                is_edited_later: false,
                is_resolved: false,
                reminders: reminders(&item),
                is_repeated: false,
                item: Box::new(item),
            });
            Ok(())
        })?;
        for (entry, index) in entries.iter_mut().zip(indexes) {
            entry.age = turns.age(index);
            entry.is_fixed |=
                entry.item.fields.is_call() && entry.place.call.is_none_or(|call| !turns.is_answered(call));
        }
        let mut session = Self { entries, counter, turns: turns.count() };
        session.relate_files();
        session.relate_outcomes();
        session.relate_repetitions();
        session.protect();
        Ok(session)
    }

    /// The tokens of the context: each item as a separate message.
    pub(crate) fn tokens(&self) -> u64 {
        PER_REPLY + self.entries.iter().map(|entry| entry.tokens).sum::<u64>()
    }

    /// Reads and later changes of the same file, from the end.
    fn relate_files(&mut self) {
        #[derive(Default)]
        struct Later {
            /// The ranges of later reads, without those that one of these covers.
            read: Vec<roles::Range>,
            edited: bool,
            written: bool,
        }
        let mut files: HashMap<String, Later> = HashMap::new();
        for entry in self.entries.iter_mut().rev().filter(|entry| entry.is_success()) {
            let mut stale = Vec::new();
            for (path, range) in &entry.call.files {
                let later = files.entry(path.clone()).or_default();
                match entry.call.role {
                    Role::Read => {
                        entry.is_edited_later |= later.edited || later.written;
                        let why = if later.written {
                            Some("file written later")
                        } else {
                            later.read.iter().any(|later| later.covers(*range)).then_some(READ_LATER)
                        };
                        if why.is_none() {
                            later.read.retain(|later| !range.covers(*later));
                            later.read.push(*range);
                        }
                        stale.push(why);
                    }
                    Role::Write => later.written = true,
                    _ => later.edited = true,
                }
            }
            // One result holds all files: it is stale if each of them is.
            entry.stale = stale.into_iter().reduce(Option::and).flatten();
        }
    }

    /// Errors and later successes on the same target, from the end.
    fn relate_outcomes(&mut self) {
        let mut succeeded: HashSet<String> = HashSet::new();
        let mut resolved: HashMap<usize, bool> = HashMap::new();
        for entry in self.entries.iter_mut().rev() {
            if entry.is_success() {
                succeeded.insert(entry.call.target.clone());
            } else if entry.is_error() {
                entry.is_resolved = succeeded.contains(&entry.call.target);
                resolved.extend(entry.place.call.map(|call| (call, entry.is_resolved)));
            } else if entry.item.fields.is_call()
                && let Some(is_resolved) = entry.place.call.and_then(|call| resolved.get(&call))
            {
                entry.is_resolved = *is_resolved;
                // The call of an unresolved error explains it.
                entry.is_protected |= !is_resolved;
            }
        }
    }

    /// Results, reminders, and attachments whose bytes occur again later, from the end.
    fn relate_repetitions(&mut self) {
        let mut reminders: HashSet<blake3::Hash> = HashSet::new();
        for entry in self.entries.iter_mut().rev() {
            for (range, is_repeated) in entry.reminders.iter_mut().rev() {
                let key = blake3::hash(&entry.item.body[range.clone()]);
                *is_repeated = !reminders.insert(key);
            }
        }
        let mut later = HashMap::new();
        let mut copies = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().rev() {
            let fields = &entry.item.fields;
            let is_attachment = entry.is_attachment();
            let name = match is_attachment {
                true => fields.name.as_deref().unwrap_or_default(),
                false if fields.is_result() && !is_cut(&entry.item) => entry.call.name.as_str(),
                false => continue,
            };
            // What `reminders` leaves, so that a second run finds no more duplicates.
            let left = entry.without_reminders().filter(|text| !is_attachment && !text.is_empty());
            let body = blake3::hash(left.as_deref().unwrap_or(&entry.item.body));
            match later.entry((is_attachment, name, body)) {
                Occupied(newest) => copies.push((index, *newest.get())),
                Vacant(place) => _ = place.insert(entry.slot.id),
            }
        }
        for (index, newest) in copies {
            let entry = &mut self.entries[index];
            if entry.is_attachment() {
                entry.is_repeated = true;
            } else {
                entry.duplicate = Some(newest);
            }
        }
    }

    fn protect(&mut self) {
        let mut users: HashSet<usize> = HashSet::new();
        for entry in &mut self.entries {
            users.extend(entry.place.call.filter(|_| entry.is_users_words));
            let is_unresolved = entry.is_error() && !entry.is_resolved;
            let is_kept = entry.place.call.is_some() && entry.call.role == Role::Keep;
            let is_summary =
                ["stands_for", "compact_summary"].iter().any(|key| entry.item.fields.meta.contains_key(*key));
            let is_said = matches!(entry.slot.item_type.as_str(), "instruction" | "dialogue" | "output");
            entry.is_protected |=
                entry.is_fixed || is_unresolved || is_kept || is_summary || is_said || is_cut(&entry.item);
        }
        for entry in &mut self.entries {
            entry.is_protected |= entry.place.call.is_some_and(|call| users.contains(&call));
        }
    }
}

impl Entry {
    fn is_success(&self) -> bool {
        let fields = &self.item.fields;
        fields.is_result() && fields.status.is_none_or(|status| status == Status::Ok) && !self.is_users_words
    }

    pub(super) fn is_error(&self) -> bool {
        self.item.fields.is_result() && self.item.fields.status.is_some_and(|status| status != Status::Ok)
    }

    /// Whether it is the result of a successful read.
    pub(super) fn is_read(&self) -> bool {
        self.is_success() && self.call.role == Role::Read
    }

    /// Whether it is a successful read whose lines no later read has, of a file that was not written anew.
    pub(super) fn is_newest_read(&self) -> bool {
        self.is_read() && self.stale.is_none()
    }

    /// The media type of an image.
    pub(super) fn image(&self) -> Option<&str> {
        let fields = &self.item.fields;
        let media_type = fields.media_type.as_deref().filter(|_| self.slot.item_type.as_str() == "artifact")?;
        media_type.starts_with("image/").then_some(media_type)
    }

    /// Whether an agent added it to the conversation, not the user.
    pub(super) fn is_attachment(&self) -> bool {
        let fields = &self.item.fields;
        let is_agents = fields.source.as_ref().is_some_and(|source| source.format() == "claude-code");
        is_agents
            && self.slot.item_type.as_str() == "freeform"
            && fields.role == Some(Speaker::User)
            && fields.reply_to.is_none()
    }

    /// The text without the reminders that occur again later, if it has such.
    pub(super) fn without_reminders(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut at = 0;
        for (range, _) in self.reminders.iter().filter(|(_, is_repeated)| *is_repeated) {
            text.extend_from_slice(&self.item.body[at..range.start]);
            at = range.end;
        }
        if at == 0 {
            return None;
        }
        text.extend_from_slice(&self.item.body[at..]);
        text.truncate(text.trim_ascii_end().len());
        Some(text)
    }

    /// The name of its tool, if it is a call or a result.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.place.call.map(|_| self.call.name.as_str())
    }

    /// Its subject on one line: a path, a command, or its first words.
    pub(crate) fn target(&self) -> String {
        match self.place.call {
            Some(_) => self.call.label.clone(),
            None => first_words(&self.item.body),
        }
    }
}

fn is_users_words(item: &Item) -> bool {
    USERS_WORDS.iter().any(|words| item.body.trim_ascii_start().starts_with(words.as_bytes()))
}

/// The reminders that an agent added to a result, or to what the user said.
fn reminders(item: &Item) -> Vec<(Range<usize>, bool)> {
    let fields = &item.fields;
    let is_users = fields.item_type.as_str() == "dialogue" && fields.role.is_none_or(|role| role == Speaker::User);
    let mut found = Vec::new();
    let mut at = 0;
    while (is_users || fields.is_result())
        && let Some(start) = REMINDER.0.find(&item.body[at..])
        && let Some(end) = REMINDER.1.find(&item.body[at + start..])
    {
        let start = at + start;
        at = start + end + REMINDER.1.needle().len();
        found.push((start..at, false));
    }
    found
}
