//! HTML being written, so that no text of others can become markup.
//!
//! Markup comes from the program's own source, by type ([`Html::raw`] takes nothing else); all else goes through
//! [`Html::text`], [`Html::attr`] or [`Html::json`].

use std::fmt::Write as _;

use serde_json::Value;

/// A page being written.
#[derive(Default)]
pub(crate) struct Html(String);

impl Html {
    /// Writes markup of our own.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Writes a text as content of an element; what cannot be seen is shown by its number, set apart.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.escape(text, "<span class=\"hid\">", "</span>");
        self
    }

    /// Writes a text as the value of a quoted attribute, or in an element that holds text only.
    pub(crate) fn attr(&mut self, text: &str) -> &mut Self {
        self.escape(text, "", "");
        self
    }

    /// Writes a number with its thousands set apart.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        let digits = number.to_string();
        for (index, digit) in digits.char_indices() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    /// Writes a value as JSON that nothing in HTML or in a script ends.
    pub(crate) fn json(&mut self, value: &Value) -> &mut Self {
        for c in value.to_string().chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a String cannot fail.
                    let _ = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn escape(&mut self, text: &str, before: &str, after: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c if is_unseen(c) => {
                    self.0.extend([before, &format!("U+{:04X}", u32::from(c)), after]);
                }
                c => self.0.push(c),
            }
        }
    }
}

/// Whether a character does something to a text without being seen: controls, those that turn its direction, and those
/// without a width, in which instructions for a model can be hidden from its reader. Joiners, which scripts and emoji need, are
/// not among them.
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
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.finish()
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(text("a\u{1b}[31m"), "a<span class=\"hid\">U+001B</span>[31m");
        assert_eq!(text("x\u{e0041}\u{202e}"), "x<span class=\"hid\">U+E0041</span><span class=\"hid\">U+202E</span>");
        assert_eq!(text("👩\u{200d}💻 é\n\t"), "👩\u{200d}💻 é\n\t");
        let mut html = Html::default();
        html.number(0).raw(" ").number(999).raw(" ").number(1_234_567);
        assert_eq!(html.finish(), "0 999 1,234,567");
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(hostile in "(</script>|<!--|\"|'|&lt;|&|\u{0}|\u{2028}|[a<>= ]){0,12}") {
            let mut html = Html::default();
            html.attr(&hostile);
            let attr = html.finish();
            prop_assert!(!attr.contains(['<', '>', '"', '\'', '\0', '\u{2028}']), "{attr}");
            let (before, after) = ("<span class=\"hid\">", "</span>");
            prop_assert_eq!(text(&hostile).replace(before, "").replace(after, ""), attr);
            let value = json!({ "text": hostile });
            let mut html = Html::default();
            html.json(&value);
            let json = html.finish();
            prop_assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
            prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
    }
}
