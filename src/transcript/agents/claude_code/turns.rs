//! The turns of a session's main thread and the messages of all threads: what a rewind removed, and what a compaction replaces.
//!
//! A turn is a user's prompt and everything up to the next. Each record names its parent, so a turn that starts at an earlier
//! record than the last one removes the turns between. A fork within a turn, as parallel calls create them, removes
//! nothing, nor does an unknown parent, as in a file that lost a line.
//!
//! A plan that the user accepts may clear the context: the agent sends it as a prompt that follows nothing. It replaces the messages
//! before it, as a compaction does.
//!
//! A file whose turns alternate between two branches rewinds half of its messages each time, and each is a commit. Once there were
//! more of them than [`ALLOWANCE`] admits, only the outcome counts, at the end of the file, so that the work stays linear.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::records::{Block, Compaction, Preserved, Record};
use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::active::ActiveMessages;
use crate::transcript::read::active::Rewound;
use crate::transcript::read::builder::hash;
use crate::transcript::read::packed::HashedMap;
use crate::transcript::read::{json, packed};

/// How many messages may be rewound and brought back: a number, and as many again per record. Real sessions need a tenth.
const ALLOWANCE: (usize, usize) = (1024, 4);

/// The tool that proposes a plan, and how the prompt begins that the agent makes of it.
const PLAN: (&str, &str) = ("ExitPlanMode", "Implement the following plan:");

/// How many messages may be compared for the price of one that is rewound.
const COMPARED: usize = 64;

#[derive(Serialize, Deserialize)]
pub(super) struct Turns {
    /// The turn of each record, by the hash of its uuid.
    #[serde(with = "packed")]
    of_record: HashedMap<u64>,
    /// The turns so far. The first one represents everything before the first prompt.
    #[serde(with = "packed_turns")]
    all: Vec<Turn>,
    last: usize,
    threads: BTreeMap<String, Thread>,
    /// The part of the allowance that is used up.
    #[serde(default)]
    spent: usize,
    /// Whether a plan was proposed in the main thread.
    #[serde(default)]
    has_plan: bool,
    /// Whether the last record is a plan that clears the context.
    #[serde(skip)]
    pub(super) clears_context: bool,
    /// Whether turns changed since [`Self::update_rewound`].
    #[serde(skip)]
    is_stale: bool,
    /// The outcome of the changes that were not passed on.
    #[serde(skip)]
    withheld: Rewound,
}

#[derive(Default)]
struct Turn {
    previous: usize,
    rewound: bool,
}

/// Each turn as its previous one times two, plus whether it was rewound.
mod packed_turns {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Turn;
    use crate::transcript::read::packed::Numbers;

    pub(super) fn serialize<S: Serializer>(turns: &[Turn], serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = turns.iter().map(|turn| (turn.previous as u64) << 1 | u64::from(turn.rewound));
        Numbers(numbers.collect()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Turn>, D::Error> {
        let Numbers(numbers) = Numbers::deserialize(deserializer)?;
        let previous = |number: u64| usize::try_from(number >> 1).unwrap_or_default();
        let turn = |number: u64| Turn { previous: previous(number), rewound: number & 1 == 1 };
        Ok(numbers.into_iter().map(turn).collect())
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Thread {
    /// Each with its turn. The key is that of its record.
    messages: ActiveMessages<usize>,
    /// The first and last record that the announced compaction preserves.
    preserved: Option<(u64, u64)>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            of_record: HashedMap::default(),
            all: vec![Turn::default()],
            last: 0,
            threads: BTreeMap::new(),
            spent: 0,
            has_plan: false,
            clears_context: false,
            is_stale: false,
            withheld: Rewound::new(),
        }
    }
}

impl Turns {
    /// Adds a record of the main thread; a repeated one changes nothing. Returns whether it removed or brought back messages.
    pub(super) fn add_record(
        &mut self,
        record: &Record<'_>,
        content: Option<&RawValue>,
        rewound: &mut Rewound,
    ) -> bool {
        let Some(uuid) = key(record.uuid) else { return false };
        if self.of_record.contains_key(&uuid) {
            return false;
        }
        let known = key(record.parent.or(record.logical_parent)).map(|parent| self.turn_of(parent));
        let compacts = json::is_true(record.is_compact_summary)
            || record.subtype.and_then(json::text).is_some_and(|subtype| subtype == "compact_boundary");
        let previous = match known {
            Some(turn) => turn.unwrap_or(self.last),
            None if compacts => self.last,
            None => 0,
        };
        let (mut turn, mut changed) = (previous, false);
        self.clears_context = false;
        if is_prompt(record, content) {
            turn = self.all.len();
            let is_plan = || content.and_then(json::text).is_some_and(|text| text.starts_with(PLAN.1));
            self.clears_context = self.has_plan && previous == 0 && turn > 1 && is_plan();
            let previous = if self.clears_context { turn - 1 } else { previous };
            self.all.push(Turn { previous, ..Turn::default() });
            if previous != turn - 1 {
                changed = self.leave_turns(rewound);
            }
        }
        self.of_record.insert(uuid, turn as u64);
        self.last = turn;
        changed
    }

    /// Passes on what the newest turn rewinds and brings back, if the allowance admits it. Returns whether there may be something.
    fn leave_turns(&mut self, rewound: &mut Rewound) -> bool {
        self.is_stale = true;
        let allowance = ALLOWANCE.0 + ALLOWANCE.1 * self.of_record.len();
        let compared = self.messages().len() / COMPARED;
        if self.spent + compared > allowance {
            return true;
        }
        self.update_rewound();
        let changed = !self.withheld.is_empty();
        self.spent += compared;
        if self.spent + self.withheld.len() <= allowance {
            self.spent += self.withheld.len();
            self.pass_on(rewound);
        }
        changed
    }

    /// Passes on what was withheld.
    pub(super) fn pass_on(&mut self, rewound: &mut Rewound) {
        self.update_rewound();
        rewound.extend(self.withheld.drain());
    }

    /// Whether the trace does not have the messages that the model sees now.
    pub(super) fn withholds(&self) -> bool {
        self.is_stale || !self.withheld.is_empty()
    }

    fn turn_of(&self, record: u64) -> Option<usize> {
        self.of_record.get(&record).and_then(|turn| usize::try_from(*turn).ok()).filter(|turn| *turn < self.all.len())
    }

    /// Marks the turns that the newest one does not follow, and their messages.
    fn update_rewound(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let mut turn = self.all.len() - 1;
        self.all[1..].iter_mut().for_each(|turn| turn.rewound = true);
        // The previous turn has a smaller number, so this ends.
        while turn > 0 {
            self.all[turn].rewound = false;
            turn = self.all[turn].previous.min(turn - 1);
        }
        let main = self.threads.entry(String::new()).or_default();
        let is_rewound = |turn: usize| self.all.get(turn).is_some_and(|turn| turn.rewound);
        main.messages.set_rewound(|message| is_rewound(message.tag), &mut self.withheld);
    }

    fn messages(&mut self) -> &mut ActiveMessages<usize> {
        &mut self.thread(None).messages
    }

    fn thread(&mut self, thread: Option<&str>) -> &mut Thread {
        self.threads.entry(thread.unwrap_or_default().to_owned()).or_default()
    }

    /// Reads the metadata of a compaction, which precedes its summary.
    pub(super) fn announce(&mut self, thread: Option<&str>, compaction: &RawValue) {
        let preserved = json::view_of::<Compaction<'_>>(compaction).preserved.map(json::view_of::<Preserved<'_>>);
        self.thread(thread).preserved = preserved.and_then(|range| Some((key(range.head)?, key(range.tail)?)));
    }

    /// The summary, an entry, replaces all active messages of its thread except the preserved ones.
    pub(super) fn replace(&mut self, summary: &mut TranscriptEntry, rewound: &mut Rewound) {
        self.update_rewound();
        let Thread { messages, preserved } = self.thread(summary.thread.as_deref());
        let preserved = preserved.take().and_then(|(head, tail)| {
            let (start, _) = messages.iter().find(|(_, message)| message.key == head)?;
            let (end, _) = messages.iter().rfind(|(_, message)| message.key == tail)?;
            Some(start..=end)
        });
        let is_preserved = |index| preserved.as_ref().is_some_and(|range| range.contains(&index));
        let items = messages.replace(|index, _| is_preserved(index));
        rewound.extend(items.iter().filter_map(|item| self.withheld.remove_entry(item)));
        if !items.is_empty() {
            summary.replaces = Some(Replaced { items, at_end: false });
        }
    }

    /// Adds the entries that the model sees of a record.
    pub(super) fn add_entries(&mut self, record: &Record<'_>, entries: &[TranscriptEntry], rewound: &mut Rewound) {
        self.has_plan |= entries.iter().any(|entry| entry.draft.fields.name.as_deref() == Some(PLAN.0));
        let items: Vec<ItemId> = entries.iter().filter(|entry| entry.removal.is_none()).map(|entry| entry.id).collect();
        if let Some(first) = entries.first().filter(|_| !items.is_empty()) {
            let record = key(record.uuid);
            let in_turn = || record.and_then(|record| self.turn_of(record)).unwrap_or(self.last);
            let turn = if first.thread.is_none() { in_turn() } else { 0 };
            let is_rewound = self.all.get(turn).is_some_and(|turn| turn.rewound);
            let messages = &mut self.thread(first.thread.as_deref()).messages;
            messages.push(record.unwrap_or_default(), turn, items).set_rewound(is_rewound, rewound);
        }
    }
}

fn key(uuid: Option<&RawValue>) -> Option<u64> {
    Some(hash([&b"uuid"[..], json::member_text(uuid)?.as_bytes()]))
}

/// Whether a record is the user's own prompt: neither added by the agent on their behalf, nor a tool's result.
fn is_prompt(record: &Record<'_>, content: Option<&RawValue>) -> bool {
    let by_user = record.kind.and_then(json::text).is_some_and(|kind| kind == "user");
    let added = [record.is_meta, record.is_compact_summary].into_iter().any(json::is_true);
    let answers = content.is_some_and(|content| {
        let blocks = json::list(content).unwrap_or_default();
        blocks.into_iter().any(|block| json::view_of::<Block<'_>>(block).call_id.is_some())
    });
    by_user && !added && content.is_some() && !answers
}
