//! The laws of the merge, on bytes. Alphabets are tiny, so that collisions are common.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::merge::{ConflictText, Hunk, Markers, MergeInput, Merged, Style};
use crate::memory::breadcrumb::Record;
use crate::memory::breadcrumb::merge::{merge, plain::plain, resolve::resolve};
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines of three keys; most mean the same as some other of their key and differ in spelling alone.
fn line() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let times = prop_oneof![
        6 => Just(r#","updated_at":"2025-01-01T00:00:00Z""#),
        3 => Just(r#","updated_at":"2025-01-01T02:00:00+02:00""#),
        1 => Just(r#","updated_at":"2025-01-01T01:00:00Z""#),
        1 => Just(r#","updated_at":"2025-01-01T00:00:00.5Z""#),
        1 => Just(r#","updated_at":"never""#),
        1 => Just(""),
    ];
    let key = prop_oneof![Just("a"), Just("b"), Just("c")];
    let value = prop_oneof![4 => Just("1"), 1 => Just("2")];
    (key, value, times, 0..7_u8).prop_map(|(key, value, time, spelling)| {
        let line = match spelling {
            0 | 1 => format!(r#"{{"key":"{key}","value":"{value}"{time}}}"#),
            2 | 3 => format!(r#"{{"key": "{key}", "value": "{value}"{time}}}"#),
            4 | 5 => format!(r#"{{"value":"\u003{value}","key":"{key}"{time}}}"#),
            _ => format!(r#"{{"value":"{value}","key":"{key}"{time},"n":1.0}}"#),
        };
        (key, line.into_bytes())
    })
}

fn bad_line() -> impl Strategy<Value = Vec<u8>> {
    let lines: [&[u8]; 9] = [
        br#"{"key":"a","val"#,
        br#"{"key":"b","value":1}"#,
        b"nonsense",
        b"[]",
        b"\xff",
        b"<<<<<<< x",
        b"||||||| y",
        b"=======",
        b">>>>>>> z",
    ];
    proptest::sample::select(lines.to_vec()).prop_map(<[u8]>::to_vec)
}

/// A file as we write it: sorted, each key once, no line that cannot be read.
fn tidy() -> impl Strategy<Value = Vec<u8>> {
    vec(line(), 0..4).prop_map(|lines| {
        let lines: BTreeMap<_, _> = lines.into_iter().collect();
        lines.into_values().flat_map(|line| line.into_iter().chain(*b"\n")).collect()
    })
}

/// A file as a hand leaves it: any order, keys twice, line ends of both kinds, blank lines, a mark.
fn messy(line: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![4 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(&b"\n\n"[..])];
    (any::<bool>(), vec((line, end), 0..5), any::<bool>()).prop_map(|(has_mark, lines, is_cut)| {
        let mut text = if has_mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        for (line, end) in lines {
            text.extend(line);
            text.extend(end);
        }
        if is_cut && text.ends_with(b"\n") {
            text.pop();
        }
        text
    })
}

fn readable() -> impl Strategy<Value = Vec<u8>> {
    messy(line().prop_map(|(_, line)| line))
}

fn wild() -> impl Strategy<Value = Vec<u8>> {
    messy(prop_oneof![3 => line().prop_map(|(_, line)| line), 1 => bad_line()])
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        wild(),
        vec(any::<u8>(), 0..40),
        vec(prop_oneof![Just(b'\n'), Just(b'{'), Just(b'"'), Just(b'\r')], 0..12)
    ]
}

fn merged<'a>(
    base: &'a [u8],
    ours: &'a [u8],
    theirs: &'a [u8],
) -> Merged<'a, crate::memory::breadcrumb::merge::MergeNote> {
    merge(MergeInput { base, ours, theirs })
}

fn bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    merged(base, ours, theirs).to_bytes(&Markers::default())
}

/// The result, if it has no conflict.
fn clean(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let merged = merged(base, ours, theirs);
    merged.is_clean().then(|| merged.to_bytes(&Markers::default()))
}

/// The lines that are not blank, how often each.
fn lines(text: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut lines = BTreeMap::new();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for line in text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// The records of a text by key: of each key the one that counts.
fn records(text: &[u8]) -> BTreeMap<String, Record<'_>> {
    let mut records = BTreeMap::<String, Record<'_>>::new();
    for record in lines(text).into_keys().filter_map(|line| Record::parse(line).ok()) {
        match records.get(&*record.key) {
            Some(best) if best.precedence(&record).is_ge() => {}
            _ => drop(records.insert(record.key.to_string(), record)),
        }
    }
    records
}

fn is_bad(line: &[u8]) -> bool {
    Record::parse(line).is_err()
}

/// All lines of a merge, those of every version in conflicts included, without markers.
fn all_lines(merged: &Merged<'_, crate::memory::breadcrumb::merge::MergeNote>) -> Vec<u8> {
    let mut text = Vec::new();
    for hunk in &merged.hunks {
        match hunk {
            Hunk::Merged(hunk) => text.extend_from_slice(hunk),
            Hunk::Conflict(ConflictText { ours, theirs, .. }) => {
                text.extend_from_slice(ours);
                text.extend_from_slice(theirs);
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_unchanged_side_yields_the_other(base in any_bytes(), side in any_bytes()) {
        prop_assert_eq!(&bytes(&base, &base, &side), &side);
        prop_assert_eq!(&bytes(&base, &side, &base), &side);
        prop_assert_eq!(&bytes(&base, &side, &side), &side);
    }

    #[test]
    fn merging_is_commutative(base in any_bytes(), ours in any_bytes(), theirs in any_bytes()) {
        let one_way = merged(&base, &ours, &theirs);
        let mut other_way = merged(&base, &theirs, &ours);
        for hunk in &mut other_way.hunks {
            if let Hunk::Conflict(contested) = hunk {
                std::mem::swap(&mut contested.ours, &mut contested.theirs);
            }
        }
        let markers = Markers { style: Style::Diff3, ..Markers::default() };
        prop_assert_eq!(one_way.to_bytes(&markers), other_way.to_bytes(&markers));
    }

    #[test]
    fn merging_three_branches_is_associative(base in tidy(), a in tidy(), b in tidy(), c in tidy()) {
        let orders = [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]];
        let results: BTreeSet<_> = orders.iter().map(|[a, b, c]| bytes(&base, &bytes(&base, a, b), c)).collect();
        prop_assert_eq!(results.len(), 1, "{:?}", results);
    }

    #[test]
    fn merging_three_handwritten_branches_is_associative(
        base in readable(), a in readable(), b in readable(), c in readable(),
    ) {
        let orders = [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]];
        let results: BTreeSet<Vec<String>> = orders
            .iter()
            .map(|[a, b, c]| bytes(&base, &bytes(&base, a, b), c))
            .map(|text| records(&text).values().map(Record::canonical).collect())
            .collect();
        prop_assert_eq!(results.len(), 1, "{:?}", results);
    }

    #[test]
    fn merging_is_idempotent(base in tidy(), ours in tidy(), theirs in tidy()) {
        let once = bytes(&base, &ours, &theirs);
        prop_assert_eq!(&bytes(&base, &once, &theirs), &once);
        prop_assert_eq!(&bytes(&base, &ours, &once), &once);
        prop_assert_eq!(&bytes(&ours, &once, &ours), &once);
        prop_assert_eq!(&bytes(&theirs, &once, &theirs), &once);
    }

    #[test]
    fn merging_readable_stores_gives_a_readable_store(base in wild(), ours in readable(), theirs in readable()) {
        let result = clean(&base, &ours, &theirs);
        prop_assert!(result.is_some(), "a conflict without a line that cannot be read");
        let result = result.unwrap();
        if result != ours && result != theirs {
            let text = result.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&result);
            let keys: Vec<_> = text
                .split_inclusive(|b| *b == b'\n')
                .map(|line| Record::parse(line.strip_suffix(b"\n").expect("ends its line")).expect("is read").key.into_owned())
                .collect();
            prop_assert!(keys.is_sorted_by(|a, b| a < b), "{:?}", keys);
        }
    }

    #[test]
    fn a_record_disappears_only_if_one_side_deleted_it_and_the_other_left_it_unchanged(
        base in readable(), ours in readable(), theirs in readable(),
    ) {
        let result = bytes(&base, &ours, &theirs);
        let (result, base, ours, theirs) = (records(&result), records(&base), records(&ours), records(&theirs));
        for key in ["a", "b", "c"] {
            let unchanged = |side: &Record<'_>| base.get(key).is_some_and(|base| base.means_same(side));
            let is_absent = match (ours.get(key), theirs.get(key)) {
                (None, None) => true,
                (Some(side), None) | (None, Some(side)) => unchanged(side),
                (Some(_), Some(_)) => false,
            };
            prop_assert_eq!(is_absent, !result.contains_key(key), "{}", key);
        }
    }

    #[test]
    fn the_later_of_two_changes_wins_over_an_unchanged_record(
        base in readable(), ours in readable(), theirs in readable(),
    ) {
        let result = bytes(&base, &ours, &theirs);
        let (result, base, ours, theirs) = (records(&result), records(&base), records(&ours), records(&theirs));
        for (key, taken) in &result {
            let (Some(ours), Some(theirs)) = (ours.get(key), theirs.get(key)) else { continue };
            let unchanged = |side: &Record<'_>| base.get(key).is_some_and(|base| base.means_same(side));
            let expected = match (unchanged(ours), unchanged(theirs)) {
                (true, _) => theirs,
                (_, true) => ours,
                _ if ours.precedence(theirs).is_ge() => ours,
                _ => theirs,
            };
            prop_assert!(taken.means_same(expected), "{}", key);
        }
    }

    #[test]
    fn every_output_line_is_an_input_line_and_none_is_lost(base in any_bytes(), ours in any_bytes(), theirs in any_bytes()) {
        let merged = merged(&base, &ours, &theirs);
        let text = all_lines(&merged);
        if text == ours || text == theirs {
            return Ok(());
        }
        let [base, ours, theirs] = plain(MergeInput { base: &base, ours: &ours, theirs: &theirs }, &mut Vec::new());
        let (out, base_lines, our_lines, their_lines) = (lines(&text), lines(&base), lines(&ours), lines(&theirs));
        for line in out.keys() {
            prop_assert!(our_lines.contains_key(line) || their_lines.contains_key(line));
        }
        for (side, other) in [(&our_lines, &their_lines), (&their_lines, &our_lines)] {
            for (line, count) in side.iter().filter(|(line, _)| is_bad(line)) {
                let kept = out.get(line).copied().unwrap_or(0);
                let was_taken_out = base_lines.get(line) == Some(count) && other.get(line).unwrap_or(&0) < count;
                prop_assert!(kept >= *count || was_taken_out, "{}", String::from_utf8_lossy(line));
            }
        }
        let (out, base, our_records, their_records) = (records(&text), records(&base), records(&ours), records(&theirs));
        for (side, other) in [(&our_records, &their_records), (&their_records, &our_records)] {
            for (key, record) in side {
                let was_deleted = !other.contains_key(key) && base.get(key).is_some_and(|base| base.means_same(record));
                prop_assert!(out.contains_key(key) || was_deleted, "{}", key);
            }
        }
    }

    #[test]
    fn merge_orders_without_conflicts_agree(base in wild(), a in wild(), b in wild(), c in wild()) {
        let orders = [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]];
        let results: Option<BTreeSet<_>> = orders
            .iter()
            .map(|[a, b, c]| clean(&base, &clean(&base, a, b)?, c))
            .map(|text| Some(records(&text?).values().map(Record::canonical).collect::<Vec<_>>()))
            .collect();
        prop_assert!(results.is_none_or(|results| results.len() == 1));
    }

    #[test]
    fn a_file_with_conflict_markers_resolves_like_the_merge(base in tidy(), ours in tidy(), theirs in tidy()) {
        let contested = ConflictText {
            base: base.as_slice().into(),
            ours: ours.as_slice().into(),
            theirs: theirs.as_slice().into(),
        };
        let conflict: Merged<'_, ()> = Merged { hunks: vec![Hunk::Conflict(contested)], notes: Vec::new() };
        for (style, base) in [(Style::Diff3, &base[..]), (Style::Merge, b"")] {
            let markers = Markers { style, ..Markers::default() };
            let resolved = resolve(&conflict.to_bytes(&markers), None, Markers::DEFAULT_SIZE).unwrap();
            prop_assert_eq!(resolved.to_bytes(&markers), bytes(base, &ours, &theirs));
        }
    }

    #[test]
    fn resolving_a_conflict_twice_gives_the_same_result(
        base in wild(), ours in wild(), theirs in wild(),
    ) {
        let markers = Markers { style: Style::Diff3, size: 9, ..Markers::default() };
        let text = bytes(&base, &ours, &theirs);
        // Must not panic, whatever stands between the markers.
        if let Ok(resolved) = resolve(&text, None, Markers::DEFAULT_SIZE) {
            drop(resolved.to_bytes(&markers));
        }
    }

    #[test]
    fn records_are_equal_when_their_canonical_forms_are((_, a) in line(), (_, b) in line()) {
        let (a, b) = (Record::parse(&a).unwrap(), Record::parse(&b).unwrap());
        prop_assert_eq!(a.means_same(&b), a.canonical() == b.canonical());
    }
}
