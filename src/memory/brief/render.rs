//! Rendering a brief within its token budget.

use std::fmt::Write as _;

use super::section::{Section, SectionKind};
use super::{Brief, BriefRequest};

/// Renders as many entries as fit, in order, and states what was omitted.
pub(crate) fn render_within_budget(
    title: &str,
    mut sections: Vec<Section>,
    request: &BriefRequest,
    warnings: Vec<String>,
) -> Brief {
    let count = |text: &str| request.encoding.count(text.as_bytes());
    let fitting = |kept: usize| {
        let text = render(title, &sections, kept, request.budget);
        let tokens = count(&text);
        (tokens <= request.budget).then_some((text, tokens))
    };
    // Counting each entry once gives an estimate of how many fit. Exact counts of the text around it then decide.
    let mut estimate = count(title);
    let entries = || sections.iter().flat_map(|section| &section.entries);
    let fits = |entry: &&String| {
        estimate += count(entry) + 2;
        estimate <= request.budget
    };
    let mut kept = entries().take_while(fits).count();
    let mut best = fitting(kept);
    if best.is_some() {
        let total = entries().count();
        while kept < total
            && let Some(longer) = fitting(kept + 1)
        {
            kept += 1;
            best = Some(longer);
        }
    }
    while best.is_none() && kept > 0 {
        kept -= 1;
        best = fitting(kept);
    }
    let (text, tokens) = best.unwrap_or_default();
    let left_out = left_out(&sections, kept);
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
