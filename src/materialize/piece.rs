//! Reads the items of a view as one message each, and cuts them.

use std::collections::HashMap;

use super::cut;
use super::prefix::SignedPrefix;
use super::{MaterializeError, Materializer, Omission};
use crate::git::{Oid, Repo};
use crate::message::{Api, Block, Content, Message, Signature};
use crate::tokens::Counter;
use crate::tokens::framing::message_cost;
use crate::trace::model::item::{Direction, Item, ItemType, Role};
use crate::trace::model::item_file::BadItemFile;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::preview;
use crate::trace::model::types::{Types, own_role};
use crate::trace::store::tombstone::calls::PurgedCalls;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::view::View;
use crate::trace::store::walk::subjects;
use crate::trace::{Fields, ItemEntry, ItemId};

#[derive(Clone)]
pub(super) struct Piece {
    pub(super) item: ItemId,
    pub(super) item_type: ItemType,
    /// The item as a separate message, with one block.
    pub(super) message: Message,
    pub(super) turn: Option<String>,
    pub(super) seq: u32,
    pub(super) order: i32,
    pub(super) pinned: bool,
    /// Whether its type, or the item itself, allows joining it with its neighbors.
    pub(super) aggregates: bool,
    /// Its tokens as a separate message; 0 if no cut needs them.
    pub(super) tokens: u64,
    /// Its subject, if a cut may shorten it.
    pub(super) subject: Option<String>,
    pub(super) shortened: bool,
    pub(super) partner: Option<ItemId>,
}

impl Piece {
    /// The piece of an item that is not pinned.
    fn new(
        slot: &ItemEntry,
        mut item: Item,
        roles: &Roles,
        (materializer, types): (&dyn Materializer, &Types),
        counter: Counter,
    ) -> Self {
        let order = materializer.order(&item, types.rules(&item.fields.item_type).order);
        let known_tokens = item.cached_tokens(counter);
        let aggregates = types.aggregates(&item.fields);
        let (item_type, turn) = (item.fields.item_type.clone(), item.fields.turn.take());
        let (content, name) = content_and_name(item);
        let (content, known_tokens) =
            if roles.as_text { (tool_as_text(content), None) } else { (content, known_tokens) };
        Self {
            item: slot.id,
            item_type,
            message: Message { role: roles.role, name, blocks: vec![Block { content, known_tokens }] },
            turn,
            seq: slot.seq,
            order,
            pinned: false,
            aggregates,
            tokens: 0,
            subject: None,
            shortened: false,
            partner: None,
        }
    }

    pub(super) fn content(&self) -> &Content {
        &self.message.blocks[0].content
    }

    pub(super) fn content_mut(&mut self) -> &mut Content {
        &mut self.message.blocks[0].content
    }

    pub(super) fn break_signature(&mut self) {
        if let Content::Reasoning { signature: Some(signature), .. } = self.content_mut() {
            signature.holds = false;
        }
    }

    /// Shortens the item to its subject. The speaker stays: only neighbors of one speaker join, whatever their types were. The
    /// result of a tool becomes a text of the user, because only a result has its role.
    pub(super) fn shorten(&mut self, counter: Counter) {
        let subject = self.subject.take().unwrap_or_default();
        let tokens = counter.count(subject.as_bytes());
        let block = Block { content: Content::Text(subject), known_tokens: Some(tokens) };
        let role = if self.message.role == Role::Tool { Role::User } else { self.message.role };
        self.message = Message { role, name: self.message.name.take(), blocks: vec![block] };
        self.tokens = message_cost(tokens, self.message.name.is_some());
        if self.item_type != ItemType::instruction() {
            (self.item_type, self.order) = (ItemType::freeform(), 0);
        }
        (self.turn, self.aggregates, self.shortened) = (None, true, true);
    }
}

/// How an item is sent.
struct Roles {
    role: Role,
    /// Whether this is not the role of its type or its own.
    is_new: bool,
    /// Whether a tool item is sent as text.
    as_text: bool,
}

impl Roles {
    fn of(materializer: &dyn Materializer, types: &Types, item: &Item) -> Self {
        let type_role = types.role(&item.fields);
        let role = materializer.role(item, type_role);
        let recorded_role = own_role(&item.fields);
        let as_text = recorded_role.is_some_and(|recorded| {
            item.fields.item_type == ItemType::tool_io() && (role != recorded || has_role(materializer, types, item))
        });
        Self { role, is_new: role != recorded_role.unwrap_or(type_role), as_text }
    }
}

pub(super) struct Gathered {
    pub(super) pieces: Vec<Piece>,
    pub(super) left_out: Vec<Omission>,
    /// Damaged item files, whose content is used unchanged: path and cause.
    pub(super) damaged: Vec<(String, BadItemFile)>,
}

impl Gathered {
    pub(super) fn shortened(&self) -> Vec<ItemId> {
        self.pieces.iter().filter(|piece| piece.shortened).map(|piece| piece.item).collect()
    }
}

pub(super) fn gather(
    materializer: &dyn Materializer,
    repo: &Repo,
    view: &View,
    counter: Counter,
) -> Result<Gathered, MaterializeError> {
    let cut = materializer.cut();
    let (mut left_out, mut damaged) = (Vec::new(), Vec::new());
    let mut pieces = Vec::with_capacity(view.slots.len());
    let mut prefix = SignedPrefix::new(repo, view);
    let types = view.types();
    let mut purged_calls = PurgedCalls::default();
    view.for_each_item(repo, |slot, Reading { mut item, damage }| {
        damaged.extend(damage.map(|damage| (slot.path.clone(), damage)));
        let why = view.left_out(slot);
        purged_calls.tie(&mut item);
        // Count tokens only if needed: for a budget, or to report an omission.
        let tokens = if cut.budget.is_some() || why.is_some() { item_cost(&item, counter) } else { 0 };
        let roles = Roles::of(materializer, types, &item);
        let holds = prefix.add(slot, &item, roles.is_new)?;
        if let Some(why) = why {
            let reason = view.level(slot).reason().map(str::to_owned);
            let (item, item_type, why) = (slot.id, slot.item_type.clone(), why.as_str());
            left_out.push(Omission { item, seq: slot.seq, item_type, why, reason, tokens });
            return Ok(());
        }
        let subject = cut.recent.map(|_| preview(&item));
        let item = if item.revision > 1 { materializer.edited(item) } else { item };
        let pinned = view.level(slot).level() == Level::Pinned;
        let piece = Piece::new(slot, item, &roles, (materializer, types), counter);
        let mut piece = Piece { pinned, tokens, subject, ..piece };
        if !holds {
            piece.break_signature();
        }
        pieces.push(piece);
        Ok(())
    })?;
    if let Some(recent) = cut.recent {
        let newer = pieces.len().saturating_sub(recent);
        let mut older: Vec<&mut Piece> = pieces[..newer].iter_mut().filter(|piece| !piece.pinned).collect();
        let files: HashMap<ItemId, Oid> = view.slots.iter().map(|slot| (slot.id, slot.blob)).collect();
        let wanted = older.iter().map(|piece| (piece.item, files[&piece.item])).collect();
        let mut subjects = subjects(repo, &view.tip, &wanted)?;
        for piece in &mut older {
            let subject = subjects.remove(&piece.item).filter(|subject| !subject.is_empty());
            piece.subject = subject.or(piece.subject.take());
        }
    }
    left_out.extend(cut::cut(&mut pieces, &cut, counter)?);
    left_out.sort_by_key(|omission| omission.seq);
    Ok(Gathered { pieces, left_out, damaged })
}

/// Whether the type or the materializer gives tool items a role, even if calls already have that role.
fn has_role(materializer: &dyn Materializer, types: &Types, item: &Item) -> bool {
    types.rules(&item.fields.item_type).role.is_some() || materializer.role(item, Role::Tool) != Role::Tool
}

/// A call or a result as text, for another role than its own.
fn tool_as_text(content: Content) -> Content {
    let (what, name, call_id, text) = match content {
        Content::ToolCall { call_id, name, arguments } => ("call", name, call_id, arguments),
        Content::ToolResult { call_id, name, text, .. } => ("result", name, call_id, text),
        content => return content,
    };
    Content::Text(format!("[{what} of {}, {call_id}]\n{text}", name.as_deref().unwrap_or("a tool")))
}

/// The content of an item, and the name of its message: that of a tool belongs to the content.
fn content_and_name(item: Item) -> (Content, Option<String>) {
    let Item { id, mut fields, body, .. } = item;
    let mut name = fields.name.take();
    let content = match fields.item_type.as_str() {
        "tool_io" => {
            let call_id = fields.call_id.unwrap_or_else(|| id.to_string());
            let (name, text) = (name.take(), into_text(body));
            match fields.direction {
                Some(Direction::Call) => Content::ToolCall { call_id, name, arguments: text },
                _ => Content::ToolResult { call_id, name, status: fields.status, text },
            }
        }
        "reasoning" => Content::Reasoning { signature: signature(&mut fields), text: into_text(body) },
        "artifact" => {
            let Fields { kind, path, language, media_type, .. } = fields;
            Content::Artifact { kind, path, language, media_type, bytes: body }
        }
        _ => String::from_utf8(body).map_or_else(
            // A freeform item may contain binary data.
            |error| Content::Artifact {
                kind: None,
                path: None,
                language: None,
                media_type: None,
                bytes: error.into_bytes(),
            },
            Content::Text,
        ),
    };
    (content, name)
}

/// The signature of reasoning. Its provider is known from the format it was imported from, or the meta key `provider`. A
/// signature that no header can hold is in the meta key `signature`.
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

/// The text of a body. Its type requires UTF-8, but another program may have written something else.
fn into_text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
