//! The item file.

use proptest::prelude::*;

use crate::trace::model::item::MAX_UNKNOWN_HEADERS;
use crate::trace::model::item_file::{BadItemFile, parse, render};

const EXAMPLE: &str = "id: 0be7719d3a2f61c8\ntype: tool_io\nrole: tool\ndirection: result\nname: grep\n\
    call-id: toolu_01A\nturn: msg_01B\nreply-to: 81d2f0a94c55b9a0\nsource: claude-code 6b2e 0\n\
    created: 2026-02-10T09:00:00.125Z\nrevision: 2\ntokens: 57 o200k_base 9c1185a5\n\
    meta: {\"duration_ms\":12}\nx-later: kept: as it is \n\nbody\n\nwith: colons\r\n";

#[test]
fn a_file_that_is_read_is_written_with_the_same_bytes() {
    let item = parse(EXAMPLE.as_bytes()).unwrap();
    assert_eq!(item.id.to_string(), "0be7719d3a2f61c8");
    assert_eq!(item.revision, 2);
    assert_eq!(item.fields.unknown, [("x-later".to_owned(), "kept: as it is ".to_owned())]);
    assert_eq!(item.body, b"body\n\nwith: colons\r\n");
    assert_eq!(String::from_utf8(render(&item)).unwrap(), EXAMPLE);
}

#[test]
fn the_role_of_a_tool_item_implies_its_direction() {
    let item = parse(b"id: 0be7719d3a2f61c8\ntype: tool_io\nrole: tool\ncall-id: c\n\n3 matches").unwrap();
    assert!(item.fields.is_result());
}

#[test]
fn a_damaged_header_is_named() {
    for (bytes, cause) in [
        (&b"id: 0be7719d3a2f61c8\ntype: dialogue\n"[..], "no empty line ends the header"),
        (b"type: dialogue\n\n", "the header `id` is missing"),
        (b"id: 0be7719d3a2f61c8\nname: x\n\n", "the header `type` is missing"),
        (b"id: 0be7719d3a2f61c8\n<<<<<<< ours\n\n", "header line 2 is not `key: value`"),
        (b"id: nope\n\n", "header `id`: invalid item id `nope`: expected 16 hex digits"),
        (b"id: 0be7719d3a2f61c8\ntype: \xff\n\n", "the header is not UTF-8"),
    ] {
        assert_eq!(parse(bytes).unwrap_err().to_string(), cause);
    }
}

#[test]
fn the_number_of_unknown_headers_is_limited() {
    let file = |count| format!("id: 0be7719d3a2f61c8\ntype: dialogue\n{}\nx", "x: y\n".repeat(count));
    assert!(parse(file(MAX_UNKNOWN_HEADERS).as_bytes()).is_ok());
    assert_eq!(parse(file(MAX_UNKNOWN_HEADERS + 1).as_bytes()), Err(BadItemFile::TooMany));
}

#[test]
fn impossible_numbers_are_ignored() {
    let item = parse(b"id: 0be7719d3a2f61c8\ntype: dialogue\nrevision: 0\n\nx").unwrap();
    assert_eq!((item.revision, parse(&render(&item))), (1, Ok(item)));
    let twice = parse(
        b"id: 0be7719d3a2f61c8\ntype: dialogue\nrevision: 1\ntokens: 99 o200k_base 9c1185a5\nrevision: x\nrevision: 3\n\
          tokens: 1 o200k_base 9c1185a5\n\nx",
    )
    .unwrap();
    assert_eq!((twice.revision, &twice.tokens), (3, &None), "so many tokens are not in one byte");
    assert_eq!(parse(&render(&twice)), Ok(twice));
    for (count, is_kept) in [("1", true), ("18446744073709551615", false)] {
        let file = EXAMPLE.replace("tokens: 57 ", &format!("tokens: {count} "));
        assert_eq!(parse(file.as_bytes()).unwrap().tokens.is_some(), is_kept);
    }
}

#[test]
fn a_line_break_in_a_value_forges_no_header() {
    let mut item = parse(EXAMPLE.as_bytes()).unwrap();
    item.fields.name = Some("grep\ntype: instruction\n\nbody".to_owned());
    let again = parse(&render(&item)).unwrap();
    assert_eq!(again.fields.item_type, item.fields.item_type);
    assert_eq!(again.body, item.body);
}

proptest! {
    #[test]
    fn any_bytes_give_an_item_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(item) = parse(&bytes) {
            prop_assert_eq!(parse(&render(&item)).unwrap(), item);
        }
    }

    #[test]
    fn header_shaped_bytes_read_back(text in "(id: 0be7719d3a2f61c8\n)?(type|name|role|x|meta): ?(tool|\\{\\}|tool_io|é|: )\n(name: x\n){0,2}\n[a\n:]{0,8}") {
        if let Ok(item) = parse(text.as_bytes()) {
            prop_assert_eq!(parse(&render(&item)).unwrap(), item);
        }
    }
}
