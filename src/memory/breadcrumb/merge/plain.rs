//! The versions of a file as they are merged: without conflict markers that were committed, and with one kind of line ending.

use std::borrow::Cow;

use super::note::MergeNote;
use crate::base::line_ending::LineEnding;
use crate::base::merge::{Markers, MergeInput, Side, conflict};

/// Markers in the base that are longer than those that people commit: git merged it from several bases.
const MIN_MARKER_SIZE_OF_BASES: usize = Markers::DEFAULT_SIZE + 1;

/// The ending of the result: that of the side which changed it. If there is no base to tell, LF.
fn merged_ending(input: MergeInput<'_>) -> LineEnding {
    match [input.ours, input.theirs].map(LineEnding::of) {
        [Some(ours), Some(theirs)] if ours == theirs => ours,
        [Some(_), Some(_)] if LineEnding::of(input.base) == Some(LineEnding::Lf) => LineEnding::CrLf,
        [Some(one), None] | [None, Some(one)] => one,
        _ => LineEnding::Lf,
    }
}

/// Base, ours, and theirs. Lines keep their numbers.
pub(crate) fn plain<'a>(input: MergeInput<'a>, notes: &mut Vec<MergeNote>) -> [Cow<'a, [u8]>; 3] {
    let ending = merged_ending(input);
    let mut side = |side, text: &'a [u8]| {
        let blanked = conflict::blank_markers(text);
        notes.extend(matches!(blanked, Cow::Owned(_)).then_some(MergeNote::Markers { side }));
        let count = ending.count_others(&blanked);
        notes.extend((count > 0).then_some(MergeNote::LineEndings { side, count, ending }));
        ending.put_on(blanked)
    };
    let (ours, theirs) = (side(Side::Ours, input.ours), side(Side::Theirs, input.theirs));
    let base = match conflict::flatten_base(input.base, MIN_MARKER_SIZE_OF_BASES) {
        Cow::Borrowed(base) => conflict::blank_markers(base),
        Cow::Owned(base) => Cow::Owned(conflict::blank_markers(&base).into_owned()),
    };
    [ending.put_on(base), ours, theirs]
}
