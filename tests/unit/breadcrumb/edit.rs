//! Editing a store's text: what changes, and what keeps its bytes.

use crate::memory::breadcrumb::store::edit::{Selection, Selector};
use crate::memory::breadcrumb::{LineError, Record};

fn line(key: &str, value: &str) -> String {
    format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}")
}

/// The text after `put` replaces the records of `keys`, which are sorted.
fn edited(text: &str, keys: &[&str], put: &[(&str, &str)]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| key.as_bytes()).collect();
    let selection = Selection::parse(text.as_bytes(), false, Selector::Keys(&keys)).unwrap();
    let put: Vec<_> = put.iter().map(|(key, value)| Record::new((*key).to_owned(), (*value).to_owned())).collect();
    String::from_utf8(selection.replace(&put).map_or_else(|| text.into(), |parts| parts.concat())).unwrap()
}

#[test]
fn lines_that_do_not_change_keep_their_bytes() {
    let (a, b, c) = (line("a", "1"), r#"{ "value":"\u0031","n":1.50, "key":"b" }"#, line("c", "1"));
    let text = format!("{a}\n{b}\n{c}\n");
    assert_eq!(edited(&text, &["a"], &[("a", "2")]), format!("{}\n{b}\n{c}\n", line("a", "2")));
    assert_eq!(edited(&text, &[], &[("bb", "2")]), format!("{a}\n{b}\n{}\n{c}\n", line("bb", "2")));
    assert_eq!(edited(&text, &["c"], &[]), format!("{a}\n{b}\n"));
    assert_eq!(edited(&text, &["a"], &[("d", "1")]), format!("{b}\n{c}\n{}\n", line("d", "1")));
    assert_eq!(edited(&text, &["a", "c"], &[("a", "1"), ("c", "2")]), format!("{a}\n{b}\n{}\n", line("c", "2")));
}

#[test]
fn byte_order_marks_blank_lines_and_line_endings_are_kept() {
    let (a, b, c) = (line("a", "1"), line("b", "1"), line("c", "1"));
    let two = line("b", "2");
    for (text, result) in [
        (String::new(), format!("{two}\n")),
        ("\u{feff}".to_owned(), format!("\u{feff}{two}\n")),
        (format!("\u{feff}{a}\r\n{b}\r\n{c}"), format!("\u{feff}{a}\r\n{two}\r\n{c}")),
        (format!("\n{a}\n\n{b}\n\n{c}\n\n"), format!("\n{a}\n\n{two}\n\n{c}\n\n")),
        (a.clone(), format!("{a}\n{two}\n")),
        (b.clone(), format!("{two}\n")),
        (format!("{b}\n{b}\n"), format!("{two}\n")),
    ] {
        assert_eq!(edited(&text, &["b"], &[("b", "2")]), result, "{text:?}");
    }
}

#[test]
fn an_edit_sorts_an_unsorted_text() {
    let (a, b, c) = (line("a", "1"), line("b", "1"), line("c", "1"));
    assert_eq!(
        edited(&format!("{c}\n\n{a}\r\n{b}"), &[], &[("aa", "1")]),
        format!("{a}\r\n{}\r\n{b}\n{c}\n", line("aa", "1"))
    );
    assert_eq!(edited(&format!("{b}\n{a}"), &["a"], &[]), format!("{b}\n"));
}

#[test]
fn the_first_invalid_line_is_named() {
    let text = format!("{}\n\n{}\n[]\nnonsense\n", line("b", "1"), line("a", "1"));
    let (invalid, count) = Selection::parse(text.as_bytes(), false, Selector::Records(&|_| false)).err().unwrap();
    assert_eq!((invalid.line, invalid.reason, count), (4, LineError::NotAnObject, 2));
}

#[test]
fn in_a_large_text_only_lines_that_may_be_selected_are_judged() {
    let broken = r#"{"key":"b","value":}"#;
    let text = format!("{}\n{broken}\n{}\n", line("a", "1"), line("c", "1"));
    let judge = |text: &str, is_large, key: &str| {
        let selection = Selection::parse(text.as_bytes(), is_large, Selector::Keys(&[key.as_bytes()]));
        selection.map(|selection| selection.records().len()).map_err(|(invalid, _)| invalid.line)
    };
    assert_eq!(judge(&text, false, "c"), Err(2));
    assert_eq!(judge(&text, true, "c"), Ok(1));
    assert_eq!(judge(&text, true, "b"), Err(2));
    assert_eq!(judge(&text.replace(broken, &broken[..broken.len() - 1]), true, "c"), Err(2));
}
