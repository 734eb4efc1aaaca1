//! The trait that customizes materializing: one hook per question, or everything.

use super::cut::{Cut, Kept, break_signature};
use super::join::{Join, Joined, Piece, join};
use super::piece::{self, Gathered};
use super::{MaterializeError, Materialized, Options};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::model::item::{Item, ItemType, Role};
use crate::trace::store::view::View;

/// Converts a trace's items to messages.
///
/// Each hook answers one question. It gets the answer of the built-in rules as `own`, or in the item, and returns that or another;
/// hooks that are not implemented keep the built-in rules. Implement [`Materializer::materialize`] to replace all of them.
/// [`Options`] is the built-in materializer, and [`crate::messages::write`] writes the messages as JSON.
///
/// A hook must give the same answer for the same item. Then the same trace yields the same bytes, and prompt caches stay valid.
///
/// ```
/// use git_trace::{Item, Join, Joined, Materializer, Piece, Role};
///
/// /// Shows outputs as user messages, and never joins them.
/// struct Outputs;
///
/// impl Materializer for Outputs {
///     fn role(&self, item: &Item, own: Role) -> Role {
///         if item.fields.item_type.as_str() == "output" { Role::User } else { own }
///     }
///
///     fn join(&self, _: &Joined, piece: &Piece, own: Join) -> Join {
///         if piece.item_type.as_str() == "output" { Join::Apart } else { own }
///     }
/// }
/// ```
pub trait Materializer {
    /// The role of an item; `own` is that of the item or its type.
    ///
    /// [`Role::Tool`] is only for tool results.
    fn role(&self, item: &Item, own: Role) -> Role {
        let _ = item;
        own
    }

    /// The version of an edited item that the messages contain; the default is the item itself.
    fn edited(&self, item: Item) -> Item {
        item
    }

    /// The sort key of an item. Items with a smaller key come first; items with the same key stay in trace order.
    ///
    /// A call and its result must have the same key.
    fn order(&self, piece: &Piece) -> i32 {
        piece.order
    }

    /// Whether an item joins an earlier message: that of its turn, or else the last one.
    fn join(&self, before: &Joined, piece: &Piece, own: Join) -> Join {
        let _ = (before, piece);
        own
    }

    /// Turns what a view shows into messages, oldest first. Reads every live item once, and nothing else.
    fn materialize(
        &self,
        repo: &Repo,
        view: &View,
        cut: &Cut,
        encoding: Encoding,
    ) -> Result<Materialized, MaterializeError> {
        let Gathered { kept, damaged } = piece::gather(self, repo, view, cut, encoding)?;
        let Kept { mut pieces, left_out, shortened } = kept;
        sort(self, &mut pieces);
        let joined = join(self, pieces);
        let pinned_messages = joined.iter().take_while(|joined| joined.pinned).count();
        let (messages, items) = joined.into_iter().map(|joined| (joined.message, joined.items)).unzip();
        Ok(Materialized { messages, items, pinned_messages, shortened, left_out, damaged })
    }
}

/// Sorts pieces, given in trace order, by [`Materializer::order`]. Pieces with the same order stay in trace order.
///
/// Reasoning after the first moved piece loses its signature, because other content precedes it now. Moving instructions to
/// the front does not matter, because providers do not sign the system message.
fn sort<M: Materializer + ?Sized>(materializer: &M, pieces: &mut [Piece]) {
    if pieces.is_sorted_by_key(|piece| materializer.order(piece)) {
        return;
    }
    let in_conversation = |piece: &&mut Piece| piece.item_type != ItemType::instruction();
    let before: Vec<u32> = pieces.iter_mut().filter(in_conversation).map(|piece| piece.seq).collect();
    pieces.sort_by_cached_key(|piece| materializer.order(piece));
    let mut moved = false;
    for (piece, seq) in pieces.iter_mut().filter(in_conversation).zip(before) {
        moved |= piece.seq != seq;
        if moved {
            break_signature(piece);
        }
    }
}

impl Materializer for Options {
    fn role(&self, item: &Item, own: Role) -> Role {
        self.roles.get(&item.fields.item_type).copied().unwrap_or(own)
    }

    fn edited(&self, mut item: Item) -> Item {
        if self.edit_markers && !item.fields.is_call() && std::str::from_utf8(&item.body).is_ok() {
            item.body.splice(0..0, format!("[edited, revision {}]\n", item.revision).into_bytes());
        }
        item
    }

    fn order(&self, piece: &Piece) -> i32 {
        if self.one_message_an_item { 0 } else { piece.order }
    }

    fn join(&self, _: &Joined, _: &Piece, own: Join) -> Join {
        if self.one_message_an_item { Join::Apart } else { own }
    }
}
