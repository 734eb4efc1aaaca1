//! Three versions of a crumb file: an unchanged side yields the other, and swapping the sides changes nothing.

use super::{exchange, versions};
use crate::base::finding::Weight;
use crate::base::merge::{Markers, MergeInput, Style};
use crate::memory::crumb::{CrumbFile, check, merge};
use crate::tokens::Counter;

fn is_valid(text: &[u8]) -> bool {
    check(text, Counter::default()).iter().all(|finding| finding.weight != Weight::Error)
}

pub(super) fn run(data: &[u8]) {
    let [base, ours, theirs] = versions(data);
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let sides = MergeInput { base: &base, ours: &ours, theirs: &theirs };
    let of = |sides: MergeInput<'_>| merge(sides).map(|merged| merged.to_bytes(&markers));
    if let Some(same) = of(MergeInput { theirs: &base, ..sides }) {
        assert_eq!(same, ours);
    }
    if let Some(same) = of(MergeInput { ours: &base, ..sides }) {
        assert_eq!(same, theirs);
    }
    let other = merge(MergeInput { ours: &theirs, theirs: &ours, base: &base }).map(|mut merged| {
        exchange(&mut merged);
        merged.to_bytes(&markers)
    });
    assert_eq!(other, of(sides));
    if let Some(merged) = merge(sides).filter(crate::base::merge::Merged::is_clean) {
        let text = merged.to_bytes(&markers);
        if CrumbFile::parse(&ours).is_ok() && CrumbFile::parse(&theirs).is_ok() {
            CrumbFile::parse(&text).expect("what was text stays text");
        }
        if [&base, &ours, &theirs].into_iter().all(|side| is_valid(side)) {
            assert!(is_valid(&text), "what comes of valid files is valid");
        }
    }
}
