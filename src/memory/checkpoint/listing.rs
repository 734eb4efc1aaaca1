//! Changes to INDEX.md: a row and a part come, go, or get another date.

use super::edit::{body_end, cell, newline, one_line, with_ends};
use super::index::{COLUMNS, Index, TITLE};
use super::outline::{Outline, plain};
use crate::trace::Time;

/// What stands where there is no checkpoint.
const NONE: &str = "_No active checkpoints._";

/// What a list is to say of a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) problem: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) status: &'a str,
}

fn day(at: Time) -> String {
    at.to_string()[..10].to_owned()
}

/// A text with what is said, or with what stands for nothing said yet.
fn said(text: &str) -> String {
    let line = one_line(text);
    if line.is_empty() { "to be written".to_owned() } else { line }
}

/// The list with one checkpoint more, in the place of what it may say of that already; a new list where there is none. `None`
/// if it has no table.
pub(crate) fn add(text: Option<&str>, listed: &Listed<'_>, at: Time) -> Option<String> {
    let empty = format!("# {TITLE}\n\n| {} |\n|------------|-------------|--------------|\n", COLUMNS.join(" | "));
    let text = &text.map_or(empty, |text| remove(text, listed.name));
    let end = newline(text);
    let outline = Outline::read(text, super::document::start_of(text));
    let table = outline.tables.first()?;
    let last = match table.rows.last() {
        Some(row) => row.span.end,
        None => text[..table.span.end].trim_end().len(),
    };
    let row = format!("{end}| {} | {} | {} |", cell(listed.name), cell(&said(listed.description)), day(at));
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
        listed.name,
        said(listed.problem),
        said(listed.scope),
        said(listed.status)
    );
    Some(changed + &with_ends(&part, end))
}

/// The text without its line that says that there is nothing.
fn without_note(text: &str) -> String {
    let is_note = |line: &str| line.trim().trim_matches(['_', '*']).eq_ignore_ascii_case("no active checkpoints.");
    let Some(line) = text.split_inclusive('\n').find(|line| is_note(line)) else { return text.to_owned() };
    let start = line.as_ptr().addr() - text.as_ptr().addr();
    let before = text[..start].trim_end_matches(['\n', '\r']);
    let end = newline(text);
    format!("{before}{end}{}", &text[start + line.len()..])
}

/// The list without a checkpoint; as it was where that is not in it.
pub(crate) fn remove(text: &str, name: &str) -> String {
    let index = Index::parse(text);
    let end = newline(text);
    let outline = Outline::read(text, super::document::start_of(text));
    let mut cuts = Vec::new();
    for (row, span) in &index.rows {
        if row == name {
            let line_end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            cuts.push(span.start..line_end);
        }
    }
    for (at, heading) in outline.headings.iter().enumerate() {
        if heading.level == 2 && plain(&heading.title) == name {
            // The rule before the part goes with it, and so do its blank lines.
            let start = body_end(text, 0, heading.span.start);
            let stop = outline.part_end(at, text.len());
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

/// The list with today's date in the row of a checkpoint; as it was where that is not in it.
pub(crate) fn touch(text: &str, name: &str, at: Time) -> String {
    let outline = Outline::read(text, super::document::start_of(text));
    let rows = outline.tables.first().map(|table| &table.rows[..]).unwrap_or_default();
    let row = rows.iter().find(|row| row.cells.len() == 3 && plain(&row.cells[0]) == name);
    let Some(row) = row else { return text.to_owned() };
    let line = &text[row.span.clone()];
    let date = &row.cells[2];
    match line.rfind(date.as_str()).filter(|_| !date.is_empty()) {
        Some(found) => {
            let start = row.span.start + found;
            format!("{}{}{}", &text[..start], day(at), &text[start + date.len()..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::checkpoint::validate_index;

    #[test]
    fn what_is_added_can_be_removed_again() {
        let at = "2026-02-10T09:00:00Z".parse().unwrap();
        let listed = |name| Listed { name, description: "a | b", problem: "p\nq", scope: "", status: "new" };
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
        assert!(touch(&two, "chk-b", later).contains("| chk-b | a \\| b | 2026-03-01 |"));
        assert_eq!(validate_index(two.replace('\n', "\r\n").as_bytes(), None), []);
        assert_eq!(remove(&two.replace('\n', "\r\n"), "chk-b"), one.replace('\n', "\r\n"));
    }
}
