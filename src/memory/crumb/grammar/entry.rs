//! Entries: one line each.
//!
//! ```text
//! ~S @8 api:rate-limit hit 429 when batch-processing — 3x @s8 [PREFLIGHT: auto-detected]
//! mark, agent, reference, text, counter, tags
//! ```

use std::fmt;

use serde::Serialize;

/// The kind of an entry. The line starts with its mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub(crate) enum EntryKind {
    Fact = b'.',
    Constraint = b'!',
    Lesson = b'~',
    Warning = b'*',
    Directive = b'>',
    Note = b'n',
    Summary = b'c',
    /// A fact in a file of several agents; an agent's letter must follow.
    SharedFact = b'f',
}

impl EntryKind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Fact,
        Self::Constraint,
        Self::Lesson,
        Self::Warning,
        Self::Directive,
        Self::Note,
        Self::Summary,
        Self::SharedFact,
    ];

    pub(crate) fn mark(self) -> char {
        char::from(self as u8)
    }

    /// Whether entries of this kind should name a session.
    pub(crate) fn is_dated(self) -> bool {
        matches!(self, Self::Note | Self::Summary)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum SessionForm {
    /// `8`
    Plain,
    /// `s8`
    Session,
    /// `pre8`: an unknown session before session 8.
    Before,
}

impl SessionForm {
    fn prefix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Session => "s",
            Self::Before => "pre",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SessionRef {
    pub number: u64,
    pub form: SessionForm,
}

impl SessionRef {
    pub(crate) fn plain(number: u64) -> Self {
        Self { number, form: SessionForm::Plain }
    }

    /// The latest session that this may be: `pre8` is 7 at the latest.
    pub(crate) fn latest(self) -> u64 {
        if self.form == SessionForm::Before { self.number.saturating_sub(1) } else { self.number }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let forms = [SessionForm::Before, SessionForm::Session, SessionForm::Plain];
        let (form, digits) = forms.into_iter().find_map(|form| Some((form, text.strip_prefix(form.prefix())?)))?;
        Some(Self { number: parse_number(digits)?, form })
    }
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.form.prefix(), self.number)
    }
}

pub(crate) fn parse_number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// How many summaries of a section are compared with each other: the time is their product.
pub(crate) const MAX_COMPARED: usize = 1000;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SessionRange {
    pub from: SessionRef,
    pub to: Option<SessionRef>,
}

impl SessionRange {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let sessions = text.strip_prefix('@')?;
        match sessions.split_once('-') {
            Some((from, to)) => Some(Self { from: SessionRef::parse(from)?, to: Some(SessionRef::parse(to)?) }),
            None => Some(Self { from: SessionRef::parse(sessions)?, to: None }),
        }
    }

    pub(crate) fn earlier(&self) -> SessionRef {
        self.to.filter(|_| self.is_backward()).unwrap_or(self.from)
    }

    /// The later end. The age of an entry is that of this session.
    pub(crate) fn later(&self) -> SessionRef {
        self.to.filter(|_| !self.is_backward()).unwrap_or(self.from)
    }

    /// The earliest and the latest session that it may be.
    pub(crate) fn bounds(&self) -> (u64, u64) {
        (self.earlier().latest(), self.later().latest())
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        let ((from, to), (other_from, other_to)) = (self.bounds(), other.bounds());
        from <= other_from && other_to <= to
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let ((from, to), (other_from, other_to)) = (self.bounds(), other.bounds());
        from <= other_to && other_from <= to
    }

    pub(crate) fn is_backward(&self) -> bool {
        self.to.is_some_and(|to| to.latest() < self.from.latest())
    }
}

impl fmt::Display for SessionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.from)?;
        self.to.map_or(Ok(()), |to| write!(f, "-{to}"))
    }
}

/// How often something failed, and the session in which it failed last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Counter {
    pub count: u64,
    pub last: SessionRef,
}

impl Counter {
    fn parse(text: &str) -> Option<Self> {
        let (count, last) = text.split_once("x @")?;
        Some(Self { count: parse_number(count)?, last: SessionRef::parse(last)? })
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x @{}", self.count, self.last)
    }
}

/// A tag after the text: `[PREFLIGHT: auto-detected]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Tag<'a> {
    /// Uppercase letters, digits, `-`, and `_`.
    pub name: &'a str,
    pub text: Option<&'a str>,
}

pub(crate) const DASH: &str = " — ";

/// One entry. Its strings borrow from the line, so their offsets in it can be computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry<'a> {
    pub kind: EntryKind,
    pub agent: Option<char>,
    pub reference: Option<SessionRange>,
    pub text: &'a str,
    pub counter: Option<Counter>,
    pub tags: Vec<Tag<'a>>,
    pub content: &'a str,
    pub tags_text: &'a str,
    /// Text in the place of a reference or counter that is not a valid one.
    pub bad_reference: Option<&'a str>,
}

/// Separates the words that several agents or sessions wrote about one failure.
pub(crate) const SEPARATOR: &str = " / ";

pub(crate) const SPACE: [char; 2] = [' ', '\t'];

impl<'a> Entry<'a> {
    /// Parses a line; `None` if it does not start with a known mark and a space.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let mut chars = line.chars();
        let mark = chars.next()?;
        let kind = EntryKind::ALL.into_iter().find(|kind| kind.mark() == mark)?;
        let mut rest = chars.as_str();
        let agent = rest.chars().next().filter(char::is_ascii_uppercase);
        if agent.is_some() {
            rest = &rest[1..];
        }
        if (kind == EntryKind::SharedFact && agent.is_none()) || !(rest.is_empty() || rest.starts_with(SPACE)) {
            return None;
        }
        let mut content = rest.trim_matches(SPACE);
        let mut bad_reference = None;
        let word_len = content.find(SPACE).unwrap_or(content.len());
        let reference = SessionRange::parse(&content[..word_len]);
        if reference.is_some() {
            content = content[word_len..].trim_start_matches(SPACE);
        } else if kind.is_dated() && content.starts_with('@') {
            bad_reference = Some(&content[..word_len]);
        }
        let (body, tags) = split_tags(content);
        let tags_text = content[body.len()..].trim_matches(SPACE);
        let mut text = body;
        let mut counter = None;
        if let Some((before, tail)) = body.rsplit_once(DASH) {
            counter = Counter::parse(tail);
            if counter.is_some() {
                text = before.trim_end_matches(SPACE);
            } else if kind == EntryKind::Lesson && looks_like_counter(tail) {
                bad_reference = bad_reference.or(Some(tail));
            }
        }
        Some(Self { kind, agent, reference, text, counter, tags, content, tags_text, bad_reference })
    }

    /// The name of a failure: a first word `area:topic`.
    pub(crate) fn key(&self) -> Option<&'a str> {
        self.text.split(SPACE).next().filter(|word| is_key(word))
    }

    /// The latest session of its reference, or else of its counter.
    pub(crate) fn latest(&self) -> Option<u64> {
        let reference = self.reference.map(|reference| reference.later().latest());
        reference.or(self.counter.map(|counter| counter.last.latest()))
    }

    /// The number of times that this happened, and the last session, for ranking failures.
    pub(crate) fn frequency(&self) -> (u64, Option<u64>) {
        let last = self.counter.map(|counter| counter.last.latest()).max(self.latest());
        (self.counter.map_or(1, |counter| counter.count), last)
    }

    pub(crate) fn render(&self) -> String {
        let mut line = String::from(self.kind.mark());
        line.extend(self.agent);
        if let Some(reference) = self.reference {
            line.extend([" ", &reference.to_string()]);
        }
        if !self.text.is_empty() {
            line.extend([" ", self.text]);
        }
        if let Some(counter) = self.counter {
            line.extend([DASH, &counter.to_string()]);
        }
        if !self.tags_text.is_empty() {
            line.extend([" ", self.tags_text]);
        }
        line
    }
}

/// Whether a word names a failure: two nonempty parts separated by a colon.
pub(crate) fn is_key(word: &str) -> bool {
    let is_word = !word.contains(char::is_whitespace);
    is_word && word.split_once(':').is_some_and(|(area, topic)| !area.is_empty() && !topic.is_empty())
}

fn looks_like_counter(tail: &str) -> bool {
    tail.starts_with(|c: char| c.is_ascii_digit())
        && tail.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("x @")
}

/// Splits the tags off the end; returns the text before them, and the tags in order.
fn split_tags(content: &str) -> (&str, Vec<Tag<'_>>) {
    let mut body = content;
    let mut tags = Vec::new();
    while let Some(inner) = body.strip_suffix(']') {
        let Some(open) = inner.rfind('[') else { break };
        let before = &body[..open];
        let Some(tag) = parse_tag(&inner[open + 1..]).filter(|_| before.ends_with(SPACE)) else { break };
        tags.push(tag);
        body = before.trim_end_matches(SPACE);
    }
    tags.reverse();
    (body, tags)
}

fn parse_tag(inner: &str) -> Option<Tag<'_>> {
    let (name, text) = match inner.split_once(':') {
        Some((name, text)) => (name, Some(text.trim_matches(SPACE))),
        None => (inner, None),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
    (is_name && !inner.contains(']')).then_some(Tag { name, text })
}
