//! Lines of the priority record.

use crate::trace::store::priority::Setting;

#[test]
fn a_line_is_stored_in_this_very_form() {
    let of_version_0_1 =
        r#"{"at":"2026-02-10T09:00:00.000000001Z","by":"A <a@b>","level":"skip","seq":42,"reason":"superseded"}"#;
    let line = of_version_0_1.replace('}', r#","after":["3f9a1c2e7b10d4e5"]}"#);
    let line = line.as_str();
    for line in [line, of_version_0_1] {
        assert_eq!(Setting::parse(line).unwrap().render(), line);
    }
    let whole = Setting { at: "2026-02-10T09:00:00Z".parse().unwrap(), ..Setting::parse(line).unwrap() };
    assert!(whole.render().contains("09:00:00.000000000Z"));
}
