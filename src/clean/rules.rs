//! What each preset selects, and what takes its place.

use super::preset::Preset;
use super::roles::Role;
use super::session::{Entry, Session};
use super::stub::{short_arguments, stub, trimmed};
use crate::trace::model::trailers::first_words;

/// Smaller items are not selected: a stub takes about 40 tokens.
const MIN: u64 = 100;
/// The same for calls.
const MIN_CALL: u64 = 200;
/// Results above this size are half of all tokens.
const OVERSIZE: u64 = 2_000;
/// `oversize` keeps this many of the newest steps.
const KEEP_OVERSIZE: usize = 3;

/// What takes the place of an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Replacement {
    Text(Vec<u8>),
    Nothing,
}

/// The preset that an item goes to, its replacement, and the tokens of that. `presets` are in the order in which they select.
pub(super) fn claim(
    session: &Session,
    entry: &Entry,
    presets: &[Preset],
    keep: usize,
) -> Option<(Preset, Replacement, u64)> {
    presets.iter().find_map(|preset| {
        let replacement = claim_by(*preset, session, entry, keep)?;
        let tokens = session.tokens_of(entry, &replacement);
        // Reminders go, of any size.
        (tokens < entry.tokens || *preset == Preset::Reminders).then_some((*preset, replacement, tokens))
    })
}

fn claim_by(preset: Preset, session: &Session, entry: &Entry, keep: usize) -> Option<Replacement> {
    let is_old = entry.age >= keep;
    if preset == Preset::Reminders {
        return without_reminders(entry).filter(|_| is_old && !entry.is_fixed);
    }
    let keep = match preset {
        Preset::Oversize => KEEP_OVERSIZE,
        Preset::AgentReports | Preset::OldCalls => keep.saturating_mul(2),
        _ => keep,
    };
    if entry.is_protected || entry.age < keep {
        return None;
    }
    let is_success = entry.item.fields.is_result() && !entry.is_error();
    let role = entry.call.role;
    let is_result = entry.item.fields.is_result() && entry.tokens >= MIN && role != Role::Report;
    let text = |why: &str| Some(Replacement::Text(stub(entry, why)));
    match preset {
        Preset::Duplicates => {
            // The newest read of a file is no older than its duplicate, unless the file changed between them.
            let later = entry.duplicate.filter(|_| is_result && !entry.is_newest_read())?;
            text(&format!("same as {}", later.short()))
        }
        Preset::StaleReads => text(entry.stale.filter(|_| is_result)?),
        Preset::EditEchoes if is_result && is_success && matches!(role, Role::Edit | Role::Write) => text(""),
        Preset::Images if entry.image().is_some() && entry.tokens >= MIN => text(""),
        Preset::Failures if is_result && entry.is_error() => {
            text(&format!("failed, later successful: {}", first_words(first_line(&entry.item.body))))
        }
        Preset::Failures if entry.item.fields.is_call() && entry.is_resolved && entry.tokens >= MIN => {
            short_arguments(entry).map(Replacement::Text)
        }
        Preset::Thinking if entry.slot.item_type.as_str() == "reasoning" && entry.place.turn < session.turns => {
            Some(Replacement::Nothing)
        }
        Preset::EditedReads if is_result && entry.is_newest_read() && entry.is_edited_later => text("edited later"),
        Preset::OldResults if is_result && !entry.is_newest_read() => text(""),
        Preset::Oversize
            if is_result && entry.tokens > OVERSIZE && (!entry.is_newest_read() || entry.is_edited_later) =>
        {
            trimmed(entry, session.counter).map(Replacement::Text)
        }
        Preset::OldReads if is_result && entry.is_newest_read() => text(""),
        Preset::AgentReports if entry.item.fields.is_result() && entry.tokens >= MIN && role == Role::Report => {
            text("")
        }
        Preset::OldCalls
            if entry.item.fields.is_call() && entry.tokens >= MIN_CALL && matches!(role, Role::Edit | Role::Write) =>
        {
            short_arguments(entry).map(Replacement::Text)
        }
        _ => None,
    }
}

fn first_line(body: &[u8]) -> &[u8] {
    body.trim_ascii().split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// The item without the reminders that occur again later; nothing if no other text remains.
fn without_reminders(entry: &Entry) -> Option<Replacement> {
    if entry.is_repeated {
        return Some(Replacement::Nothing);
    }
    let is_result = entry.item.fields.is_result();
    let text = entry.without_reminders().filter(|_| !is_result || !entry.is_protected)?;
    if !text.is_empty() {
        return Some(Replacement::Text(text));
    }
    // A result stays, and providers refuse an empty one.
    (!is_result).then_some(Replacement::Nothing)
}

impl Session {
    /// The tokens of what takes the place of an item.
    pub(super) fn tokens_of(&self, entry: &Entry, replacement: &Replacement) -> u64 {
        match replacement {
            Replacement::Nothing => 0,
            Replacement::Text(text) => {
                let has_name = entry.item.fields.name.is_some();
                crate::tokens::framing::message_cost(self.counter.count(text), has_name)
            }
        }
    }
}
