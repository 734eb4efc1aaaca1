//! Tests of the private parts of `src/trace/sync/address.rs`.

use super::*;

#[test]
fn addresses_are_shown_without_users() {
    for (url, shown) in [
        ("https://ada:secret@example.com/a.git", "https://example.com/a.git"),
        ("ssh://git@example.com:22/a@b", "ssh://example.com:22/a@b"),
        ("git@example.com:a/b.git", "example.com:a/b.git"),
        ("https://example.com/@scope/a", "https://example.com/@scope/a"),
        ("../ada@home/a:b", "../ada@home/a:b"),
        ("ada@home/a.git", "ada@home/a.git"),
        ("codecommit::us-east-1://ada@a", "codecommit::us-east-1://ada@a"),
        ("gcrypt::ssh://git@example.com/a", "gcrypt::ssh://git@example.com/a"),
        ("ext::ssh ada@home x:y", "home x:y"),
    ] {
        assert_eq!(shown_address(url), shown);
    }
}
