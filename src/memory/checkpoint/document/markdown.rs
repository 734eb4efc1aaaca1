//! The top-level blocks of a Markdown text with their spans: headings, tables, list items, paragraphs, and code.
//!
//! Quoted, nested, fenced, and commented blocks are content of the block around them. Only lines that start with `#` are
//! headings: people who write dashes below a line mean a paragraph and a rule.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

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

    pub(crate) fn section_end(&self, heading: usize, text_len: usize) -> usize {
        let level = self.headings[heading].level;
        let next = self.headings[heading + 1..].iter().find(|other| other.level <= level);
        next.map_or(text_len, |next| next.span.start)
    }

    pub(crate) fn is_code(&self, at: usize) -> bool {
        let next = self.code.partition_point(|code| code.end <= at);
        self.code.get(next).is_some_and(|code| code.contains(&at))
    }
}

impl Table {
    /// The end of the last row, without its line ending.
    pub(crate) fn end(&self, text: &str) -> usize {
        self.rows.last().map_or_else(|| text[..self.span.end].trim_end().len(), |row| row.span.end)
    }
}

struct Reader<'t> {
    text: &'t str,
    markdown: Markdown,
    depth: usize,
    item: Option<ListItem>,
    in_item_text: bool,
}

impl Reader<'_> {
    fn take(&mut self, event: &Event<'_>, span: Range<usize>) {
        match (event, &mut self.item) {
            (Event::Start(tag), _) => self.open(tag, span),
            (Event::End(end), _) => self.close(*end),
            (Event::TaskListMarker(checked), Some(item)) if self.depth <= 2 => item.checked = Some(*checked),
            (Event::Text(words) | Event::Code(words) | Event::InlineHtml(words), Some(item)) if self.in_item_text => {
                item.text.push_str(words);
            }
            (Event::SoftBreak | Event::HardBreak, Some(item)) if self.in_item_text => item.text.push(' '),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, span: Range<usize>) {
        let markdown = &mut self.markdown;
        match (tag, self.depth) {
            (Tag::Heading { level, .. }, 0) => {
                let line = line_at(self.text, span.start);
                let written = self.text[line.clone()].trim();
                if written.starts_with('#') {
                    let title = written.trim_start_matches('#').trim();
                    let without = title.trim_end_matches('#');
                    // A closing run of `#` follows a space.
                    let is_closed = without.is_empty() || without.ends_with([' ', '\t']);
                    let title = if is_closed { without.trim() } else { title }.to_owned();
                    markdown.headings.push(Heading { level: *level as u8, title, span: line });
                } else {
                    markdown.paragraphs.push(span);
                }
            }
            (Tag::Paragraph, 0) => markdown.paragraphs.push(span),
            (Tag::Table(_), 0) => {
                let head = row(self.text, span.start);
                markdown.tables.push(Table { span, head, rows: Vec::new() });
            }
            (Tag::TableRow, 1) => {
                if let Some(table) = markdown.tables.last_mut() {
                    table.rows.push(row(self.text, span.start));
                }
            }
            (Tag::Item, 1) => {
                self.item = Some(ListItem { span, checked: None, text: String::new() });
                self.in_item_text = true;
            }
            (Tag::CodeBlock(_), _) => {
                markdown.code.push(span);
                self.in_item_text = false;
            }
            (Tag::List(_) | Tag::BlockQuote(_) | Tag::HtmlBlock, _) => self.in_item_text = false,
            _ => {}
        }
        self.depth += 1;
    }

    fn close(&mut self, end: TagEnd) {
        self.depth = self.depth.saturating_sub(1);
        match end {
            TagEnd::Paragraph => self.in_item_text = false,
            TagEnd::Item if self.depth == 1 => {
                self.markdown.items.extend(self.item.take());
                self.in_item_text = false;
            }
            _ => {}
        }
    }
}

fn row(text: &str, at: usize) -> TableRow {
    let span = line_at(text, at);
    TableRow { cells: cells(&text[span.clone()]), span }
}

/// The line that contains the byte `at`, without its line ending.
pub(crate) fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    start..if text[start..end].ends_with('\r') { end - 1 } else { end }
}

/// The lines of a part of a text with their line endings, each with its start.
pub(crate) fn lines(text: &str, span: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    text[span.clone()].split_inclusive('\n').scan(span.start, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    })
}

/// Splits a row at unescaped bars.
///
/// The Markdown parser cuts rows to the width of the header, which hides how many cells a row has.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut escaped = false;
    for c in line.chars() {
        match c {
            '|' if !escaped => cells.push(std::mem::take(&mut cell)),
            '|' => {
                cell.pop();
                cell.push(c);
            }
            _ => cell.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    // A final bar closes the last cell.
    if cells.is_empty() || !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

pub(crate) fn render_row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.as_ref().replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// Renders a table; each row ends with a newline.
pub(crate) fn render_table(columns: [&str; 3], rows: &[[String; 3]]) -> String {
    let dashes = columns.map(|column| "-".repeat(column.len() + 2)).join("|");
    let rows: String = rows.iter().map(|row| render_row(row) + "\n").collect();
    format!("{}\n|{dashes}|\n{rows}", render_row(&columns))
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
