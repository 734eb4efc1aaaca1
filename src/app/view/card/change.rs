//! Changes of files: differences of two texts, and patches.

use maud::{Markup, html};

use super::super::text::{cut, more};
use crate::trace::query::diff::lines::{Fate, LineDiff};

const MAX_LINES: usize = 2_000;

/// A difference. Neighboring lines with the same fate are one element.
pub(super) fn lines(diff: &LineDiff) -> Markup {
    let mut left = MAX_LINES;
    html! {
        pre.diff {
            @for hunk in &diff.hunks {
                @let shown = &hunk.lines[..hunk.lines.len().min(left)];
                @let () = left -= shown.len();
                @if hunk.new.0 > 1 || diff.hunks.len() > 1 { span.hunk { "line " (hunk.new.0) } }
                @for run in shown.chunk_by(|one, next| one.fate == next.fate) {
                    span.(class(run[0].fate)) {
                        @for line in run {
                            (run[0].fate.sign()) " "
                            @for (marked, part) in &line.parts {
                                @if *marked { b { (part) } } @else { (part) }
                            }
                            "\n"
                        }
                    }
                }
            }
        }
        @if left == 0 { p.note { "The rest of the difference is not shown." } }
    }
}

fn class(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "same",
        Fate::Removed => "del",
        Fate::Added => "ins",
    }
}

/// A patch as `apply_patch` and `git` write it.
pub(super) fn patch(text: &str) -> Markup {
    let (text, rest) = cut(text);
    let lines: Vec<&str> = text.lines().collect();
    let class = |line: &str| match line.as_bytes() {
        [b'*' | b'@', ..] => "hunk",
        line if line.starts_with(b"+++ ") || line.starts_with(b"--- ") => "hunk",
        [b'+', ..] => "ins",
        [b'-', ..] => "del",
        _ => "same",
    };
    html! {
        pre.diff {
            @for run in lines[..lines.len().min(MAX_LINES)].chunk_by(|one, next| class(one) == class(next)) {
                span.(class(run[0])) { @for line in run { (line) "\n" } }
            }
        }
        @if lines.len() > MAX_LINES { p.note { "The rest of the patch is not shown." } }
        (more(rest))
    }
}
