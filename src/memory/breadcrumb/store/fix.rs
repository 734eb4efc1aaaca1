//! Fixing a file's text where no judgment is needed: line order, duplicate keys, and line endings.

use super::lines::{BOM, Lines};
use crate::base::line_ending::LineEnding;
use crate::memory::breadcrumb::Record;

/// The text with its lines sorted, each key once, and the same ending on each line; `None` if a line is invalid.
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
    // All lines get the line ending that most have.
    let ending = LineEnding::of(text).unwrap_or(LineEnding::Lf);
    if is_sorted && winners.len() == lines.len() {
        return Some(ending.put_on(text.into()).into_owned());
    }
    let mut fixed = if has_bom { BOM.to_vec() } else { Vec::new() };
    for (_, line) in winners {
        fixed.extend(line);
        fixed.push(b'\n');
    }
    Some(ending.put_on(fixed.into()).into_owned())
}
