//! A text as units, each with the name it is known by on all sides; together they are the text.

use crate::memory::checkpoint::document::Document;
use crate::memory::checkpoint::outline::{Outline, cells, plain};

/// A piece of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unit<'a> {
    /// What it is known by; unique within its list.
    pub(crate) key: String,
    /// How a piece that both sides changed is merged.
    pub(crate) kind: UnitKind,
    /// Its bytes, with the blank lines before it.
    pub(crate) text: &'a str,
}

/// What a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnitKind {
    /// The frontmatter with its fences.
    Front,
    /// A heading and what stands below it.
    Section,
    /// A table.
    Table,
    /// A list.
    List,
    /// A row of a table.
    Row,
    /// Anything else, and what is not divided further.
    Lines,
}

/// Cuts `text` before each of the starts, which are in order; the starts are moved up over the blank lines before them.
fn cut<'a>(text: &'a str, marks: Vec<(usize, String, UnitKind)>) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::with_capacity(marks.len());
    let mut counts = std::collections::HashMap::new();
    let mut from = 0;
    let mut open: Option<(String, UnitKind)> = None;
    let mut close = |units: &mut Vec<Unit<'a>>, open: Option<(String, UnitKind)>, from: usize, to: usize| {
        let (key, kind) = open.unwrap_or((String::new(), UnitKind::Lines));
        if from == to && key.is_empty() {
            return;
        }
        // What comes twice is known by its number too.
        let count = counts.entry(key.clone()).and_modify(|count| *count += 1).or_insert(0_usize);
        let key = if *count == 0 { key } else { format!("{key}\u{0}{count}") };
        units.push(Unit { key, kind, text: &text[from..to] });
    };
    for (start, key, kind) in marks {
        let start = blank_start(text, start).max(from);
        close(&mut units, open.replace((key, kind)), from, start);
        from = start;
    }
    close(&mut units, open, from, text.len());
    units
}

/// The start of the blank lines that end at `at`.
fn blank_start(text: &str, at: usize) -> usize {
    let mut start = at;
    while let Some(before) = text[..start].strip_suffix('\n') {
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        if !before[line..].trim().is_empty() {
            break;
        }
        start = line;
    }
    start
}

/// Where a heading starts, with a rule that stands alone before it.
fn with_rule(text: &str, at: usize) -> usize {
    let start = blank_start(text, at);
    let Some(before) = text[..start].strip_suffix('\n') else { return at };
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let is_after_blank = line == 0 || text[..line].ends_with("\n\n") || text[..line].ends_with("\n\r\n");
    if before[line..].trim_end() == "---" && is_after_blank { line } else { at }
}

/// A checkpoint, or a list of them: frontmatter, then a unit a heading. Deltas, and parts of a list, stay whole.
pub(crate) fn sections(text: &str) -> Vec<Unit<'_>> {
    let document = Document::parse(text);
    let mut marks = Vec::new();
    if let Ok(front) = &document.front {
        marks.push((0, "front".to_owned(), UnitKind::Front));
        marks.push((front.end, String::new(), UnitKind::Lines));
    }
    let mut above = String::new();
    let mut is_delta = false;
    for heading in &document.outline.headings {
        if heading.level <= 2 {
            above = format!("{} {}", heading.level, heading.title);
            is_delta = heading.title.starts_with("Delta:");
            marks.push((with_rule(text, heading.span.start), above.clone(), UnitKind::Section));
        } else if heading.level == 3 && !is_delta {
            marks.push((heading.span.start, format!("{above}\n3 {}", heading.title), UnitKind::Section));
        }
    }
    cut(text, marks)
}

/// A section: its heading, then tables, lists and what else there is, each known by its kind and number.
pub(crate) fn blocks(text: &str) -> Vec<Unit<'_>> {
    let outline = Outline::read(text, 0);
    let mut marks: Vec<_> =
        outline.headings.iter().map(|heading| (heading.span.start, "heading", UnitKind::Lines)).collect();
    for heading in &outline.headings {
        marks.push((line_end(text, heading.span.end), "text", UnitKind::Lines));
    }
    for table in &outline.tables {
        marks.push((line_start(text, table.span.start), "table", UnitKind::Table));
        let end = table.rows.last().map_or(table.span.end, |row| row.span.end);
        marks.push((line_end(text, end), "text", UnitKind::Lines));
    }
    let mut list: Option<usize> = None;
    for item in &outline.items {
        let end = line_end(text, trimmed_end(text, item.span.clone()));
        // Items with nothing but blank lines between them are one list.
        if list.is_none_or(|before| !text[before.min(item.span.start)..item.span.start].trim().is_empty()) {
            marks.push((line_start(text, item.span.start), "list", UnitKind::List));
        } else {
            marks.pop();
        }
        marks.push((end, "text", UnitKind::Lines));
        list = Some(end);
    }
    marks.sort_by_key(|mark| mark.0);
    let marks = marks.into_iter().map(|(at, key, kind)| (at, key.to_owned(), kind)).collect();
    let mut units = cut(text, marks);
    // Between two blocks there may be nothing at all.
    units.retain(|unit| !unit.text.is_empty());
    units
}

fn trimmed_end(text: &str, span: std::ops::Range<usize>) -> usize {
    span.start + text[span].trim_end().len()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The start of the line after the one that holds `at`.
fn line_end(text: &str, at: usize) -> usize {
    if at > 0 && text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// A table: its head, then a unit a row, known by what the row is about. Breadcrumbs are told apart by type and reference,
/// all else by the first cell.
pub(crate) fn rows(text: &str) -> Vec<Unit<'_>> {
    let outline = Outline::read(text, 0);
    let Some(table) = outline.tables.first() else { return lines(text) };
    let is_breadcrumbs = table.head.cells.first().is_some_and(|cell| cell.eq_ignore_ascii_case("Type"));
    let mut marks = vec![(0, "head".to_owned(), UnitKind::Lines)];
    for row in &table.rows {
        let cell = |at: usize| row.cells.get(at).map_or("", |cell| plain(cell));
        let key = if is_breadcrumbs { format!("{}\n{}", cell(0), cell(1)) } else { cell(0).to_owned() };
        marks.push((row.span.start, format!("row {key}"), UnitKind::Row));
    }
    cut(text, marks)
}

/// A list: a unit an item, known by its words without its box. What is nested in it is its own.
pub(crate) fn items(text: &str) -> Vec<Unit<'_>> {
    let outline = Outline::read(text, 0);
    let mark = |item: &super::super::outline::Item| {
        (line_start(text, item.span.start), format!("item {}", item.text.trim()), UnitKind::Lines)
    };
    cut(text, outline.items.iter().map(mark).collect())
}

/// The frontmatter: the fence, a unit a key, the fence.
pub(crate) fn keys(text: &str) -> Vec<Unit<'_>> {
    let document = Document::parse(text);
    let Ok(front) = &document.front else { return lines(text) };
    let mut marks = vec![(0, "open".to_owned(), UnitKind::Lines)];
    for entry in &front.entries {
        marks.push((line_start(text, entry.span.start), format!("key {}", entry.key), UnitKind::Lines));
    }
    marks.push((front.span.end, "close".to_owned(), UnitKind::Lines));
    marks.dedup_by_key(|mark| mark.0);
    cut(text, marks)
}

/// A text as one unit.
fn lines(text: &str) -> Vec<Unit<'_>> {
    vec![Unit { key: "lines".to_owned(), kind: UnitKind::Lines, text }]
}

/// The cells of a row.
pub(crate) fn row_cells(text: &str) -> Vec<String> {
    cells(text.trim_matches(['\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_text() {
        let text = "---\na: b\n---\n\n# T\n\nx\n\n## A\n\n- one\n- two\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n\
                    ## Delta: 1\n\n### What Changed\n\ny\n";
        let units = sections(text);
        let joined: String = units.iter().map(|unit| unit.text).collect();
        assert_eq!(joined, text);
        let keys: Vec<_> = units.iter().map(|unit| &*unit.key).collect();
        assert_eq!(keys, ["front", "1 T", "2 A", "2 Delta: 1"]);
        assert_eq!(units[3].text, "\n---\n\n## Delta: 1\n\n### What Changed\n\ny\n");
        let blocks = blocks(units[2].text);
        let shown: Vec<_> = blocks.iter().map(|unit| (&*unit.key, unit.text)).collect();
        assert_eq!(
            shown,
            [
                ("heading", "\n## A\n"),
                ("list", "\n- one\n- two\n"),
                ("text\u{0}1", "\nwords\n"),
                ("table", "\n| a | b |\n|---|---|\n| 1 | 2 |\n")
            ]
        );
    }
}
