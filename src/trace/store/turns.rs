//! The place of each live item in the conversation: its turn, its step, and its call.
//!
//! - A turn starts at a prompt of the user. Items before the first prompt belong to the first turn.
//! - A step is one message of the model, with the results of its calls. Items of one `turn` header are one message; without that
//!   header, neighbors are. Any other item belongs to the step before it.
//! - A summary is a message of the user, so it starts a turn.
//! - Items that are left out of the context start nothing.

use std::collections::HashMap;

use crate::git::Repo;
use crate::trace::model::calls::Calls;
use crate::trace::model::item::Role;
use crate::trace::model::types::own_role;
use crate::trace::{Item, ItemId, ItemType, TraceError, TraceName, View};

/// How texts begin that an agent adds in the user's name.
const WRAPPERS: [&str; 7] = [
    "<local-command",
    "<command-",
    "<bash-",
    "<task-notification",
    "<system-reminder",
    "<environment_context",
    "<user_instructions",
];

/// The place of one item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// From 1.
    pub turn: usize,
    /// From 1; 0 before the first message of the model.
    pub step: usize,
    /// The number of the call that it is or answers.
    pub call: Option<usize>,
}

/// The places of all live items, in reading order.
#[derive(Default, Debug)]
pub(crate) struct Turns {
    places: Vec<Place>,
    prompts: usize,
    steps: usize,
    calls: Calls,
    step_of_message: HashMap<String, usize>,
    step_of_call: HashMap<usize, usize>,
    /// The steps of results, for the images in them.
    step_of_result: HashMap<ItemId, usize>,
    /// Whether the last item was of a message of the model without a `turn` header.
    in_message: bool,
    /// The `turn` header of the last prompt, because a message may have several texts.
    prompt: Option<String>,
}

impl Turns {
    /// Reads all live items of a view.
    pub(crate) fn of_view(repo: &Repo, view: &View) -> Result<Self, TraceError> {
        let mut turns = Self::default();
        view.for_each_item(repo, |slot, reading| {
            turns.add(&reading.item, view.left_out(slot).is_some());
            Ok(())
        })?;
        Ok(turns)
    }

    /// Adds the next item in reading order. Returns its index.
    pub(crate) fn add(&mut self, item: &Item, is_left_out: bool) -> usize {
        let mut place = Place { turn: self.prompts.max(1), step: self.steps, call: None };
        if !is_left_out {
            if self.starts_turn(item) {
                self.prompts += 1;
                place.turn = self.prompts;
            }
            place.call = self.calls.number_of(item);
            place.step = self.step_of(item, place.call);
        }
        self.places.push(place);
        self.places.len() - 1
    }

    fn starts_turn(&mut self, item: &Item) -> bool {
        if !is_prompt(item) {
            return false;
        }
        let continues = item.fields.turn.is_some() && item.fields.turn == self.prompt;
        self.prompt.clone_from(&item.fields.turn);
        !continues
    }

    fn step_of(&mut self, item: &Item, call: Option<usize>) -> usize {
        let fields = &item.fields;
        let replied = || self.step_of_result.get(&fields.reply_to?).copied();
        let of_message = fields.turn.as_ref().and_then(|message| self.step_of_message.get(message)).copied();
        if is_of_model(item) || of_message.is_some() {
            let known = of_message.or((self.in_message && fields.turn.is_none()).then_some(self.steps));
            self.steps += usize::from(known.is_none());
            let step = known.unwrap_or(self.steps);
            self.step_of_message.extend(fields.turn.clone().map(|message| (message, step)));
            self.step_of_call.extend(call.map(|call| (call, step)));
            self.in_message = fields.turn.is_none();
            return step;
        }
        self.in_message = false;
        let answered = call.and_then(|call| self.step_of_call.get(&call)).copied();
        let step = answered.or_else(replied).unwrap_or(self.steps);
        if fields.is_result() {
            self.step_of_result.insert(item.id, step);
        }
        step
    }

    /// The place of the item at an index in reading order.
    pub(crate) fn place(&self, index: usize) -> Place {
        self.places[index]
    }

    /// The number of steps after that of the item at an index. The newest step has age 0.
    pub(crate) fn age(&self, index: usize) -> usize {
        self.steps - self.places[index].step
    }

    /// The turn that a user names, from 1. A negative number counts from the end.
    pub(crate) fn number(&self, turn: i64, trace: &TraceName) -> Result<usize, TraceError> {
        let count = self.count();
        let from_start = if turn < 0 { turn + 1 + i64::try_from(count).unwrap_or(i64::MAX) } else { turn };
        let number = usize::try_from(from_start).ok().filter(|number| (1..=count).contains(number));
        number.ok_or_else(|| TraceError::NoSuchTurn { turn, count, trace: trace.clone() })
    }

    /// The number of turns; 0 without items.
    pub(crate) fn count(&self) -> usize {
        self.places.last().map_or(0, |place| place.turn)
    }

    /// The number of messages of the model.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Whether a call has a result.
    pub(crate) fn is_answered(&self, call: usize) -> bool {
        self.calls.is_answered(call)
    }
}

fn is_of_model(item: &Item) -> bool {
    own_role(&item.fields) == Some(Role::Assistant) || item.fields.item_type == ItemType::reasoning()
}

/// Whether an item is text that the user wrote for the model.
pub(crate) fn is_prompt(item: &Item) -> bool {
    let fields = &item.fields;
    let by_user = fields.item_type == ItemType::dialogue() && own_role(fields) == Some(Role::User);
    let is_meta = fields.meta.get("is_meta").is_some_and(|flag| flag == true);
    by_user && !is_meta && !WRAPPERS.iter().any(|wrapper| item.body.trim_ascii_start().starts_with(wrapper.as_bytes()))
}
