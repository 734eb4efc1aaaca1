//! Tests of `src/transcript/read/lines.rs`, in that module.

use super::*;

/// Returns one byte per read, so that every line is seen incomplete.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(1);
        self.0.read(&mut into[..length])
    }
}

fn read_all(lines: &mut Lines<Drip<'_>>) -> Vec<(u64, String, Ending)> {
    let mut all = Vec::new();
    while let Some(rest) = lines.rest().unwrap() {
        let length = rest.bytes.len();
        all.push((rest.number, String::from_utf8_lossy(rest.bytes).into_owned(), rest.ending));
        if !lines.consume_line().unwrap() {
            lines.consume(length);
            break;
        }
    }
    all
}

#[test]
fn lines_are_returned_once_and_counted() {
    let mut lines = Lines::new(Drip(b"a\n\nbc\r\nd"), 100);
    let line = |number, text: &str, ending| (number, text.to_owned(), ending);
    let expected = [
        line(1, "a", Ending::Newline),
        line(2, "", Ending::Newline),
        line(3, "bc\r", Ending::Newline),
        line(4, "d", Ending::EndOfFile),
    ];
    assert_eq!(read_all(&mut lines), expected);
    assert_eq!(lines.offset(), 8);
    assert!(lines.position().find(io::Cursor::new(b"a\n\nbc\r\nd")).unwrap().is_some());
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    let file = format!("a\n{}\nb\n", "x".repeat(1000));
    let mut lines = Lines::new(Drip(file.as_bytes()), 10);
    let endings: Vec<_> = read_all(&mut lines).into_iter().map(|(_, text, ending)| (text.len(), ending)).collect();
    assert_eq!(endings, [(1, Ending::Newline), (10, Ending::TooLong), (1, Ending::Newline)]);
    assert!(lines.position().find(io::Cursor::new(file.as_bytes())).unwrap().is_some());
    assert_eq!(lines.offset(), file.len() as u64);
}

#[test]
fn a_last_line_over_the_limit_is_not_consumed() {
    let file = format!("a\n{}", "x".repeat(1000));
    let mut lines = Lines::new(Drip(file.as_bytes()), 10);
    assert!(lines.rest().unwrap().is_some());
    assert!(lines.consume_line().unwrap());
    assert_eq!(lines.rest().unwrap().unwrap().ending, Ending::TooLong);
    assert!(!lines.consume_line().unwrap());
    assert_eq!(lines.offset(), 2);
    assert!(lines.position().find(io::Cursor::new(file.as_bytes())).unwrap().is_some());
    assert!(lines.rest().unwrap().is_none());
}
