//! Validation of INDEX.md.

use std::collections::HashSet;
use std::ops::Range;

use jiff::civil::Date;

use super::{check_conflict_markers, not_utf8};
use crate::base::finding::{Finding, Findings};
use crate::memory::checkpoint::index::{ARCHIVE_FIELDS, ARCHIVE_TITLE, COLUMNS, FIELDS, Index, TITLE};

/// Validates an index, which may be any bytes. Returns findings sorted by position.
///
/// `files` contains the file names, without `.md`, and ids of the checkpoints in its folder. Without it, files are not checked.
pub(crate) fn validate_index(bytes: &[u8], files: Option<&[Vec<String>]>) -> Vec<Finding> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let mut findings = Findings::new(bytes);
            check(&mut findings, &Index::parse(text), files);
            findings.finish()
        }
        Err(error) => not_utf8(bytes, error),
    }
}

fn check(findings: &mut Findings<'_>, index: &Index<'_>, files: Option<&[Vec<String>]>) {
    check_conflict_markers(findings, index.text, &index.markdown);
    let title = index.markdown.headings.first().filter(|heading| heading.level == 1);
    let is_archive = title.is_some_and(|heading| heading.title == ARCHIVE_TITLE);
    if !is_archive && title.is_none_or(|heading| heading.title != TITLE) {
        let at = title.map_or(0..0, |heading| heading.span.clone());
        findings.error("bad-title", at, format!("the title is not `# {TITLE}`"), "change it");
    }
    check_table(findings, index);
    check_names(findings, index, files, if is_archive { ARCHIVE_FIELDS } else { FIELDS });
    if let Some(table) = index.markdown.tables.first()
        && index.rows.is_empty()
    {
        let is_italic = |paragraph: &Range<usize>| {
            let line = index.text[paragraph.clone()].trim();
            line.len() > 2 && ["_", "*"].iter().any(|mark| line.starts_with(mark) && line.ends_with(mark))
        };
        if !index.markdown.paragraphs.iter().any(is_italic) {
            let message = "the table is empty, and there is no note in italics";
            findings.warning("no-note", table.head.span.clone(), message, "add `_No active checkpoints._` below it");
        }
    }
}

fn check_table(findings: &mut Findings<'_>, index: &Index<'_>) {
    let Some(table) = index.markdown.tables.first() else {
        let end = index.text.len();
        let remedy = "add `| Checkpoint | Description | Last Updated |` and a line of dashes below it";
        findings.error("bad-table", end..end, "the table of checkpoints is missing", remedy);
        return;
    };
    if table.head.cells != COLUMNS {
        let message = format!("the columns are not {}", COLUMNS.join(", "));
        findings.error("bad-columns", table.head.span.clone(), message, "rename them");
    }
    let mut seen = HashSet::new();
    for row in &table.rows {
        let [name, _, date] = &row.cells[..] else {
            let message = format!("the row has {} cells instead of 3", row.cells.len());
            findings.error("bad-row", row.span.clone(), message, "write `| name | description | YYYY-MM-DD |`");
            continue;
        };
        if date.len() != 10 || date.parse::<Date>().is_err() {
            findings.error("bad-date", row.span.clone(), format!("`{date}` is not a date"), "write YYYY-MM-DD");
        }
        if !seen.insert(name) {
            let message = format!("`{name}` has more than one row");
            findings.warning("duplicate-row", row.span.clone(), message, "keep the correct one");
        }
    }
}

/// Every row has a section and a file, every section has a row and all fields, and every file has a row.
fn check_names(findings: &mut Findings<'_>, index: &Index<'_>, files: Option<&[Vec<String>]>, fields: [&str; 3]) {
    let sections: HashSet<&str> = index.sections.iter().map(|(name, _)| name.as_str()).collect();
    let rows: HashSet<&str> = index.rows.iter().map(|(name, _)| name.as_str()).collect();
    let known: Option<HashSet<&str>> = files.map(|files| files.iter().flatten().map(String::as_str).collect());
    for (name, span) in &index.rows {
        if !sections.contains(name.as_str()) {
            let message = format!("the row `{name}` has no section `## {name}`");
            findings.error("row-without-part", span.clone(), message, "add the section, or remove the row");
        }
        if known.as_ref().is_some_and(|known| !known.contains(name.as_str())) {
            let message = format!("the row `{name}` has no file in this folder");
            findings.warning("row-without-file", span.clone(), message, "restore the file, or remove row and section");
        }
    }
    for (name, heading) in &index.sections {
        let span = &index.markdown.headings[*heading].span;
        if !rows.contains(name.as_str()) {
            let message = format!("the section `## {name}` has no row in the table");
            findings.warning("part-without-row", span.clone(), message, "add the row, or remove the section");
        }
        for field in fields {
            if index.field(*heading, field).is_none_or(|value| value.is_empty()) {
                let message = format!("the section `## {name}` has no {field}");
                findings.error("empty-field", span.clone(), message, &format!("write `**{field}**: <text>`"));
            }
        }
    }
    let end = index.text.len();
    for names in files.unwrap_or_default().iter().filter(|names| !names.iter().any(|name| rows.contains(name.as_str())))
    {
        let message = format!("the file `{}.md` has no row", names.first().map_or("", String::as_str));
        findings.warning("file-without-row", end..end, message, "add a row and a section, or archive the file");
    }
}
