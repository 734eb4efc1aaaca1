//! The page's list of changes, newest first: commits that did more than add items.

use maud::{Markup, html};

use super::data::{Data, Step};
use super::html::{color, number, time};
use crate::git::short_oid;
use crate::trace::model::tree::Change;

const NAMED: usize = 3;
/// The most changes in one part of the list, see [`super::html::chunks`].
pub(crate) const CHUNK: usize = 100;

/// Where a link to a commit leads: to its line in the list, or to the item that it added.
pub(crate) fn anchor(data: &Data<'_>, step: &Step) -> String {
    let item = step.changes.first().map(Change::entry).filter(|entry| data.is_shown(entry.id));
    match item {
        Some(entry) if !is_listed(step) => data.anchor(entry),
        _ => format!("c-{}", step.tip.commit.oid),
    }
}

pub(crate) fn is_listed(step: &Step) -> bool {
    let adds = step.changes.iter().all(|change| matches!(change, Change::Added(_)));
    !adds || step.changes.is_empty() || step.tip.commit.parents.len() > 1
}

pub(crate) fn line(data: &Data<'_>, step: &Step) -> Markup {
    let tip = &step.tip;
    let trailers = &tip.trailers;
    let op = trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    html! {
        div.step id=(anchor(data, step)) {
            span.op.{ "op-" (op) } { (op) } " "
            span.what {
                @for change in step.changes.iter().take(NAMED) { (name(data, change)) }
                @if step.changes.len() > NAMED {
                    span.dim { "and " (number(step.changes.len() - NAMED)) " more" } " "
                }
                @match data.subject(step) {
                    Some(subject) => bdi { (data.redactor.text(subject)) },
                    None => span.dim { "its text is not on this page" },
                }
                @if let Some(reason) = &trailers.reason {
                    " " span.reason { "· because: " bdi { (data.redactor.text(reason)) } }
                }
            }
            " "
            span.when {
                bdi { (person(&tip.commit.author)) } " " (time(tip.time())) " " code { (short_oid(tip.commit.oid)) }
                @if let Some(code) = trailers.code.as_deref().filter(|_| tip.is_ours()) {
                    " " span.dim { "code " code { (short(code)) } }
                }
            }
        }
    }
}

/// An item that a commit changed, as a link to it if it is on the page.
fn name(data: &Data<'_>, change: &Change) -> Markup {
    let item = change.entry();
    let sign = match change {
        Change::Added(_) => "+",
        Change::Removed(_) => "−",
        Change::Changed(..) => "~",
    };
    html! {
        span.dot.(color(item.item_type.as_str())) {} (sign)
        @if data.is_shown(item.id) {
            a href={ "#" (data.anchor(item)) } { "#" (item.seq) } " "
        } @else {
            "#" (item.seq) " "
        }
    }
}

pub(crate) fn person(author: &str) -> &str {
    author.split('<').next().unwrap_or_default().trim()
}

pub(crate) fn short(oid: &str) -> &str {
    oid.char_indices().nth(7).map_or(oid, |(end, _)| &oid[..end])
}
