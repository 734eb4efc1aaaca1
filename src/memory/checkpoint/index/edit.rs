//! Edits of INDEX.md: adding, removing, and dating the row and the section of a checkpoint.

use super::{COLUMNS, Index, TITLE};
use crate::memory::checkpoint::document::edit::{append, body_end, splice};
use crate::memory::checkpoint::document::markdown::{lines, plain, render_row, render_table};
use crate::trace::Time;
use crate::trace::model::trailers::one_line;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) problem: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) status: &'a str,
}

/// Follows a table without rows.
const NOTE: &str = "\n\n_No active checkpoints._\n";

fn format_date(at: Time) -> String {
    at.to_string()[..10].to_owned()
}

/// An index without checkpoints.
pub(crate) fn empty() -> String {
    format!("{}{NOTE}", head().trim_end())
}

fn head() -> String {
    format!("# {TITLE}\n\n{}", render_table(COLUMNS, &[]))
}

/// Adds or replaces a checkpoint; creates the index if there is none. Returns `None` if the index has no table.
pub(crate) fn add(text: Option<&str>, entry: &IndexEntry<'_>, at: Time) -> Option<String> {
    let IndexEntry { name, .. } = entry;
    let [description, problem, scope, status] =
        [entry.description, entry.problem, entry.scope, entry.status].map(|text| {
            let line = one_line(text);
            if line.is_empty() { "to be written".to_owned() } else { line }
        });
    let text = &text.map_or_else(head, |text| remove(text, name));
    let markdown = Index::parse(text).markdown;
    let table = markdown.tables.first()?;
    let end = table.end(text);
    let row = format!("\n{}", render_row(&[name, &*description, &format_date(at)]));
    let note = lines(text, end..text.len()).find(|(_, line)| {
        let line = line.trim().trim_matches(['_', '*']);
        table.rows.is_empty() && line.eq_ignore_ascii_case("no active checkpoints.")
    });
    let listed = match note {
        Some((start, line)) => {
            let before = text[end..start].trim_end_matches(['\n', '\r']);
            splice(text, end..start + line.len(), &format!("{row}{before}\n"))
        }
        None => splice(text, end..end, &row),
    };
    let section =
        format!("\n---\n\n## {name}\n\n**Problem**: {problem}\n\n**Scope**: {scope}\n\n**Status**: {status}\n");
    Some(append(&listed, &section))
}

pub(crate) fn remove(text: &str, name: &str) -> String {
    let Index { markdown, rows, sections, .. } = Index::parse(text);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let rows = rows.iter().filter(|(row, _)| row == name).map(|(_, span)| span.start..line_end(span.end));
    let sections = sections.iter().filter(|(section, _)| section == name).map(|(_, at)| {
        // The rule and the blank lines before a section are removed with it.
        let heading = &markdown.headings[*at].span;
        let stop = markdown.section_end(*at, text.len());
        let stop = if stop < text.len() { body_end(text, heading.end, stop) } else { text.trim_end().len() };
        body_end(text, 0, heading.start)..stop.max(heading.end)
    });
    let mut cuts: Vec<_> = rows.chain(sections).collect();
    cuts.sort_by_key(|cut| cut.start);
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    for cut in &cuts {
        // A section begins in the line ending of the last row.
        kept.push_str(text.get(from..cut.start).unwrap_or_default());
        from = cut.end.max(from);
    }
    kept.push_str(&text[from..]);
    if cuts.is_empty() || !Index::parse(&kept).rows.is_empty() {
        return kept;
    }
    let head = kept.trim_end_matches(['\n', '\r']).len();
    splice(&kept, head..kept.len(), NOTE)
}

pub(crate) fn set_date(text: &str, name: &str, at: Time) -> String {
    let markdown = Index::parse(text).markdown;
    let mut rows = markdown.tables.first().into_iter().flat_map(|table| &table.rows);
    let row = rows.find(|row| row.cells.len() == 3 && plain(&row.cells[0]) == name);
    let date = row.filter(|row| !row.cells[2].is_empty()).and_then(|row| {
        let start = row.span.start + text[row.span.clone()].rfind(&row.cells[2])?;
        Some(start..start + row.cells[2].len())
    });
    date.map_or_else(|| text.to_owned(), |date| splice(text, date, &format_date(at)))
}
