//! The priorities that a pull or an import changed, as lines and as JSON.

use std::collections::BTreeMap;

use super::changed::MAX_CHANGED;
use crate::Role;
use crate::app::cli::item::priority::{dispute, named_author, quoted, setting_json};
use crate::app::cli::{Context, Result, Value, json};
use crate::trace::model::types::Types;
use crate::trace::store::head;
use crate::trace::store::priority::{ChangedPriority, InForce, Level};
use crate::trace::store::total::read_item;
use crate::trace::{ItemEntry, ItemType, TraceError, TraceName};

/// The columns of a reason. A remote may send any text.
const REASON: usize = 80;

/// Prints the changes of each author in each trace as one line, and each dispute as another.
///
/// Lines about the current trace are first. Those about instructions and other system messages, items that were pinned, and skips in the current
/// trace, also those that end, are complete, whatever else a remote sends.
pub(crate) fn print_priorities(context: &Context, changes: &[ChangedPriority]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let named = context.named_trace().ok().flatten();
    let current = named.or_else(|| head::current(context.repo().ok()?).ok());
    let repo = context.repo()?;
    let types = Types::read(repo).map_err(TraceError::from)?;
    let is_system =
        |entry: &ItemEntry| read_item(repo, entry).is_ok_and(|item| types.role(&item.fields) == Role::System);
    let is_of_current = |(name, _): &(TraceName, ItemEntry)| current.as_ref() == Some(name);
    let is_vital = |change: &ChangedPriority| {
        let place = change.place.as_ref();
        let is_skip = [Some(change.level), change.before].contains(&Some(Level::Skip));
        change.before == Some(Level::Pinned)
            || place.is_some_and(|(_, entry)| entry.item_type == ItemType::instruction() || is_system(entry))
            || (is_skip && place.is_some_and(is_of_current))
    };
    let mut by_author: BTreeMap<(Option<&TraceName>, String), [Vec<String>; 2]> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.is_changed) {
        let setting = &change.now.setting;
        let reason = setting.reason.as_deref().map(|reason| format!(" ({})", quoted(reason, REASON)));
        let text = format!("{} {}{}", verb(change.before, change.level), place(change), reason.unwrap_or_default());
        let trace = change.place.as_ref().map(|(name, _)| name);
        let [vital, others] = by_author.entry((trace, named_author(setting))).or_default();
        if is_vital(change) { vital } else { others }.push(text);
    }
    let mut groups: Vec<_> = by_author.into_iter().collect();
    groups.sort_by_key(|((trace, _), [vital, _])| (*trace != current.as_ref(), vital.is_empty()));
    let (mut room, mut left) = (MAX_CHANGED, BTreeMap::new());
    for ((trace, author), [vital, others]) in groups {
        let count = vital.len() + others.len();
        let shown: Vec<String> = vital.into_iter().chain(others.iter().take(room).cloned()).collect();
        room = room.saturating_sub(others.len());
        if shown.len() < count {
            *left.entry(trace).or_insert(0) += count - shown.len();
        }
        if !shown.is_empty() {
            let what = if count == 1 { "1 priority".to_owned() } else { format!("{count} priorities") };
            writeln!(context.ui, "{}: {what} changed by {author}: {}", whose(trace), shown.join(", "))?;
        }
    }
    for (trace, count) in left.iter().take(MAX_CHANGED) {
        writeln!(context.ui, "{}: changed priorities that only --json lists: {count}", whose(*trace))?;
    }
    if left.len() > MAX_CHANGED {
        let count = left.len() - MAX_CHANGED;
        writeln!(context.ui, "other traces with changed priorities that only --json lists: {count}")?;
    }
    let mut disputed: Vec<&ChangedPriority> = changes.iter().filter(|change| !change.now.rivals.is_empty()).collect();
    let is_elsewhere = |change: &ChangedPriority| change.place.as_ref().map(|(name, _)| name) != current.as_ref();
    disputed.sort_by_key(|change| (!is_vital(change), is_elsewhere(change)));
    let vital = disputed.iter().filter(|change| is_vital(change)).count();
    for change in disputed.iter().take(vital.max(MAX_CHANGED)) {
        let InForce { setting, rivals } = &change.now;
        let trace = change.place.as_ref().map(|(name, _)| name);
        writeln!(context.ui, "{}: {} {}", whose(trace), place(change), dispute(setting, rivals))?;
    }
    let more = disputed.len().saturating_sub(vital.max(MAX_CHANGED));
    if more > 0 {
        writeln!(context.ui, "items that were changed concurrently and that only --json lists: {more}")?;
    }
    Ok(())
}

fn whose(trace: Option<&TraceName>) -> &str {
    trace.map_or("in no trace here", TraceName::as_str)
}

/// The position of the item, or its id if it is in no trace.
fn place(change: &ChangedPriority) -> String {
    change.place.as_ref().map_or_else(|| change.item.to_string(), |(_, entry)| format!("#{}", entry.seq))
}

fn verb(before: Option<Level>, now: Level) -> &'static str {
    match (before, now) {
        (_, Level::Pinned) => "pinned",
        (_, Level::Skip) => "skipped",
        (Some(Level::Skip), Level::Normal) => "unskipped",
        (_, Level::Normal) => "unpinned",
    }
}

pub(crate) fn priority_json(change: &ChangedPriority) -> Value {
    let ChangedPriority { item, place, before, level, now: InForce { setting, rivals }, .. } = change;
    json!({
        "trace": place.as_ref().map(|(name, _)| name.as_str()),
        "seq": place.as_ref().map(|(_, entry)| entry.seq),
        "id": item.to_string(),
        "before": before.map(Level::as_str),
        "level": level.as_str(),
        "by": setting.by,
        "reason": setting.reason,
        "rivals": rivals.iter().map(setting_json).collect::<Vec<Value>>(),
    })
}
