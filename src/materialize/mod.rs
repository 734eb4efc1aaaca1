//! Converts a trace's items to messages.
//!
//! - Item types are ordered: instructions are joined into one system message, which comes first.
//! - Adjacent items of the same type, role, and name are joined with a blank line between them, if their type and the items allow
//!   it; tool items, artifacts, and signed reasoning are never joined.
//! - The blocks of one turn form one message, at the position of the first; a tool result is always its own message.
//! - A cut keeps pinned items, and never separates a call from its result; see [`cut`].
//! - A signature of reasoning is valid as long as nothing before it changed; see [`prefix`].
//!
//! The same items always yield the same messages. An edit late in the trace leaves the earlier messages unchanged, except for
//! an instruction, which belongs to the first one. A [`Materializer`] can change the rules.

pub(crate) mod bisect;
pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod cut;
pub(crate) mod envelope;
mod join;
mod materializer;
mod piece;
mod prefix;

use std::collections::HashMap;
use std::io;

use serde::{Serialize, Serializer};

use crate::base::error::Diagnostic;
use crate::git::Repo;
use crate::message::adjustment::{Adjustment, BlockPosition};
use crate::message::anthropic::CacheMarks;
use crate::message::{self, Api, Message};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::item_file::BadItemFile;
use crate::trace::store::view::View;
use crate::trace::{ItemId, Trace, TraceError};
pub use cut::Cut;
pub(crate) use cut::OverBudget;
pub use join::Join;
pub use materializer::Materializer;
use piece::Gathered;

/// Why a trace could not be converted to messages.
#[derive(Debug, thiserror::Error)]
pub enum MaterializeError {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The pinned items exceed the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
}

impl Diagnostic for MaterializeError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Trace(error) => Some(error),
            Self::OverBudget(_) => None,
        }
    }
}

/// The options of the built-in materializer.
///
/// The default joins items, marks no edits, keeps all roles, and cuts nothing.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Make one message per item, in trace order, instead of joining items.
    pub one_message_an_item: bool,
    /// Put a line before the text of each edited item.
    pub edit_markers: bool,
    /// Roles that replace those of item types.
    pub roles: HashMap<ItemType, Role>,
    /// What to omit to save tokens.
    pub cut: Cut,
}

/// A trace's messages, and the items that they omit.
#[derive(Debug, Default)]
pub struct Materialized {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// The items of each block of each message.
    pub items: Vec<Vec<Vec<ItemId>>>,
    /// How many of the first messages contain only pinned items.
    pub pinned_messages: usize,
    /// Items that are shortened to their subject, in trace order.
    pub shortened: Vec<ItemId>,
    /// Live items that are omitted, in trace order.
    pub left_out: Vec<Omission>,
    /// Damaged item files, whose content is used unchanged: path and cause.
    pub damaged: Vec<(String, BadItemFile)>,
}

/// A live item that the messages omit.
#[derive(Clone, Debug, Serialize)]
pub struct Omission {
    /// The item.
    #[serde(rename = "id")]
    pub item: ItemId,
    /// The reason recorded with the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its position.
    pub seq: u32,
    /// The tokens that it would add.
    pub tokens: u64,
    /// Its type.
    #[serde(rename = "type", serialize_with = "type_name")]
    pub item_type: ItemType,
    /// `skip`, `superseded`, `budget`, or `older`.
    pub why: &'static str,
}

fn type_name<S: Serializer>(item_type: &ItemType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(item_type.as_str())
}

/// The body of a provider's request.
#[derive(Clone, Debug)]
pub struct Request {
    /// A JSON object with the messages, and with the system text where the API has it apart.
    pub body: Vec<u8>,
    /// The blocks that could not be sent unchanged: their items, the change, and its reason.
    pub changes: Vec<(Vec<ItemId>, &'static str)>,
}

impl Trace<'_> {
    /// Converts the live items to messages as they are now, with the built-in rules and without a cut.
    pub fn materialize(&self) -> Result<Materialized, MaterializeError> {
        materialize(self.repo(), &self.view()?, &Options::default(), self.counter()?)
    }
}

impl Materialized {
    /// Writes the messages as a request for an API.
    pub fn request(&self, api: Api) -> io::Result<Request> {
        let mut body = Vec::new();
        let adjustments = message::write(api, &self.messages, self.cache_marks(0), &mut body)?;
        let change = |at: &Adjustment| (self.items_at(at.position).to_vec(), at.reason.describe());
        Ok(Request { body, changes: adjustments.iter().map(change).collect() })
    }

    /// The tokens of the messages as a request.
    #[must_use]
    pub fn request_tokens(&self, counter: Counter) -> u64 {
        PER_REPLY + self.messages.iter().map(|message| message.cost(counter)).sum::<u64>()
    }

    pub(crate) fn items_at(&self, position: BlockPosition) -> &[ItemId] {
        self.items.get(position.message).and_then(|blocks| blocks.get(position.block)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn cache_marks(&self, count: usize) -> CacheMarks {
        CacheMarks { count, pinned_messages: self.pinned_messages }
    }
}

/// Converts the items of a view to messages, by the built-in rules ([`Options`]) or those of another [`Materializer`].
///
/// Reads every live item once. Skipped and superseded items are omitted, and listed in [`Materialized::left_out`].
/// [`Materialized::request_tokens`] counts the result, and [`crate::messages::write`] writes it as JSON.
///
/// # Errors
///
/// [`MaterializeError::Trace`] if an object is missing or unreadable, [`MaterializeError::OverBudget`] if the pinned items
/// exceed the budget.
pub fn materialize(
    repo: &Repo,
    view: &View,
    materializer: &dyn Materializer,
    counter: Counter,
) -> Result<Materialized, MaterializeError> {
    let mut gathered = piece::gather(materializer, repo, view, counter)?;
    let shortened = gathered.shortened();
    join::sort(&mut gathered.pieces);
    let joined = join::join(materializer, gathered.pieces);
    let pinned_messages = joined.iter().take_while(|joined| joined.pinned).count();
    let (messages, items) = joined.into_iter().map(|joined| (joined.message, joined.items)).unzip();
    let Gathered { left_out, damaged, .. } = gathered;
    Ok(Materialized { messages, items, pinned_messages, shortened, left_out, damaged })
}
