//! Editing a file's text in memory: parsing every line, and replacing the selected records.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use super::lines::{BOM, KeyedLine, Lines, order_keys};
use crate::memory::breadcrumb::{InvalidLine, LineError, Record};

/// A text without invalid lines, in which some records are selected.
pub(crate) struct Selection<'a> {
    text: &'a [u8],
    /// The lines in sorted order, even if the text is not sorted.
    lines: Lines<'a>,
    is_text_sorted: bool,
    selected: Vec<SelectedRecord>,
}

struct SelectedRecord {
    /// Index of its line in [`Selection::lines`].
    index: usize,
    record: Record<'static>,
}

#[derive(Default)]
struct ParsedLines<'a> {
    selected: Vec<SelectedRecord>,
    invalid: Vec<(&'a [u8], LineError)>,
}

/// Above this number of lines, starting threads pays off.
const MANY_LINES: usize = 10_000;

/// Parses every line, on several threads if there are many: parsing takes most of the time of a write.
fn parse_lines<'a>(lines: &[KeyedLine<'a>], is_selected: &(impl Fn(&Record<'_>) -> bool + Sync)) -> ParsedLines<'a> {
    let parse_part = |first: usize, part: &[KeyedLine<'a>]| {
        let mut parsed = ParsedLines::default();
        for (index, KeyedLine { line, .. }) in part.iter().enumerate() {
            match Record::parse(line) {
                Ok(record) if is_selected(&record) => {
                    parsed.selected.push(SelectedRecord { index: first + index, record: record.into_owned() });
                }
                Ok(_) => {}
                Err(reason) => parsed.invalid.push((*line, reason)),
            }
        }
        parsed
    };
    if lines.len() < MANY_LINES {
        return parse_part(0, lines);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let part_len = lines.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let parts = lines.chunks(part_len).enumerate();
        let running: Vec<_> = parts.map(|(n, part)| scope.spawn(move || parse_part(n * part_len, part))).collect();
        running.into_iter().fold(ParsedLines::default(), |mut all, part| {
            let mut part = part.join().expect("parsing a line never panics");
            all.selected.append(&mut part.selected);
            all.invalid.append(&mut part.invalid);
            all
        })
    })
}

impl<'a> Selection<'a> {
    /// Parses a text and selects records; or returns the first invalid line and the number of invalid lines.
    pub(crate) fn parse(
        text: &'a [u8],
        is_selected: impl Fn(&Record<'_>) -> bool + Sync,
    ) -> Result<Self, (InvalidLine, usize)> {
        let mut lines = Lines::new(text);
        let is_text_sorted = lines.is_sorted;
        lines.sort();
        let ParsedLines { selected, invalid } = parse_lines(&lines.lines, &is_selected);
        let count = invalid.len();
        match invalid.into_iter().min_by_key(|(line, _)| line.as_ptr()) {
            None => Ok(Self { text, lines, is_text_sorted, selected }),
            Some((line, reason)) => {
                let before = &text[..offset(text, line)];
                Err((InvalidLine { line: memchr::memchr_iter(b'\n', before).count() + 1, reason }, count))
            }
        }
    }

    /// The selected records; there may be several of one key.
    pub(crate) fn records(&self) -> Vec<Record<'static>> {
        self.selected.iter().map(|selected| selected.record.clone()).collect()
    }

    /// Replaces the selected records. A line that would not change keeps its bytes.
    pub(crate) fn replace(&self, replacements: &[Record<'static>]) -> EditedText<'_> {
        let mut old_records: HashMap<&str, Vec<&SelectedRecord>> = HashMap::new();
        for selected in &self.selected {
            old_records.entry(&selected.record.key).or_default().push(selected);
        }
        let mut unchanged = HashSet::new();
        let mut added: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for record in replacements {
            let old = old_records.get(&*record.key).map(Vec::as_slice).unwrap_or_default();
            let rendered = record.render();
            if let Some(same) = old.iter().find(|old| old.record.render() == rendered) {
                unchanged.insert(same.index);
            } else {
                let model = old.first().map_or(0, |old| old.index);
                let is_crlf = self.lines.lines.get(model).is_some_and(|line| line.line.ends_with(b"\r"));
                let line = rendered + if is_crlf { "\r\n" } else { "\n" };
                added.push((record.key.as_bytes().to_vec(), line.into_bytes()));
            }
        }
        let removed = self.selected.iter().map(|old| old.index).filter(|index| !unchanged.contains(index)).collect();
        added.sort_by(|a, b| a.0.cmp(&b.0));
        EditedText { selection: self, removed, added }
    }
}

/// The offset of a line in its text.
fn offset(text: &[u8], line: &[u8]) -> usize {
    line.as_ptr().addr() - text.as_ptr().addr()
}

/// A changed text. It is never held in memory as one piece.
pub(crate) struct EditedText<'s> {
    selection: &'s Selection<'s>,
    /// Indexes of the removed lines, in order.
    removed: Vec<usize>,
    /// The keys and the lines that are added, sorted. Each line has a line ending.
    added: Vec<(Vec<u8>, Vec<u8>)>,
}

impl EditedText<'_> {
    pub(crate) fn is_unchanged(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Writes the text; returns its length.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<u64> {
        let parts = if self.selection.is_text_sorted { self.spliced() } else { self.sorted() };
        let mut len = 0;
        let mut is_line_open = false;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            // The last line of the old text may lack its line feed.
            if is_line_open && part != b"\n" {
                out.write_all(b"\n")?;
                len += 1;
            }
            out.write_all(part)?;
            len += part.len() as u64;
            is_line_open = !part.ends_with(b"\n") && part != BOM;
        }
        Ok(len)
    }

    /// The text with everything between the changes unchanged, including blank lines.
    fn spliced(&self) -> Vec<&[u8]> {
        let Selection { text, lines, .. } = self.selection;
        let end = |line: &[u8]| (offset(text, line) + line.len() + 1).min(text.len());
        let first = if lines.has_bom { BOM.len() } else { 0 };
        let mut changes: Vec<(Range<usize>, &[u8])> = Vec::new();
        for (key, line) in &self.added {
            let before = lines.lines.partition_point(|line| order_keys(line.key.as_deref(), Some(key)).is_le());
            let at = before.checked_sub(1).map_or(first, |last| end(lines.lines[last].line));
            changes.push((at..at, line));
        }
        for line in self.removed.iter().map(|index| lines.lines[*index].line) {
            changes.push((offset(text, line)..end(line), b""));
        }
        // The sort is stable: lines that are added at the same place keep the order of their keys.
        changes.sort_by_key(|(place, _)| (place.start, place.end));
        let mut parts = vec![&text[..first]];
        let mut copied = first;
        for (place, new) in changes {
            parts.extend([&text[copied..place.start], new]);
            copied = place.end;
        }
        parts.push(&text[copied..]);
        parts
    }

    /// The lines in sorted order, without blank lines.
    fn sorted(&self) -> Vec<&[u8]> {
        let lines = &self.selection.lines;
        let mut parts: Vec<&[u8]> = if lines.has_bom { vec![BOM] } else { Vec::new() };
        let mut added = self.added.iter().peekable();
        let mut removed = self.removed.iter().peekable();
        for (index, old) in lines.lines.iter().enumerate() {
            while let Some((_, line)) = added.next_if(|(key, _)| order_keys(Some(key), old.key.as_deref()).is_lt()) {
                parts.push(line);
            }
            if removed.next_if(|removed| **removed == index).is_none() {
                parts.extend([old.line, b"\n"]);
            }
        }
        parts.extend(added.map(|(_, line)| line.as_slice()));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str, value: &str) -> String {
        format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}")
    }

    /// The text after `put` replaces the records of `keys`.
    fn edited(text: &str, keys: &[&str], put: &[(&str, &str)]) -> String {
        let selection = Selection::parse(text.as_bytes(), |record| keys.contains(&&*record.key)).unwrap();
        let put: Vec<_> = put.iter().map(|(key, value)| Record::new((*key).to_owned(), (*value).to_owned())).collect();
        let edited = selection.replace(&put);
        let mut out = Vec::new();
        let len = edited.write(&mut out).unwrap();
        assert_eq!(len, out.len() as u64);
        assert!(!edited.is_unchanged() || out == text.as_bytes());
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
    fn byte_order_marks_blank_lines_and_line_endings_are_kept() {
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
    fn an_edit_sorts_an_unsorted_text() {
        let (a, b, c) = (line("a", "1"), line("b", "1"), line("c", "1"));
        assert_eq!(
            edited(&format!("{c}\n\n{a}\r\n{b}"), &[], &[("aa", "1")]),
            format!("{a}\r\n{}\r\n{b}\n{c}\n", line("aa", "1"))
        );
        assert_eq!(edited(&format!("{b}\n{a}"), &["a"], &[]), format!("{b}\n"));
    }

    #[test]
    fn the_first_invalid_line_is_named() {
        let text = format!("{}\n\n{}\n[]\nnonsense\n", line("b", "1"), line("a", "1"));
        let (invalid, count) = Selection::parse(text.as_bytes(), |_| false).err().unwrap();
        assert_eq!((invalid.line, invalid.reason, count), (4, LineError::NotAnObject, 2));
    }
}
