//! Three versions of a checkpoint: an unchanged side yields the other, both directions agree on conflicts, and no line is lost.

use super::versions;
use crate::base::merge::{Markers, MergeInput, Style};
use crate::memory::checkpoint::merge;

/// Whether a line may merge by value: a row by cell, a timestamp by time.
fn is_settled_by_value(line: &str) -> bool {
    line.contains('|') || line.contains(':') || line.trim().is_empty() || line.trim_matches('-').is_empty()
}

pub(super) fn run(data: &[u8]) {
    let [base, ours, theirs] = versions(data);
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let sides = MergeInput { base: &base, ours: &ours, theirs: &theirs };
    let settled = crate::base::merge::conflict::flatten_base(&base, 7);
    if let Some(same) = merge(MergeInput { theirs: &settled, ..sides }) {
        assert_eq!(same.to_bytes(&markers), ours);
    }
    if let Some(same) = merge(MergeInput { ours: &settled, ..sides }) {
        assert_eq!(same.to_bytes(&markers), theirs);
    }
    let Some(merged) = merge(sides) else { return };
    let other = merge(MergeInput { ours: &theirs, theirs: &ours, base: &base }).expect("the same texts");
    assert_eq!(other.is_clean(), merged.is_clean());

    let text = String::from_utf8(merged.to_bytes(&markers)).expect("what was text stays text");
    let (Ok(base), Ok(ours), Ok(theirs)) = (str::from_utf8(&base), str::from_utf8(&ours), str::from_utf8(&theirs))
    else {
        return;
    };
    for line in ours.lines().chain(theirs.lines()) {
        if !is_settled_by_value(line) && !base.contains(line) {
            assert!(text.contains(line), "{line:?} is lost");
        }
    }
}
