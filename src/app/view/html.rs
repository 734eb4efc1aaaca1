//! HTML output in which no text of others can become markup.
//!
//! Markup is a literal of this program by type; [`Html::put`] escapes all values in it.

use crate::base::escape::marked;
use std::fmt::{Display, Write as _};

use crate::trace::Time;

#[derive(Default)]
pub(crate) struct Html {
    page: String,
    /// Whether the next value is inside a tag or the title, where there can be no elements.
    in_tag: bool,
}

impl Html {
    /// Writes markup with a value in place of each `{}`.
    pub(crate) fn put(&mut self, markup: &'static str, values: &[&dyn Display]) -> &mut Self {
        for (index, piece) in markup.split("{}").enumerate() {
            if let Some(value) = index.checked_sub(1).and_then(|index| values.get(index)) {
                self.escape(&value.to_string());
            }
            self.raw(piece);
        }
        self
    }

    /// Writes markup without values, which may contain `{}`.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.page.push_str(markup);
        if let Some(at) = markup.rfind(['<', '>']) {
            self.in_tag = markup[at..].starts_with('<') || markup.ends_with("<title>");
        }
        self
    }

    pub(crate) fn note(&mut self, markup: &'static str, values: &[&dyn Display]) -> &mut Self {
        self.raw(r#"<p class="note">"#).put(markup, values).raw("</p>")
    }

    pub(crate) fn time(&mut self, time: Time) -> &mut Self {
        let text = time.to_string();
        let shown = text.split('.').next().unwrap_or(&text).trim_end_matches('Z').replace('T', " ");
        self.put(r#"<time datetime="{}">{}</time>"#, &[&text, &shown])
    }

    /// Writes JSON that nothing in HTML or in a script ends.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> &mut Self {
        for c in value.to_string().chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a String cannot fail.
                    let _ = write!(self.page, "\\u{:04x}", u32::from(c));
                }
                c => self.page.push(c),
            }
        }
        self
    }

    pub(crate) fn finish(self) -> String {
        self.page
    }

    /// Writes a text. An invisible character is written as its number: as an element, or as text where there can be none.
    fn escape(&mut self, text: &str) {
        let (before, after) = if self.in_tag { ("", "") } else { ("<span class=\"hid\">", "</span>") };
        for (c, is_unprintable) in marked(text) {
            match c {
                '\n' | '\t' => self.page.push(c),
                '&' => self.page.push_str("&amp;"),
                '<' => self.page.push_str("&lt;"),
                '>' => self.page.push_str("&gt;"),
                '"' => self.page.push_str("&quot;"),
                '\'' => self.page.push_str("&#39;"),
                c if is_unprintable => self.page.extend([before, &format!("U+{:04X}", u32::from(c)), after]),
                c => self.page.push(c),
            }
        }
    }
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
