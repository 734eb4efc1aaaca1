//! INDEX.md: the active checkpoints of a folder, with one table row and one section each.
//!
//! ```text
//! # Active Checkpoints
//!
//! | Checkpoint | Description | Last Updated |
//! |------------|-------------|--------------|
//! | chk-auth | JWT login | 2026-01-06 |
//!
//! ---
//!
//! ## chk-auth
//!
//! **Problem**: …
//!
//! **Scope**: …
//!
//! **Status**: …
//! ```

pub(crate) mod edit;

use std::ops::Range;

use super::document::markdown::{Markdown, TableRow, plain};
use super::document::start_of;

pub(crate) const TITLE: &str = "Active Checkpoints";
pub(crate) const COLUMNS: [&str; 3] = ["Checkpoint", "Description", "Last Updated"];
/// The required fields of a section.
pub(crate) const FIELDS: [&str; 3] = ["Problem", "Scope", "Status"];

#[derive(Clone, Debug)]
pub(crate) struct Index<'a> {
    pub text: &'a str,
    pub markdown: Markdown,
    /// Names of checkpoints in the table, with their rows.
    pub rows: Vec<(String, Range<usize>)>,
    /// Names of checkpoints in headings, with the number of the heading.
    pub sections: Vec<(String, usize)>,
}

impl<'a> Index<'a> {
    /// Linear in the length of the text.
    pub(crate) fn parse(text: &'a str) -> Self {
        let markdown = Markdown::parse(text, start_of(text));
        let named = |row: &TableRow| Some((plain(row.cells.first()?).to_owned(), row.span.clone()));
        let rows =
            markdown.tables.first().map(|table| table.rows.iter().filter_map(named).collect()).unwrap_or_default();
        let headings = markdown.headings.iter().enumerate().filter(|(_, heading)| heading.level == 2);
        let sections = headings.map(|(at, heading)| (plain(&heading.title).to_owned(), at)).collect();
        Self { text, markdown, rows, sections }
    }

    /// The text of a field `**Problem**: …` below a heading; `None` if there is no such line.
    pub(crate) fn field(&self, heading: usize, name: &str) -> Option<String> {
        let body = self.markdown.headings[heading].span.end..self.markdown.section_end(heading, self.text.len());
        let mut value: Option<String> = None;
        let mut start = body.start;
        for line in self.text[body].split_inclusive('\n') {
            let in_code = self.markdown.code.iter().any(|code| code.contains(&start));
            start += line.len();
            let is_bold = line.trim_start().starts_with("**") && (line.contains("**:") || line.contains(":**"));
            let is_field = is_bold && !in_code;
            match &mut value {
                None if is_field => value = field_line(line, name).map(str::to_owned),
                Some(_) if is_field => break,
                Some(value) if line.trim() != "---" => {
                    value.push(' ');
                    value.push_str(line.trim());
                }
                _ => {}
            }
        }
        value.map(|value| value.trim().to_owned())
    }
}

/// The text after `**name**:` or `**name:**`.
fn field_line<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.trim().strip_prefix("**")?.strip_prefix(name)?;
    rest.strip_prefix("**:").or_else(|| rest.strip_prefix(":**")).map(str::trim)
}
