//! Tests of the private parts of `src/secrets/rules.rs`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn short_texts_are_searched_alike(parts in proptest::collection::vec(
        prop_oneof![proptest::sample::select(words().collect::<Vec<_>>()).prop_map(str::to_owned), "[a-zA-Z :=_-]{0,6}"],
        0..12,
    )) {
        let text = parts.concat().into_bytes();
        let sorted = |mut starts: Vec<(usize, Range<usize>)>| {
            starts.sort_by_key(|(rule, at)| (*rule, at.start));
            starts
        };
        prop_assert_eq!(sorted(starts_one_by_one(&text)), sorted(starts_at_once(&text)));
    }
}

fn told(text: &str) -> Vec<(&'static str, &str)> {
    find(text.as_bytes()).into_iter().map(|secret| (secret.what, &text[secret.span])).collect()
}

#[test]
fn secrets_are_told_by_their_form() {
    for (what, prefix, tail, min_len) in FORMS {
        let secret = match tail {
            Tail::Capitals => format!("{prefix}{}", &"Q7ZK".repeat(20)[..min_len]),
            _ => format!("{prefix}{}", "a1B2".repeat(20)),
        };
        for text in [format!("x \"{secret}\" y"), format!("log\\n{secret}\\n"), format!("say:{secret}")] {
            assert_eq!(told(&text).first(), Some(&(what, &*secret)), "{text}");
        }
    }
    let key =
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\\n{}\\n-----END OPENSSH PRIVATE KEY-----", "b3Bl".repeat(20));
    assert_eq!(told(&format!("a {key} b")), [("a private key", &*key)]);
    let cut = format!("-----BEGIN RSA PRIVATE KEY-----\n{}", "b3Bl".repeat(20));
    assert_eq!(told(&format!("{cut}\"")), [("a private key", &*cut)]);
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r";
    assert_eq!(told(&format!("token={token};")), [("a JSON web token", token)]);
}

#[test]
fn what_only_looks_alike_is_none() {
    for harmless in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_short",
        "task-sk-ant-nothing",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----",
        "grep -r '-----BEGIN RSA PRIVATE KEY-----' . | wc -l",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xAKIAQ7ZKQ7ZKQ7ZKQ7ZK",
        "",
    ] {
        assert_eq!(told(harmless), [], "{harmless}");
    }
}
