//! Encodings: named ways to turn text into tokens.

use std::{fmt, str::FromStr};

use super::{
    merge, split,
    vocabulary::{CL100K, NO_RANK, O200K, P50K, R50K, Vocabulary},
};

/// A token encoding published by `OpenAI`; the default is `o200k_base`.
///
/// The name is what [`FromStr`] accepts and [`Display`](fmt::Display) prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5 and the o-series.
    #[default]
    O200kBase,
    /// `o200k_harmony`: gpt-oss; counts as `o200k_base`, because the ordinary tokens are the same.
    O200kHarmony,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100kBase,
    /// `p50k_base`: code models and `text-davinci-003`.
    P50kBase,
    /// `r50k_base`: GPT-3 and GPT-2.
    R50kBase,
}

/// An encoding that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// No encoding has this name.
    #[error("unknown encoding `{name}`: expected one of {}", Encoding::ALL.map(Encoding::as_str).join(", "))]
    UnknownEncoding {
        /// The unknown name.
        name: String,
    },
}

impl Encoding {
    /// All encodings, the default first.
    pub const ALL: [Self; 5] = [Self::O200kBase, Self::O200kHarmony, Self::Cl100kBase, Self::P50kBase, Self::R50kBase];

    /// The standard name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::Cl100kBase => "cl100k_base",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// Counts the tokens of `text`, exactly as tiktoken's `encode_ordinary` does.
    ///
    /// Special tokens count as the ordinary text that spells them. In bytes that are not UTF-8, each maximal invalid sequence
    /// counts as U+FFFD, as in [`String::from_utf8_lossy`]; only such a text is copied. Takes near-linear time on any text.
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

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Encoding {
    type Err = TokenError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.as_str() == name)
            .ok_or_else(|| TokenError::UnknownEncoding { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(
                encoding.count(b"a\xe4\xb8 b\xff\xfe"),
                encoding.count("a\u{fffd} b\u{fffd}\u{fffd}".as_bytes())
            );
        }
    }

    #[test]
    fn an_empty_text_has_no_tokens() {
        assert!(Encoding::ALL.iter().all(|encoding| encoding.count(b"") == 0));
    }
}
