//! Looking up a key in a large file: as fast as in a small one, and with the answer of a scan.

use std::fs::{self, File};
use std::io::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::base::time::Time;
use crate::memory::breadcrumb::store::sorted::{find_lines, is_sorted};
use crate::memory::breadcrumb::{Store, StoreFile};

fn line() -> impl Strategy<Value = String> {
    let line = ("[ab]{1,2}", "v{0,40}").prop_map(|(key, value)| format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}"));
    prop_oneof![8 => line, 1 => Just(String::new()), 1 => Just("{\"key\":\"ab\",\"value\":1}".to_owned())]
}

fn key_of(line: &str) -> &str {
    line.split('"').nth(3).unwrap_or_default()
}

proptest! {
    #[test]
    fn a_sorted_file_has_the_lines_that_a_scan_finds(
        mut lines in vec(line(), 0..30), bom in any::<bool>(), end in "[\n\r]{0,2}", block in 1..200_usize,
    ) {
        lines.sort_by_key(|line| key_of(line).to_owned());
        let text = if bom { "\u{feff}" } else { "" }.to_owned() + &lines.join("\n") + &end;
        prop_assert!(is_sorted(text.as_bytes()));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        for key in ["a", "aa", "ab", "b", "bb", "ba", "A", "c"] {
            let found = find_lines(&file, key.as_bytes(), block).unwrap().unwrap();
            let found: Vec<_> = found.iter().map(|line| std::str::from_utf8(line).unwrap().trim_end()).collect();
            let wanted: Vec<_> = lines.iter().filter(|line| key_of(line) == key).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}

#[test]
fn a_file_with_a_line_that_is_damaged_or_not_in_order_is_not_sorted() {
    let (a, b) = (r#"{"key":"a","value":"1"}"#, r#"{"key":"b","value":"1"}"#);
    assert!(is_sorted(format!("{a}\n{a}\n\n{b}\r\n").as_bytes()));
    for text in [
        format!("{b}\n{a}\n"),
        format!("{a}\n{{\"key\":\"b\",\"val\n"),
        format!("{a}\nnonsense\n"),
        format!("{a}\n{{\"key\":\"\\u0062\",\"value\":\"1\"}}\n"),
    ] {
        assert!(!is_sorted(text.as_bytes()), "{text}");
    }
}

/// A store of more than 1 MiB, and the folder with its notes.
fn large() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_folder(folder.path()).with_notes(folder.path().join("cache"));
    let padding = "x".repeat(500);
    let lines = (0..2500).map(|n| format!("{{\"key\":\"api.key_{n:06}\",\"value\":\"{n:06}{padding}\"}}\n"));
    fs::write(store.path(StoreFile::Shared), lines.collect::<String>()).unwrap();
    (folder, store)
}

fn value(store: &Store, key: &str, now: Time) -> Option<String> {
    let lookup = store.lookup(key, now).unwrap();
    lookup.record.map(|record| record.value[..6].to_owned())
}

/// A minute from now: by then, a change would have another time.
fn later() -> Time {
    Time::from_second(Time::now().as_second() + 60)
}

fn is_noted(folder: &tempfile::TempDir) -> bool {
    fs::read_dir(folder.path().join("cache")).is_ok_and(|mut notes| notes.next().is_some())
}

#[test]
#[cfg(unix)]
fn a_large_file_is_scanned_once_and_again_after_every_change() {
    let (folder, store) = large();
    let path = store.path(StoreFile::Shared);
    assert_eq!(value(&store, "api.key_001234", Time::now()).unwrap(), "001234");
    assert!(!is_noted(&folder), "another change could have the same time");
    assert_eq!(value(&store, "api.key_001234", later()).unwrap(), "001234");
    assert!(is_noted(&folder));
    let other = || File::options().write(true).open(&path).unwrap();
    // While the note fits, nothing else is read: a change that keeps all times and the size is not possible.
    assert_eq!(value(&store, "api.key_000000", later()).unwrap(), "000000");
    assert_eq!(value(&store, "api.key_002499", later()).unwrap(), "002499");
    assert_eq!(value(&store, "api.key_9", later()), None);
    // The same size, in place, with the old time: only the time of the last change of the file tells.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("001234", "A01234").replace("key_A", "key_0");
    other().write_all(text.as_bytes()).unwrap();
    other().set_modified(modified).unwrap();
    assert_eq!(value(&store, "api.key_001234", later()).unwrap(), "A01234");
    // A later line of the key, where nobody would look in a sorted file.
    let newer = "{\"key\":\"api.key_000000\",\"value\":\"newest\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n";
    File::options().append(true).open(&path).unwrap().write_all(newer.as_bytes()).unwrap();
    assert_eq!(value(&store, "api.key_000000", later()).unwrap(), "newest");
    assert_eq!(value(&store, "api.key_000000", later()).unwrap(), "newest");
}

#[test]
#[cfg(unix)]
fn a_damaged_line_in_a_large_file_is_reported_with_its_number() {
    let (folder, store) = large();
    let path = store.path(StoreFile::Shared);
    let text = fs::read_to_string(&path).unwrap().replace("\"value\":\"001234", "\"value\":001234,\"v\":\"");
    fs::write(&path, text).unwrap();
    for _ in 0..2 {
        assert_eq!(value(&store, "api.key_000007", later()).unwrap(), "000007");
        let lookup = store.lookup("api.key_001234", later()).unwrap();
        assert!(lookup.record.is_none() && lookup.is_damaged("api.key_001234"));
        assert_eq!(lookup.skipped_lines[0].invalid.line, 1235);
    }
    assert!(is_noted(&folder));
}
