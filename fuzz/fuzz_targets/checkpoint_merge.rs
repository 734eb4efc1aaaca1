//! Three versions of a checkpoint: an unchanged side yields the other, both directions agree on conflicts, and no line is lost.

#![no_main]

use git_trace::base::merge::{Markers, MergeInput, Style};
use git_trace::memory::checkpoint::merge;
use git_trace_fuzz::versions;
use libfuzzer_sys::fuzz_target;

/// Whether a line may merge by value: a row by cell, a timestamp by time.
fn is_settled_by_value(line: &str) -> bool {
    line.contains('|') || line.contains(':') || line.trim().is_empty() || line.trim_matches('-').is_empty()
}

fuzz_target!(|data: &[u8]| {
    let [base, ours, theirs] = versions(data);
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let sides = MergeInput { base: &base, ours: &ours, theirs: &theirs };
    let settled = git_trace::base::merge::conflict::settled_base(&base);
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
});
