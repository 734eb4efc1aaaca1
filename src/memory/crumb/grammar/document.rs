//! A crumb file as lines. Parsing and printing returns the same bytes.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use thiserror::Error;

use super::entry::{Entry, parse_number};
use crate::base::merge::conflict;

/// The byte order mark that some editors write.
pub(crate) const BOM: &str = "\u{feff}";

pub(crate) const HEADER: &str = "∴CRUMB";

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid UTF-8 at byte {offset}")]
pub(crate) struct NotUtf8 {
    /// Counts from 0.
    pub offset: usize,
}

/// A crumb file, whose lines can be changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CrumbFile<'a> {
    pub has_bom: bool,
    pub lines: Vec<Line<'a>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    pub text: Cow<'a, str>,
    pub ending: LineEnding,
    pub kind: LineKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineEnding {
    None,
    Lf,
    CrLf,
}

impl LineEnding {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineKind {
    Blank,
    /// Only the first line that is not blank can be a header.
    Header,
    Section,
    Entry,
    Unknown,
}

/// The first line: `∴CRUMB2 SPARK s222`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Header<'a> {
    /// 1 or 2.
    pub version: u8,
    pub identity: &'a str,
    /// The number of the current session; the first is 1.
    pub session: u64,
}

/// Why a line is not a header. The text is what was found instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadHeader<'a> {
    NoMark,
    Version(&'a str),
    NoIdentity,
    NoSession,
    Session(&'a str),
    TrailingText(&'a str),
}

impl<'a> Header<'a> {
    pub(crate) fn parse(line: &'a str) -> Result<Self, BadHeader<'a>> {
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let version = match words.next().and_then(|word| word.strip_prefix(HEADER)).ok_or(BadHeader::NoMark)? {
            "1" => 1,
            "2" => 2,
            other => return Err(BadHeader::Version(other)),
        };
        let identity = words.next().ok_or(BadHeader::NoIdentity)?;
        let word = words.next().ok_or(BadHeader::NoSession)?;
        let session = word.strip_prefix('s').and_then(parse_number).ok_or(BadHeader::Session(word))?;
        match words.next() {
            Some(more) => Err(BadHeader::TrailingText(more)),
            None => Ok(Self { version, identity, session }),
        }
    }
}

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HEADER}{} {} s{}", self.version, self.identity, self.session)
    }
}

/// The longest name of a section, in bytes. Entries are shown and searched with it, so a long one multiplies their size.
pub(crate) const MAX_SECTION: usize = 200;

/// Mark and name of a section line. The mark is `§` or `=`; a file uses only one of them.
pub(crate) fn parse_section(line: &str) -> Option<(char, &str)> {
    let (mark, rest) = ['§', '='].into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)))?;
    let is_named = !rest.is_empty()
        && rest.len() <= MAX_SECTION
        && !rest.starts_with(char::is_whitespace)
        && !is_conflict_marker(line);
    is_named.then(|| (mark, rest.trim_end()))
}

/// Whether two names are those of one section: names compare without case.
pub(crate) fn is_same_section(name: &str, other: &str) -> bool {
    name == other || name.to_lowercase() == other.to_lowercase()
}

pub(crate) fn is_conflict_marker(line: &str) -> bool {
    conflict::is_marker(line.as_bytes())
}

/// A section, by the indexes of its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Section<'c> {
    pub name: &'c str,
    pub mark: char,
    pub start: usize,
    pub end: usize,
}

impl<'a> Line<'a> {
    /// A line that is not a header.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, ending: LineEnding) -> Self {
        let text = text.into();
        let kind = if text.trim().is_empty() {
            LineKind::Blank
        } else if parse_section(&text).is_some() {
            LineKind::Section
        } else if Entry::parse(&text).is_some() {
            LineKind::Entry
        } else {
            LineKind::Unknown
        };
        Self { text, ending, kind }
    }

    fn parse(line: &'a str) -> Self {
        let endings = [LineEnding::CrLf, LineEnding::Lf, LineEnding::None];
        let ending = endings.into_iter().find(|ending| line.ends_with(ending.as_str())).unwrap_or(LineEnding::None);
        Self::new(&line[..line.len() - ending.as_str().len()], ending)
    }

    pub(crate) fn entry(&self) -> Option<Entry<'_>> {
        if self.kind == LineKind::Entry { Entry::parse(&self.text) } else { None }
    }

    pub(crate) fn into_owned(self) -> Line<'static> {
        Line { text: Cow::Owned(self.text.into_owned()), ending: self.ending, kind: self.kind }
    }
}

impl<'a> CrumbFile<'a> {
    /// Parses any text; [`check`](crate::memory::crumb::check()) finds what is invalid in it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, NotUtf8> {
        let text = std::str::from_utf8(bytes).map_err(|error| NotUtf8 { offset: error.valid_up_to() })?;
        let (has_bom, text) = text.strip_prefix(BOM).map_or((false, text), |rest| (true, rest));
        let mut lines: Vec<Line<'a>> = text.split_inclusive('\n').map(Line::parse).collect();
        if let Some(first) = lines.iter_mut().find(|line| line.kind != LineKind::Blank)
            && Header::parse(&first.text).is_ok()
        {
            first.kind = LineKind::Header;
        }
        Ok(Self { has_bom, lines })
    }

    pub(crate) fn print(&self) -> Vec<u8> {
        let mut text = String::from(if self.has_bom { BOM } else { "" });
        for line in &self.lines {
            text.extend([&*line.text, line.ending.as_str()]);
        }
        text.into_bytes()
    }

    pub(crate) fn header(&self) -> Option<Header<'_>> {
        let line = self.lines.iter().find(|line| line.kind == LineKind::Header)?;
        Header::parse(&line.text).ok()
    }

    pub(crate) fn sections(&self) -> Vec<Section<'_>> {
        let mut sections: Vec<Section<'_>> = Vec::new();
        for (index, line) in self.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Section) {
            if let Some(last) = sections.last_mut() {
                last.end = index;
            }
            if let Some((mark, name)) = parse_section(&line.text) {
                sections.push(Section { name, mark, start: index, end: self.lines.len() });
            }
        }
        sections
    }

    /// The entries, each with the index of its line and the name of its section. The name is empty before any section.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &str, Entry<'_>)> {
        let mut section = "";
        self.lines.iter().enumerate().filter_map(move |(index, line)| {
            if let Some((_, name)) = parse_section(&line.text).filter(|_| line.kind == LineKind::Section) {
                section = name;
            }
            line.entry().map(|entry| (index, section, entry))
        })
    }

    /// The line ending of the first line, which new lines get.
    pub(crate) fn ending(&self) -> LineEnding {
        self.lines
            .first()
            .map(|line| line.ending)
            .filter(|ending| *ending != LineEnding::None)
            .unwrap_or(LineEnding::Lf)
    }

    /// The section mark of the first section, which new sections get.
    pub(crate) fn mark(&self) -> char {
        self.sections().first().map_or('§', |section| section.mark)
    }

    pub(crate) fn into_owned(self) -> CrumbFile<'static> {
        CrumbFile { has_bom: self.has_bom, lines: self.lines.into_iter().map(Line::into_owned).collect() }
    }
}
