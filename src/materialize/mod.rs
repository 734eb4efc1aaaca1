//! Items to messages.
//!
//! - Types stand in their order: instructions are joined into one system message, which comes first.
//! - Neighbours of the same type, role and name are joined with a blank line between, where their type and they themselves let
//!   them; tool items, artifacts and signed reasoning never are.
//! - Blocks of one turn are put back into one message, where the first of them stands; a tool's result is always a message
//!   of its own.
//! - A cut keeps what is pinned, and never a call without its result; see [`cut`].
//! - A thought's signature holds as long as nothing before it changed; see [`prefix`].
//!
//! Same items, same messages: nothing here looks at a clock, and an edit late in the trace leaves the messages before it as
//! they were (an instruction excepted, which joins the first one). What else materializing may do is for a [`Materializer`]
//! to say.

pub(crate) mod bisect;
pub(crate) mod command;
pub(crate) mod cut;
pub(crate) mod envelope;
mod join;
mod materializer;
mod order;
mod piece;
pub(crate) mod prefix;

use std::collections::HashMap;

use crate::base::error::Diagnostic;
use crate::git::Repo;
use crate::message::Message;
use crate::message::anthropic::CacheMarks;
use crate::message::change::Place;
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::file::BadItemFile;
use crate::trace::model::item::{ItemType, Role};
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceError};
pub use cut::{Cut, OverBudget};
pub use join::{Join, Joined, Piece};
pub use materializer::Materializer;

/// Why a trace did not become messages.
#[derive(Debug, thiserror::Error)]
pub enum MaterializeError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// What may not be cut is more than the budget.
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

/// The built-in materializer: what may be chosen of it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// One message an item, in reading order, in place of joining.
    pub one_message_an_item: bool,
    /// Put a line before the text of items that were edited.
    pub edit_markers: bool,
    /// Roles for types, in place of their own.
    pub roles: HashMap<ItemType, Role>,
    /// What to leave out for want of room.
    pub cut: Cut,
}

/// A trace's messages, oldest first, and what stayed out of them.
#[derive(Debug, Default)]
pub struct Materialized {
    /// The messages.
    pub messages: Vec<Message>,
    /// The items behind each block of each message, in order.
    pub items: Vec<Vec<Vec<ItemId>>>,
    /// How many of the first messages hold pinned items only.
    pub pinned_messages: usize,
    /// Items of which only the subject line is left, in reading order.
    pub shortened: Vec<ItemId>,
    /// Live items that were left out, in reading order.
    pub left_out: Vec<Omission>,
    /// Item files that are damaged and were taken as they stand: path and cause.
    pub damaged: Vec<(String, BadItemFile)>,
}

/// A live item that was left out.
#[derive(Clone, Debug)]
pub struct Omission {
    /// The item.
    pub item: ItemId,
    /// Its position.
    pub seq: u32,
    /// Its type.
    pub item_type: ItemType,
    /// `skip`, `superseded`, `budget` or `older`.
    pub why: &'static str,
    /// The reason given with the priority.
    pub reason: Option<String>,
    /// Tokens it would have cost.
    pub tokens: u64,
}

impl Materialized {
    /// The exact cost of the messages as a request.
    #[must_use]
    pub fn request_tokens(&self, encoding: Encoding) -> u64 {
        PER_REPLY + self.messages.iter().map(|message| message.cost(encoding)).sum::<u64>()
    }

    /// The items behind a block.
    #[must_use]
    pub fn items_at(&self, place: Place) -> &[ItemId] {
        self.items.get(place.message).and_then(|blocks| blocks.get(place.block)).map_or(&[], Vec::as_slice)
    }

    /// Where up to `count` cache marks go.
    #[must_use]
    pub fn cache_marks(&self, count: usize) -> CacheMarks {
        CacheMarks { count, pinned_messages: self.pinned_messages }
    }
}

/// Turns what a view shows into messages, as the built-in materializer does. Reads every live item once, and nothing else.
///
/// # Errors
///
/// [`crate::git::GitError::MissingObject`] and its kin; [`OverBudget`] has both figures.
pub fn materialize(
    repo: &Repo,
    view: &View,
    options: &Options,
    encoding: Encoding,
) -> Result<Materialized, MaterializeError> {
    options.materialize(repo, view, &options.cut, encoding)
}
