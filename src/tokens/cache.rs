//! The cost of a change to a request at a provider that caches prompts.
//!
//! A provider keeps the beginning of a request in a cache and reads it from there as long as it stays the same. Costs are in
//! tokens at the price of uncached input.

/// The price of a token that is read from the cache, and of one that is written to it, for each token of uncached input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachePrices {
    pub(crate) read: f64,
    pub(crate) write: f64,
}

impl Default for CachePrices {
    /// Those of Anthropic's cache with a lifetime of five minutes. Source: its documentation of prompt caching.
    fn default() -> Self {
        Self { read: 0.1, write: 1.25 }
    }
}

impl CachePrices {
    /// Reads prices such as `0.1,1.25`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (read, write) = text.split_once(',')?;
        let price = |text: &str| text.trim().parse().ok().filter(|price| (0.0..=100.0).contains(price));
        Some(Self { read: price(read)?, write: price(write)? })
    }
}

/// The tokens of a cached request and of the one that replaces it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CacheChange {
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// Those at the beginning that are equal.
    pub(crate) equal: u64,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of tokens are positive and small"
)]
impl CacheChange {
    /// The cost of each request without the change.
    pub(crate) fn unchanged(self, prices: CachePrices) -> u64 {
        (self.before as f64 * prices.read).round() as u64
    }

    /// The cost of the first request with it.
    pub(crate) fn first(self, prices: CachePrices) -> u64 {
        (self.equal as f64 * prices.read + (self.after - self.equal) as f64 * prices.write).round() as u64
    }

    /// The cost of each later request with it.
    pub(crate) fn later(self, prices: CachePrices) -> u64 {
        (self.after as f64 * prices.read).round() as u64
    }

    /// The number of requests after which the change has cost less; `None` if it never does.
    pub(crate) fn pays_after(self, prices: CachePrices) -> Option<u64> {
        let saved = self.unchanged(prices).checked_sub(self.later(prices)).filter(|saved| *saved > 0)?;
        Some(self.first(prices).saturating_sub(self.later(prices)) / saved + 1)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/cache.rs"]
mod tests;
