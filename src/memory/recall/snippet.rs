//! The part of an entry that a search shows: the words around its best match, in one line.

use std::ops::Range;

use super::words::words;
use crate::trace::model::trailers::one_line;

/// In bytes.
const MAX_LEN: usize = 160;
const BEFORE: usize = 40;

pub(crate) struct Snippet {
    pub text: String,
    /// Where the matching words are in it.
    pub places: Vec<Range<usize>>,
}

impl Snippet {
    /// The surroundings of the matching words that weigh most.
    pub(super) fn of(text: &str, stems: &[String], weights: &[f32]) -> Self {
        let mut matches: Vec<(usize, f32)> = Vec::new();
        words(text, &mut |place, stem| {
            let weight = stems.iter().position(|known| known == stem).and_then(|at| weights.get(at));
            matches.extend(weight.map(|weight| (place.start, *weight)));
        });
        let mut best: (f32, usize) = (0.0, 0);
        for (at, (start, _)) in matches.iter().enumerate() {
            let near = matches[at..].iter().take_while(|(other, _)| other - start < MAX_LEN - BEFORE);
            let sum = near.map(|(_, weight)| weight).sum();
            if sum > best.0 {
                best = (sum, *start);
            }
        }
        let mut start = boundary(text, if best.1 + BEFORE < MAX_LEN { 0 } else { best.1 - BEFORE });
        if start > 0 {
            // Begin with a word.
            start += text[start..best.1].find(char::is_whitespace).map_or(0, |at| at + 1);
        }
        let end = boundary(text, start.saturating_add(MAX_LEN));
        let cut = |is_cut| if is_cut { "…" } else { "" };
        let (before, after) = (cut(start > 0), cut(!text[end..].trim().is_empty()));
        let text = format!("{before}{}{after}", one_line(&text[start..end]));
        let mut places: Vec<Range<usize>> = Vec::new();
        words(&text, &mut |place, stem| {
            let is_new = places.last().is_none_or(|last| last.end <= place.start);
            if is_new && stems.iter().any(|known| known == stem) {
                places.push(place);
            }
        });
        Self { text, places }
    }
}

/// The nearest place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
