//! Edits of a checkpoint's text. Each edit keeps every other byte.

use std::ops::Range;

use super::markdown::{Markdown, line_at, plain, render_row, render_table};
use super::{Document, REFERENCE_COLUMNS, ReferenceKind};
use crate::base::string_enum::string_enum;
use crate::trace::Time;
use crate::trace::model::trailers::one_line;

/// Why a text cannot be edited, as shown to the user.
pub(crate) type Problem = String;

/// The line ending of a text.
fn newline(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Replaces a part of a text. In a text with CRLF, so has `new`.
pub(crate) fn splice(text: &str, span: Range<usize>, new: &str) -> String {
    let crlf = (newline(text) == "\r\n").then(|| new.replace("\r\n", "\n").replace('\n', "\r\n"));
    [&text[..span.start], crlf.as_deref().unwrap_or(new), &text[span.end..]].concat()
}

/// Appends to a text, on a separate line.
pub(crate) fn append(text: &str, new: &str) -> String {
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    splice(text, text.len()..text.len(), &format!("{gap}{new}"))
}

/// Sets a key of the frontmatter; `value` is YAML.
pub(crate) fn set_key(document: &Document<'_>, key: &str, value: &str) -> Result<String, Problem> {
    let text = document.text;
    let front = document.frontmatter.as_ref().map_err(|_| "it is not valid YAML".to_owned())?;
    let Some(at) = front.entries.iter().position(|entry| entry.key == key) else {
        let end = front.span.end;
        if text[front.span.clone()].trim_start().starts_with('{') {
            return Err("it is a YAML flow mapping (`{…}`)".to_owned());
        }
        return Ok(splice(text, end..end, &format!("{key}: {value}\n")));
    };
    let start = front.entries[at].span.start;
    let line = line_at(text, start);
    let next_start = front.entries.get(at + 1).map_or(front.span.end, |next| next.span.start);
    let rest = text.get(line.end..next_start).unwrap_or_default();
    let is_alone = !rest.is_empty() && rest.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let after_key = text[start..line.end].strip_prefix(key).map(str::trim_start);
    if line.start != start || !is_alone || after_key.is_none_or(|rest| !rest.starts_with(':')) {
        return Err(format!("`{key}` is not on a separate line"));
    }
    let old = &text[start..line.end];
    // In a quoted value, ` #` is text.
    let comment = old.find(" #").filter(|_| !old.contains(['"', '\''])).map_or("", |at| old[at..].trim_end());
    Ok(splice(text, line, &format!("{key}: {value}{comment}")))
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NewDelta {
    pub what_changed: String,
    pub artifacts: Vec<[String; 3]>,
    pub transitions: Vec<[String; 3]>,
}

pub(crate) fn append_delta(document: &Document<'_>, delta: &NewDelta, at: Time) -> Result<String, Problem> {
    let text = set_key(document, "last_delta", &at.to_string())?;
    let changed = without_headings(delta.what_changed.trim());
    let cells = |row: &[String; 3]| row.each_ref().map(|cell| one_line(cell));
    let in_code = |[file, action, text]: [String; 3]| [format!("`{file}`"), action, text];
    let artifacts: Vec<_> = delta.artifacts.iter().map(cells).map(in_code).collect();
    let artifacts = render_table(["File", "Action", "Description"], &artifacts);
    let mut added = format!("\n---\n\n## Delta: {at}\n\n### What Changed\n\n{changed}\n\n### Artifacts\n\n{artifacts}");
    if !delta.transitions.is_empty() {
        let transitions: Vec<_> = delta.transitions.iter().map(cells).collect();
        added += "\n### Status Transitions\n\n";
        added += &render_table(["Item", "Before", "After"], &transitions);
    }
    Ok(append(&text, &added))
}

/// The text with its headings as plain text: the sections of a checkpoint are ours to divide.
fn without_headings(text: &str) -> String {
    let mut escaped = text.to_owned();
    for heading in Markdown::parse(text, 0).headings.iter().rev() {
        let at = heading.span.start + text[heading.span.start..].find('#').unwrap_or_default();
        escaped.insert(at, '\\');
    }
    escaped
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Completion {
    pub outcome: String,
    pub learnings: String,
}

pub(crate) fn append_completion(document: &Document<'_>, completion: &Completion, at: Time) -> String {
    let (outcome, learnings) = (one_line(&completion.outcome), list_or_line(&completion.learnings));
    let added = format!(
        "\n---\n\n## Completion\n\n- **Status**: Archived\n- **Outcome**: {outcome}\n- **Learnings**:{learnings}\n\
         - **Date**: {at}\n"
    );
    append(document.text, &added)
}

/// Several items of a list become a list below the field, other text a line.
fn list_or_line(text: &str) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in text.trim().lines().map(str::trim) {
        match (line.strip_prefix("- ").or(line.strip_prefix("* ")), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(last)) => last.extend([" ", line]),
            (None, None) => break,
        }
    }
    if items.len() < 2 {
        return format!(" {}", one_line(text));
    }
    items.iter().flat_map(|item| ["\n  - ".to_owned(), one_line(item)]).collect()
}

string_enum! {
    RowChange {
        Added = "added",
        /// The row with this type and reference has a new hint.
        Updated = "updated",
        Kept = "kept",
    }
}

/// Adds a row to the Breadcrumbs table, or changes the hint of the row with this type and reference. Returns `None` if the
/// section Breadcrumbs exists but has no table with three columns.
pub(crate) fn put_breadcrumb(
    document: &Document<'_>,
    kind: ReferenceKind,
    reference: &str,
    hint: &str,
) -> Option<(String, RowChange)> {
    let text = document.text;
    let (reference, hint) = (one_line(reference), one_line(hint));
    let cell = match kind {
        ReferenceKind::File | ReferenceKind::Function => format!("`{reference}`"),
        ReferenceKind::Decision | ReferenceKind::External => reference.clone(),
    };
    let row = [kind.to_string(), cell, hint.clone()];
    let add = |at: usize, new: &str| Some((splice(text, at..at, new), RowChange::Added));
    // The line ending of the part ends the line before it.
    let add_part = |at: usize, part: &str| {
        let end = if text[at..].starts_with(newline(text)) { at + newline(text).len() } else { at };
        Some((splice(text, at..end, &format!("\n\n{part}")), RowChange::Added))
    };
    let table = render_table(REFERENCE_COLUMNS, std::slice::from_ref(&row));
    let Some(section) = document.essential("Breadcrumbs") else {
        let essential = document.section("Essential Information")?;
        return match document.part(&essential, "Play-By-Play") {
            Some(next) => add(next.head.start, &format!("### Breadcrumbs\n\n{table}\n")),
            None => {
                add_part(body_end(text, essential.head.end, essential.body.end), &format!("### Breadcrumbs\n\n{table}"))
            }
        };
    };
    let Some(found) = document.table(&section) else {
        let has_bars = document.body(&section).lines().any(|line| line.trim_start().starts_with('|'));
        return if has_bars { None } else { add_part(body_end(text, section.head.end, section.body.end), &table) };
    };
    if found.head.cells.len() != 3 {
        return None;
    }
    let mut known = document.breadcrumbs().into_iter();
    match known.find(|old| old.known_kind() == Some(kind) && old.reference == plain(&reference)) {
        Some(old) if old.hint == hint => Some((text.to_owned(), RowChange::Kept)),
        Some(old) => Some((splice(text, old.span, &render_row(&row)), RowChange::Updated)),
        None => add(found.end(text), &format!("\n{}", render_row(&row))),
    }
}

/// The end of a section's content, without trailing blank lines and without the rule before the next section.
pub(crate) fn body_end(text: &str, from: usize, to: usize) -> usize {
    let body = text[from..to].trim_end();
    let body = body.strip_suffix("---").filter(|rest| rest.ends_with('\n')).map_or(body, str::trim_end);
    from + body.len()
}
