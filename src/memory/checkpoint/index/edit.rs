//! Edits of INDEX.md: adding, removing, and dating the row and the section of a checkpoint.

use super::{COLUMNS, Index, TITLE};
use crate::memory::checkpoint::document::edit::{body_end, cell, newline, one_line, with_ends};
use crate::memory::checkpoint::document::markdown::{Markdown, plain};
use crate::memory::checkpoint::document::start_of;
use crate::trace::Time;

const NONE: &str = "_No active checkpoints._";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) problem: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) status: &'a str,
}

fn format_date(at: Time) -> String {
    at.to_string()[..10].to_owned()
}

/// A text on one line, or a placeholder for an empty one.
fn or_placeholder(text: &str) -> String {
    let line = one_line(text);
    if line.is_empty() { "to be written".to_owned() } else { line }
}

/// Adds or replaces a checkpoint; creates the index if there is none. Returns `None` if the index has no table.
pub(crate) fn add(text: Option<&str>, entry: &IndexEntry<'_>, at: Time) -> Option<String> {
    let empty = format!("# {TITLE}\n\n| {} |\n|------------|-------------|--------------|\n", COLUMNS.join(" | "));
    let text = &text.map_or(empty, |text| remove(text, entry.name));
    let end = newline(text);
    let markdown = Markdown::parse(text, start_of(text));
    let table = markdown.tables.first()?;
    let last = match table.rows.last() {
        Some(row) => row.span.end,
        None => text[..table.span.end].trim_end().len(),
    };
    let row =
        format!("{end}| {} | {} | {} |", cell(entry.name), cell(&or_placeholder(entry.description)), format_date(at));
    let mut after = text[last..].to_owned();
    if table.rows.is_empty() {
        after = without_note(&after);
    }
    let mut changed = format!("{}{row}{after}", &text[..last]);
    if !changed.ends_with('\n') {
        changed += end;
    }
    let part = format!(
        "\n---\n\n## {}\n\n**Problem**: {}\n\n**Scope**: {}\n\n**Status**: {}\n",
        entry.name,
        or_placeholder(entry.problem),
        or_placeholder(entry.scope),
        or_placeholder(entry.status)
    );
    Some(changed + &with_ends(&part, end))
}

/// Removes the note that there are no checkpoints.
fn without_note(text: &str) -> String {
    let is_note = |line: &str| line.trim().trim_matches(['_', '*']).eq_ignore_ascii_case("no active checkpoints.");
    let Some(line) = text.split_inclusive('\n').find(|line| is_note(line)) else { return text.to_owned() };
    let start = line.as_ptr().addr() - text.as_ptr().addr();
    let before = text[..start].trim_end_matches(['\n', '\r']);
    let end = newline(text);
    format!("{before}{end}{}", &text[start + line.len()..])
}

/// Removes the rows and sections of a checkpoint.
pub(crate) fn remove(text: &str, name: &str) -> String {
    let index = Index::parse(text);
    let end = newline(text);
    let markdown = Markdown::parse(text, start_of(text));
    let mut cuts = Vec::new();
    for (row, span) in &index.rows {
        if row == name {
            let line_end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            cuts.push(span.start..line_end);
        }
    }
    for (at, heading) in markdown.headings.iter().enumerate() {
        if heading.level == 2 && plain(&heading.title) == name {
            // The rule and the blank lines before a section are removed with it.
            let start = body_end(text, 0, heading.span.start);
            let stop = markdown.section_end(at, text.len());
            let stop = if stop < text.len() { body_end(text, heading.span.end, stop) } else { text.trim_end().len() };
            cuts.push(start..stop.max(heading.span.end));
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for cut in &cuts {
        kept.push_str(&text[from..cut.start.max(from)]);
        from = cut.end.max(from);
    }
    kept.push_str(&text[from..]);
    if cuts.is_empty() || !Index::parse(&kept).rows.is_empty() {
        return kept;
    }
    let head = kept.trim_end_matches(['\n', '\r']).len();
    kept.truncate(head);
    kept + end + end + NONE + end
}

/// Sets the date in the row of a checkpoint.
pub(crate) fn set_date(text: &str, name: &str, at: Time) -> String {
    let markdown = Markdown::parse(text, start_of(text));
    let rows = markdown.tables.first().map(|table| &table.rows[..]).unwrap_or_default();
    let row = rows.iter().find(|row| row.cells.len() == 3 && plain(&row.cells[0]) == name);
    let Some(row) = row else { return text.to_owned() };
    let line = &text[row.span.clone()];
    let date = &row.cells[2];
    match line.rfind(date.as_str()).filter(|_| !date.is_empty()) {
        Some(found) => {
            let start = row.span.start + found;
            format!("{}{}{}", &text[..start], format_date(at), &text[start + date.len()..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::checkpoint::validate_index;

    #[test]
    fn removing_undoes_adding() {
        let at = "2026-02-10T09:00:00Z".parse().unwrap();
        let listed = |name| IndexEntry { name, description: "a | b", problem: "p\nq", scope: "", status: "new" };
        let one = add(None, &listed("chk-a"), at).unwrap();
        let two = add(Some(&one), &listed("chk-b"), at).unwrap();
        assert_eq!(validate_index(two.as_bytes(), None), []);
        assert_eq!(remove(&two, "chk-b"), one);
        assert_eq!(add(Some(&two), &listed("chk-b"), at).unwrap(), two, "what was added already is so once");
        assert_eq!(add(Some(&one), &listed("chk-a"), at).unwrap(), one);
        let empty = remove(&one, "chk-a");
        assert_eq!(validate_index(empty.as_bytes(), None), []);
        assert_eq!(add(Some(&empty), &listed("chk-a"), at).unwrap(), one);
        let other = remove(&two, "chk-a");
        assert_eq!(validate_index(other.as_bytes(), None), []);
        assert!(!other.contains("chk-a"));
        assert_eq!(remove(&one, "chk-z"), one);
        let later = "2026-03-01T00:00:00Z".parse().unwrap();
        assert!(set_date(&two, "chk-b", later).contains("| chk-b | a \\| b | 2026-03-01 |"));
        assert_eq!(validate_index(two.replace('\n', "\r\n").as_bytes(), None), []);
        assert_eq!(remove(&two.replace('\n', "\r\n"), "chk-b"), one.replace('\n', "\r\n"));
    }
}
