//! One item on the page: a line, and what unfolds of it.

use std::borrow::Cow;

use serde_json::Value;

use super::Past;
use super::chart::colour;
use super::data::{Data, Step, Text};
use super::html::Html;
use super::timeline::{anchor, person, short, time};
use crate::trace::model::item::{Direction, Item, Role};
use crate::trace::model::json::to_json;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::query::diff::content::{Body, Content};
use crate::trace::query::diff::lines::{Fate, LineDiff};
use crate::trace::store::priority::{SetLevel, Setting};

/// How many characters of a text stand in its line.
const PREVIEW: usize = 160;
/// How many bytes of a text are shown; what is longer nobody reads on a page.
const BODY: usize = 1 << 18;
/// How many lines around a difference.
const CONTEXT: usize = 3;
/// How many lines of a difference are shown.
const DIFF_LINES: usize = 5_000;

/// The fields that are told elsewhere, or not at all.
const TOLD: [&str; 7] = ["id", "type", "text", "base64", "tokens", "revision", "signature"];

/// Writes an item.
pub(crate) fn render(html: &mut Html, data: &Data<'_>, slot: &ItemEntry) {
    let Some(Text { cost, item: Some(item), damage }) = data.text(slot.blob) else { return };
    let is_live = data.is_live(slot.id);
    let set = data.view.level(slot);
    let state =
        if is_live { data.view.left_out(slot).map_or(set.level().as_str(), |why| why.as_str()) } else { "gone" };
    let item_type = slot.item_type.as_str();
    html.raw("<details class=\"item ").raw(colour(item_type)).raw("\" id=\"i-").attr(&slot.id.to_string());
    html.raw("\" data-type=\"")
        .attr(item_type)
        .raw("\" data-state=\"")
        .raw(state)
        .raw("\"><summary><span class=\"seq\">#");
    html.number(u64::from(slot.seq)).raw("</span> <span class=\"type\">").attr(item_type).raw("</span> ");
    if let Some(word) = item.fields.direction.map(Direction::as_str).or(item.fields.role.map(Role::as_str)) {
        html.raw("<span class=\"who\">").raw(word).raw("</span> ");
    }
    for text in [item.fields.name.as_deref(), item.fields.path.as_deref()].into_iter().flatten() {
        html.raw("<span class=\"who\"><bdi>").text(&data.redactor.text(text)).raw("</bdi></span> ");
    }
    html.raw("<span class=\"preview\"><bdi>").text(&preview(item)).raw("</bdi></span>");
    if state != "normal" {
        html.raw(" <span class=\"badge ").raw(state).raw("\">").raw(state).raw("</span>");
    }
    if item.revision > 1 {
        html.raw(" <span class=\"badge\">revision ").number(u64::from(item.revision)).raw("</span>");
    }
    html.raw(" <span class=\"tokens\">").number(*cost).raw("</span></summary><div class=\"inside\">");
    if let Some(damage) = damage {
        html.raw("<p class=\"note\">The file is damaged and shown as it stands: ")
            .text(&data.redactor.text(damage))
            .raw("</p>");
    }
    if let (SetLevel::Set(setting), true) = (set, is_live) {
        html.raw("<p class=\"note\">");
        setting_line(html, data, setting);
        html.raw("</p>");
    }
    body(html, data, slot, item);
    fields(html, data, slot, item);
    revisions(html, data, slot);
    html.raw("</div></details>");
}

/// A change of priority: the level, who set it, when and why.
pub(crate) fn setting_line(html: &mut Html, data: &Data<'_>, setting: &Setting) {
    let level = setting.level.as_str();
    html.raw("<span class=\"badge ").raw(level).raw("\">").raw(level).raw("</span> by <bdi>");
    html.text(person(&setting.by)).raw("</bdi> ");
    time(html, &setting.at.to_string());
    if let Some(reason) = &setting.reason {
        html.raw(", because: <bdi>").text(&data.redactor.text(reason)).raw("</bdi>");
    }
}

/// The beginning of a text, or what it is instead.
pub(crate) fn preview(item: &Item) -> String {
    match std::str::from_utf8(&item.body) {
        Ok(text) => {
            let end = text.char_indices().nth(PREVIEW * 2).map_or(text.len(), |(end, _)| end);
            one_line(&text[..end]).chars().take(PREVIEW).collect()
        }
        Err(_) => what(item),
    }
}

/// What bytes are that are no text.
fn what(item: &Item) -> String {
    let media_type = item.fields.media_type.as_deref().unwrap_or("binary");
    format!("{media_type}, {} bytes", item.body.len())
}

fn body(html: &mut Html, data: &Data<'_>, slot: &ItemEntry, item: &Item) {
    let Ok(text) = std::str::from_utf8(&item.body) else {
        html.raw("<p class=\"note\">").text(&data.redactor.text(&what(item))).raw("</p>");
        return;
    };
    let end = (0..=BODY.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    // HTML passes over the first line break in it.
    html.raw("<pre class=\"body\" dir=\"auto\">\n").text(&text[..end]).raw("</pre>");
    if end < text.len() {
        html.raw("<p class=\"note\">").number((text.len() - end) as u64).raw(" more bytes: <code>git trace show ");
        html.attr(&slot.id.to_string()).raw("</code></p>");
    }
}

fn fields(html: &mut Html, data: &Data<'_>, slot: &ItemEntry, item: &Item) {
    html.raw("<dl class=\"fields\">");
    field(html, "id", &slot.id.to_string());
    let head = Item { body: Vec::new(), fields: item.fields.clone(), ..*item };
    for (name, value) in to_json(&head).iter().filter(|(name, _)| !TOLD.contains(&name.as_str())) {
        let value = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        field(html, name, &data.redactor.text(&value));
    }
    if let Some((step, _)) = data.touches(slot.id).last() {
        html.raw("<dt>recorded</dt><dd><a href=\"#").attr(&anchor(step)).raw("\">");
        time(html, &step.tip.time().to_string());
        html.raw("</a>");
        code(html, step);
        html.raw("</dd>");
    }
    html.raw("</dl>");
}

fn field(html: &mut Html, name: &str, value: &str) {
    html.raw("<dt>").text(name).raw("</dt><dd><bdi>").text(value).raw("</bdi></dd>");
}

fn code(html: &mut Html, step: &Step) {
    if let Some(code) = step.tip.trailers.code.as_deref().filter(|_| step.tip.is_ours()) {
        html.raw(" with the code at <code>").text(short(code)).raw("</code>");
    }
}

/// The edits of an item, newest first, each as what differs from the text before.
fn revisions(html: &mut Html, data: &Data<'_>, slot: &ItemEntry) {
    for (step, change) in data.touches(slot.id) {
        let Change::Changed(before, after) = change else { continue };
        html.raw("<div class=\"revision\"><p class=\"note\"><span class=\"badge\">edited</span> by <bdi>");
        html.text(person(&step.tip.commit.author)).raw("</bdi> <a href=\"#").attr(&anchor(step)).raw("\">");
        time(html, &step.tip.time().to_string());
        html.raw("</a>");
        code(html, step);
        if let Some(reason) = &step.tip.trailers.reason {
            html.raw(", because: <bdi>").text(&data.redactor.text(reason)).raw("</bdi>");
        }
        html.raw("</p>");
        let item = |slot: &ItemEntry| data.text(slot.blob).and_then(|text| text.item.clone());
        if data.past != Past::Nothing
            && let (Some(before), Some(after)) = (item(before), item(after))
        {
            let content = Content { before: Some(before), after: Some(after) };
            for (name, before, after) in content.headers() {
                let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
                html.raw("<p class=\"note\">").text(&name).raw(": <bdi>").text(&data.redactor.text(&shown(before)));
                html.raw("</bdi> → <bdi>").text(&data.redactor.text(&shown(after))).raw("</bdi></p>");
            }
            match content.body(CONTEXT) {
                Body::Same => {}
                Body::Text(diff) => lines(html, &diff),
                Body::Binary(before, after) => {
                    let len = |len: Option<usize>| len.unwrap_or(0) as u64;
                    html.raw("<p class=\"note\">")
                        .number(len(before))
                        .raw(" bytes → ")
                        .number(len(after))
                        .raw(" bytes</p>");
                }
            }
        }
        html.raw("</div>");
    }
}

/// A difference, line by line.
fn lines(html: &mut Html, diff: &LineDiff) {
    html.raw("<details class=\"diff\"><summary>difference <span class=\"plus\">+").number(diff.added as u64);
    html.raw("</span> <span class=\"minus\">−")
        .number(diff.removed as u64)
        .raw("</span></summary><pre class=\"diff\">");
    let mut left = DIFF_LINES;
    for hunk in &diff.hunks {
        html.raw("<span class=\"hunk\">line ").number(hunk.new.0 as u64).raw("</span>");
        for line in hunk.lines.iter().take(left) {
            let (class, sign) = match line.fate {
                Fate::Kept => ("<span class=\"same\">", " "),
                Fate::Removed => ("<span class=\"del\">", "-"),
                Fate::Added => ("<span class=\"ins\">", "+"),
            };
            html.raw(class).raw("<span class=\"sign\">").raw(sign).raw("</span>");
            for (marked, part) in &line.parts {
                if *marked {
                    html.raw("<b>").text(part).raw("</b>");
                } else {
                    html.text(part);
                }
            }
            html.raw("</span>");
        }
        left = left.saturating_sub(hunk.lines.len());
    }
    html.raw("</pre>");
    if diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() > DIFF_LINES {
        html.raw("<p class=\"note\">The rest is not shown.</p>");
    }
    html.raw("</details>");
}
