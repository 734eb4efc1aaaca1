//! The index of the user's prompts, each with the tokens of its turn and how full the window was at its end.

use maud::{Markup, html};

use super::card::{Card, preview};
use super::chart::Chart;
use super::data::Data;
use super::html::number;
use crate::trace::store::turns::{Turns, is_prompt};

/// The most prompts in one part of the index, see [`super::html::chunks`].
pub(crate) const CHUNK: usize = 60;

pub(crate) struct Prompt {
    pub(crate) anchor: String,
    words: String,
    tokens: u64,
    /// The size of the context at the end of the turn.
    size: Option<u64>,
}

pub(crate) fn prompts(data: &Data<'_>, cards: &[Card<'_>], chart: &Chart) -> Vec<Prompt> {
    let mut turns = Turns::default();
    let mut prompts: Vec<Prompt> = Vec::new();
    let mut turn = 0;
    for card in cards {
        for (index, entry) in card.entries().enumerate() {
            if let Some(item) = data.item(entry) {
                let added = turns.add(item, data.is_live(entry.id) && data.view.left_out(entry).is_some());
                let now = turns.place(added).turn;
                if index == 0 && is_prompt(item) && now != turn {
                    turn = now;
                    let words = data.redactor.text(&preview(item)).into_owned();
                    prompts.push(Prompt { anchor: data.anchor(entry), words, tokens: 0, size: None });
                }
            }
            if let Some(prompt) = prompts.last_mut() {
                prompt.tokens += data.cost(entry.blob);
                prompt.size = data.origin(entry.id).and_then(|step| chart.size_after(step)).or(prompt.size);
            }
        }
    }
    prompts
}

/// The entries of the index. `window` is the size that fills a bar.
pub(crate) fn render(prompts: &[Prompt], window: u64) -> Vec<(String, Markup)> {
    prompts.iter().map(|prompt| (prompt.anchor.clone(), line(prompt, window))).collect()
}

fn line(prompt: &Prompt, window: u64) -> Markup {
    html! {
        a.turn href={ "#" (prompt.anchor) } {
            span.words { bdi { (prompt.words) } }
            span.tokens { (number(prompt.tokens)) }
            @if let Some(size) = prompt.size {
                meter max=(window.max(1)) value=(size.min(window)) title={ (number(size)) " of " (number(window)) " tokens" } {}
            }
        }
    }
}

/// The size that the bars of the index compare with: the model's window, or the largest size.
pub(crate) fn full(prompts: &[Prompt], window: Option<u64>) -> u64 {
    window.unwrap_or_else(|| prompts.iter().filter_map(|prompt| prompt.size).max().unwrap_or(1))
}
