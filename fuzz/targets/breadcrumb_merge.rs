//! Three versions of a breadcrumb store: no record is lost, and swapping the sides changes nothing.

use std::collections::BTreeMap;

use super::{exchange, versions};
use crate::base::merge::{Markers, MergeInput, Style};
use crate::memory::breadcrumb::Record;
use crate::memory::breadcrumb::merge::{merge, plain::plain, resolve::resolve};

/// The effective record of each key.
fn records(text: &[u8]) -> BTreeMap<String, Record<'_>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut records = BTreeMap::<String, Record<'_>>::new();
    for record in text.split(|b| *b == b'\n').filter_map(|line| Record::parse(line).ok()) {
        match records.get(&*record.key) {
            Some(best) if best.precedence(&record).is_ge() => {}
            _ => drop(records.insert(record.key.to_string(), record)),
        }
    }
    records
}

pub(super) fn run(data: &[u8]) {
    let [base, ours, theirs] = versions(data);
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let sides = MergeInput { base: &base, ours: &ours, theirs: &theirs };
    let merged = merge(sides);
    let text = merged.to_bytes(&markers);

    assert_eq!(merge(MergeInput { theirs: &base, ..sides }).to_bytes(&markers), ours);
    assert_eq!(merge(MergeInput { ours: &base, ..sides }).to_bytes(&markers), theirs);
    let mut other = merge(MergeInput { ours: &theirs, theirs: &ours, base: &base });
    exchange(&mut other);
    assert_eq!(other.to_bytes(&markers), text);

    drop(resolve(&text, None, Markers::DEFAULT_SIZE));
    if !merged.is_clean() {
        return;
    }
    let [base, ours, theirs] = plain(sides, &mut Vec::new());
    let (base, ours, theirs, all) = (records(&base), records(&ours), records(&theirs), records(&text));
    for key in ours.keys().chain(theirs.keys()) {
        let unchanged = |side: &Record<'_>| base.get(key).is_some_and(|base| base.means_same(side));
        let deleted = match (ours.get(key), theirs.get(key)) {
            (Some(side), None) | (None, Some(side)) => unchanged(side),
            _ => false,
        };
        assert_eq!(all.contains_key(key), !deleted, "{key:?}");
    }
    for (key, record) in &all {
        let of_a_side = [&ours, &theirs].into_iter().filter_map(|side| side.get(key));
        assert!(of_a_side.into_iter().any(|of| of.means_same(record)), "{key:?} is of neither side");
    }
}
