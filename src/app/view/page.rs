//! The page as a whole.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use super::branches::Branches;
use super::chart::{Chart, colour};
use super::data::{Data, Text};
use super::html::Html;
use super::item::{self, preview, setting_line};
use super::timeline::{self, time};
use crate::git::{Repo, short_oid};
use crate::tokens::Encoding;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::priority::SetLevel;
use crate::trace::{TraceError, TraceName};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page.
pub(crate) fn render(
    repo: &Repo,
    name: &TraceName,
    data: &Data<'_>,
    chart: &Chart,
    branches: &Branches,
    encoding: Encoding,
) -> Result<String, TraceError> {
    let mut html = Html::default();
    head(&mut html, name);
    html.raw("<body>");
    glance(&mut html, repo, name, data, chart, encoding)?;
    html.raw("<main><section id=\"chart-section\" aria-labelledby=\"tokens\"><h2 id=\"tokens\">Tokens</h2>");
    chart.render(&mut html);
    html.raw("</section>");
    context(&mut html, data);
    priorities(&mut html, data);
    others(&mut html, data, branches);
    html.raw("<section aria-labelledby=\"timeline\"><h2 id=\"timeline\">Timeline</h2>");
    timeline::render(&mut html, data);
    html.raw("</section></main>");
    html.raw("<script type=\"application/json\" id=\"figures\">").json(&chart.to_json(data)).raw("</script>");
    html.raw("<script>").raw(SCRIPT).raw("</script></body></html>\n");
    Ok(html.finish())
}

fn hash(of: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(of.as_bytes())))
}

fn head(html: &mut Html, name: &TraceName) {
    html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    // Quotes in the policy are its own; the hashes are of the base64 alphabet.
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
    html.attr(&hash(SCRIPT)).raw("; style-src ").attr(&hash(STYLE));
    html.raw("; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw(
        "<meta name=\"referrer\" content=\"no-referrer\"><meta name=\"color-scheme\" content=\"light dark\">\n<title>",
    );
    html.attr(name.as_str()).raw(" · trace</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>").raw(STYLE);
    html.raw("</style></head>\n");
}

/// What stands on top: the trace's name and state, and what it holds in figures.
fn glance(
    html: &mut Html,
    repo: &Repo,
    name: &TraceName,
    data: &Data<'_>,
    chart: &Chart,
    encoding: Encoding,
) -> Result<(), TraceError> {
    let view = data.view;
    let total = view.total(repo, encoding)?;
    html.raw("<header><p class=\"kind\">Trace</p><h1><bdi>").text(name.as_str()).raw("</bdi></h1><p class=\"state\">");
    html.number(view.slots.len() as u64)
        .raw(" items, <b>")
        .number(total.tokens)
        .raw(" tokens</b> <span class=\"dim\">(");
    html.text(total.basis.as_str()).raw(")</span>, last changed ");
    time(html, &view.tip.time().to_string());
    html.raw(" <code>").attr(&short_oid(view.tip.commit.oid)).raw("</code></p>");
    if let Some(budget) = chart.budget() {
        html.raw("<p class=\"state\"><progress max=\"").attr(&budget.max(1).to_string()).raw("\" value=\"");
        html.attr(&total.tokens.min(budget).to_string()).raw("\"></progress> ");
        match total.tokens.checked_sub(budget).filter(|over| *over > 0) {
            Some(over) => html
                .raw("<b class=\"over\">")
                .number(over)
                .raw(" tokens over the budget of ")
                .number(budget)
                .raw("</b>"),
            None => html.number(budget - total.tokens).raw(" of ").number(budget).raw(" tokens left in the budget"),
        };
        html.raw("</p>");
    }
    html.raw(
        "<nav><a href=\"#tokens\">Tokens</a> <a href=\"#context\">Context</a> <a href=\"#priorities\">Priorities</a> ",
    );
    html.raw("<a href=\"#branches\">Branches</a> <a href=\"#timeline\">Timeline</a></nav></header>");
    Ok(())
}

/// The list of items, with what filters it.
fn context(html: &mut Html, data: &Data<'_>) {
    html.raw("<section aria-labelledby=\"context\"><h2 id=\"context\">Context</h2>");
    filter(html, data);
    let earlier = data.view.slots.len() - data.slots.len();
    if earlier > 0 {
        html.raw("<p class=\"note\">").number(earlier as u64);
        html.raw(" earlier items are not on this page; <code>--last</code> takes more.</p>");
    }
    if data.slots.is_empty() {
        html.raw("<p class=\"note\">It holds no items.</p>");
    }
    html.raw("<div class=\"items\">");
    for slot in data.slots {
        item::render(html, data, slot);
    }
    html.raw("</div>");
    if !data.gone.is_empty() {
        html.raw("<h3>Taken out</h3><div class=\"items\">");
        for slot in &data.gone {
            item::render(html, data, slot);
        }
        html.raw("</div>");
    }
    html.raw("</section>");
}

/// Choices of type and priority, each with how many items it has; the script shows and obeys them.
fn filter(html: &mut Html, data: &Data<'_>) {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut states: BTreeMap<&'static str, u64> = BTreeMap::new();
    for slot in data.slots.iter().chain(&data.gone) {
        *types.entry(slot.item_type.as_str()).or_default() += 1;
        let left_out =
            data.view.left_out(slot).map_or_else(|| data.view.level(slot).level().as_str(), |why| why.as_str());
        *states.entry(if data.is_live(slot.id) { left_out } else { "gone" }).or_default() += 1;
    }
    html.raw("<form id=\"filter\" role=\"search\" hidden><input type=\"search\" id=\"words\" autocomplete=\"off\" ");
    html.raw("aria-label=\"Filter by text\" placeholder=\"Filter by text ( / )\"><fieldset><legend>Type</legend>");
    for (item_type, count) in types {
        html.raw("<label><input type=\"checkbox\" name=\"type\" checked value=\"")
            .attr(item_type)
            .raw("\"><span class=\"dot ");
        html.raw(colour(item_type))
            .raw("\"></span>")
            .attr(item_type)
            .raw(" <span class=\"dim\">")
            .number(count)
            .raw("</span></label>");
    }
    html.raw("</fieldset><fieldset><legend>Priority</legend>");
    for (state, count) in states {
        html.raw("<label><input type=\"checkbox\" name=\"state\" checked value=\"").raw(state).raw("\">").raw(state);
        html.raw(" <span class=\"dim\">").number(count).raw("</span></label>");
    }
    html.raw("</fieldset><p><button type=\"button\" id=\"open\">Open all</button> <button type=\"button\" id=\"close\">Close all");
    html.raw("</button> <output id=\"count\"></output></p></form>");
}

/// The items whose priority somebody set, with how it came to be.
fn priorities(html: &mut Html, data: &Data<'_>) {
    html.raw("<section aria-labelledby=\"priorities\"><h2 id=\"priorities\">Priorities</h2>");
    let set: Vec<&ItemEntry> =
        data.slots.iter().filter(|slot| matches!(data.view.level(slot), SetLevel::Set(_))).collect();
    if set.is_empty() {
        html.raw("<p class=\"note\">Nobody set any; every item has the priority of its type.</p>");
    } else {
        html.raw("<ul class=\"priorities\">");
    }
    for slot in &set {
        html.raw("<li><a href=\"#i-").attr(&slot.id.to_string()).raw("\">#").number(u64::from(slot.seq)).raw("</a> ");
        html.attr(slot.item_type.as_str());
        if let Some(Text { item: Some(item), .. }) = data.text(slot.blob) {
            html.raw(": <span class=\"preview\"><bdi>").text(&preview(item)).raw("</bdi></span>");
        }
        html.raw("<ol>");
        for setting in data.settings.get(&slot.id).into_iter().flatten().rev() {
            html.raw("<li>");
            setting_line(html, data, setting);
            html.raw("</li>");
        }
        html.raw("</ol></li>");
    }
    if !set.is_empty() {
        html.raw("</ul>");
    }
    html.raw("</section>");
}

/// The traces that share history with this one.
fn others(html: &mut Html, data: &Data<'_>, branches: &Branches) {
    html.raw("<section aria-labelledby=\"branches\"><h2 id=\"branches\">Branches</h2>");
    if !branches.related.is_empty() {
        html.raw("<table><thead><tr><th>Trace</th><th>Parted after</th><th>Commits since</th><th>Items</th><th>Tokens</th></tr></thead><tbody>");
    }
    for branch in &branches.related {
        html.raw("<tr><td><bdi>").text(branch.name.as_str()).raw("</bdi></td><td><a href=\"#c-");
        html.attr(&branch.parted.to_string()).raw("\"><code>").attr(&short_oid(branch.parted)).raw("</code></a> ");
        if let Some(step) = data.steps.iter().find(|step| step.tip.commit.oid == branch.parted)
            && let Some(subject) = data.subject(step)
        {
            html.raw("<bdi>").text(&data.redactor.text(subject)).raw("</bdi>");
        }
        html.raw("</td><td class=\"figure\">").number(branch.ahead as u64).raw("</td><td class=\"figure\">");
        html.number(branch.items as u64).raw("</td><td class=\"figure\">").number(branch.tokens).raw("</td></tr>");
    }
    if !branches.related.is_empty() {
        html.raw("</tbody></table>");
    }
    match (branches.related.is_empty(), branches.others) {
        (true, 0) => html.raw("<p class=\"note\">There is no other trace.</p>"),
        (_, 0) => html,
        (_, others) => html
            .raw("<p class=\"note\">")
            .number(others as u64)
            .raw(" other traces share nothing that is shown here.</p>"),
    };
    html.raw("</section>");
}
