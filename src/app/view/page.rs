//! The page with its sections.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::branches::Branches;
use super::card::{self, Card, preview_of, setting_line};
use super::chart::Chart;
use super::data::Data;
use super::filter;
use super::folder::Folder;
use super::html::{chunks, finish, json, number, time};
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
    let folder = Folder::of(data);
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
                (header(data, about, &folder))
                div.columns {
                    (prompt_index(&prompts, about))
                    main {
                        (filter::render(data, &cards, !prompts.is_empty()))
                        (conversation(data, &cards, &folder))
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

fn header(data: &Data<'_>, about: &About<'_>, folder: &Folder) -> Markup {
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
                span.dim { "(" (size.size.basis) ")" } ", last changed " (time(data.view.tip.time())) " UTC "
                code { (short_oid(data.view.tip.commit.oid)) }
            }
            (session(data, folder))
            @if let Some(window) = &size.window {
                (gauge("window", size.size.tokens, window.tokens))
            }
            @if let Some(budget) = chart.budget { (gauge("budget", size.size.tokens, budget)) }
            nav.about {
                (section("tokens", "Tokens", None, &chart.render()))
                @if !steps.is_empty() || data.has_earlier_steps {
                    (section("changes", "Changes", Some(steps.len()), &html! {
                        div.timeline { (chunks(&lines, timeline::CHUNK)) }
                        @if data.has_earlier_steps {
                            p.note { "Earlier commits are not on this page; " code { "--last" } " includes more." }
                        }
                    }))
                }
                @if !set.is_empty() {
                    (section("priorities", "Priorities", Some(set.len()), &priorities(data, &set)))
                }
                @if !branches.related.is_empty() {
                    (section("branches", "Branches", Some(branches.related.len()), &others(data, branches, *in_site)))
                }
            }
        }
    }
}

/// The session: its models, when it began, how long it took, and the folder that paths are relative to.
fn session(data: &Data<'_>, folder: &Folder) -> Markup {
    let items = || data.items.iter().chain(&data.gone).filter_map(|entry| data.item(entry));
    let models: BTreeSet<&str> = items().filter_map(|item| item.fields.meta.get("model")?.as_str()).collect();
    let times = || items().filter_map(|item| item.fields.created);
    let span = times().min().zip(times().max());
    html! {
        @if span.is_some() || !models.is_empty() || folder.path().is_some() {
            p.state.dim {
                @for (index, model) in models.iter().enumerate() {
                    @if index > 0 { ", " }
                    bdi { (data.redactor.text(model)) }
                }
                @if let Some((began, ended)) = span {
                    @if !models.is_empty() { " · " }
                    (time(began)) " UTC"
                    @if let Some(length) = duration(ended.as_second() - began.as_second()) { " · " (length) }
                }
                @if let Some(path) = folder.path() {
                    @if span.is_some() || !models.is_empty() { " · " }
                    bdi { (path) }
                }
            }
        }
    }
}

fn duration(seconds: i64) -> Option<String> {
    match seconds {
        ..=0 => None,
        1..60 => Some(format!("{seconds} s")),
        60..3_600 => Some(format!("{} min", seconds / 60)),
        3_600..172_800 => Some(format!("{} h {} min", seconds / 3_600, seconds / 60 % 60)),
        _ => Some(format!("{} days", seconds / 86_400)),
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

fn conversation(data: &Data<'_>, cards: &[Card<'_>], folder: &Folder) -> Markup {
    let earlier = data.view.slots.len() - data.items.len();
    html! {
        @if earlier > 0 {
            p.note { (number(earlier)) " earlier items are not on this page; " code { "--last" } " includes more." }
        }
        @if data.items.is_empty() { p.note { "There are no items." } }
        div.items { (chunks(&card::render(data, cards, folder), CHUNK)) }
        p #nothing.note hidden { "No item matches the filter." }
    }
}

fn priorities(data: &Data<'_>, set: &[&ItemEntry]) -> Markup {
    html! {
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
        table {
            thead {
                tr { th { "Trace" } th { "Diverged after" } th { "Commits since" } th { "Items" } th { "Tokens" } }
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
        @if branches.others > 0 { p.note { (number(branches.others)) " other traces share nothing shown here." } }
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
