//! The trait that customizes materializing: one hook per question.

use super::{Cut, Join, Options};
use crate::message::Message;
use crate::trace::model::item::{Item, ItemType, Role};

/// The rules by which [`materialize`](crate::materialize()) converts a trace's items to messages.
///
/// Each hook answers one question. It gets the answer of the built-in rules as `own`, and returns that or another; hooks that are
/// not implemented keep the built-in rules. [`Options`] is the built-in materializer.
///
/// A hook must give the same answer for the same item. Then the same trace yields the same bytes, and prompt caches stay valid.
///
/// ```
/// use git_trace::{Item, ItemType, Join, Materializer, Message, Role};
///
/// /// Shows outputs as user messages, and never joins them.
/// struct Outputs;
///
/// impl Materializer for Outputs {
///     fn role(&self, item: &Item, own: Role) -> Role {
///         if item.fields.item_type.as_str() == "output" { Role::User } else { own }
///     }
///
///     fn join(&self, _: &Message, _: &Message, item_type: &ItemType, own: Join) -> Join {
///         if item_type.as_str() == "output" { Join::Apart } else { own }
///     }
/// }
/// ```
#[expect(unused_variables, reason = "the names of the parameters document the hooks")]
pub trait Materializer {
    /// What to omit to save tokens; the default is nothing.
    fn cut(&self) -> Cut {
        Cut::default()
    }

    /// The role of an item; `own` is that of the item or its type.
    ///
    /// [`Role::Tool`] is only for tool results.
    fn role(&self, item: &Item, own: Role) -> Role {
        own
    }

    /// The version of an edited item that the messages contain; the default is the item itself.
    fn edited(&self, item: Item) -> Item {
        item
    }

    /// The sort key of an item; `own` is that of its type. Items with a smaller key come first; items with the same key stay in
    /// trace order.
    ///
    /// A call and its result must have the same key.
    fn order(&self, item: &Item, own: i32) -> i32 {
        own
    }

    /// Whether an item joins an earlier message: that of its turn, or else the last one. `next` is the item as a message of its
    /// own.
    fn join(&self, before: &Message, next: &Message, item_type: &ItemType, own: Join) -> Join {
        own
    }
}

impl Materializer for Options {
    fn cut(&self) -> Cut {
        self.cut
    }

    fn role(&self, item: &Item, own: Role) -> Role {
        self.roles.get(&item.fields.item_type).copied().unwrap_or(own)
    }

    fn edited(&self, mut item: Item) -> Item {
        if self.edit_markers && !item.fields.is_call() && std::str::from_utf8(&item.body).is_ok() {
            item.body.splice(0..0, format!("[edited, revision {}]\n", item.revision).into_bytes());
        }
        item
    }

    fn order(&self, _: &Item, own: i32) -> i32 {
        if self.one_message_an_item { 0 } else { own }
    }

    fn join(&self, _: &Message, _: &Message, _: &ItemType, own: Join) -> Join {
        if self.one_message_an_item { Join::Apart } else { own }
    }
}
