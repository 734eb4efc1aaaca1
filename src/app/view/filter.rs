//! The search and the choices of the page, which its script shows.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::card::Card;
use super::data::Data;
use super::html::{color, number};

/// The choices by size, in tokens.
const SIZES: [u64; 4] = [100, 1_000, 5_000, 20_000];
/// The kinds of cards, and the type of each. Other types are of the last kind.
const KINDS: [(&str, &str); 5] = [
    ("Messages", MESSAGES),
    ("Thinking", "reasoning"),
    ("Tools", "tool_io"),
    ("Files", "artifact"),
    ("Other", "freeform"),
];
const MESSAGES: &str = "dialogue";

struct Choice<'c> {
    label: &'c str,
    /// The types or the priority.
    values: Vec<&'c str>,
    count: u64,
}

/// A control is left out if it would leave nothing to choose.
pub(crate) fn render(data: &Data<'_>, cards: &[Card<'_>], has_prompts: bool) -> Markup {
    let (mut types, mut states): (BTreeMap<&str, u64>, BTreeMap<&str, u64>) = Default::default();
    let mut tools: BTreeMap<String, u64> = BTreeMap::new();
    for card in cards {
        *types.entry(card.entry.item_type.as_str()).or_default() += 1;
        for entry in card.entries() {
            *states.entry(data.state(entry)).or_default() += 1;
        }
        if let Some(tool) = card.tool(data) {
            *tools.entry(tool).or_default() += 1;
        }
    }
    let largest = cards.iter().map(|card| card.tokens(data)).max().unwrap_or(0);
    let sizes: Vec<u64> = SIZES.into_iter().filter(|size| *size <= largest).collect();
    let kinds = kinds(&types);
    let states =
        states.iter().map(|(state, count)| Choice { label: state, values: vec![state], count: *count }).collect();
    html! {
        form #filter role="search" hidden {
            div.row.bar {
                input #words type="search" autocomplete="off" aria-label="Search" placeholder="Search ( / )";
                output #count {}
                @if has_prompts {
                    button #previous type="button" aria-label="previous prompt" title="previous prompt ( p )" { "↑" }
                    button #next type="button" aria-label="next prompt" title="next prompt ( n )" { "↓" }
                }
            }
            details #choices {
                summary { "Filter" }
                div.row {
                    @if kinds.len() > 1 && types.contains_key(MESSAGES) {
                        label { input #only type="checkbox"; "Only conversation" }
                    }
                    @if tools.len() > 1 {
                        select #tool aria-label="Tool" {
                            option value="" { "all tools" }
                            @for (tool, count) in &tools { option value=(tool) { (tool) " (" (number(count)) ")" } }
                        }
                    }
                    @if !sizes.is_empty() {
                        select #size aria-label="Size" {
                            option value="0" { "any size" }
                            @for size in &sizes { option value=(size) { "from " (number(size)) " tokens" } }
                        }
                    }
                    button #open type="button" { "Open all" }
                    button #close type="button" { "Close all" }
                }
                (choices("type", "Type", &kinds))
                (choices("state", "State", &states))
            }
        }
    }
}

fn kinds<'t>(types: &BTreeMap<&'t str, u64>) -> Vec<Choice<'t>> {
    let kind = |item_type: &str| KINDS.iter().find(|(_, of_kind)| *of_kind == item_type).unwrap_or(&KINDS[4]).0;
    let of = |label: &'static str| {
        let types = types.iter().filter(|(item_type, _)| kind(item_type) == label);
        Choice {
            label,
            values: types.clone().map(|(item_type, _)| *item_type).collect(),
            count: types.map(|(_, count)| count).sum(),
        }
    };
    KINDS.iter().map(|(label, _)| of(label)).filter(|choice| choice.count > 0).collect()
}

fn choices(name: &str, legend: &str, choices: &Vec<Choice<'_>>) -> Markup {
    html! {
        @if choices.len() > 1 {
            fieldset {
                legend { (legend) }
                @for Choice { label, values, count } in choices {
                    label {
                        input type="checkbox" name=(name) checked value=(values.join(" "));
                        @if name == "type" { span.dot.(color(values[0])) {} }
                        (label) " " span.dim { (number(count)) }
                    }
                }
            }
        }
    }
}
