//! The top-level blocks of a Markdown text with their spans: headings, tables, list items, paragraphs, and code.
//!
//! Quoted, nested, fenced, and commented blocks are content of the block around them. Only lines that start with `#` are
//! headings: people who write dashes below a line mean a paragraph and a rule.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The blocks of a text, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Markdown {
    pub headings: Vec<Heading>,
    pub tables: Vec<Table>,
    pub items: Vec<ListItem>,
    pub paragraphs: Vec<Range<usize>>,
    pub code: Vec<Range<usize>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heading {
    pub level: u8,
    pub title: String,
    pub span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    pub span: Range<usize>,
    pub head: TableRow,
    pub rows: Vec<TableRow>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TableRow {
    pub span: Range<usize>,
    /// As written, trimmed; not necessarily as many as there are columns.
    pub cells: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListItem {
    pub span: Range<usize>,
    pub checked: Option<bool>,
    pub text: String,
}

impl Markdown {
    /// Parses `text` from the byte `from` on; spans refer to all of `text`.
    pub(crate) fn parse(text: &str, from: usize) -> Self {
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        let events = Parser::new_ext(&text[from..], options).into_offset_iter();
        let mut reader = Reader { text, markdown: Self::default(), depth: 0, item: None, in_item_text: false };
        for (event, span) in events {
            reader.take(&event, span.start + from..span.end + from);
        }
        reader.markdown
    }

    /// The end of the section of a heading: the next heading of the same or a higher level.
    pub(crate) fn section_end(&self, heading: usize, text_len: usize) -> usize {
        let level = self.headings[heading].level;
        let next = self.headings[heading + 1..].iter().find(|other| other.level <= level);
        next.map_or(text_len, |next| next.span.start)
    }
}

struct Reader<'t> {
    text: &'t str,
    markdown: Markdown,
    depth: usize,
    item: Option<(ListItem, usize)>,
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
                    // A closing align of `#` follows a space.
                    let title =
                        if without.is_empty() || without.ends_with([' ', '\t']) { without.trim() } else { title };
                    self.markdown.headings.push(Heading { level: *level as u8, title: title.to_owned(), span: line });
                } else {
                    self.markdown.paragraphs.push(span);
                }
            }
            Tag::Paragraph if self.depth == 0 => self.markdown.paragraphs.push(span),
            Tag::Table(_) if self.depth == 0 => {
                let head = TableRow { span: span.start..span.start, cells: Vec::new() };
                self.markdown.tables.push(Table { span, head, rows: Vec::new() });
            }
            Tag::TableHead if self.depth == 1 => {
                let row = self.row(span.start);
                if let Some(table) = self.markdown.tables.last_mut() {
                    table.head = row;
                }
            }
            Tag::TableRow if self.depth == 1 => {
                let row = self.row(span.start);
                if let Some(table) = self.markdown.tables.last_mut() {
                    table.rows.push(row);
                }
            }
            Tag::Item if self.depth == 1 => {
                self.item = Some((ListItem { span, checked: None, text: String::new() }, self.depth));
                self.in_item_text = true;
            }
            Tag::CodeBlock(_) => {
                self.markdown.code.push(span);
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
                self.markdown.items.extend(self.item.take().map(|(item, _)| item));
                self.in_item_text = false;
            }
            _ => {}
        }
    }

    fn row(&self, at: usize) -> TableRow {
        let span = line_at(self.text, at);
        let cells = cells(&self.text[span.clone()]);
        TableRow { span, cells }
    }
}

/// The line that contains the byte `at`, without its line ending.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let end = if text[start..end].ends_with('\r') { end - 1 } else { end };
    start..end
}

/// Splits a row at unescaped bars.
///
/// The Markdown parser cuts rows to the width of the header, so it cannot tell how many cells a row has.
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
    // A final bar closes the last cell.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The text of a cell without backticks, emphasis, or the angle brackets of an address.
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
    fn only_top_level_headings_count() {
        let text = "# A\n\n```\n## fenced\n```\n\n~~~md\n## tilde\n```\n## still\n~~~\n\n> ## quoted\n\n- ## item\n\n\
                    <!--\n## comment\n-->\n\n    ## indented\n\nunderlined\n---\n\n## B ##\n### C#\r\n####### no\n";
        let markdown = Markdown::parse(text, 0);
        let titles: Vec<_> = markdown.headings.iter().map(|heading| (heading.level, &*heading.title)).collect();
        assert_eq!(titles, [(1, "A"), (2, "B"), (3, "C#")]);
    }

    #[test]
    fn rows_have_the_cells_of_their_line() {
        let text = "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| x \\| y |\n|  | |\n";
        let markdown = Markdown::parse(text, 0);
        let rows: Vec<_> = markdown.tables[0].rows.iter().map(|row| row.cells.clone()).collect();
        assert_eq!(markdown.tables[0].head.cells, ["a", "b"]);
        assert_eq!(rows, [vec!["1", "2", "3"], vec!["x | y"], vec!["", ""]]);
        assert_eq!(plain("`a/b.rs`"), "a/b.rs");
        assert_eq!(plain("<https://a.b>"), "https://a.b");
        assert_eq!(plain("`"), "`");
    }

    #[test]
    fn list_items_have_checkboxes_and_text() {
        let text = "- [x] **Done** `it`\n- [ ] open\n  - [x] nested\n- plain\n\n1. first\n   more\n\n2. second\n";
        let markdown = Markdown::parse(text, 0);
        let items: Vec<_> = markdown.items.iter().map(|item| (item.checked, &*item.text)).collect();
        assert_eq!(
            items,
            [(Some(true), "Done it"), (Some(false), "open"), (None, "plain"), (None, "first more"), (None, "second")]
        );
    }
}
