//! The page with its sections.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use super::branches::Branches;
use super::chart::Chart;
use super::data::{Data, Text};
use super::html::{Html, color, number};
use super::item::{self, preview, setting_line};
use super::timeline;
use crate::git::short_oid;
use crate::trace::TraceName;
use crate::trace::model::trailers::Total;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::priority::SetLevel;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(crate) fn render(name: &TraceName, data: &Data<'_>, total: Total, chart: &Chart, branches: &Branches) -> String {
    let mut html = Html::default();
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(Sha256::digest(text.as_bytes())));
    html.put(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; \
         img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\"><meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &[&hash(SCRIPT), &hash(STYLE)],
    );
    html.put("{} · trace</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>", &[name]);
    html.raw(STYLE).raw("</style></head>\n<body>");
    summary(&mut html, name, data, total, chart.budget);
    html.raw(r#"<main><section id="chart-section" aria-labelledby="tokens"><h2 id="tokens">Tokens</h2>"#);
    chart.render(&mut html);
    html.raw("</section>");
    context(&mut html, data);
    priorities(&mut html, data);
    others(&mut html, data, branches);
    html.raw(r#"<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>"#);
    timeline::render(&mut html, data);
    html.raw(r#"</section></main><script type="application/json" id="figures">"#).json(&chart.to_json(data));
    html.raw("</script><script>").raw(SCRIPT).raw("</script></body></html>\n");
    html.finish()
}

fn summary(html: &mut Html, name: &TraceName, data: &Data<'_>, total: Total, budget: Option<u64>) {
    let view = data.view;
    html.put(r#"<header><p class="kind">Trace</p><h1><bdi>{}</bdi></h1>"#, &[name]);
    html.put(
        r#"<p class="state">{} items, <b>{} tokens</b> <span class="dim">({})</span>, last changed "#,
        &[&number(view.slots.len()), &number(total.tokens), &total.basis],
    );
    html.time(view.tip.time()).put(" <code>{}</code></p>", &[&short_oid(view.tip.commit.oid)]);
    if let Some(budget) = budget {
        html.put(
            r#"<p class="state"><progress max="{}" value="{}"></progress> "#,
            &[&budget.max(1), &total.tokens.min(budget)],
        );
        let (markup, tokens) = match total.tokens.checked_sub(budget) {
            Some(over @ 1..) => (r#"<b class="over">{} tokens over the budget of {}</b>"#, over),
            _ => ("{} of {} tokens left in the budget", budget - total.tokens),
        };
        html.put(markup, &[&number(tokens), &number(budget)]).raw("</p>");
    }
    html.raw(concat!(
        r##"<nav><a href="#tokens">Tokens</a> <a href="#context">Context</a> <a href="#priorities">Priorities</a> "##,
        r##"<a href="#branches">Branches</a> <a href="#timeline">Timeline</a></nav></header>"##,
    ));
}

fn context(html: &mut Html, data: &Data<'_>) {
    html.raw(r#"<section aria-labelledby="context"><h2 id="context">Context</h2>"#);
    filter(html, data);
    let earlier = data.view.slots.len() - data.items.len();
    if earlier > 0 {
        html.note("{} earlier items are not on this page; <code>--last</code> includes more.", &[&number(earlier)]);
    }
    if data.items.is_empty() {
        html.note("There are no items.", &[]);
    }
    html.raw(r#"<div class="items">"#);
    for entry in data.items {
        item::render(html, data, entry);
    }
    html.raw("</div>");
    if !data.gone.is_empty() {
        html.raw(r#"<h3>Deleted</h3><div class="items">"#);
        for entry in &data.gone {
            item::render(html, data, entry);
        }
        html.raw("</div>");
    }
    html.raw("</section>");
}

/// Choices of type and priority, each with its number of items. The script shows them.
fn filter(html: &mut Html, data: &Data<'_>) {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in data.items.iter().chain(&data.gone) {
        *types.entry(entry.item_type.as_str()).or_default() += 1;
        *states.entry(data.state(entry)).or_default() += 1;
    }
    html.raw(concat!(
        r#"<form id="filter" role="search" hidden><input type="search" id="words" autocomplete="off" "#,
        r#"aria-label="Filter by text" placeholder="Filter by text ( / )"><fieldset><legend>Type</legend>"#,
    ));
    for (item_type, count) in types {
        html.put(
            r#"<label><input type="checkbox" name="type" checked value="{}"><span class="dot {}"></span>{}"#,
            &[&item_type, &color(item_type), &item_type],
        );
        html.put(r#" <span class="dim">{}</span></label>"#, &[&number(count)]);
    }
    html.raw("</fieldset><fieldset><legend>Priority</legend>");
    for (state, count) in states {
        html.put(r#"<label><input type="checkbox" name="state" checked value="{}">{}"#, &[&state, &state]);
        html.put(r#" <span class="dim">{}</span></label>"#, &[&number(count)]);
    }
    html.raw(concat!(
        r#"</fieldset><p><button type="button" id="open">Open all</button> "#,
        r#"<button type="button" id="close">Close all</button> <output id="count"></output></p></form>"#,
    ));
}

fn priorities(html: &mut Html, data: &Data<'_>) {
    html.raw(r#"<section aria-labelledby="priorities"><h2 id="priorities">Priorities</h2>"#);
    let is_set = |entry: &&ItemEntry| matches!(data.view.level(entry), SetLevel::Set(_));
    let set: Vec<&ItemEntry> = data.items.iter().filter(is_set).collect();
    html.raw(match set.len() {
        0 => r#"<p class="note">None was set: every item has the priority of its type.</p>"#,
        _ => r#"<ul class="priorities">"#,
    });
    for entry in &set {
        html.put(r##"<li><a href="#i-{}">#{}</a> {}"##, &[&entry.id, &number(entry.seq), &entry.item_type]);
        if let Some(Text { item: Some(item), .. }) = data.text(entry.blob) {
            html.put(r#": <span class="preview"><bdi>{}</bdi></span>"#, &[&preview(item)]);
        }
        html.raw("<ol>");
        for setting in data.settings.get(&entry.id).into_iter().flatten().rev() {
            html.raw("<li>");
            setting_line(html, data, setting);
            html.raw("</li>");
        }
        html.raw("</ol></li>");
    }
    html.raw(if set.is_empty() { "</section>" } else { "</ul></section>" });
}

fn others(html: &mut Html, data: &Data<'_>, branches: &Branches) {
    html.raw(r#"<section aria-labelledby="branches"><h2 id="branches">Branches</h2>"#);
    if !branches.related.is_empty() {
        html.raw(concat!(
            "<table><thead><tr><th>Trace</th><th>Diverged after</th><th>Commits since</th><th>Items</th>",
            "<th>Tokens</th></tr></thead><tbody>",
        ));
        for branch in &branches.related {
            html.put(
                r##"<tr><td><bdi>{}</bdi></td><td><a href="#c-{}"><code>{}</code></a> "##,
                &[&branch.name, &branch.merge_base, &short_oid(branch.merge_base)],
            );
            if let Some(step) = data.steps.iter().find(|step| step.tip.commit.oid == branch.merge_base)
                && let Some(subject) = data.subject(step)
            {
                html.put("<bdi>{}</bdi>", &[&data.redactor.text(subject)]);
            }
            html.put(
                r#"</td><td class="figure">{}</td><td class="figure">{}</td><td class="figure">{}</td></tr>"#,
                &[&number(branch.ahead), &number(branch.items), &number(branch.tokens)],
            );
        }
        html.raw("</tbody></table>");
    }
    match (branches.related.is_empty(), branches.others) {
        (true, 0) => html.note("There is no other trace.", &[]),
        (_, 0) => html,
        (_, others) => html.note("{} other traces share nothing shown here.", &[&number(others)]),
    };
    html.raw("</section>");
}
