//! A comparison as Markdown: a comment for a pull request, where hosts do not show what is not under `refs/heads/`.
//!
//! Whatever the items say, nothing of it is taken for Markdown, HTML, a mention or a link: texts stand in fences that are longer
//! than any run of backticks in them, and names in code spans.

use std::fmt::Write as _;

use super::content::{Body, Content};
use super::lines::LineDiff;
use super::{Diff, ItemDiff};
use crate::git::{Repo, short_oid};
use crate::trace::error::TraceError;
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::store::resolve::State;

/// How long it gets, in bytes: hosts refuse comments of more than 65,536 characters.
const MAX_LEN: usize = 60_000;

/// What stands in place of a text that does not fit.
const TOO_LONG: &str = "\nits text is too long to be shown here\n";

/// The comparison as Markdown, with `context` lines around what differs. What does not fit is said.
///
/// # Errors
///
/// [`crate::git::GitError::MissingObject`] and its kin.
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

/// How a state is called: by its trace's name where it is a tip, and by its commit.
fn name_of(state: &State) -> String {
    let oid = code(&short_oid(state.tip.commit.oid));
    match &state.refname {
        Some(refname) => format!("{} {oid}", code(refname.strip_prefix("refs/traces/").unwrap_or(refname))),
        None => oid,
    }
}

/// An item: what became of it, and the text that differs.
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

/// The hunks of a diff as git writes them, each line with its sign.
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

/// A text of others as a code span, in which nothing is taken for Markdown or a mention.
fn code(text: &str) -> String {
    let text = one_line(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A position; outside of a code span hosts take it for the number of an issue.
fn place(seq: u32) -> String {
    code(&format!("#{seq}"))
}

/// How long the longest run of backticks is.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_do_not_end_what_holds_them() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("`a` @x"), "`` `a` @x ``");
        assert_eq!(code("a``b\nc"), "```a``b c```");
        assert_eq!(longest_run("a```` ``b"), 4);
    }
}
