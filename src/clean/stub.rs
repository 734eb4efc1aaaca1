//! What takes the place of content that is cut.
//!
//! ```text
//! [git-trace cut Read src/app.go, 4812 tokens, edited later; read it again before editing, or git trace show 3fa9c1d2 --revision 1]
//! ```
//!
//! A stub is one line. It names the tool, its target, the size, and the command that prints the content.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::roles::Role;
use super::session::{Entry, READ_LATER};
use crate::tokens::Counter;
use crate::trace::Item;
use crate::trace::model::arguments::PATHS;
use crate::trace::model::trailers::one_line;

/// How every stub begins.
pub(crate) const START: &str = "[git-trace cut ";

/// The longest part of a target or of an error that a stub repeats, in characters.
const MAX_TARGET: usize = 60;

/// The longest path that a stub repeats in full, in characters. The call, which stays, has the complete path.
const MAX_PATH: usize = 24;

/// The longest text in the arguments of a call that stays, in characters.
const MAX_ARGUMENT: usize = 200;

/// The tokens of the start and of the end that a trimmed text keeps.
const KEPT: u64 = 500;

/// Whether an item was cut before.
pub(super) fn is_cut(item: &Item) -> bool {
    item.body.starts_with(START.as_bytes())
}

/// A line in place of the complete content. `why` ends the description.
pub(super) fn stub(entry: &Entry, why: &str) -> Vec<u8> {
    line(entry, &format!("{} tokens", entry.tokens), why).into_bytes()
}

fn line(entry: &Entry, size: &str, why: &str) -> String {
    let call = &entry.call;
    let (kind, target) = match entry.image() {
        Some(media_type) => (entry.slot.item_type.to_string(), media_type.into()),
        None if call.role == Role::Shell => (call.name.clone(), call.label.as_str().into()),
        None => (call.name.clone(), end_of_path(&call.label)),
    };
    let kind = if kind.is_empty() { "result".to_owned() } else { one_line(&kind) };
    let parts = [format!("{kind} {}", shortened(&target)), size.to_owned(), shortened(why)];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    // A later read has the content, or has this advice.
    let needs_read = entry.is_read() && entry.stale != Some(READ_LATER);
    let again = if needs_read { "read it again before editing, or " } else { "" };
    let (id, revision) = (entry.slot.id.short(), entry.item.revision);
    format!("{START}{}; {again}git trace show {id} --revision {revision}]", parts.join(", "))
}

/// A long path without its first folders, because the name of the file says most.
fn end_of_path(path: &str) -> Cow<'_, str> {
    if path.chars().count() <= MAX_PATH || path.contains("://") {
        return path.into();
    }
    let fits = |(at, _): &(usize, &str)| path[*at..].chars().count() < MAX_PATH;
    let last = path.rmatch_indices('/').next();
    match path.match_indices('/').find(fits).or(last) {
        Some((at, _)) if at > 0 => format!("…{}", &path[at..]).into(),
        _ => path.into(),
    }
}

fn shortened(text: &str) -> String {
    let text = one_line(text);
    if text.len() <= MAX_TARGET || text.chars().count() <= MAX_TARGET {
        return text;
    }
    text.chars().take(MAX_TARGET - 1).chain(['…']).collect()
}

/// The first and the last lines of a text, with a stub between them; `None` if nothing would be cut.
pub(super) fn trimmed(entry: &Entry, counter: Counter) -> Option<Vec<u8>> {
    let text = entry.item.text()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let fitting = |lines: &mut dyn Iterator<Item = &&str>| {
        let mut left = KEPT;
        let fits = |line: &&&str| {
            // A token has at least one byte, so a line of more bytes may fit, but most such lines do not.
            let tokens = if line.len() > 8 * 1024 { u64::MAX } else { counter.count(line.as_bytes()) };
            let fits = tokens <= left;
            left = left.saturating_sub(tokens);
            fits
        };
        lines.take_while(fits).count()
    };
    let head = fitting(&mut lines.iter());
    let tail = fitting(&mut lines[head..].iter().rev());
    let cut = lines.len() - head - tail;
    if cut == 0 {
        return None;
    }
    let size = format!("{cut} of {} lines of {} tokens", lines.len(), entry.tokens);
    let stub = line(entry, &size, "");
    let gap = if tail == 0 { "" } else { "\n" };
    Some([&lines[..head].concat(), &stub, gap, &lines[lines.len() - tail..].concat()].concat().into_bytes())
}

/// The arguments of a call with a note in place of each long text; `None` if there is none. Names and paths stay.
pub(super) fn short_arguments(entry: &Entry) -> Option<Vec<u8>> {
    let mut arguments: Map<String, Value> = serde_json::from_slice(&entry.item.body).ok()?;
    let (id, revision) = (entry.slot.id.short(), entry.item.revision);
    let show = format!("git trace show {id} --revision {revision}");
    let mut changed = false;
    for (name, value) in &mut arguments {
        if !PATHS.contains(&name.as_str()) {
            changed |= shorten(value, &show);
        }
    }
    changed.then(|| Value::Object(arguments).to_string().into_bytes())
}

fn shorten(value: &mut Value, show: &str) -> bool {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            let is_long = length > MAX_ARGUMENT;
            if is_long {
                *text = format!("{START}{length} characters; {show}]");
            }
            is_long
        }
        Value::Array(values) => values.iter_mut().fold(false, |changed, value| shorten(value, show) | changed),
        Value::Object(members) => members
            .iter_mut()
            .fold(false, |changed, (name, value)| changed | (!PATHS.contains(&name.as_str()) && shorten(value, show))),
        _ => false,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/clean/stub.rs"]
mod tests;
