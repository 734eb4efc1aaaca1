//! Any bytes are a checkpoint, a list of checkpoints, and three versions to merge.

#![no_main]

use git_trace::checkpoint::{Rules, merge, validate, validate_index};
use git_trace::merge::{Markers, Sides};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let findings = validate(data, Rules { advise_at: Some(git_trace::trace::Time::from_second(0)), is_archived: true });
    for finding in findings.iter().chain(&validate_index(data, Some(&[]))) {
        assert!(finding.span.start <= finding.span.end && finding.span.end <= data.len());
    }
    let third = data.len() / 3;
    let sides = Sides { base: &data[..third], ours: &data[third..2 * third], theirs: &data[2 * third..] };
    if let Some(merged) = merge(sides) {
        merged.to_bytes(&Markers::default());
    }
    if let Some(same) = merge(Sides { base: sides.base, ours: sides.base, theirs: sides.theirs }) {
        assert_eq!(same.to_bytes(&Markers::default()), sides.theirs);
    }
});
