//! The page with its sections.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::branches::Branches;
use super::card::{self, Card, preview_of, setting_line};
use super::chart::Chart;
use super::data::Data;
use super::html::{chunks, color, finish, json, number, time};
use super::index::{self, Prompt};
use super::site::{INDEX, file_name};
use super::timeline;
use crate::git::short_oid;
use crate::trace::ItemEntry;
use crate::trace::TraceName;
use crate::trace::query::size::ContextSize;
use crate::trace::store::priority::SetLevel;

pub(super) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The number of cards that the browser builds together.
const CHUNK: usize = 40;
/// The choices of the filter by size, in tokens.
const SIZES: [u64; 4] = [100, 1_000, 5_000, 20_000];

pub(crate) struct About<'p> {
    pub(crate) name: &'p TraceName,
    pub(crate) title: Option<String>,
    pub(crate) size: ContextSize,
    pub(crate) chart: Chart,
    pub(crate) branches: Branches,
    /// Whether the page is one of a site.
    pub(crate) in_site: bool,
}

pub(crate) fn render(data: &Data<'_>, about: &About<'_>) -> String {
    let cards = card::cards(data);
    let prompts = index::prompts(data, &cards, &about.chart);
    let mut figures = about.chart.to_json(data);
    figures["prompts"] = prompts.iter().map(|prompt| prompt.anchor.as_str()).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (data.redactor.text(about.title.as_deref().unwrap_or(about.name.as_str()))) " · trace" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                (header(data, about))
                div.columns {
                    (prompt_index(&prompts, about))
                    main {
                        (filter(data, &cards))
                        (conversation(data, &cards))
                    }
                }
                script #figures type="application/json" { (json(&figures)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    finish(page)
}

pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types page",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// The name of a script or a style in a policy.
pub(super) fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(text.as_bytes())))
}

fn header(data: &Data<'_>, about: &About<'_>) -> Markup {
    let About { name, title, size, chart, branches, in_site } = about;
    let steps: Vec<_> = data.steps.iter().filter(|step| timeline::is_listed(step)).collect();
    let lines: Vec<(String, Markup)> =
        steps.iter().map(|step| (timeline::anchor(data, step), timeline::line(data, step))).collect();
    let is_set = |entry: &&ItemEntry| matches!(data.view.level(entry), SetLevel::Set(_));
    let set: Vec<&ItemEntry> = data.items.iter().filter(is_set).collect();
    html! {
        header.top {
            @if *in_site { p.kind { a href={ "../" (INDEX) } { "All sessions" } } }
            @match title {
                Some(title) => {
                    p.kind { bdi { (name) } }
                    h1 { bdi { (data.redactor.text(title)) } }
                }
                None => {
                    p.kind { "Trace" }
                    h1 { bdi { (name) } }
                }
            }
            p.state {
                (number(data.view.slots.len())) " items, " b { (number(size.size.tokens)) " tokens" } " "
                span.dim { "(" (size.size.basis) ")" } ", last changed " (time(data.view.tip.time())) " "
                code { (short_oid(data.view.tip.commit.oid)) }
            }
            @if let Some(window) = &size.window {
                (gauge("window", size.size.tokens, window.tokens))
            }
            @if let Some(budget) = chart.budget { (gauge("budget", size.size.tokens, budget)) }
            nav.about {
                (section("tokens", "Tokens", None, &chart.render()))
                (section("changes", "Changes", Some(steps.len()), &html! {
                    div.timeline { (chunks(&lines, timeline::CHUNK)) }
                    @if steps.is_empty() { p.note { "Items were added, and nothing else was changed." } }
                    @if data.has_earlier_steps {
                        p.note { "Earlier commits are not on this page; " code { "--last" } " includes more." }
                    }
                }))
                (section("priorities", "Priorities", Some(set.len()), &priorities(data, &set)))
                (section("branches", "Branches", Some(branches.related.len()), &others(data, branches, *in_site)))
            }
        }
    }
}

fn gauge(what: &str, tokens: u64, of: u64) -> Markup {
    html! {
        p.state {
            progress max=(of.max(1)) value=(tokens.min(of)) {} " "
            @match tokens.checked_sub(of) {
                Some(over @ 1..) => b.over { (number(over)) " tokens over the " (what) " of " (number(of)) },
                _ => { (number(of - tokens)) " of " (number(of)) " tokens left in the " (what) },
            }
        }
    }
}

fn section(id: &str, title: &str, count: Option<usize>, content: &Markup) -> Markup {
    html! {
        details.section id=(id) {
            summary { (title) @if let Some(count) = count { " " span.dim { (number(count)) } } }
            (content)
        }
    }
}

fn prompt_index(prompts: &[Prompt], about: &About<'_>) -> Markup {
    let window = index::full(prompts, about.size.window.as_ref().map(|window| window.tokens));
    html! {
        details.index #index open {
            summary { "Prompts " span.dim { (number(prompts.len())) } }
            div.turns { (chunks(&index::render(prompts, window), index::CHUNK)) }
            @if prompts.is_empty() { p.note { "There are no prompts." } }
        }
    }
}

fn conversation(data: &Data<'_>, cards: &[Card<'_>]) -> Markup {
    let earlier = data.view.slots.len() - data.items.len();
    html! {
        @if earlier > 0 {
            p.note { (number(earlier)) " earlier items are not on this page; " code { "--last" } " includes more." }
        }
        @if data.items.is_empty() { p.note { "There are no items." } }
        div.items { (chunks(&card::render(data, cards), CHUNK)) }
        p #nothing.note hidden { "No item matches the filter." }
    }
}

/// Choices of type, priority, tool, and size. The script shows them.
fn filter(data: &Data<'_>, cards: &[Card<'_>]) -> Markup {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tools: BTreeMap<String, u64> = BTreeMap::new();
    for entry in cards.iter().flat_map(Card::entries) {
        *types.entry(entry.item_type.as_str()).or_default() += 1;
        *states.entry(data.state(entry)).or_default() += 1;
    }
    for tool in cards.iter().filter_map(|card| card.tool(data)) {
        *tools.entry(tool).or_default() += 1;
    }
    html! {
        form #filter role="search" hidden {
            div.row {
                input #words type="search" autocomplete="off" aria-label="Search" placeholder="Search ( / )";
                @if !tools.is_empty() {
                    select #tool aria-label="Tool" {
                        option value="" { "all tools" }
                        @for (tool, count) in &tools { option value=(tool) { (tool) " (" (number(count)) ")" } }
                    }
                }
                select #size aria-label="Size" {
                    option value="0" { "any size" }
                    @for size in SIZES { option value=(size) { "from " (number(size)) " tokens" } }
                }
            }
            (choices("type", "Type", &types))
            (choices("state", "Priority", &states))
            div.row {
                button #previous type="button" title="key p" { "↑ prompt" }
                button #next type="button" title="key n" { "↓ prompt" }
                button #open type="button" { "Open all" }
                button #close type="button" { "Close all" }
                output #count {}
            }
        }
    }
}

fn choices(name: &str, legend: &str, counts: &BTreeMap<&str, u64>) -> Markup {
    html! {
        fieldset {
            legend { (legend) }
            @for (value, count) in counts {
                label {
                    input type="checkbox" name=(name) checked value=(value);
                    @if name == "type" { span.dot.(color(value)) {} }
                    (value) " " span.dim { (number(count)) }
                }
            }
        }
    }
}

fn priorities(data: &Data<'_>, set: &[&ItemEntry]) -> Markup {
    html! {
        @if set.is_empty() { p.note { "None was set: every item has the priority of its type." } }
        ul.priorities {
            @for entry in set {
                li {
                    a href={ "#" (data.anchor(entry)) } { "#" (entry.seq) } " " (entry.item_type)
                    @if let Some(words) = preview_of(data, entry) { ": " span.preview { bdi { (words) } } }
                    ol {
                        @for setting in data.settings.get(&entry.id).into_iter().flatten().rev() {
                            li { (setting_line(data, setting)) }
                        }
                    }
                }
            }
        }
    }
}

fn others(data: &Data<'_>, branches: &Branches, in_site: bool) -> Markup {
    html! {
        @if !branches.related.is_empty() {
            table {
                thead {
                    tr {
                        th { "Trace" } th { "Diverged after" } th { "Commits since" } th { "Items" } th { "Tokens" }
                    }
                }
                tbody {
                    @for branch in &branches.related {
                        tr {
                            td {
                                @if in_site {
                                    a href=(file_name(&branch.name)) { bdi { (branch.name) } }
                                } @else {
                                    bdi { (branch.name) }
                                }
                            }
                            td { (merge_base(data, branch.merge_base)) }
                            td.figure { (number(branch.ahead)) }
                            td.figure { (number(branch.items)) }
                            td.figure { (number(branch.tokens)) }
                        }
                    }
                }
            }
        }
        @match (branches.related.is_empty(), branches.others) {
            (true, 0) => p.note { "No other trace shares its history." },
            (_, 0) => {},
            (_, others) => p.note { (number(others)) " other traces share nothing shown here." },
        }
    }
}

fn merge_base(data: &Data<'_>, oid: crate::git::Oid) -> Markup {
    let step = data.steps.iter().find(|step| step.tip.commit.oid == oid);
    html! {
        @if let Some(step) = step {
            a href={ "#" (timeline::anchor(data, step)) } { code { (short_oid(oid)) } } " "
            @if let Some(subject) = data.subject(step) { bdi { (data.redactor.text(subject)) } }
        }
    }
}
