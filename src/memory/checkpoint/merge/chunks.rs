//! A text as chunks. A key identifies each chunk in all versions, and the chunks concatenate to the text.

use std::collections::{HashMap, HashSet};

use crate::memory::checkpoint::document::Document;
use crate::memory::checkpoint::document::markdown::{ListItem, Markdown, line_at, plain};

/// A part of a text, with the blank lines before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) key: String,
    pub(crate) kind: ChunkKind,
    pub(crate) text: &'a str,
}

/// How to merge a chunk that both sides changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChunkKind {
    Frontmatter,
    Section,
    Table,
    List,
    TableRow,
    Lines,
}

/// Splits `text` before each mark; the marks are in order and are moved up over blank lines before them.
fn cut(text: &str, mut marks: Vec<(usize, String, ChunkKind)>) -> Vec<Chunk<'_>> {
    marks.insert(0, (0, String::new(), ChunkKind::Lines));
    let mut from = 0;
    for (start, ..) in &mut marks {
        from = blank_start(text, *start).max(from);
        *start = from;
    }
    let ends: Vec<_> = marks.iter().skip(1).map(|mark| mark.0).chain([text.len()]).collect();
    let mut counts = HashMap::new();
    let chunk = |((start, key, kind), end): ((usize, String, ChunkKind), usize)| {
        if start == end && key.is_empty() {
            return None;
        }
        // Duplicate keys are numbered.
        let count = counts.entry(key.clone()).and_modify(|count| *count += 1).or_insert(0_usize);
        let key = if *count == 0 { key } else { format!("{key}\u{0}{count}") };
        Some(Chunk { key, kind, text: &text[start..end] })
    };
    marks.into_iter().zip(ends).filter_map(chunk).collect()
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

/// The start of a heading, including a rule before it.
fn with_rule(text: &str, at: usize) -> usize {
    let start = blank_start(text, at);
    let Some(before) = text[..start].strip_suffix('\n') else { return at };
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let is_after_blank = line == 0 || text[..line].ends_with("\n\n") || text[..line].ends_with("\n\r\n");
    if before[line..].trim_end() == "---" && is_after_blank { line } else { at }
}

/// Splits a checkpoint or an index: the frontmatter, then one chunk per heading. Deltas are not split.
pub(crate) fn sections(text: &str) -> Vec<Chunk<'_>> {
    let document = Document::parse(text);
    let mut marks = Vec::new();
    if let Ok(front) = &document.frontmatter {
        marks.push((0, "front".to_owned(), ChunkKind::Frontmatter));
        marks.push((front.end, String::new(), ChunkKind::Lines));
    }
    let mut above = String::new();
    let mut is_delta = false;
    for heading in &document.markdown.headings {
        if heading.level <= 2 {
            above = format!("{} {}", heading.level, heading.title);
            is_delta = heading.title.starts_with("Delta:");
            marks.push((with_rule(text, heading.span.start), above.clone(), ChunkKind::Section));
        } else if heading.level == 3 && !is_delta {
            marks.push((heading.span.start, format!("{above}\n3 {}", heading.title), ChunkKind::Section));
        }
    }
    let mut chunks = cut(text, marks);
    // Their texts distinguish deltas of one second.
    let is_delta = |chunk: &&Chunk<'_>| chunk.key.starts_with(DELTA);
    let numbered = chunks.iter().filter(is_delta).filter(|chunk| chunk.key.contains('\u{0}'));
    let doubled: HashSet<String> = numbered.map(|chunk| unnumbered(&chunk.key).to_owned()).collect();
    for chunk in chunks.iter_mut().filter(|chunk| doubled.contains(unnumbered(&chunk.key))) {
        chunk.key = format!("{}\u{0}{}", unnumbered(&chunk.key), chunk.text.trim());
    }
    chunks
}

/// How the key of a delta begins, before its time.
pub(super) const DELTA: &str = "2 Delta:";

/// A key without what distinguishes it from others of the same name.
pub(super) fn unnumbered(key: &str) -> &str {
    key.split('\u{0}').next().unwrap_or_default()
}

/// Splits a section into its heading, tables, lists, and other text, identified by kind and number.
pub(crate) fn blocks(text: &str) -> Vec<Chunk<'_>> {
    let markdown = Markdown::parse(text, 0);
    let mut marks: Vec<_> =
        markdown.headings.iter().map(|heading| (heading.span.start, "heading", ChunkKind::Lines)).collect();
    for heading in &markdown.headings {
        marks.push((line_end(text, heading.span.end), "text", ChunkKind::Lines));
    }
    for table in &markdown.tables {
        marks.push((line_at(text, table.span.start).start, "table", ChunkKind::Table));
        marks.push((line_end(text, table.end(text)), "text", ChunkKind::Lines));
    }
    let mut list: Option<usize> = None;
    for item in &markdown.items {
        let end = line_end(text, item.span.start + text[item.span.clone()].trim_end().len());
        // Items that are separated only by blank lines form one list.
        if list.is_none_or(|before| !text[before.min(item.span.start)..item.span.start].trim().is_empty()) {
            marks.push((line_at(text, item.span.start).start, "list", ChunkKind::List));
        } else {
            marks.pop();
        }
        marks.push((end, "text", ChunkKind::Lines));
        list = Some(end);
    }
    marks.sort_by_key(|mark| mark.0);
    let marks = marks.into_iter().map(|(at, key, kind)| (at, key.to_owned(), kind)).collect();
    let mut chunks = cut(text, marks);
    // There may be no text between two blocks.
    chunks.retain(|chunk| !chunk.text.is_empty());
    chunks
}

/// The start of the line after the one that contains `at`.
fn line_end(text: &str, at: usize) -> usize {
    if at > 0 && text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Splits a table into its header and rows. Breadcrumbs are identified by type and reference, other rows by the first cell.
pub(crate) fn rows(text: &str) -> Vec<Chunk<'_>> {
    let markdown = Markdown::parse(text, 0);
    let Some(table) = markdown.tables.first() else { return lines(text) };
    let is_breadcrumbs = table.head.cells.first().is_some_and(|cell| cell.eq_ignore_ascii_case("Type"));
    let mut marks = vec![(0, "head".to_owned(), ChunkKind::Lines)];
    for row in &table.rows {
        let cell = |at: usize| row.cells.get(at).map_or("", |cell| plain(cell));
        let key = if is_breadcrumbs { format!("{}\n{}", cell(0), cell(1)) } else { cell(0).to_owned() };
        marks.push((row.span.start, format!("row {key}"), ChunkKind::TableRow));
    }
    cut(text, marks)
}

/// Splits a list into items, identified by their text without the checkbox. Nested items belong to their parent.
pub(crate) fn items(text: &str) -> Vec<Chunk<'_>> {
    let markdown = Markdown::parse(text, 0);
    let mark = |item: &ListItem| {
        (line_at(text, item.span.start).start, format!("item {}", item.text.trim()), ChunkKind::Lines)
    };
    cut(text, markdown.items.iter().map(mark).collect())
}

pub(crate) fn keys(text: &str) -> Vec<Chunk<'_>> {
    let document = Document::parse(text);
    let Ok(front) = &document.frontmatter else { return lines(text) };
    let mut marks = vec![(0, "open".to_owned(), ChunkKind::Lines)];
    for entry in &front.entries {
        marks.push((line_at(text, entry.span.start).start, format!("key {}", entry.key), ChunkKind::Lines));
    }
    marks.push((front.span.end, "close".to_owned(), ChunkKind::Lines));
    marks.dedup_by_key(|mark| mark.0);
    cut(text, marks)
}

fn lines(text: &str) -> Vec<Chunk<'_>> {
    vec![Chunk { key: "lines".to_owned(), kind: ChunkKind::Lines, text }]
}
