//! Tests of the private parts of `src/git/config.rs`.

use super::*;

#[test]
fn remotes_are_promisors_by_either_setting() {
    let find = |listed: &str| Config::listed(listed).unwrap().promisors().unwrap();
    assert_eq!(find("remote.a.promisor\nfalse\0remote.a.url\nx\0"), [""; 0]);
    assert_eq!(find("remote.a.promisor\ntrue\0remote.b.c.promisor\0remote.a.promisor\nno\0"), ["a", "b.c"]);
    assert_eq!(find("remote.a.promisor\nfalse\0remote.a.partialclonefilter\nblob:none\0"), ["a"]);
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
