//! A crumb file split into the parts that are merged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::memory::crumb::grammar::document::{CrumbFile, Header, LineEnding, LineKind, parse_section};

pub(crate) struct Layout<'c> {
    pub(crate) before: Vec<&'c str>,
    pub(crate) header: Option<(&'c str, Header<'c>)>,
    pub(crate) preamble: SectionLayout<'c>,
    pub(crate) sections: Vec<SectionLayout<'c>>,
    pub(crate) mark: Option<char>,
    pub(crate) has_end: bool,
}

#[derive(Clone, Default)]
pub(crate) struct SectionLayout<'c> {
    /// Its name in lowercase, and the number of earlier sections with that name.
    pub(crate) id: (String, usize),
    pub(crate) start: Cow<'c, str>,
    pub(crate) lines: Vec<LayoutLine<'c>>,
    pub(crate) trailing: Vec<&'c str>,
    pub(crate) is_last: bool,
}

/// A line that is not blank, and the blank lines before it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LayoutLine<'c> {
    pub(crate) blanks: Vec<&'c str>,
    pub(crate) text: Cow<'c, str>,
}

impl<'c> Layout<'c> {
    pub(crate) fn of(crumb: &'c CrumbFile<'_>) -> Self {
        let mut layout = Self {
            before: Vec::new(),
            header: None,
            preamble: SectionLayout::default(),
            sections: Vec::new(),
            mark: None,
            has_end: crumb.lines.last().is_none_or(|line| line.ending != LineEnding::None),
        };
        let has_header = crumb.header().is_some();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for line in &crumb.lines {
            let text: &'c str = &line.text;
            let section = layout.sections.last_mut().unwrap_or(&mut layout.preamble);
            match line.kind {
                LineKind::Blank if has_header && layout.header.is_none() => layout.before.push(text),
                LineKind::Blank => section.trailing.push(text),
                LineKind::Header => layout.header = Header::parse(text).ok().map(|header| (text, header)),
                LineKind::Entry | LineKind::Unknown => {
                    let blanks = std::mem::take(&mut section.trailing);
                    section.lines.push(LayoutLine { blanks, text: Cow::Borrowed(text) });
                }
                LineKind::Section => {
                    if let Some((mark, name)) = parse_section(text) {
                        layout.mark.get_or_insert(mark);
                        let name = name.to_lowercase();
                        let count = seen.entry(name.clone()).or_default();
                        let id = (name, *count);
                        *count += 1;
                        layout.sections.push(SectionLayout {
                            id,
                            start: Cow::Borrowed(text),
                            ..SectionLayout::default()
                        });
                    }
                }
            }
        }
        if let Some(last) = layout.sections.last_mut() {
            last.is_last = true;
        }
        layout
    }

    pub(crate) fn end(&self) -> Vec<&'c str> {
        self.sections.last().map_or_else(Vec::new, |last| last.trailing.clone())
    }

    pub(crate) fn find(&self, id: &(String, usize)) -> Option<&SectionLayout<'c>> {
        self.sections.iter().find(|section| section.id == *id)
    }
}

impl SectionLayout<'_> {
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
        self.start == other.start && self.lines == other.lines
    }
}
