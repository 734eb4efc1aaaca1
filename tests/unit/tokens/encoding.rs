//! Tests of the private parts of `src/tokens/encoding.rs`.

use super::*;

#[test]
fn names_read_back() {
    for encoding in Encoding::ALL {
        assert_eq!(encoding.to_string().parse(), Ok(encoding));
    }
    assert_eq!(Encoding::default(), Encoding::ALL[0]);
}

#[test]
fn an_unknown_name_gives_an_error_that_lists_the_known_ones() {
    let error = "gpt2".parse::<Encoding>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown encoding `gpt2`: expected one of o200k_base, o200k_harmony, cl100k_base, p50k_base, r50k_base"
    );
}

#[test]
fn invalid_utf8_counts_as_replacement_characters() {
    for encoding in Encoding::ALL {
        // The first two bytes are a truncated character, one maximal sequence. Each other byte is a sequence of its own.
        assert_eq!(encoding.count(b"a\xe4\xb8 b\xff\xfe"), encoding.count("a\u{fffd} b\u{fffd}\u{fffd}".as_bytes()));
    }
}

#[test]
fn an_empty_text_has_no_tokens() {
    assert!(Encoding::ALL.iter().all(|encoding| encoding.count(b"") == 0));
}
