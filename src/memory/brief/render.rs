//! Rendering a brief within its token budget.

use std::fmt::Write as _;

use super::section::{Section, SectionKind};
use super::{Brief, BriefRequest};

/// Renders as many entries as fit, in order, and states what was omitted.
pub(crate) fn render_within_budget(
    title: &str,
    sections: &[Section],
    request: &BriefRequest,
    warnings: Vec<String>,
) -> Brief {
    let count = |text: &str| request.counter.count(text.as_bytes());
    let brief = |kept: usize| {
        let (sections, left_out) = first_entries(sections, kept);
        let text = render(title, &sections, &left_out, request.budget);
        Brief { tokens: count(&text), text, sections, left_out, warnings: Vec::new() }
    };
    let fits = |brief: &Brief| brief.tokens <= request.budget;
    // Counting each entry once gives an estimate of how many fit. Exact counts of the text around it then decide.
    let entries: Vec<_> = sections.iter().flat_map(|section| &section.entries).collect();
    let mut estimate = count(title);
    let is_estimated_to_fit = |entry: &&&String| {
        estimate += count(entry) + 2;
        estimate <= request.budget
    };
    let mut kept = entries.iter().take_while(is_estimated_to_fit).count();
    let mut best = brief(kept);
    while fits(&best) && kept < entries.len() {
        let longer = brief(kept + 1);
        if !fits(&longer) {
            break;
        }
        (kept, best) = (kept + 1, longer);
    }
    while !fits(&best) && kept > 0 {
        kept -= 1;
        best = brief(kept);
    }
    if !fits(&best) {
        (best.text, best.tokens) = (String::new(), 0);
    }
    Brief { warnings, ..best }
}

/// The sections with the first `kept` entries, and how many entries of which section are left out.
fn first_entries(all: &[Section], kept: usize) -> (Vec<Section>, Vec<(SectionKind, usize)>) {
    let (mut sections, mut left_out) = (Vec::new(), Vec::new());
    let mut rest = kept;
    for Section { kind, entries } in all {
        let (first, others) = entries.split_at(entries.len().min(rest));
        rest -= first.len();
        if !first.is_empty() {
            sections.push(Section { kind: *kind, entries: first.to_vec() });
        }
        if !others.is_empty() {
            left_out.push((*kind, others.len()));
        }
    }
    (sections, left_out)
}

fn render(title: &str, sections: &[Section], left_out: &[(SectionKind, usize)], budget: u64) -> String {
    let mut text = String::new();
    for Section { kind, entries } in sections {
        text.extend(["\n## ", kind.title(), "\n"]);
        text.extend(entries.iter().flat_map(|entry| ["- ", entry, "\n"]));
    }
    if !left_out.is_empty() {
        let parts: Vec<String> = left_out.iter().map(|(kind, count)| format!("{count} of {}", kind.title())).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\nLeft out to stay within {budget} tokens: {}.", parts.join(", "));
    }
    if !text.is_empty() {
        text.insert_str(0, title);
    }
    text
}
