//! Rendering a brief within its token budget.

use std::fmt::Write as _;

use super::section::{Section, SectionKind};
use super::{Brief, BriefRequest};

/// Renders as many entries as fit, in order, and states what was omitted.
pub(crate) fn render_within_budget(
    title: &str,
    sections: Vec<Section>,
    request: &BriefRequest,
    warnings: Vec<String>,
) -> Brief {
    let total: usize = sections.iter().map(|section| section.entries.len()).sum();
    let render = |kept: usize| {
        let text = render(title, &sections, kept, request.budget);
        let tokens = request.encoding.count(text.as_bytes());
        (text, tokens)
    };
    let fits = |tokens: u64| tokens <= request.budget;
    // Counting each entry once gives an estimate of how many fit. Exact counts of the text around it then decide.
    let mut kept = 0;
    let mut estimate = request.encoding.count(title.as_bytes());
    for entry in sections.iter().flat_map(|section| &section.entries) {
        estimate += request.encoding.count(entry.as_bytes()) + 2;
        if !fits(estimate) {
            break;
        }
        kept += 1;
    }
    let (mut text, mut tokens) = render(kept);
    while fits(tokens) && kept < total {
        let longer = render(kept + 1);
        if !fits(longer.1) {
            break;
        }
        kept += 1;
        (text, tokens) = longer;
    }
    while !fits(tokens) && kept > 0 {
        kept -= 1;
        (text, tokens) = render(kept);
    }
    if !fits(tokens) {
        (text, tokens) = (String::new(), 0);
    }
    let left_out = left_out(&sections, kept);
    let mut sections = sections;
    let lens = kept_lens(&sections, kept);
    for (section, len) in sections.iter_mut().zip(lens) {
        section.entries.truncate(len);
    }
    sections.retain(|section| !section.entries.is_empty());
    Brief { text, tokens, sections, left_out, warnings }
}

/// The text with the first `kept` entries.
fn render(title: &str, sections: &[Section], kept: usize, budget: u64) -> String {
    let mut text = String::new();
    for (section, len) in sections.iter().zip(kept_lens(sections, kept)) {
        if len > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "\n## {}", section.kind.title());
        }
        for entry in &section.entries[..len] {
            text.extend(["- ", entry, "\n"]);
        }
    }
    let left_out = left_out(sections, kept);
    if !left_out.is_empty() {
        let parts: Vec<String> = left_out.iter().map(|(kind, count)| format!("{count} of {}", kind.title())).collect();
        let _ = writeln!(text, "\nLeft out to stay within {budget} tokens: {}.", parts.join(", "));
    }
    if !text.is_empty() {
        text.insert_str(0, title);
    }
    text
}

/// How many entries of each section are among the first `kept`.
fn kept_lens(sections: &[Section], kept: usize) -> Vec<usize> {
    let mut rest = kept;
    let len = |section: &Section| {
        let len = section.entries.len().min(rest);
        rest -= len;
        len
    };
    sections.iter().map(len).collect()
}

fn left_out(sections: &[Section], kept: usize) -> Vec<(SectionKind, usize)> {
    let lens = sections.iter().zip(kept_lens(sections, kept));
    lens.map(|(section, len)| (section.kind, section.entries.len() - len)).filter(|(_, count)| *count > 0).collect()
}
