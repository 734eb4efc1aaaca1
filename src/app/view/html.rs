//! Parts that every section of the page uses.
//!
//! Markup is written with `maud`, which checks it at compile time and escapes every value. [`finish`] then shows characters that act
//! without being seen by their numbers, wherever a value contained them.

use std::fmt::{Display, Write as _};

use maud::{Markup, PreEscaped, html};

use crate::base::escape::marked;
use crate::trace::Time;

/// A page or a part of one, ready to be written: an unprintable character is its number, as an element in text and as text in tags.
pub(crate) fn finish(markup: Markup) -> String {
    let page = markup.into_string();
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | 0x20..0x7f);
    if page.bytes().all(is_plain) {
        return page;
    }
    let mut shown = String::with_capacity(page.len() + page.len() / 64);
    let mut in_tag = false;
    for line in page.split_inclusive('\n') {
        if line.bytes().all(is_plain) {
            shown.push_str(line);
            in_tag =
                line.rfind(['<', '>']).map_or(in_tag, |at| line[at..].starts_with('<')) || line.ends_with("<title>");
            continue;
        }
        for (c, is_unprintable) in marked(line) {
            match c {
                '\n' | '\t' => shown.push(c),
                c if is_unprintable => {
                    let (before, after) = if in_tag { ("", "") } else { ("<span class=\"hid\">", "</span>") };
                    // Writing to a String cannot fail.
                    let _ = write!(shown, "{before}U+{:04X}{after}", u32::from(c));
                }
                c => {
                    shown.push(c);
                    // The title of the page holds no elements.
                    in_tag = c == '<' || in_tag && c != '>' || c == '>' && shown.ends_with("<title>");
                }
            }
        }
    }
    shown
}

/// JSON that nothing in HTML or in a script ends.
pub(crate) fn json(value: &serde_json::Value) -> Markup {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c == '<' || c == '>' || c == '&' || !c.is_ascii() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    PreEscaped(text)
}

pub(crate) fn time(time: Time) -> Markup {
    let text = time.to_string();
    html! { time datetime=(text) { (clock(&text)) } }
}

/// A time to the second, without its zone, which is UTC.
pub(crate) fn clock(text: &str) -> String {
    text.split('.').next().unwrap_or(text).trim_end_matches('Z').replace('T', " ")
}

#[allow(clippy::needless_pass_by_value, reason = "it is a number")]
pub(crate) fn number(number: impl Display) -> String {
    let digits = number.to_string();
    let separated = digits.char_indices().flat_map(|(index, digit)| {
        let is_start = index > 0 && (digits.len() - index).is_multiple_of(3);
        is_start.then_some(',').into_iter().chain([digit])
    });
    separated.collect()
}

/// The class that gives a type its color. Custom types share one.
pub(crate) fn color(item_type: &str) -> &'static str {
    match item_type {
        "instruction" => "k0",
        "dialogue" => "k1",
        "tool_io" => "k2",
        "reasoning" => "k3",
        "artifact" => "k4",
        "output" => "k5",
        "freeform" => "k6",
        "earlier" => "k8",
        _ => "k7",
    }
}

/// Parts of a page. The browser builds a part when it is scrolled to; without the script, it shows all of them.
///
/// A browser with scripts reads the content of `noscript` as one text. `page.js` parses it when it is needed.
pub(crate) fn chunks(parts: &[(String, Markup)], of: usize) -> Markup {
    html! {
        @for chunk in parts.chunks(of) {
            div.chunk data-first=[chunk.first().map(|(anchor, _)| anchor)] data-count=(chunk.len()) {
                noscript { @for (_, part) in chunk { (part) } }
            }
        }
    }
}
