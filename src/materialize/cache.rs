//! How much of the beginning of two requests is equal, so that a provider reads it from its cache.

use serde_json::{Value, json};

use super::{MaterializeError, Materialized, Options, materialize};
use crate::git::Repo;
use crate::message::{Block, Message};
use crate::tokens::Counter;
use crate::tokens::cache::{CacheChange, CachePrices};
use crate::trace::ItemId;
use crate::trace::store::view::View;

/// How much of the beginning of two requests is equal. Blocks of content count as equal or different, never in
/// part, as in Anthropic's cache.
#[derive(Debug)]
pub(crate) struct CacheReport {
    pub(crate) tokens: CacheChange,
    /// Of the contents.
    pub(crate) bytes: CacheChange,
    /// The first item that differs, in the later request or, if that ends there, in the earlier one.
    pub(crate) first: Option<ItemId>,
}

impl CacheReport {
    pub(crate) fn between(
        repo: &Repo,
        before: Option<&View>,
        after: &View,
        counter: Counter,
    ) -> Result<Self, MaterializeError> {
        let request = |view| materialize(repo, view, &Options::default(), counter);
        Ok(Self::of(&before.map(request).transpose()?.unwrap_or_default(), &request(after)?, counter))
    }

    fn of(before: &Materialized, after: &Materialized, counter: Counter) -> Self {
        let pairs = || before.messages.iter().zip(&after.messages);
        let whole = pairs().take_while(|(one, other)| is_equal(one, other)).count();
        let blocks = pairs().nth(whole).map_or(0, |(one, other)| equal_blocks(one, other));
        let item = |request: &Materialized| request.items.get(whole)?.get(blocks)?.first().copied();
        let first = item(after).or_else(|| item(before));
        let equal = &after.messages[..whole];
        let rest = after.messages.get(whole).filter(|_| blocks > 0);
        let tokens = |messages: &[Message]| messages.iter().map(|message| message.cost(counter)).sum::<u64>();
        let bytes = |messages: &[Message]| messages.iter().map(|message| bytes(&message.blocks)).sum::<u64>();
        let (total, part) = (after.request_tokens(counter), |message: &Message| message.cost_of_first(blocks, counter));
        Self {
            tokens: CacheChange {
                before: before.request_tokens(counter),
                after: total,
                equal: first.map_or(total, |_| tokens(equal) + rest.map_or(0, part)),
            },
            bytes: CacheChange {
                before: bytes(&before.messages),
                after: bytes(&after.messages),
                equal: bytes(equal) + rest.map_or(0, |message| self::bytes(&message.blocks[..blocks])),
            },
            first,
        }
    }

    pub(crate) fn to_json(&self, prices: CachePrices) -> Value {
        let sizes = |sizes: CacheChange| json!({ "before": sizes.before, "after": sizes.after, "equal": sizes.equal });
        let tokens = self.tokens;
        json!({
            "tokens": sizes(tokens),
            "bytes": sizes(self.bytes),
            "first": self.first.map(|id| id.to_string()),
            "prices": { "read": prices.read, "write": prices.write },
            "cost": {
                "unchanged": tokens.unchanged(prices),
                "first": tokens.first(prices),
                "later": tokens.later(prices),
            },
            "pays_after": tokens.pays_after(prices),
        })
    }
}

fn is_equal(one: &Message, other: &Message) -> bool {
    one.blocks.len() == other.blocks.len() && equal_blocks(one, other) == one.blocks.len()
}

/// The number of equal blocks at the beginning.
fn equal_blocks(one: &Message, other: &Message) -> usize {
    if one.role != other.role || one.name != other.name {
        return 0;
    }
    one.blocks.iter().zip(&other.blocks).take_while(|(one, other)| one.content == other.content).count()
}

fn bytes(blocks: &[Block]) -> u64 {
    blocks.iter().map(|block| block.content.counted().len() as u64).sum()
}
