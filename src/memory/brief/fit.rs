//! Making a brief fit its budget.

use std::fmt::Write as _;

use super::section::{Kind, Section};
use super::{Brief, Request};

/// Renders as many entries as fit, in order, and says what was left out.
pub(crate) fn fit(title: &str, sections: Vec<Section>, request: &Request, warnings: Vec<String>) -> Brief {
    let all: usize = sections.iter().map(|section| section.entries.len()).sum();
    let render = |kept: usize| {
        let text = render(title, &sections, kept, request.budget);
        let tokens = request.encoding.count(text.as_bytes());
        (text, tokens)
    };
    let fits = |tokens: u64| tokens <= request.budget;
    // Entries counted alone come to nearly what they come to together; where that ends, exact counts decide.
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
    while fits(tokens) && kept < all {
        let more = render(kept + 1);
        if !fits(more.1) {
            break;
        }
        kept += 1;
        (text, tokens) = more;
    }
    while !fits(tokens) && kept > 0 {
        kept -= 1;
        (text, tokens) = render(kept);
    }
    if !fits(tokens) {
        (text, tokens) = (String::new(), 0);
    }
    let left_out = left_out(&sections, kept);
    let mut room = kept;
    let mut sections = sections;
    for section in &mut sections {
        let len = section.entries.len().min(room);
        section.entries.truncate(len);
        room -= len;
    }
    sections.retain(|section| !section.entries.is_empty());
    Brief { text, tokens, sections, left_out, warnings }
}

/// The text of the first `kept` entries.
fn render(title: &str, sections: &[Section], kept: usize, budget: u64) -> String {
    let mut text = String::new();
    let mut room = kept;
    for section in sections {
        let entries = &section.entries[..section.entries.len().min(room)];
        room -= entries.len();
        if !entries.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "\n## {}", section.kind.title());
        }
        for entry in entries {
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

fn left_out(sections: &[Section], kept: usize) -> Vec<(Kind, usize)> {
    let mut room = kept;
    let mut left_out = Vec::new();
    for section in sections {
        let len = section.entries.len().min(room);
        room -= len;
        if section.entries.len() > len {
            left_out.push((section.kind, section.entries.len() - len));
        }
    }
    left_out
}
