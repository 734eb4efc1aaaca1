//! The trait behind materializing: what somebody may want otherwise, a hook each, or the whole.

use super::cut::{Cut, Kept};
use super::join::{Join, Joined, Piece, join};
use super::order::arrange;
use super::piece::{self, Gathered};
use super::{MaterializeError, Materialized, Options};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::model::item::{Item, Role};
use crate::trace::store::view::View;

/// Makes messages of a trace's items.
///
/// Each hook answers one question, and is told what the built-in rules say; what is not implemented is as it always is.
/// Whoever wants everything otherwise implements [`Materializer::materialize`]. The built-in one is [`Options`]. The messages
/// are written in a provider's shape by [`crate::message::write`].
///
/// The same items must give the same answers: then the same trace gives the same bytes, and prompt caches stay warm.
///
/// ```
/// use git_trace::materialize::{Join, Joined, Materializer, Piece};
/// use git_trace::trace::Item;
/// use git_trace::trace::item::Role;
///
/// /// What was produced is shown as the user's, and never joined.
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
    /// Who speaks in an item; `own` is what the item or its type says.
    ///
    /// The role tool stands for results of tools alone.
    fn role(&self, item: &Item, own: Role) -> Role {
        let _ = item;
        own
    }

    /// An item that was edited, as it is to be shown; its text may be changed, so that it tells of the edit.
    fn edited(&self, item: Item) -> Item {
        item
    }

    /// Where an item stands among the others, the smaller the earlier; those that stand alike stay in reading order.
    ///
    /// A call must stand before its result, and as it does.
    fn order(&self, piece: &Piece) -> i32 {
        piece.order
    }

    /// How an item goes together with a message before it: the one of its turn, or else the last; `own` is the built-in answer.
    fn join(&self, before: &Joined, piece: &Piece, own: Join) -> Join {
        let _ = (before, piece);
        own
    }

    /// Turns what a view shows into messages, oldest first. Reads every live item once, and nothing else.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin; [`super::OverBudget`] has both figures.
    fn materialize(
        &self,
        repo: &Repo,
        view: &View,
        cut: &Cut,
        encoding: Encoding,
    ) -> Result<Materialized, MaterializeError> {
        let Gathered { kept, damaged } = piece::gather(self, repo, view, cut, encoding)?;
        let Kept { mut pieces, left_out, shortened } = kept;
        arrange(self, &mut pieces);
        let joined = join(self, pieces);
        let pinned_messages = joined.iter().take_while(|joined| joined.pinned).count();
        let (messages, items) = joined.into_iter().map(|joined| (joined.message, joined.items)).unzip();
        Ok(Materialized { messages, items, pinned_messages, shortened, left_out, damaged })
    }
}

impl Materializer for Options {
    fn role(&self, item: &Item, own: Role) -> Role {
        self.roles.get(&item.fields.item_type).copied().unwrap_or(own)
    }

    /// Puts a line before its text that says so, where markers are asked for and it is a text.
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
