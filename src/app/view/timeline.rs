//! The page's list of what was done, newest first.

use super::chart::colour;
use super::data::{Data, Step};
use super::html::Html;
use crate::git::short_oid;
use crate::trace::model::tree::Change;

/// How many items a line names.
const NAMED: usize = 3;

/// The anchor of a commit's line.
pub(crate) fn anchor(step: &Step) -> String {
    format!("c-{}", step.tip.commit.oid)
}

/// Writes the list.
pub(crate) fn render(html: &mut Html, data: &Data<'_>) {
    html.raw("<ol class=\"timeline\">");
    for step in &data.steps {
        line(html, data, step);
    }
    html.raw("</ol>");
    if data.has_earlier_steps {
        html.raw("<p class=\"note\">Earlier commits are not on this page; <code>--last</code> takes more.</p>");
    }
}

fn line(html: &mut Html, data: &Data<'_>, step: &Step) {
    let tip = &step.tip;
    let trailers = &tip.trailers;
    let op = trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    html.raw("<li class=\"step\" id=\"").attr(&anchor(step)).raw("\"");
    let own = trailers.item.filter(|_| tip.is_ours());
    let told = step.changes.iter().find(|change| own == Some(change.entry().id)).or(step.changes.first());
    if let Some(change) = told {
        html.raw(" data-item=\"").attr(&change.entry().id.to_string()).raw("\" data-type=\"");
        html.attr(change.entry().item_type.as_str()).raw("\"");
    }
    html.raw("><span class=\"op op-").raw(op).raw("\">").raw(op).raw("</span> <span class=\"what\">");
    for change in step.changes.iter().take(NAMED) {
        name(html, data, change);
    }
    if step.changes.len() > NAMED {
        html.raw("<span class=\"dim\">and ").number((step.changes.len() - NAMED) as u64).raw(" more</span> ");
    }
    match data.subject(step) {
        Some(subject) => html.raw("<bdi>").text(&data.redactor.text(subject)).raw("</bdi>"),
        None => html.raw("<span class=\"dim\">its text is not on this page</span>"),
    };
    if let Some(reason) = &trailers.reason {
        html.raw(" <span class=\"reason\">· because: <bdi>").text(&data.redactor.text(reason)).raw("</bdi></span>");
    }
    html.raw("</span> <span class=\"when\"><bdi>").text(person(&tip.commit.author)).raw("</bdi> ");
    time(html, &tip.time().to_string());
    html.raw(" <code>").attr(&short_oid(tip.commit.oid)).raw("</code>");
    if let Some(code) = trailers.code.as_deref().filter(|_| tip.is_ours()) {
        html.raw(" <span class=\"dim\">code <code>").text(short(code)).raw("</code></span>");
    }
    html.raw("</span></li>");
}

/// An item that a commit touched, as a link to where it is shown.
fn name(html: &mut Html, data: &Data<'_>, change: &Change) {
    let slot = change.entry();
    let word = match change {
        Change::Added(_) => "+",
        Change::Removed(_) => "−",
        Change::Changed(..) => "~",
    };
    html.raw("<span class=\"").raw(colour(slot.item_type.as_str())).raw(" dot\"></span>").raw(word);
    if data.is_shown(slot.id) {
        html.raw("<a href=\"#i-").attr(&slot.id.to_string()).raw("\">#").number(u64::from(slot.seq)).raw("</a> ");
    } else {
        html.raw("#").number(u64::from(slot.seq)).raw(" ");
    }
}

/// A person without the address.
pub(crate) fn person(author: &str) -> &str {
    author.split('<').next().unwrap_or_default().trim()
}

/// A moment, to the second.
pub(crate) fn time(html: &mut Html, text: &str) {
    let shown = text.split('.').next().unwrap_or(text).trim_end_matches('Z').replace('T', " ");
    html.raw("<time datetime=\"").attr(text).raw("\">").attr(&shown).raw("</time>");
}

/// The first digits of an oid in hex, whoever wrote it.
pub(crate) fn short(oid: &str) -> &str {
    oid.char_indices().nth(7).map_or(oid, |(end, _)| &oid[..end])
}
