//! Joining: which items share a message, and which share a text.

use std::collections::HashMap;

use crate::message::{Block, Content, Message, Role};
use crate::trace::ItemId;
use crate::trace::item::ItemType;

/// An item on its way into a message.
pub(super) struct Piece {
    pub(super) item: ItemId,
    pub(super) item_type: ItemType,
    pub(super) role: Role,
    pub(super) name: Option<String>,
    pub(super) turn: Option<String>,
    pub(super) block: Block,
    pub(super) seq: u32,
    /// Whether it may not be cut.
    pub(super) pinned: bool,
    /// What it costs as a message of its own.
    pub(super) tokens: u64,
    /// What is left of it where older items are shortened; only where they may be.
    pub(super) subject: Option<String>,
}

/// A message and the items behind it.
pub(super) struct Joined {
    pub(super) message: Message,
    /// The items behind each block.
    pub(super) items: Vec<Vec<ItemId>>,
    /// Whether all of it is pinned.
    pub(super) pinned: bool,
    /// The type of the last block.
    last_type: ItemType,
    /// Whether all blocks are of that type.
    uniform: bool,
}

impl Joined {
    /// A message of one item.
    pub(super) fn of(piece: Piece) -> Self {
        Self {
            message: Message { role: piece.role, name: piece.name, blocks: vec![piece.block] },
            items: vec![vec![piece.item]],
            pinned: piece.pinned,
            last_type: piece.item_type,
            uniform: true,
        }
    }

    /// Whether a piece that follows goes in here without being of its turn.
    fn takes(&self, piece: &Piece) -> bool {
        let alike = self.uniform && self.last_type == piece.item_type && self.message.role == piece.role;
        let tool = matches!(piece.block.content, Content::ToolCall { .. } | Content::ToolResult { .. });
        let instruction = piece.item_type == ItemType::instruction();
        alike && !tool && (instruction || self.message.name == piece.name)
    }

    /// Puts a piece in: into the last text where both are texts of one type, else as a block of its own.
    fn add(&mut self, piece: Piece) {
        if self.message.name != piece.name {
            self.message.name = None;
        }
        self.pinned &= piece.pinned;
        let same_type = self.last_type == piece.item_type;
        self.uniform &= same_type;
        self.last_type = piece.item_type;
        if let Some(last) = self.message.blocks.last_mut().filter(|_| same_type)
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

/// Joins pieces, given in reading order.
pub(super) fn join(pieces: Vec<Piece>) -> Vec<Joined> {
    let is_instruction = |piece: &Piece| piece.item_type == ItemType::instruction();
    let (instructions, rest): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(is_instruction);
    let mut all: Vec<Joined> = Vec::with_capacity(rest.len() + 1);
    let mut turns: HashMap<(String, Role), usize> = HashMap::new();
    for piece in instructions.into_iter().chain(rest) {
        // A result answers its call in a message of its own, whatever it came with.
        let is_result = matches!(piece.block.content, Content::ToolResult { .. });
        let turn = piece.turn.clone().filter(|_| !is_result).map(|turn| (turn, piece.role));
        let begun = turn.as_ref().and_then(|turn| turns.get(turn)).copied();
        let neighbour = all.len().checked_sub(1).filter(|last| all[*last].takes(&piece));
        let place = begun.or(neighbour).unwrap_or(all.len());
        if let Some(turn) = turn {
            turns.insert(turn, place);
        }
        match all.get_mut(place) {
            Some(joined) => joined.add(piece),
            None => all.push(Joined::of(piece)),
        }
    }
    all
}

/// The text of a block that may be joined with another; a signature signs its text as it is.
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
