//! Trailers of commits.

use proptest::prelude::*;

use crate::tokens::{CounterId, Encoding};
use crate::trace::Op;
use crate::trace::model::trailers::{Basis, Counted, ImportPosition, Total, Trailers, Vacant};

#[test]
fn trailers_read_back() {
    let trailers = Trailers {
        op: Some(Op::Append),
        item: "0be7719d3a2f61c8".parse().ok(),
        more_items: vec!["81d2f0a94c55b9a0".parse().unwrap()],
        time: "2026-02-10T09:00:00.125000001Z".parse().ok(),
        tree: Some("6b0c".to_owned()),
        total: Some(Total { tokens: 12345, basis: Basis::Reported }),
        counted: Some(Counted { tokens: 12000, counter: CounterId::BuiltIn(Encoding::Cl100kBase) }),
        next: Some(44),
        vacant: Some(Vacant { count: 3, before: Some(9) }),
        source: Some(ImportPosition { session: "a b".to_owned(), offset: 7, digest: "ff".to_owned(), as_seen: true }),
        family: "claude-code/6b2e".parse().ok(),
        title: Some(("c3d4f0a94c55b9a0".parse().unwrap(), "cafe".to_owned())),
        code: Some("beef".to_owned()),
        from: Some("feed".to_owned()),
        reason: Some("superseded".to_owned()),
    };
    assert_eq!(Trailers::parse(&trailers.render("subject")), trailers);
}

proptest! {
    #[test]
    fn no_text_forges_a_trailer(subject in "(Trace-Op: delete|\n|\r|[a: \u{85}\u{2028}]){0,8}", reason in "(\nTrace-Item: 0be7719d3a2f61c8|\n| |a){0,6}") {
        let trailers = Trailers { op: Some(Op::Append), reason: Some(reason), ..Trailers::default() };
        let read = Trailers::parse(&trailers.render(&subject));
        prop_assert_eq!(read.op, Some(Op::Append));
        prop_assert_eq!(read.item, None);
    }
}
