//! Editing a file's text in memory: parsing its lines, and replacing the selected records.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::lines::{BOM, KeyedLine, Lines, complete_key, order_keys, parse_all};
use crate::base::replace::Parts;
use crate::memory::breadcrumb::{InvalidLine, Record};

/// Which records to select.
#[derive(Clone, Copy)]
pub(crate) enum Selector<'s> {
    /// Sorted. Of a large file, only lines with these keys are parsed, as when they are looked up.
    Keys(&'s [&'s [u8]]),
    Records(&'s (dyn Fn(&Record<'_>) -> bool + Sync)),
}

impl Selector<'_> {
    fn selects(self, record: &Record<'_>) -> bool {
        match self {
            Self::Keys(keys) => has(keys, record.key.as_bytes()),
            Self::Records(selects) => selects(record),
        }
    }

    /// Whether a line need not be parsed.
    fn skips(self, line: &[u8]) -> bool {
        matches!(self, Self::Keys(keys) if complete_key(line).is_some_and(|key| !has(keys, key)))
    }
}

fn has(keys: &[&[u8]], key: &[u8]) -> bool {
    keys.binary_search(&key).is_ok()
}

/// A text without invalid lines, in which some records are selected.
pub(crate) struct Selection<'a> {
    text: &'a [u8],
    lines: Lines<'a>,
    selected: Vec<SelectedRecord>,
}

struct SelectedRecord {
    line_number: usize,
    is_crlf: bool,
    record: Record<'static>,
}

/// Returns the selected records and the invalid lines.
fn parse(lines: &[KeyedLine<'_>], is_large: bool, selector: Selector<'_>) -> Vec<Result<SelectedRecord, InvalidLine>> {
    let parts = parse_all(lines, |line| {
        if is_large && selector.skips(line.text) {
            return None;
        }
        match Record::parse(line.text) {
            Ok(record) => selector.selects(&record).then(|| {
                let is_crlf = line.text.ends_with(b"\r");
                Ok(SelectedRecord { line_number: line.number, is_crlf, record: record.into_owned() })
            }),
            Err(reason) => Some(Err(InvalidLine { line: line.number, reason })),
        }
    });
    parts.into_iter().flatten().collect()
}

impl<'a> Selection<'a> {
    /// Parses a text, which may be of a large file, and selects records; or returns the first invalid line and the number of invalid lines.
    pub(crate) fn parse(text: &'a [u8], is_large: bool, selector: Selector<'_>) -> Result<Self, (InvalidLine, usize)> {
        let mut lines = Lines::new(text);
        let (selected, invalid): (Vec<_>, Vec<_>) =
            parse(&lines.lines, is_large, selector).into_iter().partition(Result::is_ok);
        if let Some(Err(first)) = invalid.first() {
            return Err((first.clone(), invalid.len()));
        }
        let selected = selected.into_iter().flatten().collect();
        if !lines.is_sorted {
            lines.lines.sort_by(KeyedLine::order);
        }
        Ok(Self { text, lines, selected })
    }

    pub(crate) fn records(&self) -> Vec<Record<'static>> {
        self.selected.iter().map(|selected| selected.record.clone()).collect()
    }

    /// The text with the selected records replaced; `None` if that changes nothing. A line that would not change keeps its bytes.
    ///
    /// The text around the changes stays, including blank lines, unless it was not sorted.
    pub(crate) fn replace(&self, replacements: &[Record<'static>]) -> Option<Parts<'a>> {
        let Self { text, lines: Lines { has_bom, lines, is_sorted }, selected } = self;
        let mut old_records: HashMap<&str, Vec<&SelectedRecord>> = HashMap::new();
        for old in selected {
            old_records.entry(&old.record.key).or_default().push(old);
        }
        let mut removed: HashSet<usize> = selected.iter().map(|old| old.line_number).collect();
        let mut added: Vec<(&[u8], String)> = Vec::new();
        let is_first_crlf = lines.first().is_some_and(|line| line.text.ends_with(b"\r"));
        for record in replacements {
            let old = old_records.get(&*record.key).map(Vec::as_slice).unwrap_or_default();
            let rendered = record.render();
            if let Some(same) = old.iter().find(|old| old.record.render() == rendered) {
                removed.remove(&same.line_number);
            } else {
                let is_crlf = old.first().map_or(is_first_crlf, |old| old.is_crlf);
                added.push((record.key.as_bytes(), rendered + if is_crlf { "\r\n" } else { "\n" }));
            }
        }
        if removed.is_empty() && added.is_empty() {
            return None;
        }
        // Most often it is one, for which hashing the number of each line would take longer.
        let mut removed: Vec<_> = removed.into_iter().collect();
        removed.sort_unstable();
        added.sort_by_key(|(key, _)| *key);
        let mut added = added.into_iter().peekable();
        let mut new = Parts::new();
        let start = if *has_bom { BOM.len() } else { 0 };
        push(&mut new, text[..start].into());
        // Lines that are copied at once, with the blank lines between them.
        let mut run = start..start;
        for line in lines {
            while let Some((_, line)) = added.next_if(|(key, _)| order_keys(Some(key), line.key.as_deref()).is_lt()) {
                push_run(&mut new, text, &mut run);
                push_line(&mut new, line.into_bytes().into());
            }
            let (start, end) = (line.start, line.end().min(text.len()));
            let is_removed = removed.binary_search(&line.number).is_ok();
            if !*is_sorted {
                push_run(&mut new, text, &mut run);
                run = start..start;
            }
            if is_removed {
                run.end = start;
                push_run(&mut new, text, &mut run);
                run = end..end;
            } else {
                run.end = end;
            }
        }
        push_run(&mut new, text, &mut run);
        added.for_each(|(_, line)| push_line(&mut new, line.into_bytes().into()));
        if *is_sorted {
            push(&mut new, text[run.end..].into());
        } else {
            push_line(&mut new, Cow::default());
        }
        Some(new)
    }
}

/// Adds a part of the text that begins at a line; `run` is empty then.
fn push_run<'a>(new: &mut Parts<'a>, text: &'a [u8], run: &mut Range<usize>) {
    if run.start < run.end {
        push_line(new, text[run.clone()].into());
    }
    run.start = run.end;
}

/// Adds a line, and before it the line ending that the last line of a text may lack.
fn push_line<'a>(text: &mut Parts<'a>, line: Cow<'a, [u8]>) {
    if text.last().is_some_and(|last| !last.ends_with(b"\n") && **last != *BOM) {
        text.push(b"\n".into());
    }
    push(text, line);
}

fn push<'a>(text: &mut Parts<'a>, part: Cow<'a, [u8]>) {
    if !part.is_empty() {
        text.push(part);
    }
}
