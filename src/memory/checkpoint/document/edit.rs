//! Edits of a checkpoint's text. Each edit keeps every other byte.

use super::markdown::plain;
use super::{Document, ReferenceKind};
use crate::trace::Time;

/// Why a text cannot be edited, as shown to the user.
pub(crate) type Problem = String;

/// The line ending of a text.
pub(crate) fn newline(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Joins all words and lines with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Escapes a text for a table cell.
pub(crate) fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

/// Sets a key of the frontmatter; `value` is YAML.
pub(crate) fn set_key(document: &Document<'_>, key: &str, value: &str) -> Result<String, Problem> {
    let text = document.text;
    let front = document.frontmatter.as_ref().map_err(|_| "it is not valid YAML".to_owned())?;
    let Some(at) = front.entries.iter().position(|entry| entry.key == key) else {
        let is_flow = text[front.span.clone()].trim_start().starts_with('{');
        if is_flow {
            return Err("it is a YAML flow mapping (`{…}`)".to_owned());
        }
        let end = newline(text);
        return Ok(format!("{}{key}: {value}{end}{}", &text[..front.span.end], &text[front.span.end..]));
    };
    let start = front.entries[at].span.start;
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let region_end = front.entries.get(at + 1).map_or(front.span.end, |next| next.span.start);
    let line_end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    let rest_is_empty = region_end <= line_end + 1
        || text[line_end..region_end].lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let after_key = text[start..line_end].strip_prefix(key).map(str::trim_start);
    if line_start != start
        || !rest_is_empty
        || region_end <= line_end
        || after_key.is_none_or(|rest| !rest.starts_with(':'))
    {
        return Err(format!("`{key}` is not on a line of its own"));
    }
    let line_end = if text[..line_end].ends_with('\r') { line_end - 1 } else { line_end };
    Ok(format!("{}{key}: {value}{}", &text[..start], &text[line_end..]))
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NewDelta {
    pub what_changed: String,
    pub artifacts: Vec<[String; 3]>,
    pub transitions: Vec<[String; 3]>,
}

/// Appends a delta and sets `last_delta`.
pub(crate) fn append_delta(document: &Document<'_>, delta: &NewDelta, at: Time) -> Result<String, Problem> {
    let mut text = set_key(document, "last_delta", &at.to_string())?;
    let end = newline(&text);
    let mut added =
        format!("\n---\n\n## Delta: {at}\n\n### What Changed\n\n{}\n\n### Artifacts\n\n", delta.what_changed.trim());
    added += "| File | Action | Description |\n|------|--------|-------------|\n";
    for [file, action, description] in &delta.artifacts {
        added.extend(["| `", &cell(file), "` | ", &cell(action), " | ", &cell(description), " |\n"]);
    }
    if !delta.transitions.is_empty() {
        added += "\n### Status Transitions\n\n| Item | Before | After |\n|------|--------|-------|\n";
        for [item, before, after] in &delta.transitions {
            added.extend(["| ", &cell(item), " | ", &cell(before), " | ", &cell(after), " |\n"]);
        }
    }
    if !text.ends_with('\n') {
        text += end;
    }
    text += &with_ends(&added, end);
    Ok(text)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Completion {
    pub outcome: String,
    pub learnings: String,
}

/// Appends the section Completion.
pub(crate) fn append_completion(document: &Document<'_>, completion: &Completion, at: Time) -> String {
    let mut text = document.text.to_owned();
    let end = newline(&text);
    if !text.ends_with('\n') {
        text += end;
    }
    let (outcome, learnings) = (one_line(&completion.outcome), one_line(&completion.learnings));
    text += &with_ends(
        &format!(
            "\n---\n\n## Completion\n\n- **Status**: Archived\n- **Outcome**: {outcome}\n- **Learnings**: {learnings}\n\
             - **Date**: {at}\n"
        ),
        end,
    );
    text
}

/// Converts the line endings of a generated text.
pub(crate) fn with_ends(text: &str, end: &str) -> String {
    if end == "\n" { text.to_owned() } else { text.replace("\r\n", "\n").replace('\n', end) }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowChange {
    Added,
    /// The row with this type and reference has a new hint.
    Updated,
    Kept,
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
    let end = newline(text);
    let (shown, hint) = (cell(reference), cell(hint));
    let shown = match kind {
        ReferenceKind::File | ReferenceKind::Function => format!("`{shown}`"),
        ReferenceKind::Decision | ReferenceKind::External => shown,
    };
    let row = format!("| {kind} | {shown} | {hint} |");
    let table_text = format!("| Type | Reference | Hint |{end}|------|-----------|------|{end}{row}{end}");
    if let Some(section) = document.essential("Breadcrumbs") {
        if let Some(table) = document.table(&section) {
            if table.head.cells.len() != 3 {
                return None;
            }
            let same = document
                .breadcrumbs()
                .into_iter()
                .find(|old| old.known_kind() == Some(kind) && old.reference == plain(&one_line(reference)));
            if let Some(old) = same {
                if old.hint == hint.replace("\\|", "|") {
                    return Some((text.to_owned(), RowChange::Kept));
                }
                let changed = format!("{}{row}{}", &text[..old.span.start], &text[old.span.end..]);
                return Some((changed, RowChange::Updated));
            }
            let last = table.rows.last().map_or_else(|| line_after(text, table.head.span.end), |row| row.span.end);
            let changed = format!("{}{end}{row}{}", &text[..last], &text[last..]);
            return Some((changed, RowChange::Added));
        }
        if document.body(&section).lines().any(|line| line.trim_start().starts_with('|')) {
            return None;
        }
        let at = body_end(text, section.head.end, section.body.end);
        let changed =
            format!("{}{end}{end}{table_text}{}", &text[..at], text[at..].strip_prefix(end).unwrap_or(&text[at..]));
        return Some((changed, RowChange::Added));
    }
    let essential = document.section("Essential Information")?;
    let changed = if let Some(next) = document.part(&essential, "Play-By-Play") {
        let (before, after) = text.split_at(next.head.start);
        format!("{before}### Breadcrumbs{end}{end}{table_text}{end}{after}")
    } else {
        let (before, after) = text.split_at(body_end(text, essential.head.end, essential.body.end));
        let after = after.strip_prefix(end).unwrap_or(after);
        format!("{before}{end}{end}### Breadcrumbs{end}{end}{table_text}{after}")
    };
    Some((changed, RowChange::Added))
}

/// The end of the line after the one that contains `at`.
fn line_after(text: &str, at: usize) -> usize {
    let next = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let end = text[next..].find('\n').map_or(text.len(), |end| next + end);
    if text[..end].ends_with('\r') { end - 1 } else { end }
}

/// The end of a section's content, without trailing blank lines and without the rule before the next section.
pub(crate) fn body_end(text: &str, from: usize, to: usize) -> usize {
    let body = text[from..to].trim_end();
    let body = body.strip_suffix("---").filter(|rest| rest.ends_with('\n')).map_or(body, str::trim_end);
    from + body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_key_changes_nothing_else() {
        let cases = [
            ("---\na: b\nstatus: active # why\nc: d\n---\nx", "---\na: b\nstatus: current\nc: d\n---\nx"),
            ("---\r\na: b\r\nstatus: active\r\n---\r\nx", "---\r\na: b\r\nstatus: current\r\n---\r\nx"),
            ("---\na: b\n---\nstatus: x", "---\na: b\nstatus: current\n---\nstatus: x"),
            ("---\nstatus:\n# note\n---\n", "---\nstatus: current\n# note\n---\n"),
        ];
        for (before, after) in cases {
            assert_eq!(set_key(&Document::parse(before), "status", "current").as_deref(), Ok(after), "{before:?}");
        }
        for bad in [
            "---\n{status: active}\n---\n",
            "---\n{a: b}\n---\n",
            "---\nstatus:\n  active\n---\n",
            "---\n- a\n---\n",
            "x",
        ] {
            assert!(set_key(&Document::parse(bad), "status", "current").is_err(), "{bad:?}");
        }
    }
}
