//! Any bytes as a breadcrumb store: records, findings, formatting, export and import.

use std::collections::HashSet;

use super::lie_within;
use crate::memory::breadcrumb::exchange::{Format, export, parse};
use crate::memory::breadcrumb::{Namespaces, Record, StoreFile, check, fix};
use crate::trace::Time;

pub(super) fn run(text: &[u8]) {
    let _ = Namespaces::parse(text);
    for file in StoreFile::ALL {
        let (namespaces, earlier_keys) = (Namespaces::default(), HashSet::new());
        let now = Time::from_second(1_770_714_000);
        let rules =
            check::Rules { file, namespaces: &namespaces, now, earlier_keys: &earlier_keys, stale_before: None };
        assert!(lie_within(&check(text, &rules), text));
    }
    for line in text.split(|b| *b == b'\n') {
        let Ok(record) = Record::parse(line) else { continue };
        let rendered = record.render();
        let again = Record::parse(rendered.as_bytes()).expect("what was written is read");
        assert!(!rendered.contains('\n'));
        assert_eq!(again.render(), rendered);
        assert_eq!(again.canonical(), record.canonical());
        assert!(again.means_same(&record) && record.means_same(&again) && record.precedence(&again).is_eq());
    }
    if let Some(fixed) = fix(text) {
        assert_eq!(fix(&fixed).as_deref(), Some(&*fixed));
    }
    if let Ok(records) = parse(text) {
        for format in [Format::Json, Format::Jsonl] {
            let mut out = Vec::new();
            export(&records, format, &mut out).expect("a vector takes every write");
            let again = parse(&out).expect("what was exported is imported");
            let canonical = |records: &[Record<'_>]| records.iter().map(Record::canonical).collect::<Vec<_>>();
            assert_eq!(canonical(&again), canonical(&records));
        }
    }
}
