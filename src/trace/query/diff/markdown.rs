//! A comparison as Markdown, for a comment on a pull request, because hosts show only refs under `refs/heads/`.
//!
//! No text of an item becomes Markdown, HTML, a mention, or a link: texts are in fences longer than any run of backticks in
//! them, and names are in code spans.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::content::{Body, Content};
use super::lines::LineDiff;
use super::{Diff, ItemDiff};
use crate::base::escape::escaped;
use crate::git::{Repo, short_oid};
use crate::trace::TraceError;
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::store::resolve::State;

/// The maximum size in bytes: hosts refuse comments of more than 65,536 characters.
pub(crate) const MAX_LEN: usize = 60_000;

const TOO_LONG: &str = "\nits text is too long to be shown here\n";

/// The comparison as Markdown, with `context` lines around each change, and a note about items that do not fit.
pub(crate) fn markdown(repo: &Repo, diff: &Diff, context: usize) -> Result<String, TraceError> {
    let before = diff.before.as_ref().map_or_else(|| "nothing".to_owned(), name_of);
    let mut page = format!("**Context**: {} ({before} → {})\n", diff.summary(), name_of(&diff.after));
    for (number, item) in diff.items.iter().enumerate() {
        let (heading, text) = section(repo, item, context)?;
        let left = MAX_LEN.saturating_sub(page.len());
        if heading.len() + TOO_LONG.len() > left {
            let rest = diff.items.len() - number;
            // Writing to a String cannot fail.
            let _ = write!(page, "\nand {rest} more; `git trace diff` shows them\n");
            break;
        }
        page.push_str(&heading);
        page.push_str(if heading.len() + text.len() > left { TOO_LONG } else { &text });
    }
    Ok(page)
}

/// The name of a state: the trace, if it is a tip, and the commit.
fn name_of(state: &State) -> String {
    let oid = code(&short_oid(state.tip.commit.oid));
    match &state.refname {
        Some(refname) => format!("{} {oid}", code(refname.strip_prefix("refs/traces/").unwrap_or(refname))),
        None => oid,
    }
}

/// The heading of an item, and its changed text.
fn section(repo: &Repo, item: &ItemDiff, context: usize) -> Result<(String, String), TraceError> {
    let sides = Content::read(repo, item)?;
    let (Some(slot), Some(shown)) = (item.entry(), sides.item()) else { return Ok((String::new(), String::new())) };
    let mut section = format!(
        "\n**{}** {} {} {}\n",
        item.changes().join(", "),
        place(slot.seq),
        code(&preview(shown)),
        code(&slot.id.to_string())
    );
    if let (true, Some(before), Some(after)) = (item.moved, &item.before, &item.after) {
        let _ = write!(section, "\nmoved: {} → {}\n", place(before.seq), place(after.seq));
    }
    if let Some((before, after)) = item.levels {
        let _ = write!(section, "\npriority: {before} → {after}\n");
    }
    let mut text = String::new();
    for (key, before, after) in sides.headers() {
        for (sign, value) in [('-', before), ('+', after)] {
            if let Some(value) = value {
                let _ = writeln!(text, "{sign}{key}: {}", one_line(&value));
            }
        }
    }
    match sides.body(context) {
        Body::Same => {}
        Body::Text(lines) => push_lines(&mut text, &lines, item.is_whole()),
        Body::Binary(before, after) => {
            let size = |len: Option<usize>| len.map_or_else(|| "none".to_owned(), |len| format!("{len} bytes"));
            let _ = write!(section, "\nbinary: {} → {}\n", size(before), size(after));
        }
    }
    if !text.is_empty() {
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        text = format!("\n{fence}diff\n{text}{fence}\n");
    }
    Ok((section, text))
}

fn push_lines(text: &mut String, lines: &LineDiff, whole: bool) {
    for hunk in &lines.hunks {
        let (old, new) = (hunk.old, hunk.new);
        if !whole {
            let _ = writeln!(text, "@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1);
        }
        for line in &hunk.lines {
            text.push(line.fate.sign());
            text.extend(line.parts.iter().map(|(_, part)| part.as_str()));
            text.push('\n');
            if lines.ends_differ && !line.ended {
                text.push_str("\\ No newline at end\n");
            }
        }
    }
}

/// A text as a code span, in which hosts interpret neither Markdown nor mentions.
pub(crate) fn code(text: &str) -> String {
    let text = one_line(text);
    // Without text, the backticks would be those of the next span.
    let text = if text.is_empty() { Cow::Borrowed(" ") } else { escaped(&text) };
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A position. Outside a code span, hosts would link it as an issue number.
fn place(seq: u32) -> String {
    code(&format!("#{seq}"))
}

/// The length of the longest run of backticks.
pub(crate) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
