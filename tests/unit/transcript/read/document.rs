//! Tests of `src/transcript/read/document.rs`, in that module.

use proptest::prelude::*;

use super::*;

fn lines(document: &str) -> String {
    let mut text = String::new();
    DocumentLines::new(document.as_bytes()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn elements_and_members_become_lines() {
    let document =
        "\u{feff}{ \"a\\\"b\" : [ {\"x\": [1,\n2], \"t\":\"]},\\\"\\n\"} , 3,\"y\"],\"c\":null,\n\"d\":{\"e\":[]}}\n";
    let expected = "{\"a\\\"b\":{\"x\": [1,2], \"t\":\"]},\\\"\\n\"} }\n{\"a\\\"b\":3}\n{\"a\\\"b\":\"y\"}\n{\"c\":null}\n\
                    {\"d\":{\"e\":[]}}\n\n";
    assert_eq!(lines(document), expected);
    assert_eq!(lines("[1, {\"a\":\n[2]}]"), "1\n{\"a\":[2]}\n");
    assert_eq!(lines("{\"a\":["), "");
    assert_eq!(lines("{\"a\":[{\"b\":1"), "{\"a\":{\"b\":1");
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:\\ a\n".to_vec()), 0..60)) {
        let mut out = Vec::new();
        DocumentLines::new(&bytes[..]).read_to_end(&mut out).unwrap();
    }
}
