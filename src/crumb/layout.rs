//! A crumb file in its parts, as they are merged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::document::{Crumb, Ending, Header, Mark, Role, section_start};

/// A file in its parts.
pub(super) struct Layout<'c> {
    /// Blank lines before the header.
    pub(super) before: Vec<&'c str>,
    pub(super) header: Option<(&'c str, Header<'c>)>,
    /// What stands between the header and the first section.
    pub(super) preamble: Block<'c>,
    pub(super) sections: Vec<Block<'c>>,
    pub(super) mark: Option<Mark>,
    pub(super) has_end: bool,
}

/// A section in its parts.
#[derive(Clone, Default)]
pub(super) struct Block<'c> {
    /// Its name, and how many of that name stood before it.
    pub(super) id: (Cow<'c, str>, usize),
    /// The line that starts it.
    pub(super) start: Cow<'c, str>,
    pub(super) items: Vec<Item<'c>>,
    /// Blank lines at its end.
    pub(super) trailing: Vec<&'c str>,
    /// Whether it ends the file.
    pub(super) is_last: bool,
}

/// A line that is not blank, with the blank ones before it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Item<'c> {
    pub(super) blanks: Vec<&'c str>,
    pub(super) text: Cow<'c, str>,
}

impl<'c> Layout<'c> {
    pub(super) fn of(crumb: &'c Crumb<'_>) -> Self {
        let mut layout = Self {
            before: Vec::new(),
            header: None,
            preamble: Block::default(),
            sections: Vec::new(),
            mark: None,
            has_end: crumb.lines.last().is_none_or(|line| line.ending != Ending::None),
        };
        let has_header = crumb.header().is_some();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for line in &crumb.lines {
            let text: &'c str = &line.text;
            let block = layout.sections.last_mut().unwrap_or(&mut layout.preamble);
            match line.role {
                Role::Blank if has_header && layout.header.is_none() => layout.before.push(text),
                Role::Blank => block.trailing.push(text),
                Role::Header => layout.header = Header::parse(text).ok().map(|header| (text, header)),
                Role::Entry | Role::Unknown => {
                    let blanks = std::mem::take(&mut block.trailing);
                    block.items.push(Item { blanks, text: Cow::Borrowed(text) });
                }
                Role::Section => {
                    if let Some((mark, name)) = section_start(text) {
                        layout.mark.get_or_insert(mark);
                        let count = seen.entry(name).or_default();
                        let id = (Cow::Borrowed(name), *count);
                        *count += 1;
                        layout.sections.push(Block { id, start: Cow::Borrowed(text), ..Block::default() });
                    }
                }
            }
        }
        if let Some(last) = layout.sections.last_mut() {
            last.is_last = true;
        }
        layout
    }

    /// The blank lines at the end of the file.
    pub(super) fn end(&self) -> Vec<&'c str> {
        self.sections.last().map_or_else(Vec::new, |last| last.trailing.clone())
    }

    pub(super) fn find(&self, id: &(Cow<'c, str>, usize)) -> Option<&Block<'c>> {
        self.sections.iter().find(|section| section.id == *id)
    }
}

impl Block<'_> {
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.start == other.start && self.items == other.items
    }
}
