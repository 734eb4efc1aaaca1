//! One item on the page: a line that unfolds to its text, fields, and edits.

use std::borrow::Cow;

use serde_json::Value;

use super::Past;
use super::data::{Data, Step, Text};
use super::html::{Html, color, number};
use super::timeline::{anchor, person, short};
use crate::trace::model::item::{Direction, Item, Role};
use crate::trace::model::json::to_json;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::query::diff::content::{Body, Content};
use crate::trace::query::diff::lines::{Fate, LineDiff};
use crate::trace::store::priority::{SetLevel, Setting};

const PREVIEW: usize = 160;
/// Bytes of a text that are shown; nobody reads more on a page.
const MAX_BODY: usize = 1 << 18;
const CONTEXT: usize = 3;
const MAX_DIFF_LINES: usize = 5_000;

/// The fields that are shown elsewhere, or not at all.
const OTHER_FIELDS: [&str; 7] = ["id", "type", "text", "base64", "tokens", "revision", "signature"];

pub(crate) fn render(html: &mut Html, data: &Data<'_>, entry: &ItemEntry) {
    let Some(Text { cost, item: Some(item), damage }) = data.text(entry.blob) else { return };
    let (state, item_type) = (data.state(entry), &entry.item_type);
    html.put(
        r#"<details class="item {}" id="i-{}" data-type="{}" data-state="{}">"#,
        &[&color(item_type.as_str()), &entry.id, item_type, &state],
    );
    html.put(
        r#"<summary><span class="seq">#{}</span> <span class="type">{}</span> "#,
        &[&number(entry.seq), item_type],
    );
    if let Some(word) = item.fields.direction.map(Direction::as_str).or(item.fields.role.map(Role::as_str)) {
        html.put(r#"<span class="who">{}</span> "#, &[&word]);
    }
    for text in [&item.fields.name, &item.fields.path].into_iter().flatten() {
        html.put(r#"<span class="who"><bdi>{}</bdi></span> "#, &[&data.redactor.text(text)]);
    }
    html.put(r#"<span class="preview"><bdi>{}</bdi></span>"#, &[&preview(item)]);
    if state != "normal" {
        html.put(r#" <span class="badge {}">{}</span>"#, &[&state, &state]);
    }
    if item.revision > 1 {
        html.put(r#" <span class="badge">revision {}</span>"#, &[&number(item.revision)]);
    }
    html.put(r#" <span class="tokens">{}</span></summary><div class="inside">"#, &[&number(cost)]);
    if let Some(damage) = damage {
        let damage = data.redactor.text(damage);
        html.note("The file is damaged and shown unchanged: {}", &[&damage]);
    }
    if let (SetLevel::Set(setting), true) = (data.view.level(entry), data.is_live(entry.id)) {
        html.raw(r#"<p class="note">"#);
        setting_line(html, data, setting);
        html.raw("</p>");
    }
    body(html, data, entry, item);
    fields(html, data, entry, item);
    for (step, change) in data.touches(entry.id) {
        if let Change::Changed(before, after) = change {
            revision(html, data, step, before, after);
        }
    }
    html.raw("</div></details>");
}

pub(crate) fn setting_line(html: &mut Html, data: &Data<'_>, setting: &Setting) {
    let level = setting.level.as_str();
    html.put(r#"<span class="badge {}">{}</span> by <bdi>{}</bdi> "#, &[&level, &level, &person(&setting.by)]);
    html.time(setting.at);
    reason(html, data, setting.reason.as_deref());
}

fn reason(html: &mut Html, data: &Data<'_>, reason: Option<&str>) {
    if let Some(reason) = reason {
        html.put(", because: <bdi>{}</bdi>", &[&data.redactor.text(reason)]);
    }
}

pub(crate) fn preview(item: &Item) -> String {
    match std::str::from_utf8(&item.body) {
        Ok(text) => {
            let end = text.char_indices().nth(PREVIEW * 2).map_or(text.len(), |(end, _)| end);
            one_line(&text[..end]).chars().take(PREVIEW).collect()
        }
        Err(_) => format!("{}, {} bytes", item.fields.media_type.as_deref().unwrap_or("binary"), item.body.len()),
    }
}

fn body(html: &mut Html, data: &Data<'_>, entry: &ItemEntry, item: &Item) {
    let Ok(text) = std::str::from_utf8(&item.body) else {
        html.note("{}", &[&data.redactor.text(&preview(item))]);
        return;
    };
    let end = (0..=MAX_BODY.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    // HTML ignores the first line break in it.
    html.put("<pre class=\"body\" dir=\"auto\">\n{}</pre>", &[&&text[..end]]);
    if end < text.len() {
        html.note("{} more bytes: <code>git trace show {}</code>", &[&number(text.len() - end), &entry.id]);
    }
}

fn fields(html: &mut Html, data: &Data<'_>, entry: &ItemEntry, item: &Item) {
    html.raw(r#"<dl class="fields">"#);
    field(html, "id", &entry.id.to_string());
    let header = Item { body: Vec::new(), fields: item.fields.clone(), ..*item };
    for (name, value) in to_json(&header).iter().filter(|(name, _)| !OTHER_FIELDS.contains(&name.as_str())) {
        let value = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        field(html, name, &data.redactor.text(&value));
    }
    if let Some((step, _)) = data.touches(entry.id).last() {
        html.raw("<dt>recorded</dt><dd>");
        moment(html, step);
        html.raw("</dd>");
    }
    html.raw("</dl>");
}

fn field(html: &mut Html, name: &str, value: &str) {
    html.put("<dt>{}</dt><dd><bdi>{}</bdi></dd>", &[&name, &value]);
}

fn moment(html: &mut Html, step: &Step) {
    html.put(r##"<a href="#{}">"##, &[&anchor(step)]).time(step.tip.time()).raw("</a>");
    if let Some(code) = step.tip.trailers.code.as_deref().filter(|_| step.tip.is_ours()) {
        html.put(" with the code at <code>{}</code>", &[&short(code)]);
    }
}

fn revision(html: &mut Html, data: &Data<'_>, step: &Step, before: &ItemEntry, after: &ItemEntry) {
    html.put(
        r#"<div class="revision"><p class="note"><span class="badge">edited</span> by <bdi>{}</bdi> "#,
        &[&person(&step.tip.commit.author)],
    );
    moment(html, step);
    reason(html, data, step.tip.trailers.reason.as_deref());
    html.raw("</p>");
    let item = |entry: &ItemEntry| data.text(entry.blob).and_then(|text| text.item.clone());
    let (before, after) = (item(before), item(after));
    if data.past != Past::Nothing && before.is_some() && after.is_some() {
        let content = Content { before, after };
        for (name, before, after) in content.headers() {
            let shown = |value: Option<String>| data.redactor.text(value.as_deref().unwrap_or("none")).into_owned();
            html.note("{}: <bdi>{}</bdi> → <bdi>{}</bdi>", &[&name, &shown(before), &shown(after)]);
        }
        match content.body(CONTEXT) {
            Body::Same => {}
            Body::Text(diff) => lines(html, &diff),
            Body::Binary(before, after) => {
                let (before, after) = (number(before.unwrap_or(0)), number(after.unwrap_or(0)));
                html.note("{} bytes → {} bytes", &[&before, &after]);
            }
        }
    }
    html.raw("</div>");
}

fn lines(html: &mut Html, diff: &LineDiff) {
    html.put(
        r#"<details class="diff"><summary>difference <span class="plus">+{}</span> <span class="minus">−{}</span></summary>"#,
        &[&number(diff.added), &number(diff.removed)],
    );
    html.raw(r#"<pre class="diff">"#);
    let mut left = MAX_DIFF_LINES;
    for hunk in &diff.hunks {
        html.put(r#"<span class="hunk">line {}</span>"#, &[&number(hunk.new.0)]);
        for line in hunk.lines.iter().take(left) {
            let (class, sign) = match line.fate {
                Fate::Kept => ("same", " "),
                Fate::Removed => ("del", "-"),
                Fate::Added => ("ins", "+"),
            };
            html.put(r#"<span class="{}"><span class="sign">{}</span>"#, &[&class, &sign]);
            for (marked, part) in &line.parts {
                html.put(if *marked { "<b>{}</b>" } else { "{}" }, &[part]);
            }
            html.raw("</span>");
        }
        left = left.saturating_sub(hunk.lines.len());
    }
    html.raw("</pre>");
    if diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() > MAX_DIFF_LINES {
        html.note("The rest is not shown.", &[]);
    }
    html.raw("</details>");
}
