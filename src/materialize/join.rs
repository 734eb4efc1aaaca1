//! Sorts and joins items: which share a message, and which share a text.

use std::collections::HashMap;

use super::Materializer;
use super::piece::Piece;
use crate::message::{Content, Message, Role};
use crate::trace::ItemId;
use crate::trace::model::item::ItemType;

/// How an item joins an earlier message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// It starts a new message.
    Apart,
    /// It joins the message as a separate block.
    Block,
    /// It joins the last text of the message, after a blank line; or as a block if either is not plain text.
    Text,
}

pub(super) struct Joined {
    pub(super) message: Message,
    pub(super) items: Vec<Vec<ItemId>>,
    pub(super) pinned: bool,
    last_type: ItemType,
    uniform: bool,
    aggregates: bool,
}

impl Joined {
    fn new(piece: Piece) -> Self {
        let Piece { message, item, pinned, item_type: last_type, aggregates, .. } = piece;
        Self { message, items: vec![vec![item]], pinned, last_type, uniform: true, aggregates }
    }

    /// The built-in rules: an item joins the message of its turn, else the last message if that has the same type, role, and
    /// name, and both allow joining. Tool items do not join the last message.
    fn own_join(&self, piece: &Piece, same_turn: bool) -> Join {
        let aggregate = self.aggregates && piece.aggregates;
        if same_turn {
            return if aggregate { Join::Text } else { Join::Block };
        }
        let alike = self.uniform && self.last_type == piece.item_type && self.message.role == piece.message.role;
        let same_name = self.message.name == piece.message.name || piece.item_type == ItemType::instruction();
        let is_tool = matches!(piece.content(), Content::ToolCall { .. } | Content::ToolResult { .. });
        if aggregate && alike && !is_tool && same_name { Join::Text } else { Join::Apart }
    }

    fn add(&mut self, mut piece: Piece, how: Join) {
        if self.message.name != piece.message.name {
            self.message.name = None;
        }
        self.pinned &= piece.pinned;
        let same_type = self.last_type == piece.item_type;
        self.uniform &= same_type;
        self.aggregates = piece.aggregates;
        if same_type
            && how == Join::Text
            && let Some(last) = self.message.blocks.last_mut()
            && let (Some(text), Some(next)) = (joinable(&mut last.content), joinable(piece.content_mut()))
        {
            text.extend(["\n\n", next]);
            last.known_tokens = None;
            self.items.last_mut().expect("each block has items").push(piece.item);
        } else {
            self.items.push(vec![piece.item]);
            self.message.blocks.append(&mut piece.message.blocks);
        }
        self.last_type = piece.item_type;
    }
}

/// The text of a block that can be joined. Signed reasoning cannot, because the signature covers its exact text.
fn joinable(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text(text) | Content::Reasoning { text, signature: None } => Some(text),
        _ => None,
    }
}

/// Sorts pieces, given in trace order, by their order. Pieces with the same order stay in trace order.
///
/// Reasoning after the first moved piece loses its signature, because other content precedes it now. Moving instructions to
/// the front does not matter, because providers do not sign the system message.
pub(super) fn sort(pieces: &mut [Piece]) {
    let in_conversation = |piece: &&mut Piece| piece.item_type != ItemType::instruction();
    let before: Vec<u32> = pieces.iter_mut().filter(in_conversation).map(|piece| piece.seq).collect();
    pieces.sort_by_key(|piece| piece.order);
    let sorted = pieces.iter_mut().filter(in_conversation).zip(before);
    sorted.skip_while(|(piece, seq)| piece.seq == *seq).for_each(|(piece, _)| piece.break_signature());
}

pub(super) fn join(materializer: &dyn Materializer, pieces: Vec<Piece>) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::with_capacity(pieces.len());
    let mut turns: HashMap<(String, Role), usize> = HashMap::new();
    for piece in pieces {
        // A result is always a separate message, whatever its turn.
        let is_result = matches!(piece.content(), Content::ToolResult { .. });
        let turn = piece.turn.clone().filter(|_| !is_result).map(|turn| (turn, piece.message.role));
        let begun = turn.as_ref().and_then(|turn| turns.get(turn)).copied();
        let how = |index: usize, same_turn: bool| {
            let own = all[index].own_join(&piece, same_turn);
            let how = materializer.join(&all[index].message, &piece.message, &piece.item_type, own);
            (how != Join::Apart).then_some((index, how))
        };
        let found = begun.and_then(|index| how(index, true));
        let found = found.or_else(|| all.len().checked_sub(1).and_then(|last| how(last, false)));
        if let Some(turn) = turn {
            turns.insert(turn, found.map_or(all.len(), |(index, _)| index));
        }
        match found {
            Some((index, how)) => all[index].add(piece, how),
            None => all.push(Joined::new(piece)),
        }
    }
    all
}
