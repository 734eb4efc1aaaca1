//! Details of an item besides its text: its priority, its removal, its edits, and its fields.

use std::fmt::Write as _;

use maud::{Markup, html};
use serde_json::Value;

use super::super::Past;
use super::super::data::{Data, Step};
use super::super::html::{clock, number, time};
use super::super::timeline::{person, short};
use super::call::Shape;
use super::{change, result};
use crate::git::short_oid;
use crate::trace::ItemEntry;
use crate::trace::model::item::Item;
use crate::trace::model::json::to_json;
use crate::trace::model::tree::Change;
use crate::trace::query::diff::content::{Body, Content};
use crate::trace::store::priority::{SetLevel, Setting};
use crate::trace::store::turns::is_prompt;

const CONTEXT: usize = 3;

/// The fields that are shown elsewhere, or not at all. `git trace show --json` has all.
const OTHER_FIELDS: [&str; 14] = [
    "id",
    "type",
    "text",
    "base64",
    "tokens",
    "revision",
    "signature",
    "seq",
    "role",
    "direction",
    "name",
    "reply_to",
    "source",
    "created_at",
];

/// Notes above a text: damage, priority, removal.
pub(super) fn notes(data: &Data<'_>, entry: &ItemEntry) -> Markup {
    let setting = match data.view.level(entry) {
        SetLevel::Set(setting) if data.is_live(entry.id) => Some(setting),
        _ => None,
    };
    let damage = data.text(entry.blob).and_then(|text| text.damage.as_ref()).filter(|_| data.shows_text(entry));
    html! {
        @if let Some(damage) = damage {
            p.note { "The file is damaged and shown unchanged: " (data.redactor.text(damage)) }
        }
        @if let Some(setting) = setting { p.note { (setting_line(data, setting)) } }
        @if data.state(entry) == "deleted" && data.shows_text(entry) { p.note { (removal(data, entry)) } }
    }
}

/// The time of an item to the second: that of the session, or that of its commit. Only prompts show the day.
pub(super) fn when(data: &Data<'_>, entry: &ItemEntry) -> Option<String> {
    let item = data.item(entry);
    let committed = || Some(data.touches(entry.id).last()?.0.tip.time());
    let time = clock(&item.and_then(|item| item.fields.created).or_else(committed)?.to_string());
    let is_prompt = item.is_some_and(is_prompt);
    Some(if is_prompt { time } else { time.split_once(' ').map_or(time.clone(), |(_, clock)| clock.to_owned()) })
}

/// Who removed an item from the context, when, and why.
pub(super) fn removal(data: &Data<'_>, entry: &ItemEntry) -> Markup {
    html! {
        @if let Some(step) = data.removal(entry.id) {
            (by(step)) (reason(data, step.tip.trailers.reason.as_deref()))
            @if !data.shows_text(entry) { "; the text is not on this page" }
        }
    }
}

pub(crate) fn setting_line(data: &Data<'_>, setting: &Setting) -> Markup {
    let level = setting.level.as_str();
    html! {
        span.badge.(level) { (level) } " by " bdi { (person(&setting.by)) } " " (time(setting.at))
        (reason(data, setting.reason.as_deref()))
    }
}

fn reason(data: &Data<'_>, reason: Option<&str>) -> Markup {
    html! { @if let Some(reason) = reason { ", because: " bdi { (data.redactor.text(reason)) } } }
}

fn by(step: &Step) -> Markup {
    html! { "by " bdi { (person(&step.tip.commit.author)) } " " (time(step.tip.time())) }
}

/// The earlier revisions of an item, each as a difference.
pub(super) fn edits(data: &Data<'_>, entry: &ItemEntry) -> Markup {
    html! {
        @for (step, change) in data.touches(entry.id) {
            @if let Change::Changed(before, after) = change { (edit(data, step, before, after)) }
        }
    }
}

fn edit(data: &Data<'_>, step: &Step, before: &ItemEntry, after: &ItemEntry) -> Markup {
    let item = |entry: &ItemEntry| data.text(entry.blob).and_then(|text| text.item.clone());
    let content = match (item(before), item(after)) {
        (Some(before), Some(after)) if data.past != Past::Nothing => {
            Some(Content { before: Some(before), after: Some(after) })
        }
        _ => None,
    };
    let shown = |value: Option<String>| data.redactor.text(value.as_deref().unwrap_or("none")).into_owned();
    html! {
        div.revision {
            p.note {
                span.badge { "edited" } " " (by(step)) (code(step)) (reason(data, step.tip.trailers.reason.as_deref()))
            }
            @if let Some(content) = content {
                @for (name, before, after) in content.headers() {
                    p.note { (name) ": " bdi { (shown(before)) } " → " bdi { (shown(after)) } }
                }
                @match content.body(CONTEXT) {
                    Body::Same => {},
                    Body::Text(diff) => details.diff {
                        summary {
                            "difference " span.plus { "+" (number(diff.added)) } " "
                            span.minus { "−" (number(diff.removed)) }
                        }
                        (change::lines(&diff))
                    },
                    Body::Binary(before, after) => p.note {
                        (number(before.unwrap_or(0))) " bytes → " (number(after.unwrap_or(0))) " bytes"
                    },
                }
            }
        }
    }
}

fn code(step: &Step) -> Markup {
    let code = step.tip.trailers.code.as_deref().filter(|_| step.tip.is_ours());
    html! { @if let Some(code) = code { " with the code at " code { (short(code)) } } }
}

/// All fields, to unfold, with the texts of the results that are folded.
pub(super) fn fields(
    data: &Data<'_>,
    entry: &ItemEntry,
    results: &[&ItemEntry],
    is_folded: impl Fn(&ItemEntry) -> bool,
) -> Markup {
    let mut text = String::new();
    for entry in std::iter::once(&entry).chain(results) {
        let is_result = !text.is_empty();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}: {}", if is_result { "result" } else { "id" }, entry.id);
        if let Some(item) = data.item(entry) {
            header_lines(&mut text, item, is_result);
        }
        if let Some((step, _)) = data.touches(entry.id).last() {
            let tip = &step.tip;
            let _ = write!(text, "commit: {} by {}", short_oid(tip.commit.oid), person(&tip.commit.author));
            if let Some(code) = tip.trailers.code.as_deref().filter(|_| tip.is_ours()) {
                let _ = write!(text, " with the code at {}", short(code));
            }
            text.push('\n');
        }
        if let Some(step) = data.removal(entry.id) {
            let when = clock(&step.tip.time().to_string());
            let _ = writeln!(text, "{}: {when} in {}", data.state(entry), short_oid(step.tip.commit.oid));
        }
    }
    let folded = results.iter().filter(|result| is_folded(result)).filter_map(|result| data.item(result));
    html! {
        details.meta {
            summary { "details" }
            pre { (data.redactor.text(text.trim_end())) }
            @for item in folded { (result::body(item, Shape::Other, &data.redactor)) }
        }
    }
}

fn header_lines(text: &mut String, item: &Item, is_result: bool) {
    let header = Item { body: Vec::new(), fields: item.fields.clone(), ..*item };
    let is_shown = |name: &str| !(OTHER_FIELDS.contains(&name) || is_result && name == "call_id");
    for (name, value) in to_json(&header).iter().filter(|(name, _)| is_shown(name)) {
        let _ = match value {
            Value::String(value) => writeln!(text, "{name}: {value}"),
            other => writeln!(text, "{name}: {other}"),
        };
    }
}
