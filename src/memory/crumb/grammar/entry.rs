//! Entries: one line each, a mark, and what stands behind it.
//!
//! ```text
//! ~S @8 api:rate-limit hit 429 when batch-processing — 3x @s8 [PREFLIGHT: auto-detected]
//! mark, agent, reference, text, counter, tags
//! ```

use std::fmt;

/// What an entry is, by the mark it starts with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum EntryKind {
    /// `.`: a fact or a state.
    Fact,
    /// `!`: what must never be done.
    Constraint,
    /// `~`: a lesson or a failure.
    Lesson,
    /// `*`: what needs attention.
    Warning,
    /// `>`: an instruction from whoever is in charge.
    Directive,
    /// `n`: what happened in a session.
    Note,
    /// `c`: a summary of sessions.
    Summary,
    /// `f`: a fact in a shared file; an agent's letter always follows.
    SharedFact,
}

impl EntryKind {
    /// Every kind, in the order of the published text.
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

    /// The mark.
    pub(crate) fn mark(self) -> char {
        match self {
            Self::Fact => '.',
            Self::Constraint => '!',
            Self::Lesson => '~',
            Self::Warning => '*',
            Self::Directive => '>',
            Self::Note => 'n',
            Self::Summary => 'c',
            Self::SharedFact => 'f',
        }
    }

    /// The word for it in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Constraint => "constraint",
            Self::Lesson => "lesson",
            Self::Warning => "warning",
            Self::Directive => "directive",
            Self::Note => "note",
            Self::Summary => "summary",
            Self::SharedFact => "shared-fact",
        }
    }

    fn of_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.mark() == mark)
    }

    /// Whether it tells of sessions, and so should say of which.
    pub(crate) fn is_dated(self) -> bool {
        matches!(self, Self::Note | Self::Summary)
    }
}

/// How the number of a session is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum SessionForm {
    /// `8`.
    Plain,
    /// `s8`.
    Session,
    /// `pre8`: before session 8, number unknown.
    Before,
}

/// A session, as an entry names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SessionRef {
    pub number: u64,
    pub form: SessionForm,
}

impl SessionRef {
    /// The session of that number.
    pub(crate) fn plain(number: u64) -> Self {
        Self { number, form: SessionForm::Plain }
    }

    /// The latest session that is meant: `pre8` is 7 at the latest.
    pub(crate) fn latest(self) -> u64 {
        match self.form {
            SessionForm::Before => self.number.saturating_sub(1),
            SessionForm::Plain | SessionForm::Session => self.number,
        }
    }

    /// Reads `15`, `s8` or `pre122`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (form, digits) = if let Some(digits) = text.strip_prefix("pre") {
            (SessionForm::Before, digits)
        } else if let Some(digits) = text.strip_prefix('s') {
            (SessionForm::Session, digits)
        } else {
            (SessionForm::Plain, text)
        };
        Some(Self { number: number(digits)?, form })
    }
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.form {
            SessionForm::Plain => "",
            SessionForm::Session => "s",
            SessionForm::Before => "pre",
        };
        write!(f, "{form}{}", self.number)
    }
}

/// Reads digits of ASCII, and nothing else, as a number of 64 bits.
pub(crate) fn number(digits: &str) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| digits.parse().ok())?
}

/// The sessions an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SessionRange {
    pub from: SessionRef,
    pub to: Option<SessionRef>,
}

impl SessionRange {
    /// Reads `@15` or `@10-13`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let points = text.strip_prefix('@')?;
        match points.split_once('-') {
            Some((from, to)) => Some(Self { from: SessionRef::parse(from)?, to: Some(SessionRef::parse(to)?) }),
            None => Some(Self { from: SessionRef::parse(points)?, to: None }),
        }
    }

    /// The end that lies earlier.
    pub(crate) fn earlier(&self) -> SessionRef {
        match self.to {
            Some(to) if to.latest() < self.from.latest() => to,
            _ => self.from,
        }
    }

    /// The end that lies later; it is what a range ranks by.
    pub(crate) fn later(&self) -> SessionRef {
        match self.to {
            Some(to) if to.latest() >= self.from.latest() => to,
            _ => self.from,
        }
    }

    /// Whether a range runs backwards.
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

/// How often something failed, and in which session last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Counter {
    pub count: u64,
    pub last: SessionRef,
}

impl Counter {
    fn parse(text: &str) -> Option<Self> {
        let (count, last) = text.split_once("x @")?;
        Some(Self { count: number(count)?, last: SessionRef::parse(last)? })
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x @{}", self.count, self.last)
    }
}

/// A tag behind the text: `[PREFLIGHT: auto-detected]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Tag<'a> {
    pub name: &'a str,
    pub text: Option<&'a str>,
}

/// What stands before a counter.
pub(crate) const DASH: &str = " — ";

/// One entry, borrowing from its line. Parts are of the line's own text, so their places in it can be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry<'a> {
    pub kind: EntryKind,
    /// Whose it is, in a file of several agents.
    pub agent: Option<char>,
    pub reference: Option<SessionRange>,
    pub text: &'a str,
    pub counter: Option<Counter>,
    pub tags: Vec<Tag<'a>>,
    pub content: &'a str,
    pub tags_text: &'a str,
    /// What stands where a reference must and is none.
    pub bad_reference: Option<&'a str>,
}

const SPACE: [char; 2] = [' ', '\t'];

impl<'a> Entry<'a> {
    /// Reads a line; `None` if it does not start with a known mark and a space.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let mut chars = line.chars();
        let kind = EntryKind::of_mark(chars.next()?)?;
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
        let word = self.text.split(SPACE).next()?;
        is_key(word).then_some(word)
    }

    /// The latest session that it speaks of, by its reference or else its counter.
    pub(crate) fn latest(&self) -> Option<u64> {
        let reference = self.reference.map(|reference| reference.later().latest());
        reference.or(self.counter.map(|counter| counter.last.latest()))
    }

    /// The line that says it, in the customary spacing.
    pub(crate) fn render(&self) -> String {
        let mut line = String::from(self.kind.mark());
        line.extend(self.agent);
        let reference = self.reference.map(|reference| reference.to_string());
        let counter = self.counter.map(|counter| counter.to_string());
        for part in [reference.as_deref(), Some(self.text)].into_iter().flatten().filter(|part| !part.is_empty()) {
            line.extend([" ", part]);
        }
        if let Some(counter) = &counter {
            line.extend([DASH, counter]);
        }
        if !self.tags_text.is_empty() {
            line.extend([" ", self.tags_text]);
        }
        line
    }
}

/// Whether a word names a failure: something on both sides of a colon.
pub(crate) fn is_key(word: &str) -> bool {
    let is_word = !word.contains(char::is_whitespace);
    is_word && word.split_once(':').is_some_and(|(area, topic)| !area.is_empty() && !topic.is_empty())
}

fn looks_like_counter(tail: &str) -> bool {
    let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && tail[digits..].starts_with("x @")
}

/// Takes the tags off the end; gives what stands before them, and the tags in order.
fn split_tags(content: &str) -> (&str, Vec<Tag<'_>>) {
    let mut body = content;
    let mut tags = Vec::new();
    while let Some(inner) = body.strip_suffix(']') {
        let Some(open) = inner.rfind('[') else { break };
        let before = &body[..open];
        let Some(tag) = tag(&inner[open + 1..]).filter(|_| before.ends_with(SPACE)) else { break };
        tags.push(tag);
        body = before.trim_end_matches(SPACE);
    }
    tags.reverse();
    (body, tags)
}

fn tag(inner: &str) -> Option<Tag<'_>> {
    let (name, text) = match inner.split_once(':') {
        Some((name, text)) => (name, Some(text.trim_matches(SPACE))),
        None => (inner, None),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
    (is_name && !inner.contains(']')).then_some(Tag { name, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_all_its_parts() {
        let line = "~S @8 api:rate-limit hit [429] — when = § @ batching — 3x @s8 [PREFLIGHT: auto-detected] [B]";
        let entry = Entry::parse(line).unwrap();
        assert_eq!((entry.kind, entry.agent), (EntryKind::Lesson, Some('S')));
        assert_eq!(entry.reference, Some(SessionRange { from: SessionRef::plain(8), to: None }));
        assert_eq!(entry.text, "api:rate-limit hit [429] — when = § @ batching");
        assert_eq!(entry.counter.map(|counter| counter.to_string()).as_deref(), Some("3x @s8"));
        let tags = [Tag { name: "PREFLIGHT", text: Some("auto-detected") }, Tag { name: "B", text: None }];
        assert_eq!((entry.tags.as_slice(), entry.key()), (&tags[..], Some("api:rate-limit")));
        assert_eq!(entry.render(), line);
    }

    #[test]
    fn what_is_no_entry_is_told() {
        for line in ["", "f fact", ".fact", "x what", "nothing", "§core", " . indented", "n@15 x", "fs x", "∴CRUMB2"]
        {
            assert_eq!(Entry::parse(line), None, "{line}");
        }
        for line in [".", "!", "fS", "n", ". ", "n @15"] {
            assert_eq!(Entry::parse(line).unwrap().text, "", "{line}");
        }
    }

    #[test]
    fn references_are_read_where_they_stand() {
        for (line, reference, bad) in [
            ("n @15 x", Some("@15"), None),
            ("c @10-13 x", Some("@10-13"), None),
            ("c @s10-pre13 x", Some("@s10-pre13"), None),
            ("n @pre122 x", Some("@pre122"), None),
            ("n x @15", None, None),
            ("n @x y", None, Some("@x")),
            ("n @15: y", None, Some("@15:")),
            ("n @99999999999999999999 y", None, Some("@99999999999999999999")),
            (". @alice owns it", None, None),
            ("~ a:b went wrong — 3x @never", None, Some("3x @never")),
            (". a — 3x @never", None, None),
        ] {
            let entry = Entry::parse(line).unwrap();
            assert_eq!(entry.reference.map(|reference| reference.to_string()).as_deref(), reference, "{line}");
            assert_eq!(entry.bad_reference, bad, "{line}");
        }
    }
}
