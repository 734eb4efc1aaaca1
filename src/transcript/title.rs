//! The title of a recorded session: the agent's own summary, else the first words of the user.
//!
//! The tip names the item with the agent's title, which imports remove from the context. Other titles are derived from the items at the
//! tip. Text that agents add on the user's behalf is never a title: it starts
//! with a tag or a heading, or is marked, as summaries of compactions are.

use crate::git::Repo;
use crate::trace::model::item::{Item, ItemType, Role};
use crate::trace::model::trailers::first_words;
use crate::trace::store::total::read_item;
use crate::trace::{ItemEntry, Tip, TraceName, View};
use crate::transcript::format::Format;

/// How many messages are read at most.
const MAX_SEARCHED: usize = 50;

/// Keys in the metadata of text that the user did not type: what agents add, and summaries.
const INJECTED: [&str; 3] = ["is_meta", "compact_summary", "stands_for"];

/// The title of a trace; `None` if it records no session, or has no words of the user.
pub(crate) fn title(repo: &Repo, name: &TraceName, view: &View) -> Option<String> {
    if !records_session(name, &view.tip) {
        return None;
    }
    if let Some((id, blob)) = view.tip.title(repo) {
        let slot = ItemEntry { seq: 0, id, item_type: ItemType::freeform(), blob, path: String::new() };
        let title = read_item(repo, &slot).ok().map(|item| first_words(&item.body)).filter(|words| !words.is_empty());
        if title.is_some() {
            return title;
        }
    }
    let texts =
        view.slots.iter().filter(|slot| slot.item_type == ItemType::dialogue() && view.left_out(slot).is_none());
    // A lost item is not a reason to fail here.
    let typed = texts.take(MAX_SEARCHED).filter_map(|slot| read_item(repo, slot).ok()).filter(is_typed);
    typed.map(|item| first_words(&item.body)).find(|words| !words.is_empty())
}

pub(crate) fn records_session(name: &TraceName, tip: &Tip) -> bool {
    tip.family().is_some() || is_session_name(name)
}

/// Whether a name has the form `<agent>/<session id>`.
pub(crate) fn is_session_name(name: &TraceName) -> bool {
    name.as_str().split_once('/').is_some_and(|(agent, _)| agent.parse::<Format>().is_ok())
}

fn is_typed(item: &Item) -> bool {
    let fields = &item.fields;
    fields.item_type == ItemType::dialogue()
        && fields.role == Some(Role::User)
        && !INJECTED.iter().any(|key| fields.meta.contains_key(*key))
        && !item.body.trim_ascii_start().starts_with(b"<")
        && !item.body.trim_ascii_start().starts_with(b"#")
}
