//! INDEX.md: the list of the active checkpoints of a folder, a row and a part each.
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

use std::collections::HashSet;
use std::ops::Range;

use jiff::civil::Date;

use super::document::{Document, decode};
use super::outline::{Outline, plain};
use super::report::Report;
use super::validate::{judge_markers, not_utf8};
use crate::base::finding::Finding;

/// The heading of the list.
pub(crate) const TITLE: &str = "Active Checkpoints";
/// The columns of the table.
pub(crate) const COLUMNS: [&str; 3] = ["Checkpoint", "Description", "Last Updated"];
/// What each part has to say.
pub(crate) const FIELDS: [&str; 3] = ["Problem", "Scope", "Status"];

/// What a list says of its checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct Index<'a> {
    text: &'a str,
    outline: Outline,
    /// The names in the table, with where their rows stand.
    pub rows: Vec<(String, Range<usize>)>,
    /// The names of the parts, with where their headings stand.
    pub parts: Vec<(String, Range<usize>)>,
}

impl<'a> Index<'a> {
    /// Reads a list; linear in its length.
    #[must_use]
    pub(crate) fn parse(text: &'a str) -> Self {
        let from = super::document::start_of(text);
        let outline = Outline::read(text, from);
        let named = |row: &super::outline::Row| Some((plain(row.cells.first()?).to_owned(), row.span.clone()));
        let rows =
            outline.tables.first().map(|table| table.rows.iter().filter_map(named).collect()).unwrap_or_default();
        let parts = outline.headings.iter().filter(|heading| heading.level == 2);
        let parts = parts.map(|heading| (plain(&heading.title).to_owned(), heading.span.clone())).collect();
        Self { text, outline, rows, parts }
    }

    /// What a part says of a field, `**Problem**: …`; `None` where it has no such line.
    #[must_use]
    pub(crate) fn field(&self, part: &str, name: &str) -> Option<String> {
        let headings = &self.outline.headings;
        let at = headings.iter().position(|heading| heading.level == 2 && plain(&heading.title) == part)?;
        self.field_below(at, name)
    }

    /// What stands below a heading, as [`Index::field`].
    fn field_below(&self, at: usize, name: &str) -> Option<String> {
        let body = self.outline.headings[at].span.end..self.outline.part_end(at, self.text.len());
        let mut said: Option<String> = None;
        let mut start = body.start;
        for line in self.text[body].split_inclusive('\n') {
            let in_code = self.outline.code.iter().any(|code| code.contains(&start));
            start += line.len();
            let is_bold = line.trim_start().starts_with("**") && (line.contains("**:") || line.contains(":**"));
            let is_field = is_bold && !in_code;
            match &mut said {
                None if is_field => said = field_line(line, name).map(str::to_owned),
                Some(_) if is_field => break,
                Some(said) if line.trim() != "---" => {
                    said.push(' ');
                    said.push_str(line.trim());
                }
                _ => {}
            }
        }
        said.map(|said| said.trim().to_owned())
    }
}

/// What stands behind `**name**:` or `**name:**`.
fn field_line<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.trim().strip_prefix("**")?.strip_prefix(name)?;
    rest.strip_prefix("**:").or_else(|| rest.strip_prefix(":**")).map(str::trim)
}

/// Judges the bytes of a list of active checkpoints; gives findings by place. Any bytes will do.
///
/// `files` are the names, without `.md`, and ids of the checkpoints beside it; without them nothing is said of missing files.
#[must_use]
pub(crate) fn validate_index(bytes: &[u8], files: Option<&[Vec<String>]>) -> Vec<Finding> {
    let mut report = Report::new(bytes);
    match decode(bytes) {
        Ok(text) => judge(&mut report, text, files),
        Err(bad) => not_utf8(&mut report, bad.at),
    }
    report.finish()
}

fn judge(report: &mut Report<'_>, text: &str, files: Option<&[Vec<String>]>) {
    let index = Index::parse(text);
    judge_markers(
        report,
        &Document { text, front: Err(super::front::BadFront::Missing), outline: index.outline.clone() },
    );
    let title = index.outline.headings.first().filter(|heading| heading.level == 1);
    if title.is_none_or(|heading| heading.title != TITLE) {
        let at = title.map_or(0..0, |heading| heading.span.clone());
        report.error("bad-title", at, format!("the title is not `# {TITLE}`"), "write it so");
    }
    judge_table(report, &index);
    let part_names: HashSet<&str> = index.parts.iter().map(|(name, _)| name.as_str()).collect();
    let row_names: HashSet<&str> = index.rows.iter().map(|(name, _)| name.as_str()).collect();
    for (name, span) in &index.rows {
        if !part_names.contains(name.as_str()) {
            let message = format!("the row `{name}` has no part `## {name}`");
            report.error("row-without-part", span.clone(), message, "add it, or take out the row");
        }
    }
    let headings = index.outline.headings.iter().enumerate().filter(|(_, heading)| heading.level == 2);
    for ((name, span), (at, _)) in index.parts.iter().zip(headings) {
        if !row_names.contains(name.as_str()) {
            let message = format!("the part `## {name}` has no row in the table");
            report.warning("part-without-row", span.clone(), message, "add the row, or take out the part");
        }
        for field in FIELDS {
            if index.field_below(at, field).is_none_or(|said| said.is_empty()) {
                let message = format!("the part `## {name}` does not say its {field}");
                report.error("empty-field", span.clone(), message, &format!("write `**{field}**: <text>`"));
            }
        }
    }
    if index.rows.is_empty() && !index.outline.tables.is_empty() {
        let is_italic = |paragraph: &Range<usize>| {
            let line = text[paragraph.clone()].trim();
            line.len() > 2 && ["_", "*"].iter().any(|mark| line.starts_with(mark) && line.ends_with(mark))
        };
        if !index.outline.paragraphs.iter().any(is_italic) {
            let at = index.outline.tables.first().map_or(0..0, |table| table.head.span.clone());
            let message = "the table is empty, and no italic line says so".to_owned();
            report.warning("no-note", at, message, "add `_No active checkpoints._` below it");
        }
    }
    judge_files(report, &index, files.unwrap_or_default(), files.is_some());
}

fn judge_table(report: &mut Report<'_>, index: &Index<'_>) {
    let Some(table) = index.outline.tables.first() else {
        let end = index.text.len();
        let remedy = "add `| Checkpoint | Description | Last Updated |` and the line of dashes below it";
        report.error("bad-table", end..end, "there is no table of the checkpoints".to_owned(), remedy);
        return;
    };
    if table.head.cells != COLUMNS {
        let message = format!("the columns are not {}", COLUMNS.join(", "));
        report.error("bad-columns", table.head.span.clone(), message, "name them so");
    }
    let mut seen = HashSet::new();
    for row in &table.rows {
        let [name, _, date] = &row.cells[..] else {
            let message = format!("the row has {} cells, not 3", row.cells.len());
            report.error("bad-row", row.span.clone(), message, "write `| name | description | YYYY-MM-DD |`");
            continue;
        };
        let is_date = date.len() == 10 && date.parse::<Date>().is_ok();
        if !is_date {
            let message = format!("`{date}` is not a date");
            report.error("bad-date", row.span.clone(), message, "write YYYY-MM-DD");
        }
        if !seen.insert(name) {
            let message = format!("`{name}` has more than one row");
            report.warning("duplicate-row", row.span.clone(), message, "keep the row that is right");
        }
    }
}

fn judge_files(report: &mut Report<'_>, index: &Index<'_>, files: &[Vec<String>], are_known: bool) {
    if !are_known {
        return;
    }
    let known: HashSet<&str> = files.iter().flatten().map(String::as_str).collect();
    let rows: HashSet<&str> = index.rows.iter().map(|(name, _)| name.as_str()).collect();
    for (name, span) in &index.rows {
        if !known.contains(name.as_str()) {
            let message = format!("the row `{name}` has no file beside it");
            report.warning("row-without-file", span.clone(), message, "restore the file, or take out row and part");
        }
    }
    let end = index.text.len();
    for names in files {
        if !names.iter().any(|name| rows.contains(name.as_str())) {
            let name = names.first().map_or("", String::as_str);
            let message = format!("the file `{name}.md` has no row");
            report.warning("file-without-row", end..end, message, "add a row and a part, or archive the file");
        }
    }
}
