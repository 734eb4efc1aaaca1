//! HTML output in which no text of others can become markup.
//!
//! Markup is a literal of this program by type; [`Html::put`] escapes all values in it.

use std::fmt::{Display, Write as _};

use crate::trace::Time;

/// A page being written.
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

    /// Writes a moment, to the second.
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
        for c in text.chars() {
            match c {
                '&' => self.page.push_str("&amp;"),
                '<' => self.page.push_str("&lt;"),
                '>' => self.page.push_str("&gt;"),
                '"' => self.page.push_str("&quot;"),
                '\'' => self.page.push_str("&#39;"),
                c if is_unseen(c) => self.page.extend([before, &format!("U+{:04X}", u32::from(c)), after]),
                c => self.page.push(c),
            }
        }
    }
}

/// A number with separators of thousands.
pub(crate) fn number(number: impl Display) -> String {
    let digits = number.to_string();
    let separated = digits.char_indices().flat_map(|(index, digit)| {
        let is_start = index > 0 && (digits.len() - index).is_multiple_of(3);
        is_start.then_some(',').into_iter().chain([digit])
    });
    separated.collect()
}

/// Whether a character affects a text without being visible: controls, those that change the direction, and those without a
/// width, in which instructions for a model can be hidden. Joiners are needed by scripts and emoji, so they are not included.
fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{feff}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn put(markup: &'static str, values: &[&dyn Display]) -> String {
        let mut html = Html::default();
        html.put(markup, values);
        html.finish()
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(put("{}", &[&"a\u{1b}[31m"]), "a<span class=\"hid\">U+001B</span>[31m");
        let shown = "x<span class=\"hid\">U+E0041</span><span class=\"hid\">U+202E</span>";
        assert_eq!(put("{}", &[&"x\u{e0041}\u{202e}"]), shown);
        assert_eq!(put("{}", &[&"👩\u{200d}💻 é\n\t"]), "👩\u{200d}💻 é\n\t");
        assert_eq!([0, 999, 1_234_567].map(number), ["0", "999", "1,234,567"]);
    }

    #[test]
    fn attributes_and_the_title_hold_no_elements() {
        let text = "\u{202e}";
        assert_eq!(put("<title>{}</title>", &[&text]), "<title>U+202E</title>");
        assert_eq!(put(r#"<a id="{}">"#, &[&text]), r#"<a id="U+202E">"#);
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(hostile in "(</script>|<!--|\"|'|&lt;|&|\u{0}|\u{2028}|[a<>= ]){0,12}") {
            let attr = put("<{}", &[&hostile])[1..].to_owned();
            prop_assert!(!attr.contains(['<', '>', '"', '\'', '\0', '\u{2028}']), "{attr}");
            let (before, after) = ("<span class=\"hid\">", "</span>");
            prop_assert_eq!(put("{}", &[&hostile]).replace(before, "").replace(after, ""), attr);
            let value = json!({ "text": hostile });
            let mut html = Html::default();
            html.json(&value);
            let json = html.finish();
            prop_assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
            prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
    }
}
