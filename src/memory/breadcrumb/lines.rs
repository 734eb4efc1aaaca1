//! The lines of a store, found by their keys without reading the records.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::record::Record;

/// What some editors put before the text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line that is not blank.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    /// What the line is sorted by; `None` where no key can be made out, then it comes last.
    ///
    /// That of the record if the line is one. A line cut off behind its key has one too, and so stays where it was.
    pub(crate) key: Option<Cow<'a, [u8]>>,
    /// The line without its `\n`; a `\r` belongs to it.
    pub(crate) line: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self { key: find_key(line), line }
    }

    /// Orders lines as they stand in a file.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        order_keys(self.key.as_deref(), other.key.as_deref())
    }
}

/// Orders keys as they stand in a file: by bytes, and lines without one last.
pub(crate) fn order_keys(a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
}

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    /// Whether a byte order mark stands before them.
    pub(crate) has_bom: bool,
    /// Lines that are not blank, as they stand.
    pub(crate) entries: Vec<Entry<'a>>,
    /// Whether they stand in order; two of one key do.
    pub(crate) is_sorted: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let (has_bom, text) = split_bom(text);
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(memchr::memchr_iter(b'\n', text).count() + 1);
        let mut is_sorted = true;
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            if !is_blank(&rest[..end]) {
                let entry = Entry::of(&rest[..end]);
                is_sorted = is_sorted && entries.last().is_none_or(|last| last.order(&entry) != Ordering::Greater);
                entries.push(entry);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Self { has_bom, entries, is_sorted }
    }

    /// The lines of a text in the order in which they should stand.
    pub(crate) fn sorted(text: &'a [u8]) -> Self {
        let mut lines = Self::new(text);
        lines.sort();
        lines
    }

    /// Puts the lines in order; those of one key stay as they stood.
    pub(crate) fn sort(&mut self) {
        if !self.is_sorted {
            self.entries.sort_by(Entry::order);
            self.is_sorted = true;
        }
    }
}

/// Whether a line holds nothing at all; such lines say nothing and are no error.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    // Almost every line starts with a brace: looked at first, since this is asked for every line of every file.
    line.first() != Some(&b'{') && line.trim_ascii().is_empty()
}

/// Takes a byte order mark off a text.
pub(crate) fn split_bom(text: &[u8]) -> (bool, &[u8]) {
    text.strip_prefix(BOM).map_or((false, text), |text| (true, text))
}

/// The key of a line: by a look at its start for lines as we and Synapse write them, else by reading the record.
pub(crate) fn find_key(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    if let Some(key) = plain_key(line) {
        return Some(Cow::Borrowed(key));
    }
    Record::parse(line).ok().map(|record| match record.key {
        Cow::Borrowed(key) => Cow::Borrowed(key.as_bytes()),
        Cow::Owned(key) => Cow::Owned(key.into_bytes()),
    })
}

/// The key of a line that starts with it and spells it without escapes.
fn plain_key(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"{\"key\":").map(|rest| rest.strip_prefix(b" ").unwrap_or(rest))?;
    let rest = rest.strip_prefix(b"\"")?;
    let end = rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
    (rest[end] == b'"').then_some(&rest[..end])
}

/// Whether a line looks whole without being read: starts with a plain key and ends with a brace.
pub(crate) fn looks_whole(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}") && plain_key(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_however_they_are_written() {
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
    fn blank_lines_and_a_mark_are_not_lines() {
        let lines =
            Lines::new(b"\xef\xbb\xbf\n{\"key\":\"b\",\"value\":\"\"}\r\n \t\r\n{\"key\":\"a\",\"value\":\"\"}");
        assert!(lines.has_bom && !lines.is_sorted);
        assert_eq!(lines.entries.len(), 2);
        assert!(lines.entries[0].line.ends_with(b"\r"));
        assert_eq!(lines.entries[1].key.as_deref(), Some(b"a".as_slice()));
    }
}
