//! Conflict markers: any text that is written between them reads back.

use crate::base::merge::conflict::{flatten_base, parse, versions};
use crate::base::merge::{ConflictText, Hunk, Markers, Merged, Style};

/// Complete lines that do not look like a marker.
fn lines(text: &[u8]) -> Vec<u8> {
    let plain = text.split(|b| *b == b'\n').filter(|line| crate::base::merge::conflict::marker(line).is_none());
    plain.flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

pub(super) fn run(data: &[u8]) {
    for size in [1, 7, 9] {
        let _ = (parse(data, size), versions(data, size));
    }
    let settled = flatten_base(data, 7).into_owned();
    assert!(settled.len() <= data.len());

    let [base, ours, theirs] = super::versions(data).map(|text| lines(&text));
    let contested = ConflictText { base: (&base).into(), ours: (&ours).into(), theirs: (&theirs).into() };
    let merged = Merged::<()> { hunks: vec![Hunk::Conflict(contested)], notes: Vec::new() };
    for style in [Style::Merge, Style::Diff3, Style::Zdiff3] {
        let text = merged.to_bytes(&Markers { style, ..Markers::default() });
        let read = versions(&text, Markers::DEFAULT_SIZE).expect("markers that we write can be read");
        assert_eq!((&*read.ours, &*read.theirs), (&*ours, &*theirs));
        if style == Style::Diff3 {
            assert_eq!(&*read.base, &*base);
        }
    }
}
