//! The outline of a Markdown text: headings, tables, list items and paragraphs, each with where it stands.
//!
//! Only what stands at the top level counts: what is quoted, nested in a list, fenced or commented out is content. A heading
//! is one that starts with `#`; a line underlined with dashes is a paragraph before a rule here, as people mean it.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a text is made of, in the order it stands in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outline {
    /// Headings.
    pub headings: Vec<Heading>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Items of lists, without those nested in them.
    pub items: Vec<Item>,
    /// Paragraphs.
    pub paragraphs: Vec<Range<usize>>,
    /// Code blocks, fenced or indented, at any level.
    pub code: Vec<Range<usize>>,
}

/// A heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heading {
    /// How many `#` it has.
    pub level: u8,
    /// Its text as written, without the signs around.
    pub title: String,
    /// Its line.
    pub span: Range<usize>,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    /// All of it.
    pub span: Range<usize>,
    /// The names of its columns.
    pub head: Row,
    /// What stands below the line of dashes.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// Its line without the line end.
    pub span: Range<usize>,
    /// Its cells as written, trimmed; as many as there are, which need not be as many as there are columns.
    pub cells: Vec<String>,
}

/// An item of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    /// All of it, with what is nested in it.
    pub span: Range<usize>,
    /// Whether its box is ticked, where it has one.
    pub checked: Option<bool>,
    /// Its first paragraph, on one line.
    pub text: String,
}

impl Outline {
    /// Reads the outline of `text` from the byte `from` on; spans are those of the whole text.
    #[must_use]
    pub(crate) fn read(text: &str, from: usize) -> Self {
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        let events = Parser::new_ext(&text[from..], options).into_offset_iter();
        let mut reader = Reader { text, outline: Self::default(), depth: 0, item: None, in_item_text: false };
        for (event, span) in events {
            reader.take(&event, span.start + from..span.end + from);
        }
        reader.outline
    }

    /// Where the part that a heading opens ends: at the next heading of its level or above it.
    #[must_use]
    pub(crate) fn part_end(&self, heading: usize, text_len: usize) -> usize {
        let level = self.headings[heading].level;
        let next = self.headings[heading + 1..].iter().find(|other| other.level <= level);
        next.map_or(text_len, |next| next.span.start)
    }
}

struct Reader<'t> {
    text: &'t str,
    outline: Outline,
    /// How many blocks are open around.
    depth: usize,
    /// The item at the top level that is open, and how deep it is.
    item: Option<(Item, usize)>,
    /// Whether text belongs to the first paragraph of that item.
    in_item_text: bool,
}

impl Reader<'_> {
    fn take(&mut self, event: &Event<'_>, span: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(tag, span),
            Event::End(end) => self.close(*end),
            Event::TaskListMarker(checked) => {
                if let Some((item, _)) = self.item.as_mut().filter(|(_, depth)| *depth + 1 >= self.depth) {
                    item.checked = Some(*checked);
                }
            }
            Event::Text(words) | Event::Code(words) | Event::InlineHtml(words) if self.in_item_text => {
                if let Some((item, _)) = &mut self.item {
                    item.text.push_str(words);
                }
            }
            Event::SoftBreak | Event::HardBreak if self.in_item_text => {
                if let Some((item, _)) = &mut self.item {
                    item.text.push(' ');
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, span: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } if self.depth == 0 => {
                let line = line_at(self.text, span.start);
                let written = self.text[line.clone()].trim();
                if written.starts_with('#') {
                    let title = written.trim_start_matches('#').trim();
                    let without = title.trim_end_matches('#');
                    // A closing sequence stands behind a space.
                    let title =
                        if without.is_empty() || without.ends_with([' ', '\t']) { without.trim() } else { title };
                    self.outline.headings.push(Heading { level: *level as u8, title: title.to_owned(), span: line });
                } else {
                    self.outline.paragraphs.push(span);
                }
            }
            Tag::Paragraph if self.depth == 0 => self.outline.paragraphs.push(span),
            Tag::Table(_) if self.depth == 0 => {
                let head = Row { span: span.start..span.start, cells: Vec::new() };
                self.outline.tables.push(Table { span, head, rows: Vec::new() });
            }
            Tag::TableHead if self.depth == 1 => {
                let row = self.row(span.start);
                if let Some(table) = self.outline.tables.last_mut() {
                    table.head = row;
                }
            }
            Tag::TableRow if self.depth == 1 => {
                let row = self.row(span.start);
                if let Some(table) = self.outline.tables.last_mut() {
                    table.rows.push(row);
                }
            }
            Tag::Item if self.depth == 1 => {
                self.item = Some((Item { span, checked: None, text: String::new() }, self.depth));
                self.in_item_text = true;
            }
            Tag::CodeBlock(_) => {
                self.outline.code.push(span);
                self.in_item_text = false;
            }
            Tag::List(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => self.in_item_text = false,
            _ => {}
        }
        self.depth += 1;
    }

    fn close(&mut self, end: TagEnd) {
        self.depth = self.depth.saturating_sub(1);
        match end {
            TagEnd::Paragraph => self.in_item_text = false,
            TagEnd::Item if self.depth == 1 => {
                self.outline.items.extend(self.item.take().map(|(item, _)| item));
                self.in_item_text = false;
            }
            _ => {}
        }
    }

    /// The row whose line holds the byte at `at`.
    fn row(&self, at: usize) -> Row {
        let span = line_at(self.text, at);
        let cells = cells(&self.text[span.clone()]);
        Row { span, cells }
    }
}

/// The line that holds the byte at `at`, without its end.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let end = if text[start..end].ends_with('\r') { end - 1 } else { end };
    start..end
}

/// Splits a row at the bars that are not escaped.
///
/// The Markdown reader cuts rows to the width of the head; how many cells a row has is told by its line alone.
#[must_use]
pub(crate) fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.chars() {
        match c {
            '|' if !escaped => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    if c == '|' {
                        cell.pop();
                    }
                    cell.push(c);
                }
            }
        }
        escaped = c == '\\' && !escaped;
    }
    // The bar at the end closes the last cell.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// What a cell says, without code marks, emphasis or the brackets of an address.
#[must_use]
pub(crate) fn plain(cell: &str) -> &str {
    let mut plain = cell.trim();
    for (open, close) in [("**", "**"), ("``", "``"), ("`", "`"), ("<", ">")] {
        let inner = plain.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            plain = inner.trim();
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_at_the_top_counts() {
        let text = "# A\n\n```\n## fenced\n```\n\n~~~md\n## tilde\n```\n## still\n~~~\n\n> ## quoted\n\n- ## item\n\n\
                    <!--\n## comment\n-->\n\n    ## indented\n\nunderlined\n---\n\n## B ##\n### C#\r\n####### no\n";
        let outline = Outline::read(text, 0);
        let titles: Vec<_> = outline.headings.iter().map(|heading| (heading.level, &*heading.title)).collect();
        assert_eq!(titles, [(1, "A"), (2, "B"), (3, "C#")]);
    }

    #[test]
    fn rows_have_the_cells_of_their_line() {
        let text = "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| x \\| y |\n|  | |\n";
        let outline = Outline::read(text, 0);
        let rows: Vec<_> = outline.tables[0].rows.iter().map(|row| row.cells.clone()).collect();
        assert_eq!(outline.tables[0].head.cells, ["a", "b"]);
        assert_eq!(rows, [vec!["1", "2", "3"], vec!["x | y"], vec!["", ""]]);
        assert_eq!(plain("`a/b.rs`"), "a/b.rs");
        assert_eq!(plain("<https://a.b>"), "https://a.b");
        assert_eq!(plain("`"), "`");
    }

    #[test]
    fn items_know_their_boxes_and_their_words() {
        let text = "- [x] **Done** `it`\n- [ ] open\n  - [x] nested\n- plain\n\n1. first\n   more\n\n2. second\n";
        let outline = Outline::read(text, 0);
        let items: Vec<_> = outline.items.iter().map(|item| (item.checked, &*item.text)).collect();
        assert_eq!(
            items,
            [(Some(true), "Done it"), (Some(false), "open"), (None, "plain"), (None, "first more"), (None, "second")]
        );
    }
}
