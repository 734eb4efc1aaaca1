//! The page's list of changes, newest first.

use super::data::{Data, Step};
use super::html::{Html, color, number};
use crate::git::short_oid;
use crate::trace::model::tree::Change;

const NAMED: usize = 3;

pub(crate) fn anchor(step: &Step) -> String {
    format!("c-{}", step.tip.commit.oid)
}

pub(crate) fn render(html: &mut Html, data: &Data<'_>) {
    html.raw(r#"<ol class="timeline">"#);
    for step in &data.steps {
        line(html, data, step);
    }
    html.raw("</ol>");
    if data.has_earlier_steps {
        html.note("Earlier commits are not on this page; <code>--last</code> includes more.", &[]);
    }
}

fn line(html: &mut Html, data: &Data<'_>, step: &Step) {
    let tip = &step.tip;
    let trailers = &tip.trailers;
    let op = trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    html.put(r#"<li class="step" id="{}""#, &[&anchor(step)]);
    let own = trailers.item.filter(|_| tip.is_ours());
    if let Some(change) = step.changes.iter().find(|change| own == Some(change.entry().id)).or(step.changes.first()) {
        html.put(r#" data-item="{}" data-type="{}""#, &[&change.entry().id, &change.entry().item_type]);
    }
    html.put(r#"><span class="op op-{}">{}</span> <span class="what">"#, &[&op, &op]);
    for change in step.changes.iter().take(NAMED) {
        name(html, data, change);
    }
    if step.changes.len() > NAMED {
        html.put(r#"<span class="dim">and {} more</span> "#, &[&number(step.changes.len() - NAMED)]);
    }
    match data.subject(step) {
        Some(subject) => html.put("<bdi>{}</bdi>", &[&data.redactor.text(subject)]),
        None => html.raw(r#"<span class="dim">its text is not on this page</span>"#),
    };
    if let Some(reason) = &trailers.reason {
        let reason = data.redactor.text(reason);
        html.put(r#" <span class="reason">· because: <bdi>{}</bdi></span>"#, &[&reason]);
    }
    html.put(r#"</span> <span class="when"><bdi>{}</bdi> "#, &[&person(&tip.commit.author)]);
    html.time(tip.time()).put(" <code>{}</code>", &[&short_oid(tip.commit.oid)]);
    if let Some(code) = trailers.code.as_deref().filter(|_| tip.is_ours()) {
        html.put(r#" <span class="dim">code <code>{}</code></span>"#, &[&short(code)]);
    }
    html.raw("</span></li>");
}

/// An item that a commit changed, as a link to it if it is on the page.
fn name(html: &mut Html, data: &Data<'_>, change: &Change) {
    let item = change.entry();
    let sign = match change {
        Change::Added(_) => "+",
        Change::Removed(_) => "−",
        Change::Changed(..) => "~",
    };
    html.put(r#"<span class="{} dot"></span>{}"#, &[&color(item.item_type.as_str()), &sign]);
    if data.is_shown(item.id) {
        html.put(r##"<a href="#i-{}">#{}</a> "##, &[&item.id, &number(item.seq)]);
    } else {
        html.put("#{} ", &[&number(item.seq)]);
    }
}

pub(crate) fn person(author: &str) -> &str {
    author.split('<').next().unwrap_or_default().trim()
}

pub(crate) fn short(oid: &str) -> &str {
    oid.char_indices().nth(7).map_or(oid, |(end, _)| &oid[..end])
}
