//! Joins items: which share a message, and which share a text.

use std::collections::HashMap;

use super::Materializer;
use crate::message::{Block, Content, Message, Role};
use crate::trace::ItemId;
use crate::trace::model::item::ItemType;

/// An item that is about to become a message, or part of one.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The item.
    pub item: ItemId,
    /// Its type.
    pub item_type: ItemType,
    /// Its role.
    pub role: Role,
    /// The name of the participant or instruction.
    pub name: Option<String>,
    /// The provider's message that it came from.
    pub turn: Option<String>,
    /// Its content.
    pub block: Block,
    /// Its position in the trace.
    pub seq: u32,
    /// The sort key of its type; smaller keys come first.
    pub order: i32,
    /// Whether it is pinned, so that no cut omits it.
    pub pinned: bool,
    /// Whether its type, or the item itself, allows joining it with its neighbors.
    pub aggregates: bool,
    /// Its tokens as a message of its own; 0 if no cut needs them.
    pub tokens: u64,
    /// Its subject, if a cut may shorten it.
    pub(super) subject: Option<String>,
}

/// A message that is being built, and its items.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The message so far.
    pub message: Message,
    /// The items of each block.
    pub items: Vec<Vec<ItemId>>,
    /// Whether all its items are pinned.
    pub pinned: bool,
    /// The type of the last item.
    pub last_type: ItemType,
    /// Whether all its items have that type.
    pub uniform: bool,
    /// Whether the last item allows joining.
    pub aggregates: bool,
}

/// How an item joins an earlier message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// It starts a new message.
    Apart,
    /// It joins the message as a block of its own.
    Block,
    /// It joins the last text of the message, after a blank line; or as a block if either is not plain text.
    Text,
}

impl Joined {
    /// A message of one item.
    fn of(piece: Piece) -> Self {
        Self {
            message: Message { role: piece.role, name: piece.name, blocks: vec![piece.block] },
            items: vec![vec![piece.item]],
            pinned: piece.pinned,
            last_type: piece.item_type,
            uniform: true,
            aggregates: piece.aggregates,
        }
    }

    /// The built-in rules: an item joins the message of its turn, else the last message if that has the same type, role, and
    /// name, and both allow joining. Tool items do not join the last message.
    #[must_use]
    pub fn own_join(&self, piece: &Piece, same_turn: bool) -> Join {
        let aggregate = self.aggregates && piece.aggregates;
        if same_turn {
            return if aggregate { Join::Text } else { Join::Block };
        }
        let alike = self.uniform && self.last_type == piece.item_type && self.message.role == piece.role;
        let instruction = piece.item_type == ItemType::instruction();
        if aggregate && alike && !is_tool(piece) && (instruction || self.message.name == piece.name) {
            Join::Text
        } else {
            Join::Apart
        }
    }

    fn add(&mut self, piece: Piece, how: Join) {
        if self.message.name != piece.name {
            self.message.name = None;
        }
        self.pinned &= piece.pinned;
        let same_type = self.last_type == piece.item_type;
        self.uniform &= same_type;
        self.last_type = piece.item_type;
        self.aggregates = piece.aggregates;
        if let Some(last) = self.message.blocks.last_mut().filter(|_| same_type && how == Join::Text)
            && let (Some(text), Some(next)) = (joinable_mut(&mut last.content), joinable(&piece.block.content))
        {
            text.push_str("\n\n");
            text.push_str(next);
            last.known_tokens = None;
            if let Some(items) = self.items.last_mut() {
                items.push(piece.item);
            }
            return;
        }
        self.items.push(vec![piece.item]);
        self.message.blocks.push(piece.block);
    }
}

/// Joins sorted pieces.
pub(super) fn join<M: Materializer + ?Sized>(materializer: &M, pieces: Vec<Piece>) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::with_capacity(pieces.len());
    let mut turns: HashMap<(String, Role), usize> = HashMap::new();
    for piece in pieces {
        // A result is always a message of its own, whatever turn it came in.
        let is_result = matches!(piece.block.content, Content::ToolResult { .. });
        let turn = piece.turn.clone().filter(|_| !is_result).map(|turn| (turn, piece.role));
        let begun = turn.as_ref().and_then(|turn| turns.get(turn)).copied();
        let how = |place: usize, same_turn: bool| {
            let own = all[place].own_join(&piece, same_turn);
            Some((place, materializer.join(&all[place], &piece, own))).filter(|(_, how)| *how != Join::Apart)
        };
        let found = begun.and_then(|place| how(place, true));
        let found = found.or_else(|| all.len().checked_sub(1).and_then(|last| how(last, false)));
        let place = found.map_or(all.len(), |(place, _)| place);
        if let Some(turn) = turn {
            turns.insert(turn, place);
        }
        match (found, all.get_mut(place)) {
            (Some((_, how)), Some(joined)) => joined.add(piece, how),
            _ => all.push(Joined::of(piece)),
        }
    }
    all
}

fn is_tool(piece: &Piece) -> bool {
    matches!(piece.block.content, Content::ToolCall { .. } | Content::ToolResult { .. })
}

/// The text of a block that can be joined. Signed reasoning cannot, because the signature covers its exact text.
fn joinable(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) | Content::Reasoning { text, signature: None } => Some(text),
        _ => None,
    }
}

fn joinable_mut(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text(text) | Content::Reasoning { text, signature: None } => Some(text),
        _ => None,
    }
}
