//! A store's text while it is being changed: every line read, and rewritten with all others as they were.

use std::collections::HashMap;
use std::io::{self, Write};

use super::lines::{BOM, Lines, order_keys, split_bom};
use super::record::Record;
use super::unreadable::{Reason, Unreadable};

/// A text of which every line can be read.
pub(super) struct Document<'a> {
    text: &'a [u8],
    /// Its lines in order, whether or not they stand so.
    lines: Lines<'a>,
    stands_sorted: bool,
    meant: Vec<Meant>,
}

/// A record that the change is about.
struct Meant {
    /// Which of the lines it is.
    index: usize,
    record: Record<'static>,
}

impl<'a> Document<'a> {
    /// Reads a text, and keeps the records that are meant; or gives the first line that cannot be read, and how many.
    pub(super) fn read(text: &'a [u8], is_meant: impl Fn(&Record<'_>) -> bool) -> Result<Self, (Unreadable, usize)> {
        let mut lines = Lines::new(text);
        let stands_sorted = lines.is_sorted;
        lines.sort();
        let mut meant = Vec::new();
        let mut bad: Vec<(&[u8], Reason)> = Vec::new();
        for (index, entry) in lines.entries.iter().enumerate() {
            match Record::parse(entry.line) {
                Ok(record) if is_meant(&record) => meant.push(Meant { index, record: record.into_owned() }),
                Ok(_) => {}
                Err(reason) => bad.push((entry.line, reason)),
            }
        }
        let count = bad.len();
        match bad.into_iter().min_by_key(|(line, _)| line.as_ptr()) {
            None => Ok(Self { text, lines, stands_sorted, meant }),
            Some((line, reason)) => {
                let before = &text[..line.as_ptr().addr() - text.as_ptr().addr()];
                Err((Unreadable { line: memchr::memchr_iter(b'\n', before).count() + 1, reason }, count))
            }
        }
    }

    /// The records that are meant, several of one key included.
    pub(super) fn meant(&self) -> Vec<Record<'static>> {
        self.meant.iter().map(|meant| meant.record.clone()).collect()
    }

    /// The text with `put` in the place of the records that are meant. A line that would come out the same is left alone.
    pub(super) fn with(&self, put: &[Record<'static>]) -> Edited<'_> {
        let mut old_lines: HashMap<&str, Vec<&Meant>> = HashMap::new();
        for meant in &self.meant {
            old_lines.entry(&meant.record.key).or_default().push(meant);
        }
        let mut removed: Vec<usize> = self.meant.iter().map(|meant| meant.index).collect();
        let mut added = Vec::new();
        for record in put {
            let old = old_lines.get(&*record.key).map(Vec::as_slice).unwrap_or_default();
            let rendered = record.render();
            if let Some(same) = old.iter().find(|meant| meant.record.render() == rendered) {
                removed.retain(|index| *index != same.index);
            } else {
                let model = old.first().map_or(0, |meant| meant.index);
                let ends_crlf = self.lines.entries.get(model).is_some_and(|entry| entry.line.ends_with(b"\r"));
                let line = rendered + if ends_crlf { "\r\n" } else { "\n" };
                added.push(Added { key: record.key.as_bytes().to_vec(), line: line.into_bytes() });
            }
        }
        added.sort_by(|a, b| a.key.cmp(&b.key));
        Edited { document: self, removed, added }
    }
}

/// A line to be put in.
struct Added {
    key: Vec<u8>,
    /// The line with its end.
    line: Vec<u8>,
}

/// A changed text that is not written yet.
pub(super) struct Edited<'d> {
    document: &'d Document<'d>,
    /// Which lines go, in order.
    removed: Vec<usize>,
    /// What comes in, by key.
    added: Vec<Added>,
}

impl Edited<'_> {
    pub(super) fn changes_nothing(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Writes the text; gives its length.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<u64> {
        let Document { text, lines, stands_sorted, .. } = self.document;
        let mut out = Counting { out, len: 0, is_line_open: false };
        let mut added = self.added.iter().peekable();
        let mut removed = self.removed.iter().peekable();
        let (has_bom, after_bom) = split_bom(text);
        if has_bom {
            out.write(BOM)?;
            out.is_line_open = false;
        }
        let mut copied = text.len() - after_bom.len();
        for (index, entry) in lines.entries.iter().enumerate() {
            while let Some(new) = added.next_if(|new| order_keys(Some(&new.key), entry.key.as_deref()).is_lt()) {
                out.write_line(&new.line)?;
            }
            let is_removed = removed.next_if(|removed| **removed == index).is_some();
            let start = entry.line.as_ptr().addr() - text.as_ptr().addr();
            let end = (start + entry.line.len() + 1).min(text.len());
            if *stands_sorted {
                // Blank lines before the line go along with it, or stay where it was.
                let to = if is_removed { start } else { end };
                out.write_line(&text[copied..to])?;
                copied = end;
            } else if !is_removed {
                out.write_line(&text[start..end])?;
            }
        }
        for new in added {
            out.write_line(&new.line)?;
        }
        if *stands_sorted {
            out.write_line(&text[copied..])?;
        }
        Ok(out.len)
    }
}

/// Counts what it writes, and knows whether the last line has its end.
struct Counting<'w, W> {
    out: &'w mut W,
    len: u64,
    is_line_open: bool,
}

impl<W: Write> Counting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Writes bytes that start a line.
    fn write_line(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = bytes.last() else { return Ok(()) };
        if self.is_line_open {
            self.write(b"\n")?;
        }
        self.is_line_open = *last != b'\n';
        self.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str, value: &str) -> String {
        format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}")
    }

    /// The text after `put` took the place of the records of `keys`.
    fn edited(text: &str, keys: &[&str], put: &[(&str, &str)]) -> String {
        let document = Document::read(text.as_bytes(), |record| keys.contains(&&*record.key)).unwrap();
        let put: Vec<_> = put.iter().map(|(key, value)| Record::new(*key, *value)).collect();
        let edited = document.with(&put);
        let mut out = Vec::new();
        let len = edited.write(&mut out).unwrap();
        assert_eq!(len, out.len() as u64);
        assert!(!edited.changes_nothing() || out == text.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_that_do_not_change_keep_their_bytes() {
        let (a, b, c) = (line("a", "1"), r#"{ "value":"\u0031","n":1.50, "key":"b" }"#, line("c", "1"));
        let text = format!("{a}\n{b}\n{c}\n");
        assert_eq!(edited(&text, &["a"], &[("a", "2")]), format!("{}\n{b}\n{c}\n", line("a", "2")));
        assert_eq!(edited(&text, &[], &[("bb", "2")]), format!("{a}\n{b}\n{}\n{c}\n", line("bb", "2")));
        assert_eq!(edited(&text, &["c"], &[]), format!("{a}\n{b}\n"));
        assert_eq!(edited(&text, &["a"], &[("d", "1")]), format!("{b}\n{c}\n{}\n", line("d", "1")));
        assert_eq!(edited(&text, &["a", "c"], &[("a", "1"), ("c", "2")]), format!("{a}\n{b}\n{}\n", line("c", "2")));
    }

    #[test]
    fn marks_blank_lines_and_ends_stay() {
        let (a, b, c) = (line("a", "1"), line("b", "1"), line("c", "1"));
        let two = line("b", "2");
        for (text, result) in [
            (String::new(), format!("{two}\n")),
            ("\u{feff}".to_owned(), format!("\u{feff}{two}\n")),
            (format!("\u{feff}{a}\r\n{b}\r\n{c}"), format!("\u{feff}{a}\r\n{two}\r\n{c}")),
            (format!("\n{a}\n\n{b}\n\n{c}\n\n"), format!("\n{a}\n\n{two}\n\n{c}\n\n")),
            (a.clone(), format!("{a}\n{two}\n")),
            (b.clone(), format!("{two}\n")),
            (format!("{b}\n{b}\n"), format!("{two}\n")),
        ] {
            assert_eq!(edited(&text, &["b"], &[("b", "2")]), result, "{text:?}");
        }
    }

    #[test]
    fn lines_out_of_order_are_put_in_order() {
        let (a, b, c) = (line("a", "1"), line("b", "1"), line("c", "1"));
        assert_eq!(
            edited(&format!("{c}\n\n{a}\r\n{b}"), &[], &[("aa", "1")]),
            format!("{a}\r\n{}\r\n{b}\n{c}\n", line("aa", "1"))
        );
        assert_eq!(edited(&format!("{b}\n{a}"), &["a"], &[]), format!("{b}\n"));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let text = format!("{}\n\n{}\n[]\nnonsense\n", line("b", "1"), line("a", "1"));
        let (unreadable, count) = Document::read(text.as_bytes(), |_| false).err().unwrap();
        assert_eq!((unreadable.line, unreadable.reason, count), (4, Reason::NotAnObject, 2));
    }
}
