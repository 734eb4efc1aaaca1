//! Tests of the private parts of `src/git/config.rs`.

use super::*;

#[test]
fn the_last_value_of_each_remote_counts() {
    let find = |listed: &str| Config::listed(listed).unwrap().remote_with("promisor").unwrap();
    assert_eq!(find("remote.a.promisor\ntrue\0remote.a.promisor\nfalse\0"), None);
    assert_eq!(find("remote.a.promisor\ntrue\0remote.b.promisor\0remote.a.promisor\nno\0").as_deref(), Some("b"));
    assert_eq!(find("remote.a.promisor\nfalse\0remote.a.promisor\ntrue\0").as_deref(), Some("a"));
}

#[test]
fn parameters_of_both_spellings_are_read() {
    let pair = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
    let cases = [
        ("'trace.encoding=x'", vec![pair("trace.encoding", Some("x"))]),
        (
            "'Trace.Encoding'='a b' 'c.Sub.D'='it'\\''s'",
            vec![pair("trace.encoding", Some("a b")), pair("c.Sub.d", Some("it's"))],
        ),
        ("'trace.flag'", vec![pair("trace.flag", None)]),
        ("'trace.flag'= 'a.b'=''", vec![pair("trace.flag", None), pair("a.b", Some(""))]),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_parameters(text), Some(expected), "{text}");
    }
    for bad in ["trace.x=1", "'open", "'a'x"] {
        assert_eq!(parse_parameters(bad), None, "{bad}");
    }
}
