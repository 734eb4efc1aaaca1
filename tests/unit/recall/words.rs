//! Tests of the private parts of `src/memory/recall/words.rs`.

use proptest::prelude::*;

use super::*;

fn stems(text: &str) -> String {
    let mut found = Vec::new();
    words(text, &mut |_, stem| found.push(stem.to_owned()));
    found.join(" ")
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for forms in [
        "retry retries retrying retried",
        "limit limits limited limiting",
        "connect connected connecting connection connections",
        "compress compresses compressed compressing compression",
        "cache caches cached caching",
        "fail failed fails failing",
        "merge merges merged merging",
        "test tests tested testing",
        "hop hops hopped hopping",
        "serialize serializes serialized serializer serialization",
        "validate validates validated validating validation validator",
        "decision decisions",
        "relate relates related relation relational",
        "agree agrees agreed",
        "class classes",
        "hopeful hopefulness",
        "adjust adjusts adjusted adjustment",
    ] {
        let stems = stems(forms);
        let mut distinct: Vec<&str> = stems.split(' ').collect();
        distinct.dedup();
        assert_eq!(distinct.len(), 1, "{forms}: {stems}");
    }
    for (one, other) in [("policy", "police"), ("universe", "unit"), ("sing", "s"), ("bed", "b"), ("this", "thing")] {
        assert_ne!(stems(one), stems(other));
    }
}

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    insta::assert_snapshot!(stems("payTimeout_ms"), @"paytimeout_ms pai timeout ms");
    insta::assert_snapshot!(stems("HTTPServer2 src/net_io.rs"), @"httpserver2 http server2 src net_io net io rs");
    insta::assert_snapshot!(stems("don't ÉCOLE Straße __init__"), @"don t école straße init__ init");
    insta::assert_snapshot!(stems("网络超时 abc网 네트워크"), @"网络 络超 超时 abc 网 네트 트워 워크");
    insta::assert_snapshot!(stems("--- ## … 4.29"), @"4 29");
}

proptest! {
    #[test]
    fn any_text_has_words_that_lie_in_it(text in "(\\PC|[a-zA-Z_/ éЖ中ก\u{301}])*") {
        let mut last = 0;
        words(&text, &mut |place, stem| {
            assert!(text.is_char_boundary(place.start) && text.is_char_boundary(place.end) && place.start < place.end);
            assert!(!stem.is_empty() && stem.chars().count() <= 3 * MAX_WORD_LEN);
            last = last.max(place.end);
        });
        prop_assert!(last <= text.len());
    }

    #[test]
    fn a_word_of_letters_has_a_stem_that_begins_like_it(word in "[a-z]{1,14}(s|es|ed|ing|ation|ness|ly|ies|eed)?") {
        let stem = stems(&word);
        prop_assert!(!stem.is_empty() && stem.starts_with(&word[..1]), "{}", stem);
    }
}
