//! Tests of the private parts of `src/git/ident.rs`.

use super::*;

#[test]
fn a_person_of_an_import_cannot_forge_a_header() {
    let ident = Ident::of("Eve\ncommitter <x> <eve@example.com>\n", 1);
    assert_eq!(ident.to_string(), "Evecommitter x <eve@example.com> 1 +0000");
    assert_eq!(Ident::of("", 0).to_string(), " <> 0 +0000");
}

#[test]
fn only_unmistakable_dates_are_read_here() {
    assert_eq!(plain_date("1770714000 +0100"), Some((1_770_714_000, "+0100".to_owned())));
    assert_eq!(plain_date("@5 -0330"), Some((5, "-0330".to_owned())));
    for other in ["2026-02-10T09:00:00Z", "2026 +0100", "1770714000", "1770714000 CET"] {
        assert_eq!(plain_date(other), None, "{other}");
    }
}
