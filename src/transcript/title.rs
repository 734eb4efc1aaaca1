//! The title of a recorded session: the agent's own summary, else the first words of the user.
//!
//! A title is derived from the items at the tip, and not stored. Text that agents add on the user's behalf is never a title: it starts
//! with a tag or a heading, or is marked, as summaries of compactions are.

use crate::git::Repo;
use crate::trace::model::item::{Item, ItemType, Role};
use crate::trace::model::source::Source;
use crate::trace::model::trailers::first_words;
use crate::trace::store::total::read_item;
use crate::trace::{ItemId, Tip, TraceName, View};
use crate::transcript::format::Format;

/// How many items are read at most.
const MAX_SEARCHED: usize = 50;

/// Keys in the metadata of text that the user did not type: what agents add, and summaries.
const INJECTED: [&str; 3] = ["is_meta", "compact_summary", "stands_for"];

/// The title of a trace; `None` if it records no session, or has no words of the user.
pub(crate) fn title(repo: &Repo, name: &TraceName, view: &View) -> Option<String> {
    if !records_session(name, &view.tip) {
        return None;
    }
    let mut prompt = None;
    for slot in view.slots.iter().take(MAX_SEARCHED) {
        // After the prompt, only a summary matters.
        let is_wanted = match slot.item_type.as_str() {
            "dialogue" => prompt.is_none(),
            other => other == "freeform",
        };
        if !is_wanted {
            continue;
        }
        // A lost item is not a reason to fail here.
        let Ok(item) = read_item(repo, slot) else { continue };
        if let Some(leaf) = summarized(&item)
            && view.slots.iter().any(|slot| slot.id == leaf)
        {
            return words(&item);
        }
        if prompt.is_none() && view.left_out(slot).is_none() && is_typed(&item) {
            prompt = words(&item);
        }
    }
    prompt
}

pub(crate) fn records_session(name: &TraceName, tip: &Tip) -> bool {
    tip.family().is_some() || name.as_str().split_once('/').is_some_and(|(agent, _)| agent.parse::<Format>().is_ok())
}

/// The last item of the session that a summary is about. Claude Code also writes summaries of other sessions into a file.
fn summarized(item: &Item) -> Option<ItemId> {
    let format = item.fields.source.as_ref().filter(|_| item.fields.name.as_deref() == Some("summary"))?.format();
    Some(ItemId::of_source(&Source::new(format, item.fields.meta.get("leaf")?.as_str()?, 0)))
}

fn is_typed(item: &Item) -> bool {
    let fields = &item.fields;
    fields.item_type == ItemType::dialogue()
        && fields.role == Some(Role::User)
        && !INJECTED.iter().any(|key| fields.meta.contains_key(*key))
        && !item.body.trim_ascii_start().starts_with(b"<")
        && !item.body.trim_ascii_start().starts_with(b"#")
}

fn words(item: &Item) -> Option<String> {
    Some(first_words(&item.body)).filter(|words| !words.is_empty())
}
