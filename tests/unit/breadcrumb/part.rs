//! Changing a large file by a part of it: the same bytes as when it is read completely.

use std::fs;
use std::io::{Seek as _, Write as _};

use proptest::collection::vec;
use proptest::prelude::*;

use crate::base::time::Time;
use crate::memory::breadcrumb::store::edit::{Selection, Selector};
use crate::memory::breadcrumb::store::part::find_part_by;
use crate::memory::breadcrumb::store::write::{Expiry, SetRequest};
use crate::memory::breadcrumb::{Record, Store, StoreError, StoreFile, Writer};

const KEYS: [&str; 7] = ["A", "a", "aa", "ab", "b", "bb", "c"];

fn line() -> impl Strategy<Value = String> {
    let line = ("[ab]{1,2}", "v{0,40}").prop_map(|(key, value)| format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}"));
    prop_oneof![
        20 => line,
        2 => Just(String::new()),
        1 => Just("{\"key\":\"ab\",\"value\":1}".to_owned()),
        1 => Just("{\"key\":\"ab\",\"value\":\"".to_owned()),
        1 => Just("{\"key\":\"\\u0061\",\"value\":\"v\"}".to_owned()),
        1 => Just("{\"key\":\"b\",\"value\":\"v\"}\r".to_owned()),
    ]
}

fn key_of(line: &str) -> &str {
    line.split('"').nth(3).unwrap_or_default()
}

/// The text after the records of `keys` are replaced by `put`; `None` if it is refused.
fn edited(text: &[u8], keys: &[&[u8]], put: &[Record<'static>]) -> Option<Vec<u8>> {
    let selection = Selection::parse(text, true, Selector::Keys(keys)).ok()?;
    Some(selection.replace(put).map_or_else(|| text.to_vec(), |parts| parts.concat()))
}

proptest! {
    #[test]
    fn a_part_changes_as_the_complete_text_does(
        mut lines in vec(line(), 0..30), is_sorted in prop_oneof![9 => Just(true), 1 => Just(false)], bom in prop_oneof![9 => Just(""), 1 => Just("\u{feff}")],
        end in "\n{0,2}", chosen in proptest::sample::subsequence(&KEYS[..], 1..4), values in vec("[xy]{0,1}", 3), buffer in 1..400_usize,
    ) {
        if is_sorted {
            lines.sort_by_key(|line| key_of(line).to_owned());
        }
        let text = bom.to_owned() + &lines.join("\n") + &end;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        let keys: Vec<_> = chosen.iter().map(|key| key.as_bytes()).collect();
        let put = chosen.iter().zip(&values).filter(|(_, value)| !value.is_empty());
        let put: Vec<_> = put.map(|(key, value)| Record::new((*key).to_owned(), value.clone())).collect();
        let complete = edited(text.as_bytes(), &keys, &put);
        if let Some(part) = find_part_by(&file, &keys, buffer).unwrap() {
            let part = usize::try_from(part.start).unwrap()..usize::try_from(part.end).unwrap();
            let (before, rest) = text.as_bytes().split_at(part.start);
            let (inside, after) = rest.split_at(part.len());
            let inside = edited(inside, &keys, &put).expect("the keys have valid records");
            let whole = [before, &inside, after].concat();
            prop_assert_eq!(Some(String::from_utf8(whole).unwrap()), complete.map(|text| String::from_utf8(text).unwrap()));
        }
    }
}

/// A store with a file of more than 1 MiB.
fn large() -> (tempfile::TempDir, Store, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_folder(folder.path());
    let padding = "x".repeat(500);
    let line = |n| format!("{{\"key\":\"api.key_{n:06}\",\"value\":\"{n:06}{padding}\"}}\n");
    let text: String = (0..2500).map(line).collect();
    fs::write(store.path(StoreFile::Shared), &text).unwrap();
    (folder, store, text)
}

fn set(store: &Store, key: &str, value: &str) -> Result<String, StoreError> {
    let key = key.parse().unwrap();
    let request = SetRequest { key: &key, value, task_id: None, expiry: Expiry::Never, metadata: &[] };
    let set = Writer::new(store, &|_| true).set(&request, Time::from_second(1_800_000_000))?;
    Ok(set.record.render() + "\n")
}

#[test]
fn a_large_file_keeps_the_bytes_around_a_change() {
    let (_folder, store, text) = large();
    let path = store.path(StoreFile::Shared);
    for (key, at, removed) in
        [("a.first", 0, 0), ("api.key_001234", 1234, 1), ("api.key_001234_5", 1235, 0), ("z.last", 2500, 0)]
    {
        fs::write(&path, &text).unwrap();
        let new = set(&store, key, "new").unwrap();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let wanted = lines[..at].concat() + &new + &lines[at + removed..].concat();
        assert!(fs::read_to_string(&path).unwrap() == wanted, "{key}");
    }
    fs::write(&path, &text).unwrap();
    let deleted = Writer::new(&store, &|_| true).delete("api.key_000000").unwrap();
    assert!(deleted.is_some() && fs::read_to_string(&path).unwrap() == text[text.find('\n').unwrap() + 1..]);
}

#[test]
fn a_damaged_record_in_a_large_file_is_named_with_its_line() {
    let (_folder, store, text) = large();
    let path = store.path(StoreFile::Shared);
    fs::write(&path, text.replace("\"value\":\"001234", "\"value\":001234,\"v\":\"")).unwrap();
    assert!(set(&store, "api.key_000007", "new").is_ok());
    let error = set(&store, "api.key_001234", "new").unwrap_err();
    assert!(matches!(error, StoreError::InvalidLines { ref first, .. } if first.line == 1235), "{error}");
}
