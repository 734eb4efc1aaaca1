//! Token counting (stand-in until the tables land).
pub mod framing;
use std::fmt;
use std::str::FromStr;
/// Encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default, PartialOrd, Ord)]
pub enum Encoding {
    /// default
    #[default]
    O200kBase,
}
/// err
#[derive(Debug, thiserror::Error)]
#[error("unknown encoding")]
pub struct TokenError;
impl Encoding {
    /// count
    #[must_use]
    pub fn count(self, text: &[u8]) -> u64 {
        text.len().div_ceil(4) as u64
    }
}
impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("o200k_base")
    }
}
impl FromStr for Encoding {
    type Err = TokenError;
    fn from_str(s: &str) -> Result<Self, TokenError> {
        if s == "o200k_base" { Ok(Self::O200kBase) } else { Err(TokenError) }
    }
}
