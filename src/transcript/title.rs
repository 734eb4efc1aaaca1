//! The title of a recorded session: the agent's own summary, else the first words of the user.
//!
//! The tip names the item with the agent's title, which imports remove from the context, or else the first prompt, once a summary or
//! a rewind removed it. Other titles are derived from the items at the tip.

use crate::git::Repo;
use crate::trace::model::item_file;
use crate::trace::model::trailers::first_words;
use crate::trace::store::total::read_item;
use crate::trace::store::turns::{first_prompt, words};
use crate::trace::{Item, Tip, TraceName, View};
use crate::transcript::format::Format;

/// A title that would be shorter is cut within a word, because a long word would take most of it.
const MIN_WORDS: usize = 30;

/// The title of a trace; `None` if it records no session, or has no words of the user.
pub(crate) fn title(repo: &Repo, name: &TraceName, view: &View) -> Option<String> {
    if !records_session(name, &view.tip) {
        return None;
    }
    let named = titled(repo, view).map(|item| cut(&item)).filter(|words| !words.is_empty());
    named.or_else(|| {
        let live = view.slots.iter().filter(|slot| view.left_out(slot).is_none());
        Some(cut(&first_prompt(repo, live)?.1))
    })
}

/// The item that the tip names as the title, as it is now.
pub(crate) fn titled(repo: &Repo, view: &View) -> Option<Item> {
    let (id, blob) = view.tip.title(repo)?;
    if let Some(slot) = view.slots.iter().find(|slot| slot.id == id) {
        return read_item(repo, slot).ok();
    }
    item_file::parse(&repo.read_blob(blob).ok()?).ok()
}

/// The first words of an item, up to the end of a word.
fn cut(item: &Item) -> String {
    let words = first_words(words(item).as_bytes());
    let kept = words.strip_suffix('…').and_then(|cut| Some(cut.rsplit_once(' ')?.0));
    match kept.filter(|kept| kept.len() > MIN_WORDS) {
        Some(kept) => format!("{}…", kept.trim_end_matches([',', ';', ':', ' '])),
        None => words,
    }
}

pub(crate) fn records_session(name: &TraceName, tip: &Tip) -> bool {
    tip.family().is_some() || is_session_name(name)
}

/// Whether a name has the form `<agent>/<session id>`.
pub(crate) fn is_session_name(name: &TraceName) -> bool {
    name.as_str().split_once('/').is_some_and(|(agent, _)| agent.parse::<Format>().is_ok())
}
