//! Any text as a commit message: trailers are written as they were read, and no text forges one.

use crate::trace::model::trailers::{Op, Trailers, one_line};

pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = Trailers::parse(text);
    let written = read.render(text);
    let again = Trailers::parse(&written);
    assert_eq!(Trailers::parse(&again.render("subject")), again);
    assert!(!written.trim_end_matches('\n').contains(|c: char| c.is_control() && c != '\n'));

    let line = one_line(text);
    assert_eq!(one_line(&line), line);
    let hostile = Trailers { op: Some(Op::Append), reason: Some(text.to_owned()), ..Trailers::default() };
    let reason = Some(line).filter(|line| !line.is_empty());
    assert_eq!(Trailers::parse(&hostile.render(text)), Trailers { reason, ..hostile });
}
