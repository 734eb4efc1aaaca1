//! A checkpoint, read: frontmatter, sections, breadcrumbs, artifacts, deltas.

use std::ops::Range;

use super::front::{BadFront, Front};
use super::moment::Moment;
use super::outline::{Item, Outline, Row, Table, plain};
use crate::base::string_enum::string_enum;

/// A checkpoint as it stands in its file.
///
/// It is made of any text: what is missing is missing, and what is wrong is for [`validate`](super::validate()) to say.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    /// The file.
    pub text: &'a str,
    /// The frontmatter, or why there is none.
    pub front: Result<Front, BadFront>,
    /// The Markdown behind it.
    pub outline: Outline,
}

string_enum! {
    /// What a breadcrumb of a checkpoint refers to.
    ReferenceKind {
        /// A file of the repository.
        File = "file",
        /// The definition of a function.
        Function = "function",
        /// Why something was decided; the hint says it.
        Decision = "decision",
        /// An address, a DOI, a paper.
        External = "external",
    }
}

/// A row of the Breadcrumbs table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reference {
    /// The type as written; see [`Reference::known_kind`].
    pub kind: String,
    /// What it refers to, without code marks.
    pub reference: String,
    /// What is to be found there.
    pub hint: String,
    /// Its line.
    pub span: Range<usize>,
}

impl Reference {
    /// The type, if it is one of the four.
    #[must_use]
    pub(crate) fn known_kind(&self) -> Option<ReferenceKind> {
        self.kind.to_ascii_lowercase().parse().ok()
    }
}

/// A heading with what stands below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// Which heading of the outline.
    pub heading: usize,
    /// The heading's line.
    pub head: Range<usize>,
    /// What follows it, up to the next heading of its level or above.
    pub body: Range<usize>,
}

/// A delta: what changed since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Delta {
    /// Its section.
    pub section: Section,
    /// The time as written.
    pub time_text: String,
    /// The time, if it is one.
    pub moment: Option<Moment>,
}

/// Where a file is not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotUtf8 {
    /// The first byte that is not.
    pub at: usize,
}

/// The text of a file.
///
/// # Errors
///
/// [`NotUtf8`].
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, NotUtf8> {
    std::str::from_utf8(bytes).map_err(|error| NotUtf8 { at: error.valid_up_to() })
}

/// Where a text starts: behind the byte order mark, if it has one.
pub(crate) fn start_of(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

impl<'a> Document<'a> {
    /// Reads a checkpoint; linear in its length.
    #[must_use]
    pub(crate) fn parse(text: &'a str) -> Self {
        let from = start_of(text);
        let front = Front::parse(text, from);
        let body = front.as_ref().map_or(from, |front| front.end);
        Self { text, front, outline: Outline::read(text, body) }
    }

    /// The text of a key of the frontmatter.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Option<&str> {
        self.front.as_ref().ok()?.text(key)
    }

    /// The id, if it has one.
    #[must_use]
    pub(crate) fn id(&self) -> Option<&str> {
        self.key("checkpoint").filter(|id| !id.is_empty())
    }

    /// The id of the checkpoint it branched from.
    #[must_use]
    pub(crate) fn parent(&self) -> Option<&str> {
        self.key("parent").filter(|id| !id.is_empty())
    }

    /// When it was created.
    #[must_use]
    pub(crate) fn created(&self) -> Option<Moment> {
        Moment::parse(self.key("created")?)
    }

    /// Whether its status is `current`.
    #[must_use]
    pub(crate) fn is_current(&self) -> bool {
        self.key("status") == Some("current")
    }

    /// When something last happened to it: the newest of its deltas, what the frontmatter says, its creation.
    #[must_use]
    pub(crate) fn last_change(&self) -> Option<Moment> {
        let said = self.key("last_delta").and_then(Moment::parse);
        let deltas = self.deltas().into_iter().filter_map(|delta| delta.moment);
        deltas.chain(said).chain(self.created()).max_by_key(|moment| moment.time)
    }

    fn section_at(&self, heading: usize) -> Section {
        let head = self.outline.headings[heading].span.clone();
        let end = self.outline.part_end(heading, self.text.len());
        Section { heading, body: head.end..end.max(head.end), head }
    }

    /// The section under a `##` heading that is exactly this.
    #[must_use]
    pub(crate) fn section(&self, title: &str) -> Option<Section> {
        let found = self.outline.headings.iter().position(|heading| heading.level == 2 && heading.title == title);
        found.map(|heading| self.section_at(heading))
    }

    /// The part of `within` under a `###` heading that holds these words, whatever the case.
    #[must_use]
    pub(crate) fn part(&self, within: &Section, title: &str) -> Option<Section> {
        let wanted = title.to_lowercase();
        let headings = self.outline.headings.iter().enumerate().skip(within.heading + 1);
        let mut inside = headings.take_while(|(_, heading)| heading.span.start < within.body.end);
        let found = inside.find(|(_, heading)| heading.level == 3 && heading.title.to_lowercase().contains(&wanted));
        found.map(|(heading, _)| self.section_at(heading))
    }

    /// The part of Essential Information under a `###` heading that holds these words.
    #[must_use]
    pub(crate) fn essential(&self, title: &str) -> Option<Section> {
        self.part(&self.section("Essential Information")?, title)
    }

    /// The deltas, in the order they stand in.
    #[must_use]
    pub(crate) fn deltas(&self) -> Vec<Delta> {
        let delta = |(heading, at): (&super::outline::Heading, usize)| {
            let time = heading.title.strip_prefix("Delta:")?.trim();
            let moment = Moment::parse(time);
            Some(Delta { section: self.section_at(at), time_text: time.to_owned(), moment })
        };
        let headings = self.outline.headings.iter().enumerate();
        headings.filter(|(_, heading)| heading.level == 2).filter_map(|(at, heading)| delta((heading, at))).collect()
    }

    /// What stands below a heading.
    #[must_use]
    pub(crate) fn body(&self, section: &Section) -> &'a str {
        &self.text[section.body.clone()]
    }

    /// The first table of a section.
    #[must_use]
    pub(crate) fn table(&self, section: &Section) -> Option<&Table> {
        self.tables(section).next()
    }

    /// The tables of a section.
    pub(crate) fn tables(&self, section: &Section) -> impl Iterator<Item = &Table> {
        let body = section.body.clone();
        self.outline.tables.iter().filter(move |table| body.contains(&table.span.start))
    }

    /// The items of the lists of a section.
    pub(crate) fn items(&self, section: &Section) -> impl Iterator<Item = &Item> {
        let body = section.body.clone();
        self.outline.items.iter().filter(move |item| body.contains(&item.span.start))
    }

    /// How many points a section makes: its list items and the rows of its tables.
    #[must_use]
    pub(crate) fn point_count(&self, section: &Section) -> usize {
        self.items(section).count() + self.tables(section).map(|table| table.rows.len()).sum::<usize>()
    }

    /// How many words a section has.
    #[must_use]
    pub(crate) fn word_count(&self, section: &Section) -> usize {
        self.body(section).split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
    }

    /// The breadcrumbs: rows of their table that have three cells.
    #[must_use]
    pub(crate) fn breadcrumbs(&self) -> Vec<Reference> {
        let Some(section) = self.essential("Breadcrumbs") else { return Vec::new() };
        let reference = |row: &Row| {
            let [kind, reference, hint] = &row.cells[..] else { return None };
            Some(Reference {
                kind: plain(kind).to_owned(),
                reference: plain(reference).to_owned(),
                hint: hint.clone(),
                span: row.span.clone(),
            })
        };
        self.table(&section).map(|table| table.rows.iter().filter_map(reference).collect()).unwrap_or_default()
    }

    /// The paths in the Artifact Trail.
    #[must_use]
    pub(crate) fn artifacts(&self) -> Vec<String> {
        let Some(section) = self.essential("Artifact Trail") else { return Vec::new() };
        let path = |row: &Row| row.cells.first().map(|cell| plain(cell).to_owned()).filter(|path| !path.is_empty());
        self.table(&section).map(|table| table.rows.iter().filter_map(path).collect()).unwrap_or_default()
    }

    /// The first line of the problem.
    #[must_use]
    pub(crate) fn problem_line(&self) -> Option<&'a str> {
        let section = self.section("Problem")?;
        self.body(&section).lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("<!--"))
    }

    /// The next actions that are not done, in order.
    #[must_use]
    pub(crate) fn open_actions(&self) -> Vec<&str> {
        let Some(section) = self.essential("Next Actions") else { return Vec::new() };
        let open = self.items(&section).filter(|item| item.checked != Some(true));
        open.map(|item| item.text.trim()).filter(|text| !text.is_empty()).collect()
    }
}
