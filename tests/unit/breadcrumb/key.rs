//! Keys.

use crate::memory::breadcrumb::Key;
use crate::memory::breadcrumb::key::{is_conventional, is_secret};

#[test]
fn keys_are_ascii_letters_digits_dots_and_underscores() {
    for good in ["auth.method", "A", "_", "a..b", "1.2_3"] {
        assert_eq!(good.parse::<Key>().unwrap().as_str(), good);
    }
    for bad in ["", "a b", "a-b", "a/b", "ключ", "a\n", "a\0", &"k".repeat(257)] {
        assert!(bad.parse::<Key>().is_err(), "{bad}");
    }
}

#[test]
fn the_namespace_tells_secrets() {
    assert!(["secret.token", "secret", "Secret.a", "SECRET.a"].into_iter().all(is_secret));
    assert!(!["secrets.token", "auth.secret", ""].into_iter().any(is_secret));
    assert!(is_conventional("auth.token_expiry"));
    assert!(["Auth.method", "auth..method", ".auth", "auth."].into_iter().all(|key| !is_conventional(key)));
}
