//! Base64 on several lines: the same bytes without the line breaks inside of runs of characters.

use std::ops::Range;

use super::base64::is_char;

/// Bytes without their line breaks.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) bytes: Vec<u8>,
    /// Where breaks were, and how many bytes were removed up to there.
    breaks: Vec<(usize, usize)>,
}

impl Joined {
    /// `None` if there is no line break between two characters.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        let mut joined = Self { bytes: Vec::new(), breaks: Vec::new() };
        let (mut kept, mut removed) = (0, 0);
        for start in memchr::memchr3_iter(b'\n', b'\r', b'\\', bytes) {
            // After `\r`, the `\n` belongs to the same break.
            if start < kept || start == 0 || !is_char(bytes, start - 1) {
                continue;
            }
            let Some(end) = start.checked_add(break_len(&bytes[start..])).filter(|end| *end > start) else { continue };
            if is_char(bytes, end) {
                joined.bytes.extend_from_slice(&bytes[kept..start]);
                removed += end - start;
                joined.breaks.push((joined.bytes.len(), removed));
                kept = end;
            }
        }
        joined.bytes.extend_from_slice(&bytes[kept..]);
        (removed > 0).then_some(joined)
    }

    /// The span in the bytes with breaks.
    pub(super) fn original(&self, span: &Range<usize>) -> Range<usize> {
        let removed_before = |at: usize| match self.breaks.partition_point(|(of, _)| *of <= at) {
            0 => 0,
            count => self.breaks[count - 1].1,
        };
        let last = span.end.saturating_sub(1).max(span.start);
        span.start + removed_before(span.start)..last + removed_before(last) + 1
    }
}

/// Whether a letter is the end of an escaped line break between two characters.
pub(super) fn ends_break(bytes: &[u8], at: usize) -> bool {
    let Some(start) = at.checked_sub(1).filter(|start| bytes[*start] == b'\\') else { return false };
    start > 0 && is_char(bytes, start - 1) && break_len(&bytes[start..]) > 0
}

/// The length of a line break at the start, also escaped for JSON, with the indent of the next line.
fn break_len(bytes: &[u8]) -> usize {
    let breaks: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    let found = breaks.iter().find(|form| bytes.starts_with(form)).map_or(0, |form| form.len());
    let is_indent = |byte: &&u8| matches!(byte, b' ' | b'\t');
    if found == 0 { 0 } else { found + bytes[found..].iter().take_while(is_indent).count() }
}
