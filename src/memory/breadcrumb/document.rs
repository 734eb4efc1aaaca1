//! A store's text while it is being changed: every line read, and rewritten with all others as they were.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use super::lines::{BOM, Entry, Lines, order_keys};
use super::record::Record;
use super::unreadable::{InvalidLine, LineError};

/// A text of which every line can be read.
pub(crate) struct Document<'a> {
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

/// Lines by what a change makes of them.
#[derive(Default)]
struct Sorted<'a> {
    meant: Vec<Meant>,
    bad: Vec<(&'a [u8], LineError)>,
}

/// Reads every line; many of them on several threads, since this is most of the time that a write takes.
fn sort_out<'a>(entries: &[Entry<'a>], is_meant: &(impl Fn(&Record<'_>) -> bool + Sync)) -> Sorted<'a> {
    let sort_part = |from: usize, part: &[Entry<'a>]| {
        let mut sorted = Sorted::default();
        for (index, entry) in part.iter().enumerate() {
            match Record::parse(entry.line) {
                Ok(record) if is_meant(&record) => {
                    sorted.meant.push(Meant { index: from + index, record: record.into_owned() });
                }
                Ok(_) => {}
                Err(reason) => sorted.bad.push((entry.line, reason)),
            }
        }
        sorted
    };
    if entries.len() < MANY_LINES {
        return sort_part(0, entries);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let part_len = entries.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let parts = entries.chunks(part_len).enumerate();
        let running: Vec<_> = parts.map(|(n, part)| scope.spawn(move || sort_part(n * part_len, part))).collect();
        running.into_iter().fold(Sorted::default(), |mut all, part| {
            let mut part = part.join().expect("reading a line never panics");
            all.meant.append(&mut part.meant);
            all.bad.append(&mut part.bad);
            all
        })
    })
}

/// How many lines are worth the start of a thread.
const MANY_LINES: usize = 10_000;

impl<'a> Document<'a> {
    /// Reads a text, and keeps the records that are meant; or gives the first line that cannot be read, and how many.
    pub(crate) fn read(
        text: &'a [u8],
        is_meant: impl Fn(&Record<'_>) -> bool + Sync,
    ) -> Result<Self, (InvalidLine, usize)> {
        let mut lines = Lines::new(text);
        let stands_sorted = lines.is_sorted;
        lines.sort();
        let Sorted { meant, bad } = sort_out(&lines.entries, &is_meant);
        let count = bad.len();
        match bad.into_iter().min_by_key(|(line, _)| line.as_ptr()) {
            None => Ok(Self { text, lines, stands_sorted, meant }),
            Some((line, reason)) => {
                let before = &text[..line.as_ptr().addr() - text.as_ptr().addr()];
                Err((InvalidLine { line: memchr::memchr_iter(b'\n', before).count() + 1, reason }, count))
            }
        }
    }

    /// The records that are meant, several of one key included.
    pub(crate) fn meant(&self) -> Vec<Record<'static>> {
        self.meant.iter().map(|meant| meant.record.clone()).collect()
    }

    /// The text with `put` in the place of the records that are meant. A line that would come out the same is left alone.
    pub(crate) fn with(&self, put: &[Record<'static>]) -> Edited<'_> {
        let mut old_lines: HashMap<&str, Vec<&Meant>> = HashMap::new();
        for meant in &self.meant {
            old_lines.entry(&meant.record.key).or_default().push(meant);
        }
        let mut unchanged = HashSet::new();
        let mut added = Vec::new();
        for record in put {
            let old = old_lines.get(&*record.key).map(Vec::as_slice).unwrap_or_default();
            let rendered = record.render();
            if let Some(same) = old.iter().find(|meant| meant.record.render() == rendered) {
                unchanged.insert(same.index);
            } else {
                let model = old.first().map_or(0, |meant| meant.index);
                let ends_crlf = self.lines.entries.get(model).is_some_and(|entry| entry.line.ends_with(b"\r"));
                let line = rendered + if ends_crlf { "\r\n" } else { "\n" };
                added.push(Added { key: record.key.as_bytes().to_vec(), line: line.into_bytes() });
            }
        }
        let removed = self.meant.iter().map(|meant| meant.index).filter(|index| !unchanged.contains(index)).collect();
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
pub(crate) struct Edited<'d> {
    document: &'d Document<'d>,
    /// Which lines go, in order.
    removed: Vec<usize>,
    /// What comes in, by key.
    added: Vec<Added>,
}

impl Edited<'_> {
    pub(crate) fn changes_nothing(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Writes the text; gives its length.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<u64> {
        let Document { text, lines, stands_sorted, .. } = self.document;
        let mut out = Counting { out, len: 0, is_line_open: false };
        if lines.has_bom {
            out.write(BOM)?;
        }
        if *stands_sorted {
            self.write_around(text, lines, &mut out)?;
        } else {
            self.write_in_order(lines, &mut out)?;
        }
        Ok(out.len)
    }

    /// Writes what stands between the changes as it stands, blank lines included.
    fn write_around<W: Write>(&self, text: &[u8], lines: &Lines<'_>, out: &mut Counting<'_, W>) -> io::Result<()> {
        let start = |line: &[u8]| line.as_ptr().addr() - text.as_ptr().addr();
        let end = |line: &[u8]| (start(line) + line.len() + 1).min(text.len());
        let first = if lines.has_bom { BOM.len() } else { 0 };
        let mut changes: Vec<(Range<usize>, &[u8])> = Vec::new();
        for new in &self.added {
            let before =
                lines.entries.partition_point(|entry| order_keys(entry.key.as_deref(), Some(&new.key)).is_le());
            let at = before.checked_sub(1).map_or(first, |last| end(lines.entries[last].line));
            changes.push((at..at, &new.line));
        }
        for line in self.removed.iter().map(|index| lines.entries[*index].line) {
            changes.push((start(line)..end(line), b""));
        }
        // Stable: lines that come in at one place stay in the order of their keys.
        changes.sort_by_key(|(place, _)| (place.start, place.end));
        let mut copied = first;
        for (place, new) in changes {
            out.write_line(&text[copied..place.start])?;
            out.write_line(new)?;
            copied = place.end;
        }
        out.write_line(&text[copied..])
    }

    /// Writes line by line, each where it belongs.
    fn write_in_order<W: Write>(&self, lines: &Lines<'_>, out: &mut Counting<'_, W>) -> io::Result<()> {
        let mut added = self.added.iter().peekable();
        let mut removed = self.removed.iter().peekable();
        for (index, entry) in lines.entries.iter().enumerate() {
            while let Some(new) = added.next_if(|new| order_keys(Some(&new.key), entry.key.as_deref()).is_lt()) {
                out.write_line(&new.line)?;
            }
            if removed.next_if(|removed| **removed == index).is_none() {
                out.write_line(entry.line)?;
                out.write_line(b"\n")?;
            }
        }
        added.try_for_each(|new| out.write_line(&new.line))
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

    /// Writes bytes that start a line, or end one.
    fn write_line(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = bytes.last() else { return Ok(()) };
        if self.is_line_open && bytes != b"\n" {
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
        assert_eq!((unreadable.line, unreadable.reason, count), (4, LineError::NotAnObject, 2));
    }
}
