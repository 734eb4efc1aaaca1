//! Entries: their parts, and what is not an entry.

use crate::memory::crumb::Entry;
use crate::memory::crumb::EntryKind;
use crate::memory::crumb::grammar::entry::{SessionRange, SessionRef, Tag};

#[test]
fn an_entry_has_all_its_parts() {
    let line = "~S @8 api:rate-limit hit [429] — when = § @ batching — 3x @s8 [PREFLIGHT: auto-detected] [B]";
    let entry = Entry::parse(line).unwrap();
    assert_eq!((entry.kind, entry.agent), (EntryKind::Lesson, Some('S')));
    assert_eq!(entry.reference, Some(SessionRange { from: SessionRef::plain(8), to: None }));
    assert_eq!(entry.text, "api:rate-limit hit [429] — when = § @ batching");
    assert_eq!(entry.counter.map(|counter| counter.to_string()).as_deref(), Some("3x @s8"));
    let tags = [Tag { name: "PREFLIGHT", text: Some("auto-detected") }, Tag { name: "B", text: None }];
    assert_eq!((entry.tags.as_slice(), entry.key()), (&tags[..], Some("api:rate-limit")));
    assert_eq!(entry.render(), line);
}

#[test]
fn a_line_without_mark_and_space_is_not_an_entry() {
    for line in ["", "f fact", ".fact", "x what", "nothing", "§core", " . indented", "n@15 x", "fs x", "∴CRUMB2"] {
        assert_eq!(Entry::parse(line), None, "{line}");
    }
    for line in [".", "!", "fS", "n", ". ", "n @15"] {
        assert_eq!(Entry::parse(line).unwrap().text, "", "{line}");
    }
}

#[test]
fn a_reference_is_parsed_right_after_the_mark() {
    for (line, reference, bad) in [
        ("n @15 x", Some("@15"), None),
        ("c @10-13 x", Some("@10-13"), None),
        ("c @s10-pre13 x", Some("@s10-pre13"), None),
        ("n @pre122 x", Some("@pre122"), None),
        ("n x @15", None, None),
        ("n @x y", None, Some("@x")),
        ("n @15: y", None, Some("@15:")),
        ("n @99999999999999999999 y", None, Some("@99999999999999999999")),
        (". @alice owns it", None, None),
        ("~ a:b went wrong — 3x @never", None, Some("3x @never")),
        (". a — 3x @never", None, None),
    ] {
        let entry = Entry::parse(line).unwrap();
        assert_eq!(entry.reference.map(|reference| reference.to_string()).as_deref(), reference, "{line}");
        assert_eq!(entry.bad_reference, bad, "{line}");
    }
}
