//! Tests of the private parts of `src/tokens/vocabulary.rs`.

use super::*;

fn rank(vocabulary: &Vocabulary, token: &[u8]) -> u32 {
    vocabulary.rank(token, 0, token.len())
}

#[test]
fn every_byte_is_a_token() {
    for vocabulary in [&O200K, &*CL100K, &*P50K, &*R50K] {
        assert!((0..=u8::MAX).all(|byte| rank(vocabulary, &[byte]) < 256));
    }
}

#[test]
fn a_token_is_found_whatever_follows_it() {
    let hello = rank(&O200K, b" hello");
    assert_ne!(hello, NO_RANK);
    assert_eq!(O200K.rank(b"> hello, and a long enough rest", 1, 7), hello);
    assert_eq!(rank(&O200K, b" hello\0"), NO_RANK);
}

#[test]
fn the_smaller_vocabulary_ends_before_the_runs_of_spaces() {
    assert_eq!(rank(&P50K, b" the"), rank(&R50K, b" the"));
    assert_ne!(rank(&P50K, &[b' '; 20]), NO_RANK);
    assert_eq!(rank(&R50K, &[b' '; 20]), NO_RANK);
}
