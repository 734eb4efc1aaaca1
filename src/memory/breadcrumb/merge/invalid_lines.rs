//! The merge of invalid lines. Each is its own unit: whether it is equal is all that can be compared.

use crate::base::merge::Side;
use crate::memory::breadcrumb::LineError;

/// An invalid line, and why it is invalid.
pub(crate) type Invalid<'a> = (&'a [u8], LineError);

#[derive(Default)]
pub(crate) struct MergedInvalidLines<'r, 'a> {
    /// Whether a side added or changed an invalid line.
    pub is_conflict: bool,
    pub kept: Vec<(&'a [u8], &'r LineError)>,
    /// Lines that a side removed and the other left unchanged, with the side that removed them.
    pub removed: Vec<(Side, &'a [u8])>,
}

/// Merges three lists that are sorted by bytes, in which a line may occur more than once.
pub(crate) fn merge<'r, 'a>(
    base: &[Invalid<'_>],
    ours: &'r [Invalid<'a>],
    theirs: &[Invalid<'a>],
) -> MergedInvalidLines<'r, 'a> {
    let mut merged = MergedInvalidLines::default();
    let (mut our_rest, mut their_rest) = (ours, theirs);
    while let Some(line) = [our_rest.first(), their_rest.first()].into_iter().flatten().map(|first| first.0).min() {
        let (in_ours, in_theirs) = (take_copies(&mut our_rest, line), take_copies(&mut their_rest, line));
        let (our_count, their_count) = (in_ours.len(), in_theirs.len());
        let base_count = base.partition_point(|other| other.0 <= line) - base.partition_point(|other| other.0 < line);
        let kept = our_count.min(their_count);
        merged.kept.extend(in_ours[..kept].iter().map(|(line, reason)| (*line, reason)));
        if our_count > kept && our_count == base_count {
            merged.removed.extend(in_ours[kept..].iter().map(|line| (Side::Theirs, line.0)));
        } else if their_count > kept && their_count == base_count {
            merged.removed.extend(in_theirs[kept..].iter().map(|line| (Side::Ours, line.0)));
        } else if our_count != their_count {
            merged.is_conflict = true;
        }
    }
    merged
}

/// Splits the copies of a line off the front of a list.
fn take_copies<'r, 'a>(list: &mut &'r [Invalid<'a>], line: &[u8]) -> &'r [Invalid<'a>] {
    let count = list.iter().take_while(|other| other.0 == line).count();
    let (copies, rest) = list.split_at(count);
    *list = rest;
    copies
}
