//! The lines of a store file, and their keys. Finding a key does not parse the record.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::memory::breadcrumb::Record;

/// The byte order mark that some editors write.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line that is not blank.
#[derive(Clone, Debug)]
pub(crate) struct KeyedLine<'a> {
    /// The sort key. A line without one sorts last.
    ///
    /// A line that is truncated after its key still has one, and so keeps its place.
    pub(crate) key: Option<Cow<'a, [u8]>>,
    /// The line without its `\n`, but with its `\r`.
    pub(crate) line: &'a [u8],
}

impl KeyedLine<'_> {
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        order_keys(self.key.as_deref(), other.key.as_deref())
    }
}

/// The order of keys in a file: by bytes, lines without a key last.
pub(crate) fn order_keys(a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
}

/// The lines of a text that are not blank.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) has_bom: bool,
    pub(crate) lines: Vec<KeyedLine<'a>>,
    /// Whether the lines are in order. Lines with the same key may be in any order.
    pub(crate) is_sorted: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let (has_bom, text) = split_bom(text);
        let mut lines: Vec<KeyedLine<'a>> = Vec::with_capacity(memchr::memchr_iter(b'\n', text).count() + 1);
        let mut is_sorted = true;
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            if !is_blank(line) {
                let line = KeyedLine { key: find_key(line), line };
                is_sorted = is_sorted && lines.last().is_none_or(|last| last.order(&line) != Ordering::Greater);
                lines.push(line);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Self { has_bom, lines, is_sorted }
    }

    pub(crate) fn sorted(text: &'a [u8]) -> Self {
        let mut lines = Self::new(text);
        lines.sort();
        lines
    }

    /// Lines with the same key keep their order.
    pub(crate) fn sort(&mut self) {
        if !self.is_sorted {
            self.lines.sort_by(KeyedLine::order);
            self.is_sorted = true;
        }
    }
}

/// Blank lines are skipped; they are not an error.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    // Check for a brace first: nearly every line starts with one, and this is called for every line.
    line.first() != Some(&b'{') && line.trim_ascii().is_empty()
}

/// Removes a byte order mark.
pub(crate) fn split_bom(text: &[u8]) -> (bool, &[u8]) {
    text.strip_prefix(BOM).map_or((false, text), |text| (true, text))
}

/// The key of a line. Only a line that does not start with a plain key is parsed.
pub(crate) fn find_key(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    if let Some(key) = plain_key(line) {
        return Some(Cow::Borrowed(key));
    }
    Record::parse(line).ok().map(|record| match record.key {
        Cow::Borrowed(key) => Cow::Borrowed(key.as_bytes()),
        Cow::Owned(key) => Cow::Owned(key.into_bytes()),
    })
}

/// The key of a line that starts with its key and spells it without escapes, as we and Synapse write it.
fn plain_key(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"{\"key\":").map(|rest| rest.strip_prefix(b" ").unwrap_or(rest))?;
    let rest = rest.strip_prefix(b"\"")?;
    let end = rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
    (rest[end] == b'"').then_some(&rest[..end])
}

/// Whether a line looks like a valid record without being parsed: it starts with a plain key and ends with a brace.
pub(crate) fn looks_valid(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}") && plain_key(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_any_spelling() {
        for (line, key) in [
            (r#"{"key":"a.b","value":"v"}"#, Some("a.b")),
            (r#"{"key": "a.b", "value": "v"}"#, Some("a.b")),
            (r#"{ "key":"a.b","value":"v"}"#, Some("a.b")),
            (r#"{"value":"v","key":"a.b"}"#, Some("a.b")),
            (r#"{"key":"\u0061.b","value":"v"}"#, Some("a.b")),
            (r#"{"key":"a.b","val"#, Some("a.b")),
            (r#"{"key":"a.b"#, None),
            (r#"{"value":"v"}"#, None),
            ("[1]", None),
        ] {
            assert_eq!(find_key(line.as_bytes()).as_deref(), key.map(str::as_bytes), "{line}");
        }
    }

    #[test]
    fn blank_lines_and_a_byte_order_mark_are_skipped() {
        let lines =
            Lines::new(b"\xef\xbb\xbf\n{\"key\":\"b\",\"value\":\"\"}\r\n \t\r\n{\"key\":\"a\",\"value\":\"\"}");
        assert!(lines.has_bom && !lines.is_sorted);
        assert_eq!(lines.lines.len(), 2);
        assert!(lines.lines[0].line.ends_with(b"\r"));
        assert_eq!(lines.lines[1].key.as_deref(), Some(b"a".as_slice()));
    }
}
