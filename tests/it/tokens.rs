//! Counting, held against tiktoken-rs.

use git_trace::tokens::Encoding;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

/// What tiktoken-rs counts.
fn oracle(encoding: Encoding, text: &str) -> u64 {
    bpe(encoding).encode_ordinary(text).len() as u64
}

fn bpe(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

proptest! {
    #[test]
    fn any_text(text in any::<String>()) {
        for encoding in Encoding::ALL {
            prop_assert_eq!(encoding.count(text.as_bytes()), oracle(encoding, &text));
        }
    }
}
