//! The result of a call.

use std::borrow::Cow;

use maud::{Markup, html};
use serde_json::Value;

use super::super::redact::Redactor;
use super::super::text::{lines, markdown};
use super::call::Shape;
use super::{SHOWN, preview};
use crate::trace::model::item::{Item, Status};

/// Lines of a terminal that are shown before the fold.
const TERMINAL: usize = 24;
/// How a result begins of a call that the user did not allow, and what precedes their reply.
const REJECTED: &str = "The user doesn't want to proceed with this tool use.";
const REPLY: &str = "the user said:\n";
/// Larger JSON is shown as it is.
const MAX_JSON: usize = 1 << 16;

pub(super) fn body(item: &Item, shape: Shape, redactor: &Redactor) -> Markup {
    let Ok(text) = std::str::from_utf8(&item.body) else { return html! { p.note { (preview(item)) } } };
    let failed = item.fields.status.is_some_and(|status| status.as_str() != "ok");
    if let Some(reply) = rejection(item) {
        return html! { @if !reply.is_empty() { (markdown(reply)) } };
    }
    html! {
        @match shape {
            _ if text.trim().is_empty() => p.note { "no output" },
            Shape::Prose if !failed => @if let Some(json) = json(text) { (json) } @else { (markdown(text)) },
            Shape::Terminal => (lines(&uncolored(text, redactor), "term", TERMINAL)),
            Shape::File => (lines(text, "file read", SHOWN)),
            Shape::List => @if let Some(json) = json(text) { (json) } @else { (list(text)) },
            Shape::Change | Shape::Answer if !failed => details.fold { summary { "result" } (lines(text, "out", TERMINAL)) },
            _ => @if let Some(json) = json(text) { (json) } @else { (lines(&uncolored(text, redactor), "out", SHOWN)) },
        }
    }
}

/// What the user replied to a call that they did not allow.
pub(super) fn rejection(item: &Item) -> Option<&str> {
    let text = std::str::from_utf8(&item.body).ok().filter(|_| item.fields.status == Some(Status::Error))?;
    let rest = text.strip_prefix(REJECTED)?;
    Some(rest.split_once(REPLY).map_or("", |(_, reply)| reply.trim()))
}

fn list(text: &str) -> Markup {
    let split = text.match_indices('\n').nth(SHOWN - 1).map_or(text.len(), |(at, _)| at);
    html! {
        ul.hits { @for line in text[..split].lines() { li { (line) } } }
        @if split < text.trim_end().len() {
            @let rest = &text[split + 1..];
            details.fold {
                summary { (rest.lines().count()) " more lines" }
                (lines(rest, "file", usize::MAX))
            }
        }
    }
}

/// Text without the colors of a terminal. Colors could hide a secret.
fn uncolored<'t>(text: &'t str, redactor: &Redactor) -> Cow<'t, str> {
    if !text.contains("\u{1b}[") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for (index, piece) in text.split("\u{1b}[").enumerate() {
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':');
        match end {
            Some(end) if index > 0 && piece[end..].starts_with(['m', 'K']) => plain.push_str(&piece[end + 1..]),
            _ if index > 0 => plain.extend(["\u{1b}[", piece]),
            _ => plain.push_str(piece),
        }
    }
    Cow::Owned(redactor.text(&plain).into_owned())
}

/// A text as JSON with line breaks, or the texts of content blocks, if it is an object or a list.
pub(super) fn json(text: &str) -> Option<Markup> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) || text.len() > MAX_JSON {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let block = |block: &Value| Some(block.get("text")?.as_str()?.to_owned());
    let blocks: Option<Vec<String>> = value.as_array().and_then(|blocks| blocks.iter().map(block).collect());
    match blocks {
        Some(blocks) if !blocks.is_empty() => Some(markdown(&blocks.join("\n\n"))),
        _ => Some(pretty(&value)),
    }
}

pub(super) fn pretty(value: &Value) -> Markup {
    // A value that was parsed can be written.
    lines(&serde_json::to_string_pretty(value).unwrap_or_default(), "json", SHOWN)
}
