//! The lines of a store file, and their keys. Finding a key does not parse the record.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::thread;

use crate::memory::breadcrumb::Record;

/// The byte order mark that some editors write.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug)]
pub(crate) struct KeyedLine<'a> {
    /// The sort key. A line without one sorts last.
    ///
    /// A line that is truncated after its key still has one, and so keeps its position.
    pub(crate) key: Option<Cow<'a, [u8]>>,
    /// The line without its `\n`, but with its `\r`.
    pub(crate) text: &'a [u8],
    /// Counts from 1.
    pub(crate) number: usize,
    pub(crate) start: usize,
}

impl KeyedLine<'_> {
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        order_keys(self.key.as_deref(), other.key.as_deref())
    }

    /// Its bytes in the file, without the line ending.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The offset after the line ending, even if the last line of the file lacks it.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len() + 1
    }
}

/// The order of keys in a file: by bytes, lines without a key last.
pub(crate) fn order_keys(a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
}

#[derive(Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) has_bom: bool,
    pub(crate) lines: Vec<KeyedLine<'a>>,
    /// Whether the lines are in order. Lines with the same key may be in any order.
    pub(crate) is_sorted: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let (mut lines, mut is_sorted) = (Vec::<KeyedLine<'_>>::new(), true);
        for (number, line) in numbered(text) {
            let start = line.as_ptr().addr() - text.as_ptr().addr();
            let line = KeyedLine { key: find_key(line), text: line, number, start };
            // Here, both keys are in the processor's cache.
            is_sorted = is_sorted && lines.last().is_none_or(|last| last.order(&line).is_le());
            lines.push(line);
        }
        Self { has_bom: text.starts_with(BOM), lines, is_sorted }
    }

    /// The lines in order. Lines with the same key keep their order.
    pub(crate) fn sorted(text: &'a [u8]) -> Self {
        let mut lines = Self::new(text);
        if !lines.is_sorted {
            lines.lines.sort_by(KeyedLine::order);
        }
        lines
    }
}

/// The lines of a text that are not blank, with their numbers from 1. A byte order mark is skipped.
pub(crate) fn numbered(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let mut start = 0;
    let lines = memchr::memchr_iter(b'\n', text).chain([text.len()]).enumerate().map(move |(index, end)| {
        let line = &text[start..end];
        start = end + 1;
        (index + 1, line)
    });
    lines.filter(|(_, line)| !is_blank(line))
}

pub(crate) fn is_blank(line: &[u8]) -> bool {
    // Check for a brace first: nearly every line starts with one, and this is called for every line.
    line.first() != Some(&b'{') && line.trim_ascii().is_empty()
}

/// The fewest lines for which a thread pays off.
const PART_LEN: usize = 5000;

/// Calls `parse` for each line, on several threads if there are many; returns the results in order, in one part per thread.
pub(crate) fn parse_all<L: Sync, T: Send>(lines: &[L], parse: impl Fn(&L) -> Option<T> + Sync) -> Vec<Vec<T>> {
    let parse_part = |part: &[L]| {
        // Growing would move the results, which are larger than most lines.
        let mut results = Vec::with_capacity(part.len());
        results.extend(part.iter().filter_map(&parse));
        results
    };
    if lines.len() < 2 * PART_LEN {
        return vec![parse_part(lines)];
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    let parts = lines.chunks(lines.len().div_ceil(threads));
    thread::scope(|scope| {
        let start = |part| (part, thread::Builder::new().spawn_scoped(scope, move || parse_part(part)));
        let running: Vec<_> = parts.map(start).collect();
        let result = |(part, running): (_, std::io::Result<thread::ScopedJoinHandle<'_, _>>)| match running {
            Ok(running) => running.join().expect("parsing a line never panics"),
            // There is no memory for another thread.
            Err(_) => parse_part(part),
        };
        running.into_iter().map(result).collect()
    })
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
pub(crate) fn plain_key(line: &[u8]) -> Option<&[u8]> {
    // Patterns, because comparing slices calls `memcmp`, which takes longer than the rest.
    let ([b'{', b'"', b'k', b'e', b'y', b'"', b':', b' ', b'"', rest @ ..]
    | [b'{', b'"', b'k', b'e', b'y', b'"', b':', b'"', rest @ ..]) = line
    else {
        return None;
    };
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    (rest[end] == b'"').then_some(&rest[..end])
}

/// The key of a line that looks complete without being parsed: it starts with a plain key and ends with a brace.
pub(crate) fn complete_key(line: &[u8]) -> Option<&[u8]> {
    plain_key(line).filter(|_| line.trim_ascii_end().last() == Some(&b'}'))
}
