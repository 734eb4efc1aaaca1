//! The first page of a site: the sessions by date, and charts of their tokens.

use std::collections::BTreeMap;

use jiff::civil::Date;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::chart::{BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, axis, tenths, y};
use super::super::html::{color, finish, number, time};
use super::super::page::{STYLE, hash};
use super::super::redact::Redactor;
use super::figures::{Figures, Tool};
use super::{PAGES, file_name};
use crate::git::short_oid;
use crate::tokens::TokenUsage;
use crate::tokens::price::PriceTable;
use crate::trace::query::find::Order;
use crate::transcript::import::sessions::{Family, RecordedSession};

const SITE_STYLE: &str = include_str!("../site.css");
/// The commits and tools that are shown before the fold.
const SHOWN: usize = 5;
const TOOLS: usize = 12;
/// The longest time that the chart shows by days, and by months, in days.
const BY_DAY: i32 = 92;
const BY_MONTH: i32 = 3_000;

struct Site<'s> {
    figures: &'s BTreeMap<&'s str, &'s Figures>,
    prices: &'s PriceTable,
    redactor: &'s Redactor,
}

pub(super) fn render(
    (families, order): (&[Family], Order),
    figures: &BTreeMap<&str, &Figures>,
    prices: &PriceTable,
    redactor: &Redactor,
) -> String {
    let site = Site { figures, prices, redactor };
    let mut sum = Figures::default();
    for figures in figures.values() {
        sum.add(figures);
    }
    // By the day on which each family ended, the newest first, unless another order was asked for.
    let ended = |family: &Family| family.members.iter().map(|member| member.ended).max();
    let mut dated: Vec<_> = families.iter().filter_map(|family| Some((ended(family)?, family))).collect();
    if order != Order::Name {
        dated.sort_by(|(one, first), (other, second)| other.cmp(one).then_with(|| first.name.cmp(&second.name)));
    }
    if order == Order::Oldest {
        dated.reverse();
    }
    let day = |(ended, _): &(crate::trace::Time, &Family)| ended.to_string()[..10].to_owned();
    let traces: usize = families.iter().map(|family| family.members.len()).sum();
    let tokens: u64 = sum.days.values().flat_map(BTreeMap::values).sum();
    finish(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(format!(
                    "default-src 'none'; style-src {} {}; img-src data:; base-uri 'none'; form-action 'none'",
                    hash(STYLE), hash(SITE_STYLE)
                ));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { "Sessions · trace" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
                style { (PreEscaped(SITE_STYLE)) }
            }
            body.site {
                header.top {
                    h1 { "Sessions" }
                    p.state {
                        (count(traces, "trace")) ", " (count(sum.prompts, "prompt")) ", " b { (number(tokens)) " tokens" }
                        @if let Some(cost) = site.cost(&sum) { ", cost " b { (cost) } }
                    }
                }
                main {
                    @if dated.is_empty() { p.note { "There are no traces." } }
                    @for families in dated.chunk_by(|one, next| day(one) == day(next)) {
                        section {
                            h2 { (day(&families[0])) }
                            @for (_, family) in families {
                                @for (index, member) in family.members.iter().enumerate() { (site.row(member, index > 0)) }
                            }
                        }
                    }
                }
                @if tokens > 0 {
                    section {
                        h2 { "Tokens over time" }
                        (over_time(&sum.days))
                    }
                }
                div.pair {
                    @if !sum.tools.is_empty() { section { h2 { "By tool" } (by_tool(&sum.tools)) } }
                    @if !sum.usage.is_empty() {
                        section {
                        details { summary { "Reported, by model" } (site.by_model(&sum.usage)) }
                    } }
                }
            }
        }
    })
}

impl Site<'_> {
    fn row(&self, member: &RecordedSession, is_below: bool) -> Markup {
        let RecordedSession { name, agent, began, ended, items, total, title, commits, .. } = member;
        let figures = self.figures.get(name.as_str());
        // Summaries replaced items of the context, which is what a session lists.
        let all = figures.map_or(*items, |figures| figures.items);
        let first = figures.and_then(|figures| figures.began.as_deref()?.parse().ok());
        let began = first.unwrap_or(*began).min(*began);
        let commits = if is_below { &[] } else { &commits[..] };
        let (shown, folded) = commits.split_at(commits.len().min(SHOWN));
        html! {
            article.session.below[is_below] {
                h3 {
                    a href={ (PAGES) "/" (file_name(name)) } {
                        bdi { @match title { Some(title) => (self.redactor.text(title)), None => (name) } }
                    }
                }
                p.kind {
                    @if let Some(agent) = agent { (agent.as_str()) " · " }
                    bdi { (name) } " · " (time(began)) " to " (time(*ended)) " UTC"
                }
                p.kind {
                    @if let Some(figures) = figures { (count(figures.prompts, "prompt")) " · " }
                    (count(all, "item"))
                    @if all > *items { ", " (number(items)) " in the context" }
                    " · " b { (number(total.tokens)) " tokens" } " (" (total.basis.source()) ")"
                    @if let Some(cost) = figures.and_then(|figures| self.cost(figures)) { " · cost " b { (cost) } }
                }
                @if !commits.is_empty() {
                    (self.commits(shown))
                    @if !folded.is_empty() {
                        details.fold { summary { (count(folded.len(), "more commit")) } (self.commits(folded)) }
                    }
                }
            }
        }
    }

    fn commits(&self, commits: &[crate::git::CodeCommit]) -> Markup {
        html! {
            ul.commits {
                @for commit in commits {
                    li { code { (short_oid(commit.oid)) } " " bdi { (self.redactor.text(&commit.subject)) } }
                }
            }
        }
    }

    /// The cost of all reports, at least if a model has no price; `None` without any price.
    fn cost(&self, figures: &Figures) -> Option<String> {
        let costs = figures.usage.iter().map(|(model, usage)| self.prices.cost(model, usage));
        let (known, unknown): (Vec<_>, Vec<_>) = costs.partition(Option::is_some);
        let sum: f64 = known.iter().flatten().sum();
        let bound = if unknown.is_empty() { "" } else { "at least " };
        (!known.is_empty()).then(|| format!("{bound}{sum:.2}"))
    }

    fn by_model(&self, usage: &BTreeMap<String, TokenUsage>) -> Markup {
        let has_prices = !self.prices.is_empty();
        html! {
            div.wide {
                table {
                    thead {
                        tr {
                            th { "Model" } th { "Input" } th { "From cache" } th { "To cache" } th { "Output" }
                            @if has_prices { th { "Cost" } }
                        }
                    }
                    tbody {
                        @for (model, usage) in usage {
                            tr {
                                td { bdi { (model) } }
                                td.figure { (number(usage.input_tokens)) }
                                td.figure { (number(usage.cache_read_tokens)) }
                                td.figure { (number(usage.cache_write_tokens)) }
                                td.figure { (number(usage.output_tokens)) }
                                @if has_prices {
                                    td.figure {
                                        @match self.prices.cost(model, usage) {
                                            Some(cost) => (format!("{cost:.2}")),
                                            None => "no price",
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if !has_prices {
                p.note { code { "git config --add trace.price 'MODEL=INPUT,OUTPUT'" } " adds costs." }
            }
        }
    }
}

fn count(number_of: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(number_of), if number_of == 1 { "" } else { "s" })
}

fn by_tool(tools: &BTreeMap<String, Tool>) -> Markup {
    let mut sorted: Vec<(&String, &Tool)> = tools.iter().collect();
    sorted.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.tokens), *name));
    let most = sorted.first().map_or(1, |(_, tool)| tool.tokens.max(1));
    let (shown, folded) = sorted.split_at(sorted.len().min(TOOLS));
    let table = |tools: &[(&String, &Tool)]| {
        html! {
            table {
                thead { tr { th { "Tool" } th { "Calls" } th { "Tokens" } th { "" } } }
                tbody {
                    @for (name, tool) in tools {
                        tr {
                            td { bdi { (name) } }
                            td.figure { (number(tool.calls)) }
                            td.figure { (number(tool.tokens)) }
                            td { meter max=(most) value=(tool.tokens) {} }
                        }
                    }
                }
            }
        }
    };
    html! {
        div.wide { (table(shown)) }
        @if !folded.is_empty() {
            details.fold { summary { (count(folded.len(), "more tool")) } div.wide { (table(folded)) } }
        }
    }
}

type Types = BTreeMap<String, u64>;

/// Tokens by day, or by month or year if there are many days. Days without any have their place.
fn bars(days: &BTreeMap<String, Types>) -> BTreeMap<String, Types> {
    let dates: Vec<(Date, &Types)> = days.iter().filter_map(|(day, types)| Some((day.parse().ok()?, types))).collect();
    let (Some((first, _)), Some((last, _))) = (dates.first(), dates.last()) else { return BTreeMap::new() };
    let span = (*last - *first).get_days();
    let shape = if span <= BY_DAY { "2026-01-01" } else { "2026-01" };
    let length = if span <= BY_MONTH { shape.len() } else { "2026".len() };
    let key = |date: Date| date.to_string()[..length].to_owned();
    let mut bars: BTreeMap<String, Types> = BTreeMap::new();
    if span <= BY_MONTH {
        let all = std::iter::successors(Some(*first), |date| date.tomorrow().ok().filter(|next| next <= last));
        all.for_each(|date| _ = bars.entry(key(date)).or_default());
    }
    for (date, types) in dates {
        let bar = bars.entry(key(date)).or_default();
        for (item_type, tokens) in types {
            *bar.entry(item_type.clone()).or_default() += tokens;
        }
    }
    bars
}

fn over_time(days: &BTreeMap<String, Types>) -> Markup {
    let bars = bars(days);
    let top = bars.values().map(|types| types.values().sum()).max().unwrap_or(0).max(1);
    let types: Vec<&String> = {
        let all: std::collections::BTreeSet<&String> = bars.values().flat_map(BTreeMap::keys).collect();
        all.into_iter().collect()
    };
    // In tenths, as the heights are.
    let slot = (WIDTH - LEFT - RIGHT) * 10 / bars.len().max(1) as u64;
    let width = (slot * 8 / 10).clamp(1, 600);
    let x = |index: usize| LEFT * 10 + slot * index as u64 + slot.saturating_sub(width) / 2;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="Tokens over time by type" {
            (axis(top))
            @for (index, (name, types)) in bars.iter().enumerate() {
                g {
                    title { (name) ": " (number(types.values().sum::<u64>())) " tokens" }
                    @for (item_type, from, to) in stack(types) {
                        rect.band.(color(item_type)) x=(tenths(x(index))) width=(tenths(width))
                            y=(tenths(y(to, top))) height=(tenths(y(from, top) - y(to, top))) {}
                    }
                }
            }
            @if let Some((first, _)) = bars.first_key_value() {
                text.axis x=(LEFT) y=(HEIGHT - BOTTOM / 3) { (first) }
            }
            @if let Some((last, _)) = bars.last_key_value().filter(|_| bars.len() > 1) {
                text.axis x=(WIDTH - RIGHT) y=(HEIGHT - BOTTOM / 3) text-anchor="end" { (last) }
            }
        }
        ul.legend { @for item_type in types { li { span.swatch.(color(item_type)) {} (item_type) } } }
    }
}

/// The types of a bar with the tokens below and including each.
fn stack(types: &Types) -> Vec<(&str, u64, u64)> {
    let mut below = 0;
    let mut parts = Vec::new();
    for (item_type, tokens) in types {
        parts.push((item_type.as_str(), below, below + tokens));
        below += tokens;
    }
    parts
}
