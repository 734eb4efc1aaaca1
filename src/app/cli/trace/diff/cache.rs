//! `git trace diff --cache`: what a change of the request costs with the provider's prompt cache.

use crate::app::cli::{Context, Result};
use crate::app::ui::grouped;
use crate::materialize::cache::CacheReport;
use crate::trace::View;
use crate::trace::store::resolve::State;
use crate::trace::store::settings::cache_prices;

/// Compares the requests of two states. Returns whether they differ.
pub(super) fn show(context: &Context, before: Option<State>, after: State, as_json: bool) -> Result<bool> {
    let (repo, prices) = (context.repo()?, cache_prices(context.repo()?)?);
    let view = |state: State| View::at(repo, state.tip, state.at);
    let (before, after) = (before.map(view).transpose()?, view(after)?);
    let report = CacheReport::between(repo, before.as_ref(), &after, context.counter()?)?;
    if as_json {
        context.ui.json(&report.to_json(prices))?;
        return Ok(report.first.is_some());
    }
    let (tokens, bytes) = (report.tokens, report.bytes);
    writeln!(context.ui, "             before      after      equal")?;
    for (unit, sizes) in [("tokens", tokens), ("bytes", bytes)] {
        let [before, after, equal] = [sizes.before, sizes.after, sizes.equal].map(grouped);
        writeln!(context.ui, "{unit:<8} {before:>10} {after:>10} {equal:>10}")?;
    }
    let Some(first) = report.first else {
        writeln!(context.ui, "the requests are equal")?;
        return Ok(false);
    };
    let mut slots = after.slots.iter().chain(before.iter().flat_map(|view| &view.slots));
    let place = slots.find(|slot| slot.id == first).map(|slot| slot.seq);
    let place = place.map_or_else(|| context.ui.id(first), |seq| format!("#{seq}"));
    writeln!(context.ui, "the requests differ from {place} on")?;
    let [unchanged, next, later] = [tokens.unchanged(prices), tokens.first(prices), tokens.later(prices)].map(grouped);
    let unit = format!("tokens of uncached input; cached ones cost {} to read, {} to write", prices.read, prices.write);
    writeln!(context.ui, "the next request costs {next} instead of {unchanged}, each later one {later} ({unit})")?;
    let pays = tokens.pays_after(prices);
    let pays =
        pays.map_or_else(|| "never pays off".to_owned(), |count| format!("pays off after {} requests", grouped(count)));
    writeln!(context.ui, "the change {pays}")?;
    Ok(true)
}
