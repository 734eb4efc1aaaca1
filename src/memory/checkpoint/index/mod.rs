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

use super::document::markdown::{Markdown, TableRow, lines, plain};
use super::document::start_of;

pub(crate) const TITLE: &str = "Active Checkpoints";
pub(crate) const COLUMNS: [&str; 3] = ["Checkpoint", "Description", "Last Updated"];
pub(crate) const FIELDS: [&str; 3] = ["Problem", "Scope", "Status"];

/// The list of an archive has another title, and tells the outcome in place of the status.
pub(crate) const ARCHIVE_TITLE: &str = "Archived Checkpoints";
pub(crate) const ARCHIVE_FIELDS: [&str; 3] = ["Problem", "Scope", "Outcome"];

#[derive(Clone, Debug)]
pub(crate) struct Index<'a> {
    pub text: &'a str,
    pub markdown: Markdown,
    pub rows: Vec<(String, Range<usize>)>,
    /// Names of checkpoints in headings, with the number of the heading.
    pub sections: Vec<(String, usize)>,
}

impl<'a> Index<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let markdown = Markdown::parse(text, start_of(text));
        let named = |row: &TableRow| Some((plain(row.cells.first()?).to_owned(), row.span.clone()));
        let rows = markdown.tables.first().into_iter().flat_map(|table| &table.rows).filter_map(named).collect();
        let headings = markdown.headings.iter().enumerate().filter(|(_, heading)| heading.level == 2);
        let sections = headings.map(|(at, heading)| (plain(&heading.title).to_owned(), at)).collect();
        Self { text, markdown, rows, sections }
    }

    /// The text of a field `**Problem**: …` below a heading; `None` if there is no such line.
    pub(crate) fn field(&self, heading: usize, name: &str) -> Option<String> {
        let body = self.markdown.headings[heading].span.end..self.markdown.section_end(heading, self.text.len());
        let is_field = |(at, line): &(usize, &str)| {
            let is_bold = line.trim_start().starts_with("**") && (line.contains("**:") || line.contains(":**"));
            is_bold && !self.markdown.is_code(*at)
        };
        let mut lines = lines(self.text, body);
        let value = lines.by_ref().filter(is_field).find_map(|(_, line)| field_line(line, name))?;
        let more = lines.take_while(|line| !is_field(line)).map(|(_, line)| line.trim()).filter(|line| *line != "---");
        let words: Vec<_> = std::iter::once(value).chain(more).collect();
        Some(words.join(" ").trim().to_owned())
    }
}

fn field_line<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.trim().strip_prefix("**")?.strip_prefix(name)?;
    rest.strip_prefix("**:").or_else(|| rest.strip_prefix(":**")).map(str::trim)
}
