//! The token arithmetic of a compression: the number of items to replace, the length of their summary, and the size of the rest.
//!
//! The selection, the prompt, and the check of the summary all use the figures that [`fit`] or [`unlimited`] computes once.

/// The smallest summary as a message: about a dozen words.
pub(crate) const MIN_SUMMARY: u64 = 20;

/// A summary of this length is not shortened because it replaces few items.
const COMFORTABLE: u64 = 200;

/// The size to which a trace is compressed, in tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    pub max: u64,
    /// What to aim for; `max` is accepted only if the items that must stay make this impossible.
    pub goal: u64,
}

impl Limit {
    /// Leaves `margin` percent of `max` free, so that the next item does not require the next compression.
    pub(crate) fn new(max: u64, margin: u8) -> Self {
        let free = u128::from(max) * u128::from(margin.min(100)) / 100;
        Self { max, goal: max - u64::try_from(free).unwrap_or(max) }
    }

    /// The limit for what is there already, if `tokens` are about to be added.
    pub(crate) fn before_adding(self, tokens: u64) -> Self {
        Self { max: self.max.saturating_sub(tokens), goal: self.goal.saturating_sub(tokens) }
    }
}

/// A summary, in tokens as a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allowance {
    /// A longer summary is shortened.
    pub max: u64,
    /// The length to ask for; less than `max`, because models do not count tokens well.
    pub asked: u64,
}

/// The first `taken` costs are replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fit {
    pub taken: usize,
    pub summary: Allowance,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    /// Even without everything that may be replaced, `kept` tokens remain: too many for any summary.
    Kept { kept: u64 },
    /// The summary that was given is longer than this.
    Summary { max: u64 },
}

/// The length of a summary of items that cost `cost`.
fn share(cost: u64) -> u64 {
    (cost / 10).max((cost / 2).min(COMFORTABLE)).max(MIN_SUMMARY)
}

fn allowance(length: u64, max: u64) -> Allowance {
    Allowance { max, asked: length.min(max) * 4 / 5 }
}

/// The allowance for a summary of items that need not meet a limit: it must not be longer than they are.
pub(crate) fn unlimited(cost: u64) -> Allowance {
    allowance((cost / 10).max(COMFORTABLE), cost.max(MIN_SUMMARY))
}

/// The tokens that a summary of items that cost `cost` will probably take.
pub(crate) fn expected(cost: u64) -> u64 {
    unlimited(cost).asked.min(cost)
}

/// Takes the fewest of `costs`, in their order, so that a trace of `total` tokens meets the limit together with a summary of them:
/// the one given, which costs `given`, or one that is still to be written.
pub(crate) fn fit(total: u64, costs: &[u64], limit: Limit, given: Option<u64>) -> Result<Fit, Unfit> {
    let mut cost = 0;
    for (index, next) in costs.iter().enumerate() {
        cost += next;
        let kept = total.saturating_sub(cost);
        if kept.saturating_add(given.unwrap_or_else(|| share(cost))) <= limit.goal {
            return Ok(Fit { taken: index + 1, summary: allowance(share(cost), limit.goal - kept) });
        }
    }
    let kept = total.saturating_sub(cost);
    let needed = kept.saturating_add(MIN_SUMMARY);
    if needed > limit.max || costs.is_empty() {
        return Err(Unfit::Kept { kept });
    }
    let max = if needed <= limit.goal && given.is_none() { limit.goal - kept } else { limit.max - kept };
    if given.is_some_and(|given| given > max) {
        return Err(Unfit::Summary { max });
    }
    Ok(Fit { taken: costs.len(), summary: allowance(share(cost), max) })
}

#[cfg(test)]
#[path = "../../../../tests/unit/trace/allowance.rs"]
mod tests;
