//! Any bytes have the token count that tiktoken gives. The first byte selects the encoding.

use crate::tokens::Encoding;
use tiktoken_rs::CoreBPE;

fn bpe(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

pub(super) fn run(data: &[u8]) {
    let [pick, bytes @ ..] = data else { return };
    let encoding = Encoding::ALL[usize::from(*pick) % Encoding::ALL.len()];
    let count = encoding.count(bytes);
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(encoding.count(text.as_bytes()), count);
    assert!(count <= text.len() as u64 && (count == 0) == text.is_empty());
    assert_eq!(bpe(encoding).encode_ordinary(&text).len() as u64, count);
}
