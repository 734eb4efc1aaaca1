//! Fixing a file's text where no judgment is needed: line order, duplicate keys, and line endings.

use super::lines::{BOM, Lines};
use crate::memory::breadcrumb::Record;

/// The text with its lines sorted, each key once, and an ending on each line; `None` if a line is invalid.
///
/// Of several lines with one key, the winner stays, byte for byte. A text that is in order is returned unchanged, including
/// its blank lines.
pub(crate) fn fix(text: &[u8]) -> Option<Vec<u8>> {
    let Lines { has_bom, lines, is_sorted } = Lines::new(text);
    let records = lines.iter().map(|line| Some((Record::parse(line.text).ok()?, line.text)));
    let mut winners: Vec<(Record<'_>, &[u8])> = records.collect::<Option<_>>()?;
    // The sort is stable, so of equal records the last line wins.
    winners.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key).then_with(|| a.precedence(b)));
    winners.dedup_by(|later, kept| {
        let is_same = later.0.key == kept.0.key;
        if is_same {
            std::mem::swap(later, kept);
        }
        is_same
    });
    if is_sorted && winners.len() == lines.len() && (text.is_empty() || text.ends_with(b"\n")) {
        return Some(text.to_vec());
    }
    // The last line of a text may lack its line ending. It then gets that of the first line.
    let is_crlf = lines.first().is_some_and(|first| first.text.ends_with(b"\r"));
    let unended = lines.last().filter(|_| !text.ends_with(b"\n")).map(|last| last.text.as_ptr());
    let mut fixed = if has_bom { BOM.to_vec() } else { Vec::new() };
    for (_, line) in winners {
        fixed.extend(line);
        let lacks_return = is_crlf && unended == Some(line.as_ptr()) && !line.ends_with(b"\r");
        fixed.extend(if lacks_return { &b"\r\n"[..] } else { b"\n" });
    }
    Some(fixed)
}
