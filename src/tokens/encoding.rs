//! Encodings: named ways to turn text into tokens.

use super::{
    merge, split,
    vocabulary::{CL100K, NO_RANK, O200K, P50K, R50K, Vocabulary},
};
use crate::base::string_enum::string_enum;

string_enum! {
    /// A token encoding published by `OpenAI`; the default is `o200k_base`.
    #[derive(Default)]
    Encoding("encoding") {
        /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5 and the o-series.
        #[default]
        O200kBase = "o200k_base",
        /// `o200k_harmony`: gpt-oss; counts as `o200k_base`, because the ordinary tokens are the same.
        O200kHarmony = "o200k_harmony",
        /// `cl100k_base`: GPT-4 and GPT-3.5.
        Cl100kBase = "cl100k_base",
        /// `p50k_base`: code models and `text-davinci-003`.
        P50kBase = "p50k_base",
        /// `r50k_base`: GPT-3 and GPT-2.
        R50kBase = "r50k_base",
    }
}

impl Encoding {
    /// All encodings, the default first.
    pub const ALL: [Self; 5] = [Self::O200kBase, Self::O200kHarmony, Self::Cl100kBase, Self::P50kBase, Self::R50kBase];

    /// Counts the tokens of `text`, exactly as tiktoken's `encode_ordinary` does.
    ///
    /// Special tokens count as the ordinary text that spells them. In bytes that are not UTF-8, each maximal invalid sequence
    /// counts as U+FFFD, as in [`String::from_utf8_lossy`]; only such a text is copied. Takes linear time and bounded memory:
    /// a run of more than 256 KiB without a boundary between words is counted in parts of 256 KiB.
    pub fn count(self, text: &[u8]) -> u64 {
        let text = String::from_utf8_lossy(text);
        match self {
            Self::O200kBase | Self::O200kHarmony => count(text.as_bytes(), &O200K, split::o200k),
            Self::Cl100kBase => count(text.as_bytes(), &CL100K, split::cl100k),
            Self::P50kBase => count(text.as_bytes(), &P50K, split::p50k),
            Self::R50kBase => count(text.as_bytes(), &R50K, split::p50k),
        }
    }
}

// Generic, so that the splitter of each encoding is inlined into its own loop.
fn count(text: &[u8], vocabulary: &Vocabulary, next_end: impl Fn(&[u8], usize) -> usize) -> u64 {
    let (mut tokens, mut start) = (0, 0);
    while start < text.len() {
        let end = next_end(text, start);
        // Most pieces are tokens. Looking them up first avoids the merge.
        let is_token = vocabulary.rank(text, start, end) != NO_RANK;
        tokens += if is_token { 1 } else { merge::count(vocabulary, text, start, end) };
        start = end;
    }
    tokens
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/encoding.rs"]
mod tests;
