//! Tests of the private parts of `src/tokens/merge.rs`.

use super::*;
use crate::tokens::vocabulary::{CL100K, O200K, P50K, R50K};

fn vocabularies() -> [(&'static Vocabulary, &'static tiktoken_rs::CoreBPE, u32); 4] {
    [
        (&O200K, tiktoken_rs::o200k_base_singleton(), 199_998),
        (&*CL100K, tiktoken_rs::cl100k_base_singleton(), 100_256),
        (&*P50K, tiktoken_rs::p50k_base_singleton(), 50_281),
        (&R50K, tiktoken_rs::r50k_base_singleton(), 50_256),
    ]
}

#[test]
fn every_token_has_its_rank_and_is_what_its_bytes_merge_into() {
    for (vocabulary, bpe, end) in vocabularies() {
        for rank in (0..end).filter(|&rank| rank != 50_256 || end > 60_000) {
            let token = bpe.decode_bytes(&[rank]).unwrap();
            assert_eq!(vocabulary.rank(&token, 0, token.len()), rank, "{token:?}");
            let parts = match token.len() {
                1 => 1,
                2..=SMALL_MAX => count_small(vocabulary, &token, 0, token.len()),
                _ => count_large(vocabulary, &token, 0, token.len()),
            };
            assert_eq!(parts, 1, "{token:?}");
        }
    }
}

#[test]
fn both_ways_of_merging_agree() {
    for (vocabulary, bpe, _) in vocabularies() {
        let bytes: Vec<u8> = (300..600).flat_map(|rank| bpe.decode_bytes(&[rank * 83]).unwrap()).collect();
        for piece in bytes.windows(SMALL_MAX).chain(bytes.windows(3)) {
            let end = piece.len();
            assert_eq!(count_small(vocabulary, piece, 0, end), count_large(vocabulary, piece, 0, end), "{piece:?}");
        }
    }
}

#[test]
fn a_piece_is_split_where_no_token_crosses() {
    let (piece, end) = ("清晨的港口非常安静大雾来临之前", 45);
    for (vocabulary, bpe, _) in vocabularies() {
        assert_eq!(count(vocabulary, piece.as_bytes(), 0, end), bpe.count_ordinary(piece) as u64);
    }
}

#[test]
fn a_very_long_piece_is_counted_in_parts() {
    for letters in ["a", "é"] {
        let piece = letters.repeat(5 * PART_MAX / 2);
        let parts = piece.as_bytes().chunks(PART_MAX).map(|part| count(&O200K, part, 0, part.len()));
        let (counted, in_parts) = (count(&O200K, piece.as_bytes(), 0, piece.len()), parts.sum::<u64>());
        assert_eq!(counted, in_parts, "{letters}");
        let exact = count_large(&O200K, piece.as_bytes(), 0, piece.len()) as u64;
        assert!(counted.abs_diff(exact) <= piece.len().div_ceil(PART_MAX) as u64, "{letters}: {counted}, {exact}");
    }
}
