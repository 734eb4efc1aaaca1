//! Any bytes as a crumb file: reading and writing is the identity, and findings are inside the text.

use super::lie_within;
use crate::memory::crumb::{CrumbFile, EntryKind, NewEntry, check, format, plan, textconv, to_json, triage};
use crate::tokens::Counter;

pub(super) fn run(bytes: &[u8]) {
    assert!(lie_within(&check(bytes, Counter::default()), bytes));
    assert!(!textconv(bytes).contains('\x1b'));
    let Ok(mut crumb) = CrumbFile::parse(bytes) else { return };
    assert_eq!(crumb.print(), bytes);
    let formatted = format(&crumb);
    let again = CrumbFile::parse(&formatted).expect("what was text stays text");
    assert_eq!(format(&again), formatted);
    let _ = (to_json(&crumb), triage(&crumb));
    plan(&crumb).apply(&mut crumb);
    assert!(plan(&crumb).is_empty(), "compressing again changes nothing");

    // Any added text is one more entry, and reads back.
    let words = crumb.lines.first().map(|line| line.text.to_string()).unwrap_or_default();
    let _ = crumb.select(&words);
    let mut changed = crumb.clone();
    let added = changed.add(&NewEntry { kind: EntryKind::Note, agent: None, section: "core", text: &words });
    let failed = changed.add_failure("a:b", &words, None);
    if added.is_ok() || failed.is_ok() {
        let printed = changed.print();
        assert_eq!(CrumbFile::parse(&printed).expect("what was text stays text").lines, changed.lines);
    }
    if crumb.start_session().is_ok() {
        assert!(crumb.header().is_some_and(|header| header.session > 0));
    }
    if !crumb.lines.is_empty() {
        crumb.remove(0);
        CrumbFile::parse(&crumb.print()).expect("what was text stays text");
    }
}
