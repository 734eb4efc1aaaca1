//! A parsed checkpoint: frontmatter, sections, breadcrumbs, artifacts, deltas.

pub(crate) mod edit;
pub(crate) mod frontmatter;
pub(crate) mod markdown;
mod timestamp;
mod yaml;

use std::ops::Range;

use crate::base::string_enum::string_enum;
use frontmatter::{Frontmatter, FrontmatterError};
use markdown::{ListItem, Markdown, Table, TableRow, plain};

pub(crate) use timestamp::Timestamp;

/// A parsed checkpoint. Any text can be parsed; [`validate`](super::validate::validate()) reports what is missing or wrong.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    pub text: &'a str,
    pub frontmatter: Result<Frontmatter, FrontmatterError>,
    pub markdown: Markdown,
}

string_enum! {
    ReferenceKind {
        File = "file",
        Function = "function",
        Decision = "decision",
        External = "external",
    }
}

pub(crate) const REFERENCE_COLUMNS: [&str; 3] = ["Type", "Reference", "Hint"];

/// A row of the Breadcrumbs table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    /// As written; see [`Reference::known_kind`].
    pub kind: String,
    pub reference: String,
    pub hint: String,
    pub span: Range<usize>,
}

impl Reference {
    pub(crate) fn known_kind(&self) -> Option<ReferenceKind> {
        self.kind.to_ascii_lowercase().parse().ok()
    }
}

/// A heading and the text below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// The number of the heading in [`Markdown::headings`].
    pub heading: usize,
    pub head: Range<usize>,
    /// Ends at the next heading of the same or a higher level.
    pub body: Range<usize>,
}

/// A section `## Delta: <time>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Delta {
    pub section: Section,
    pub time_text: String,
    pub timestamp: Option<Timestamp>,
}

/// The length of the byte order mark, if the text has one.
pub(crate) fn start_of(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

impl<'a> Document<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let from = start_of(text);
        let frontmatter = Frontmatter::parse(text, from);
        let body = frontmatter.as_ref().map_or(from, |frontmatter| frontmatter.end);
        Self { text, frontmatter, markdown: Markdown::parse(text, body) }
    }

    pub(crate) fn key(&self, key: &str) -> Option<&str> {
        self.frontmatter.as_ref().ok()?.text(key)
    }

    pub(crate) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        Some(self.frontmatter.as_ref().ok()?.entry(key)?.span.clone())
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.key("checkpoint").filter(|id| !id.is_empty())
    }

    pub(crate) fn parent(&self) -> Option<&str> {
        self.key("parent").filter(|id| !id.is_empty())
    }

    pub(crate) fn created(&self) -> Option<Timestamp> {
        Timestamp::parse(self.key("created")?)
    }

    pub(crate) fn is_current(&self) -> bool {
        self.key("status") == Some("current")
    }

    pub(crate) fn newest_delta(&self) -> Option<Timestamp> {
        self.deltas().filter_map(|delta| delta.timestamp).max_by_key(|timestamp| timestamp.time)
    }

    /// The latest of the times of its deltas, `last_delta`, and `created`.
    pub(crate) fn last_change(&self) -> Option<Timestamp> {
        let last_delta = self.key("last_delta").and_then(Timestamp::parse);
        let times = self.newest_delta().into_iter().chain(last_delta).chain(self.created());
        times.max_by_key(|timestamp| timestamp.time)
    }

    fn section_at(&self, heading: usize) -> Section {
        let head = self.markdown.headings[heading].span.clone();
        let end = self.markdown.section_end(heading, self.text.len());
        Section { heading, body: head.end..end.max(head.end), head }
    }

    /// The section below the `##` heading with exactly this title.
    pub(crate) fn section(&self, title: &str) -> Option<Section> {
        let found = self.markdown.headings.iter().position(|heading| heading.level == 2 && heading.title == title);
        found.map(|heading| self.section_at(heading))
    }

    /// The part of a section below a `###` heading that contains `title`, ignoring case.
    pub(crate) fn part(&self, within: &Section, title: &str) -> Option<Section> {
        let wanted = title.to_lowercase();
        let headings = self.markdown.headings.iter().enumerate().skip(within.heading + 1);
        let mut inside = headings.take_while(|(_, heading)| heading.span.start < within.body.end);
        let found = inside.find(|(_, heading)| heading.level == 3 && heading.title.to_lowercase().contains(&wanted));
        found.map(|(heading, _)| self.section_at(heading))
    }

    /// The same, in the section Essential Information.
    pub(crate) fn essential(&self, title: &str) -> Option<Section> {
        self.part(&self.section("Essential Information")?, title)
    }

    pub(crate) fn deltas(&self) -> impl Iterator<Item = Delta> {
        let headings = self.markdown.headings.iter().enumerate().filter(|(_, heading)| heading.level == 2);
        headings.filter_map(|(at, heading)| {
            let time_text = heading.title.strip_prefix("Delta:")?.trim().to_owned();
            Some(Delta { section: self.section_at(at), timestamp: Timestamp::parse(&time_text), time_text })
        })
    }

    pub(crate) fn body(&self, section: &Section) -> &'a str {
        &self.text[section.body.clone()]
    }

    pub(crate) fn table(&self, section: &Section) -> Option<&Table> {
        self.tables(section).next()
    }

    pub(crate) fn tables(&self, section: &Section) -> impl Iterator<Item = &Table> {
        let body = section.body.clone();
        self.markdown.tables.iter().filter(move |table| body.contains(&table.span.start))
    }

    pub(crate) fn items(&self, section: &Section) -> impl Iterator<Item = &ListItem> {
        let body = section.body.clone();
        self.markdown.items.iter().filter(move |item| body.contains(&item.span.start))
    }

    pub(crate) fn point_count(&self, section: &Section) -> usize {
        self.items(section).count() + self.tables(section).map(|table| table.rows.len()).sum::<usize>()
    }

    pub(crate) fn word_count(&self, section: &Section) -> usize {
        self.body(section).split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
    }

    /// The rows of the first table in a part of Essential Information.
    fn essential_rows(&self, title: &str) -> &[TableRow] {
        self.essential(title).and_then(|section| self.table(&section)).map_or(&[], |table| &table.rows)
    }

    pub(crate) fn breadcrumbs(&self) -> Vec<Reference> {
        let reference = |row: &TableRow| {
            let [kind, reference, hint] = &row.cells[..] else { return None };
            let (kind, reference) = (plain(kind).to_owned(), plain(reference).to_owned());
            Some(Reference { kind, reference, hint: hint.clone(), span: row.span.clone() })
        };
        self.essential_rows("Breadcrumbs").iter().filter_map(reference).collect()
    }

    pub(crate) fn artifacts(&self) -> Vec<String> {
        let cells = self.essential_rows("Artifact Trail").iter().filter_map(|row| row.cells.first());
        cells.map(|cell| plain(cell).to_owned()).filter(|path| !path.is_empty()).collect()
    }

    pub(crate) fn problem_line(&self) -> Option<&'a str> {
        let section = self.section("Problem")?;
        self.body(&section).lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("<!--"))
    }

    pub(crate) fn open_actions(&self) -> Vec<&str> {
        let Some(section) = self.essential("Next Actions") else { return Vec::new() };
        let open = self.items(&section).filter(|item| item.checked != Some(true));
        let open = open.map(|item| item.text.trim()).filter(|text| !text.is_empty());
        let rows = self.tables(&section).flat_map(|table| &table.rows).filter_map(open_action);
        open.chain(rows).collect()
    }
}

/// The action in a row of a table, such as `| 1 | Write the tests | open |`; `None` if it is done.
fn open_action(row: &TableRow) -> Option<&str> {
    const DONE: [&str; 6] = ["done", "complete", "completed", "[x]", "\u{2705}", "\u{2713}"];
    let cells = || row.cells.iter().map(|cell| plain(cell));
    let is_done = cells().any(|cell| DONE.iter().any(|done| cell.eq_ignore_ascii_case(done)));
    let mut texts = cells().filter(|cell| cell.contains(char::is_alphabetic));
    texts.next().filter(|_| !is_done)
}
