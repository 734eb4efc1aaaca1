//! A crumb file in its parts, as they are merged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::memory::crumb::grammar::document::{CrumbFile, Header, LineEnding, LineKind, SectionMark, section_start};

/// A file in its parts.
pub(crate) struct Layout<'c> {
    pub(crate) before: Vec<&'c str>,
    pub(crate) header: Option<(&'c str, Header<'c>)>,
    /// What stands between the header and the first section.
    pub(crate) preamble: Block<'c>,
    pub(crate) sections: Vec<Block<'c>>,
    pub(crate) mark: Option<SectionMark>,
    pub(crate) has_end: bool,
}

/// A section in its parts.
#[derive(Clone, Default)]
pub(crate) struct Block<'c> {
    /// Its name, and how many of that name stood before it.
    pub(crate) id: (Cow<'c, str>, usize),
    pub(crate) start: Cow<'c, str>,
    pub(crate) items: Vec<Item<'c>>,
    pub(crate) trailing: Vec<&'c str>,
    pub(crate) is_last: bool,
}

/// A line that is not blank, with the blank ones before it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Item<'c> {
    pub(crate) blanks: Vec<&'c str>,
    pub(crate) text: Cow<'c, str>,
}

impl<'c> Layout<'c> {
    pub(crate) fn of(crumb: &'c CrumbFile<'_>) -> Self {
        let mut layout = Self {
            before: Vec::new(),
            header: None,
            preamble: Block::default(),
            sections: Vec::new(),
            mark: None,
            has_end: crumb.lines.last().is_none_or(|line| line.ending != LineEnding::None),
        };
        let has_header = crumb.header().is_some();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for line in &crumb.lines {
            let text: &'c str = &line.text;
            let block = layout.sections.last_mut().unwrap_or(&mut layout.preamble);
            match line.kind {
                LineKind::Blank if has_header && layout.header.is_none() => layout.before.push(text),
                LineKind::Blank => block.trailing.push(text),
                LineKind::Header => layout.header = Header::parse(text).ok().map(|header| (text, header)),
                LineKind::Entry | LineKind::Unknown => {
                    let blanks = std::mem::take(&mut block.trailing);
                    block.items.push(Item { blanks, text: Cow::Borrowed(text) });
                }
                LineKind::Section => {
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
    pub(crate) fn end(&self) -> Vec<&'c str> {
        self.sections.last().map_or_else(Vec::new, |last| last.trailing.clone())
    }

    pub(crate) fn find(&self, id: &(Cow<'c, str>, usize)) -> Option<&Block<'c>> {
        self.sections.iter().find(|section| section.id == *id)
    }
}

impl Block<'_> {
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.start == other.start && self.items == other.items
    }
}
