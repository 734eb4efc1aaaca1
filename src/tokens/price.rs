//! The cost of token usage, at the prices that the user gave for models.
//!
//! There are no built-in prices: they change, and depend on the contract.

use super::TokenUsage;
use super::cache::CachePrices;
use crate::base::glob;

/// Prices of a million tokens, in the user's currency.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Price {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// Prices by patterns of models' names. The last that matches counts.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct PriceTable(Vec<(String, Price)>);

impl PriceTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a line such as `claude-opus-*=5,25` or `gpt-*=1.25,10,0.125,0`: a million tokens of input and of output, and of input that
    /// is read from a cache and written to it. By default, `cache` has the latter as shares of the price of input.
    pub(crate) fn add(&mut self, line: &str, cache: CachePrices) -> Option<()> {
        let (models, prices) = line.rsplit_once('=')?;
        let price = |text: &str| text.trim().parse().ok().filter(|price| (0.0..=1e6).contains(price));
        let prices: Vec<f64> = prices.split(',').map(price).collect::<Option<_>>()?;
        let (input, output, cache_read, cache_write) = match prices[..] {
            [input, output] => (input, output, input * cache.read, input * cache.write),
            [input, output, read, write] => (input, output, read, write),
            _ => return None,
        };
        let models = models.trim();
        let price = Price { input, output, cache_read, cache_write };
        (!models.is_empty()).then(|| self.0.push((models.to_owned(), price)))
    }

    /// What the usage of a model costs; `None` if the model has no price.
    #[expect(clippy::cast_precision_loss, reason = "numbers of tokens are small")]
    pub(crate) fn cost(&self, model: &str, usage: &TokenUsage) -> Option<f64> {
        let matches = |(pattern, _): &&(String, Price)| glob::matches(pattern.as_bytes(), model.as_bytes());
        let (_, price) = self.0.iter().rev().find(matches)?;
        let parts = [
            (usage.input_tokens, price.input),
            (usage.output_tokens, price.output),
            (usage.cache_read_tokens, price.cache_read),
            (usage.cache_write_tokens, price.cache_write),
        ];
        Some(parts.into_iter().map(|(tokens, price)| tokens as f64 * price / 1e6).sum())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/price.rs"]
mod tests;
