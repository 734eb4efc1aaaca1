//! Import and export.

use crate::memory::breadcrumb::exchange::{Format, export, parse};

const LINES: &str = "{\"key\":\"a.b\",\"value\":\"1\",\"n\":1.50}\n{\"key\":\"c\",\"value\":\"2\",\"task_id\":3}\n";

#[test]
fn an_export_can_be_imported() {
    let records = parse(LINES.as_bytes()).unwrap();
    for format in [Format::Json, Format::Jsonl] {
        let mut out = Vec::new();
        export(&records, format, &mut out).unwrap();
        let again: String = parse(&out).unwrap().iter().map(|record| record.render() + "\n").collect();
        assert_eq!(again, LINES);
    }
    assert!(parse(b"\xef\xbb\xbf \n").unwrap().is_empty());
    let pretty = parse(b"[{\"key\":\"a\",\"value\":\"1\",\"o\":{\r\n\"x\":[1,\n2]}}]").unwrap();
    assert_eq!(pretty[0].render().lines().count(), 1);
}

#[test]
fn an_error_names_the_invalid_record() {
    for (text, message) in [
        ("{\"key\":\"a\",\"value\":\"1\"}\n\n[]", "line 3 is invalid: the line is not a JSON object"),
        ("[{\"key\":\"a\",\"value\":1}]", "element 0 of the array is invalid: `value` is not a string"),
        ("[{\"key\":\"a\"", "cannot read the JSON array"),
        ("{\"key\":\"a b\",\"value\":\"1\"}", "cannot import breadcrumb 0"),
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    }
}
