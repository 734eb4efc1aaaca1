//! Items to messages.
//!
//! - Instructions are joined into one system message, which comes first.
//! - Neighbours of the same type, role and name are joined with a blank line between; tool items, artifacts and signed
//!   reasoning never are.
//! - Blocks of one turn are put back into one message, where the first of them stands; a tool's result is always a message
//!   of its own.
//!
//! - A cut keeps what is pinned, and never a call without its result; see [`cut`].
//! - A thought's signature holds as long as nothing before it changed; see [`prefix`].
//!
//! Same items, same messages: nothing here looks at a clock, and an edit late in the trace leaves the messages before it as
//! they were (an instruction excepted, which joins the first one).

pub mod bisect;
pub mod command;
pub mod cut;
mod join;
pub mod prefix;

use std::collections::HashMap;

use crate::git::Repo;
use crate::message::anthropic::CacheMarks;
use crate::message::change::Place;
use crate::message::{Api, Block, Content, Message, Signature};
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;
use crate::trace::file::BadItemFile;
use crate::trace::item::{Direction, Item, ItemType, Role};
use crate::trace::message::preview;
use crate::trace::priority::Level;
use crate::trace::total::{Reading, item_cost};
use crate::trace::tree::Slot;
use crate::trace::view::View;
use crate::trace::{Fields, ItemId, TraceError};
pub use cut::{Cut, OverBudget};
use prefix::Prefix;

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

/// How items become messages.
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

/// Turns what a view shows into messages. Reads every live item once, and nothing else.
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
    let mut left_out = Vec::new();
    let mut damaged = Vec::new();
    let mut pieces = Vec::with_capacity(view.slots.len());
    let mut prefix = Prefix::new(repo, view);
    view.for_each_item(repo, |slot, Reading { item, damage }| {
        damaged.extend(damage.map(|damage| (slot.path.clone(), damage)));
        // Counting is left to who asks for it: a budget, or what tells of an omission.
        let counted = options.cut.budget.is_some() || view.left_out(slot).is_some();
        let tokens = if counted { item_cost(&item, encoding) } else { 0 };
        let holds = prefix.take(slot, &item, options)?;
        if let Some(why) = view.left_out(slot) {
            left_out.push(Omission {
                item: slot.id,
                seq: slot.seq,
                item_type: slot.item_type.clone(),
                why: why.as_str(),
                reason: view.level(slot).reason().map(str::to_owned),
                tokens,
            });
        } else {
            let pinned = view.level(slot).level() == Level::Pinned;
            let mut piece = piece_of(slot, item, options, encoding, tokens);
            piece.pinned = pinned;
            if let Content::Reasoning { signature: Some(signature), .. } = &mut piece.block.content {
                signature.holds = holds;
            }
            pieces.push(piece);
        }
        Ok(())
    })?;
    let cut::Kept { pieces, dropped, shortened } = cut::cut(pieces, &options.cut, encoding)?;
    left_out.extend(dropped);
    left_out.sort_by_key(|omission| omission.seq);
    let joined: Vec<join::Joined> = if options.one_message_an_item {
        pieces.into_iter().map(join::Joined::of).collect()
    } else {
        join::join(pieces)
    };
    let pinned_messages = joined.iter().take_while(|joined| joined.pinned).count();
    let (messages, items) = joined.into_iter().map(|joined| (joined.message, joined.items)).unzip();
    Ok(Materialized { messages, items, pinned_messages, shortened, left_out, damaged })
}

/// An item as a message of its own, with what joining needs to know of it.
fn piece_of(slot: &Slot, item: Item, options: &Options, encoding: Encoding, tokens: u64) -> join::Piece {
    let subject = options.cut.recent.map(|_| preview(&item));
    let mut known_tokens = item.cached_tokens(encoding);
    let Item { id, mut fields, revision, mut body, .. } = item;
    let role = options.roles.get(&fields.item_type).copied().unwrap_or_else(|| own_role(&fields));
    if options.edit_markers && revision > 1 && !fields.is_call() && std::str::from_utf8(&body).is_ok() {
        body.splice(0..0, format!("[edited, revision {revision}]\n").into_bytes());
        known_tokens = None;
    }
    let item_type = fields.item_type.clone();
    let mut name = fields.name.take();
    let content = match item_type.as_str() {
        "tool_io" => {
            let call_id = fields.call_id.unwrap_or_else(|| id.to_string());
            let text = into_text(body);
            match fields.direction {
                Some(Direction::Call) => Content::ToolCall { call_id, name: name.take(), arguments: text },
                _ => Content::ToolResult { call_id, name: name.take(), status: fields.status, text },
            }
        }
        "reasoning" => Content::Reasoning { signature: signature(&mut fields), text: into_text(body) },
        "artifact" => Content::Artifact {
            kind: fields.kind,
            path: fields.path,
            language: fields.language,
            media_type: fields.media_type,
            bytes: body,
        },
        _ => match String::from_utf8(body) {
            Ok(text) => Content::Text(text),
            // A freeform item may hold any bytes; they go where bytes can.
            Err(error) => Content::Artifact {
                kind: None,
                path: None,
                language: None,
                media_type: None,
                bytes: error.into_bytes(),
            },
        },
    };
    let block = Block { content, known_tokens };
    let turn = fields.turn;
    join::Piece { item: id, item_type, role, name, turn, block, seq: slot.seq, pinned: false, tokens, subject }
}

/// The signature of a thought, with what the item tells of it: whose it is by the format it was read from, or the meta key
/// `provider`. One that no header can hold is kept in the meta key `signature`.
fn signature(fields: &mut Fields) -> Option<Signature> {
    let meta = |key: &str| fields.meta.get(key).and_then(|value| value.as_str());
    let value = fields.signature.take().or_else(|| meta("signature").map(str::to_owned))?;
    let by_source = fields.source.as_ref().and_then(|source| match source.format() {
        "claude-code" => Some(Api::Anthropic),
        format => format.parse().ok(),
    });
    Some(Signature {
        value,
        by: by_source.or_else(|| meta("provider").and_then(|name| name.parse().ok())),
        id: meta("id").map(str::to_owned),
        redacted: fields.meta.get("redacted").and_then(serde_json::Value::as_bool) == Some(true),
        holds: true,
    })
}

/// The role of a type: instruction → system, dialogue → its own, what the model makes → assistant, results → tool, all
/// else → user. Where neither type nor field says it, the meta key `role` may: an image that the user showed.
fn own_role(fields: &Fields) -> Role {
    let in_meta = || fields.meta.get("role").and_then(|role| role.as_str()?.parse::<Role>().ok());
    match fields.item_type.as_str() {
        "artifact" | "output" | "freeform" if in_meta().is_some_and(|role| role != Role::Tool) => {
            in_meta().unwrap_or(Role::User)
        }
        "instruction" => Role::System,
        "dialogue" => fields.role.unwrap_or(Role::User),
        "reasoning" | "output" | "artifact" => Role::Assistant,
        "tool_io" if fields.is_call() => Role::Assistant,
        "tool_io" => Role::Tool,
        _ => Role::User,
    }
}

/// Text of a body whose type promises text; what a foreign hand made of it is read as well as can be.
fn into_text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
