//! Joining: which items share a message, and which share a text.

use std::collections::HashMap;

use super::Materializer;
use crate::message::{Block, Content, Message, Role};
use crate::trace::ItemId;
use crate::trace::model::item::ItemType;

/// An item on its way into a message.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The item.
    pub item: ItemId,
    /// Its type.
    pub item_type: ItemType,
    /// Who speaks.
    pub role: Role,
    /// The speaker's or instruction's name.
    pub name: Option<String>,
    /// The provider message it came in.
    pub turn: Option<String>,
    /// What it says.
    pub block: Block,
    /// Its position.
    pub seq: u32,
    /// Where its type stands among the others, the smaller the earlier.
    pub order: i32,
    /// Whether it may not be cut.
    pub pinned: bool,
    /// Whether its type, or it itself, lets neighbours join.
    pub aggregates: bool,
    /// What it costs as a message of its own; 0 where no cut asked.
    pub tokens: u64,
    /// What is left of it where older items are shortened; only where they may be.
    pub(super) subject: Option<String>,
}

/// A message that is being put together, and the items behind it.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The message, as far as it goes.
    pub message: Message,
    /// The items behind each block.
    pub items: Vec<Vec<ItemId>>,
    /// Whether all of it is pinned.
    pub pinned: bool,
    /// The type of the last item.
    pub last_type: ItemType,
    /// Whether all items are of that type.
    pub uniform: bool,
    /// Whether the last item lets neighbours join.
    pub aggregates: bool,
}

/// How an item stands to a message before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// It begins a message of its own.
    Apart,
    /// It goes into the message, as a block of its own.
    Block,
    /// It goes into the message's last text, a blank line between; as a block of its own where either is no plain text.
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

    /// How the built-in rules join a piece that follows: into the message of its turn; else into the last one, where that is
    /// of its type, role and name and both let neighbours join; a tool's never.
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

    /// Puts a piece in.
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

/// Joins pieces, given in the order in which they speak.
pub(super) fn join<M: Materializer + ?Sized>(materializer: &M, pieces: Vec<Piece>) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::with_capacity(pieces.len());
    let mut turns: HashMap<(String, Role), usize> = HashMap::new();
    for piece in pieces {
        // A result answers its call in a message of its own, whatever it came with.
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
