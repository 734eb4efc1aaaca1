//! A crumb file as lines, to the byte.

use std::borrow::Cow;
use std::fmt;

use thiserror::Error;

use crate::base::merge::conflict;
use crate::memory::crumb::grammar::entry::{Entry, number};

/// What some editors put before the text.
pub(crate) const BOM: &str = "\u{feff}";

/// What a header starts with.
pub(crate) const HEADER: &str = "∴CRUMB";

/// A file that is not text.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("the file is not UTF-8 at byte {offset}")]
pub(crate) struct NotUtf8 {
    pub offset: usize,
}

/// A crumb file: its lines as they stand. Printing what was read gives the same bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CrumbFile<'a> {
    pub has_bom: bool,
    pub lines: Vec<Line<'a>>,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    pub text: Cow<'a, str>,
    pub ending: LineEnding,
    pub kind: LineKind,
}

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineEnding {
    None,
    Lf,
    CrLf,
}

impl LineEnding {
    /// The characters.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineKind {
    Blank,
    /// The first line that is not blank, where it is a header.
    Header,
    Section,
    Entry,
    Unknown,
}

/// The first line: `∴CRUMB2 SPARK s222`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header<'a> {
    pub version: u8,
    pub identity: &'a str,
    /// How many sessions there were, the current one included.
    pub session: u64,
}

/// Why a line is not a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadHeader<'a> {
    NoMark,
    Version(&'a str),
    NoIdentity,
    NoSession,
    Session(&'a str),
    More(&'a str),
}

impl<'a> Header<'a> {
    /// Reads a line; spaces around it do not matter.
    pub(crate) fn parse(line: &'a str) -> Result<Self, BadHeader<'a>> {
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let version = words.next().and_then(|word| word.strip_prefix(HEADER)).ok_or(BadHeader::NoMark)?;
        let version = match version {
            "1" => 1,
            "2" => 2,
            other => return Err(BadHeader::Version(other)),
        };
        let identity = words.next().ok_or(BadHeader::NoIdentity)?;
        let word = words.next().ok_or(BadHeader::NoSession)?;
        let session = word.strip_prefix('s').and_then(number).ok_or(BadHeader::Session(word))?;
        match words.next() {
            Some(more) => Err(BadHeader::More(more)),
            None => Ok(Self { version, identity, session }),
        }
    }
}

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HEADER}{} {} s{}", self.version, self.identity, self.session)
    }
}

/// How sections are marked; a file keeps to one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SectionMark {
    /// `§`.
    Paragraph,
    /// `=`.
    Equals,
}

impl SectionMark {
    /// The character.
    pub(crate) fn as_char(self) -> char {
        match self {
            Self::Paragraph => '§',
            Self::Equals => '=',
        }
    }
}

/// SectionMark and name of a line that starts a section.
pub(crate) fn section_start(line: &str) -> Option<(SectionMark, &str)> {
    let (mark, rest) = match line.strip_prefix('§') {
        Some(rest) => (SectionMark::Paragraph, rest),
        None => (SectionMark::Equals, line.strip_prefix('=')?),
    };
    let is_named = !rest.is_empty() && !rest.starts_with(char::is_whitespace) && !is_conflict_marker(line);
    is_named.then(|| (mark, rest.trim_end()))
}

/// Whether a line is one that merges leave.
pub(crate) fn is_conflict_marker(line: &str) -> bool {
    conflict::marker(line.as_bytes()).is_some_and(|(_, size)| size >= conflict::Markers::DEFAULT_SIZE)
}

/// A section of a file, by the numbers of its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Section<'c> {
    pub name: &'c str,
    pub mark: SectionMark,
    pub start: usize,
    pub end: usize,
}

impl<'a> Line<'a> {
    /// The entry that stands on it.
    pub(crate) fn entry(&self) -> Option<Entry<'_>> {
        if self.kind == LineKind::Entry { Entry::parse(&self.text) } else { None }
    }

    /// A line that we write; its kind is found out.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, ending: LineEnding) -> Self {
        let text = text.into();
        Self { kind: line_kind(&text), text, ending }
    }
}

impl<'a> CrumbFile<'a> {
    /// Reads a file. Any text is one; [`super::check()`] says what is wrong with it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, NotUtf8> {
        let text = std::str::from_utf8(bytes).map_err(|error| NotUtf8 { offset: error.valid_up_to() })?;
        let (has_bom, text) = text.strip_prefix(BOM).map_or((false, text), |rest| (true, rest));
        let mut lines: Vec<Line<'a>> = text.split_inclusive('\n').map(read_line).collect();
        if let Some(first) = lines.iter_mut().find(|line| line.kind != LineKind::Blank)
            && Header::parse(&first.text).is_ok()
        {
            first.kind = LineKind::Header;
        }
        Ok(Self { has_bom, lines })
    }

    /// The bytes of the file.
    pub(crate) fn print(&self) -> Vec<u8> {
        let mut text = String::from(if self.has_bom { BOM } else { "" });
        for line in &self.lines {
            text.push_str(&line.text);
            text.push_str(line.ending.as_str());
        }
        text.into_bytes()
    }

    /// The header, if there is one.
    pub(crate) fn header(&self) -> Option<Header<'_>> {
        let line = self.lines.iter().find(|line| line.kind == LineKind::Header)?;
        Header::parse(&line.text).ok()
    }

    /// The sections, in order.
    pub(crate) fn sections(&self) -> Vec<Section<'_>> {
        let mut sections: Vec<Section<'_>> = Vec::new();
        for (index, line) in self.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Section) {
            if let Some(last) = sections.last_mut() {
                last.end = index;
            }
            if let Some((mark, name)) = section_start(&line.text) {
                sections.push(Section { name, mark, start: index, end: self.lines.len() });
            }
        }
        sections
    }

    /// The entries with the index of their line and the name of their section; those before any section have none.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &str, Entry<'_>)> {
        let mut section = "";
        self.lines.iter().enumerate().filter_map(move |(index, line)| {
            if let Some((_, name)) = section_start(&line.text).filter(|_| line.kind == LineKind::Section) {
                section = name;
            }
            line.entry().map(|entry| (index, section, entry))
        })
    }

    /// How its lines end: as the first one does.
    pub(crate) fn ending(&self) -> LineEnding {
        match self.lines.first().map(|line| line.ending) {
            Some(LineEnding::CrLf) => LineEnding::CrLf,
            _ => LineEnding::Lf,
        }
    }

    /// How its sections are marked: as the first one is.
    pub(crate) fn mark(&self) -> SectionMark {
        self.sections().first().map_or(SectionMark::Paragraph, |section| section.mark)
    }

    /// The same without what it borrows from.
    pub(crate) fn into_owned(self) -> CrumbFile<'static> {
        let own =
            |line: Line<'_>| Line { text: Cow::Owned(line.text.into_owned()), ending: line.ending, kind: line.kind };
        CrumbFile { has_bom: self.has_bom, lines: self.lines.into_iter().map(own).collect() }
    }
}

fn read_line(line: &str) -> Line<'_> {
    let (text, ending) = match line.strip_suffix('\n') {
        None => (line, LineEnding::None),
        Some(text) => text.strip_suffix('\r').map_or((text, LineEnding::Lf), |text| (text, LineEnding::CrLf)),
    };
    Line { kind: line_kind(text), text: Cow::Borrowed(text), ending }
}

/// What a line is, wherever it stands.
fn line_kind(text: &str) -> LineKind {
    if text.trim().is_empty() {
        LineKind::Blank
    } else if section_start(text).is_some() {
        LineKind::Section
    } else if Entry::parse(text).is_some() {
        LineKind::Entry
    } else {
        LineKind::Unknown
    }
}
