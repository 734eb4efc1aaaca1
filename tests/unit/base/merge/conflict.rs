//! Tests of the private parts of `src/base/merge/conflict.rs`.

use super::*;

fn conflict() -> ConflictText<'static> {
    ConflictText {
        base: b"one\nold\n".as_slice().into(),
        ours: b"one\nours\nend\n".as_slice().into(),
        theirs: b"one\ntheirs\nend".as_slice().into(),
    }
}

fn render(markers: &Markers) -> String {
    let mut out = Vec::new();
    markers.write(&mut out, &conflict()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn conflicts_are_written_in_the_three_styles() {
    let mut markers = Markers::default();
    assert_eq!(render(&markers), "<<<<<<< ours\none\nours\nend\n=======\none\ntheirs\nend\n>>>>>>> theirs\n");
    markers.style = Style::Diff3;
    markers.size = 9;
    assert_eq!(
        render(&markers),
        "<<<<<<<<< ours\none\nours\nend\n||||||||| base\none\nold\n=========\none\ntheirs\nend\n>>>>>>>>> theirs\n"
    );
    markers = Markers { size: 7, style: Style::Zdiff3, labels: Labels::default() };
    assert_eq!(render(&markers), "one\n<<<<<<<\nours\nend\n|||||||\none\nold\n=======\ntheirs\nend\n>>>>>>>\n");
}

#[test]
fn markers_have_the_line_endings_of_the_lines_between_them() {
    let conflict =
        ConflictText { base: b"".as_slice().into(), ours: b"a\r\n".as_slice().into(), theirs: b"".as_slice().into() };
    let mut out = Vec::new();
    Markers::default().write(&mut out, &conflict).unwrap();
    assert_eq!(out, b"<<<<<<< ours\r\na\r\n=======\r\n>>>>>>> theirs\r\n");
}

#[test]
fn conflicts_parse_as_they_were_written() {
    for (style, size) in [(Style::Merge, 7), (Style::Diff3, 7), (Style::Diff3, 12)] {
        let markers = Markers { size, style, ..Markers::default() };
        let text = format!("before\n{}after\n", render(&markers));
        let versions = versions(text.as_bytes(), 7).unwrap();
        assert_eq!(versions.conflict_count, 1);
        assert_eq!(versions.ours, b"before\none\nours\nend\nafter\n".as_slice());
        assert_eq!(versions.theirs, b"before\none\ntheirs\nend\nafter\n".as_slice());
        let base = if style == Style::Merge { "before\nafter\n" } else { "before\none\nold\nafter\n" };
        assert_eq!(versions.base, base.as_bytes());
    }
}

#[test]
fn errors_name_the_line_of_an_unexpected_marker() {
    for (text, error) in [
        ("a\n<<<<<<< x\nb\n", MarkerError::Unclosed { line: 2 }),
        ("<<<<<<< x\n=======\n", MarkerError::Unclosed { line: 1 }),
        ("<<<<<<< x\n>>>>>>> y\n", MarkerError::OutOfPlace { line: 2 }),
        ("<<<<<<< x\n<<<<<<< y\n", MarkerError::OutOfPlace { line: 2 }),
        ("<<<<<<<\n=======\n=======\n>>>>>>>\n", MarkerError::OutOfPlace { line: 3 }),
    ] {
        assert_eq!(parse(text.as_bytes(), 7), Err(error), "{text:?}");
    }
    for text in ["Title\n=======\n>>>>>>> quoted\n", "<<<<<<\n", "<<<<<<<x\n", "", "\n"] {
        assert_eq!(versions(text.as_bytes(), 7).unwrap().conflict_count, 0, "{text:?}");
    }
}

#[test]
fn conflicts_in_a_base_are_replaced_by_their_own_base() {
    let nested = "x\n<<<<<<<<< a\n1\n|||||||||\n<<<<<<<<<<< b\n2\n|||||||||||\n3\n===========\n4\n>>>>>>>>>>> c\n\
                  =========\n5\n>>>>>>>>> d\ny\n";
    assert_eq!(flatten_base(nested.as_bytes(), 7), b"x\n3\ny\n".as_slice());
    let plain = "x\n<<<<<<<<< a\n1\n=========\n5\n>>>>>>>>> d\ny\n";
    assert_eq!(flatten_base(plain.as_bytes(), 7), b"x\ny\n".as_slice());
    let broken = "x\n<<<<<<<<< a\n";
    assert_eq!(flatten_base(broken.as_bytes(), 7), broken.as_bytes());
}

#[test]
fn blanked_markers_leave_the_lines_of_both_sides_where_they_are() {
    let text = "x\n<<<<<<< a\n1\n||||||| b\n2\n=======\n3\n>>>>>>> c\ny\n";
    let blanked = "x\n         \n1\n         \n \n       \n3\n         \ny\n";
    assert_eq!(blank_markers(text.as_bytes()), blanked.as_bytes());
    let nested = "<<<<<<<< a\n<<<<<<< b\n1\n=======\n2\n>>>>>>> c\n========\n>>>>>>>> d\n";
    assert_eq!(
        String::from_utf8_lossy(&blank_markers(nested.as_bytes())).split_whitespace().collect::<Vec<_>>(),
        ["1", "2"]
    );
    let broken = "x\n<<<<<<< a\n";
    assert_eq!(blank_markers(broken.as_bytes()), broken.as_bytes());
}
