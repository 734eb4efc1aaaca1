//! What is wrong with a crumb file: the rules of the published text, in the weights that the grammar gives them.

use std::collections::HashMap;
use std::ops::Range;

use crate::base::finding::{Finding, LineIndex, Weight};
use crate::memory::crumb::grammar::document::{
    BadHeader, CrumbFile, HEADER, Header, Line, LineKind, SectionMark, is_conflict_marker, parse_section,
};
use crate::memory::crumb::grammar::entry::{Entry, EntryKind, SessionRef};
use crate::tokens::Encoding;

/// How many tokens a file should take at most: it is read whole at the start of every session.
pub(crate) const TOKEN_LIMIT: u64 = 400;

/// How many failures should stay in a file.
pub(crate) const FAILURE_LIMIT: usize = 5;

/// Name of the section whose entries are failures.
pub(crate) const FAILURES: &str = "failures";

/// Says all there is to say about a crumb file, by place. Any bytes will do.
pub(crate) fn check(bytes: &[u8], encoding: Encoding) -> Vec<Finding> {
    let mut check = Check { index: LineIndex::new(bytes), findings: Vec::new() };
    match CrumbFile::parse(bytes) {
        Ok(crumb) => check.check_file(&crumb, bytes, encoding),
        Err(error) => {
            let remedy = "save it as UTF-8, or restore it from git";
            check.error(error.offset..error.offset + 1, "not-utf8", error.to_string(), remedy);
        }
    }
    check.findings.sort_by_key(|finding| finding.span.start);
    check.findings
}

struct Check<'c> {
    index: LineIndex<'c>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn check_file(&mut self, crumb: &CrumbFile<'_>, bytes: &[u8], encoding: Encoding) {
        if crumb.has_bom {
            let message = "the file starts with a byte order mark".to_owned();
            self.warn(0..3, "byte-order-mark", message, "save it as UTF-8 without one");
        }
        let mut start = if crumb.has_bom { 3 } else { 0 };
        let places: Vec<Place<'_>> = crumb
            .lines
            .iter()
            .map(|line| {
                let place = Place { line, start };
                start += line.text.len() + line.ending.as_str().len();
                place
            })
            .collect();
        if let Some(after_header) = self.check_header(&places) {
            self.check_lines(&places[after_header..], crumb.header().as_ref());
        }
        let tokens = encoding.count(bytes);
        if tokens > TOKEN_LIMIT {
            let message = format!("the file takes {tokens} tokens, and about {TOKEN_LIMIT} are meant to be the most");
            self.warn(0..0, "too-long", message, "`git trace crumb compress` it, or take out what nobody needs");
        }
    }

    /// Checks what stands up to the header; gives the index of the line behind it, and nothing where the file is of
    /// another format.
    fn check_header(&mut self, places: &[Place<'_>]) -> Option<usize> {
        const CODE: &str = "bad-header";
        const REMEDY: &str = "start the file with a line such as `∴CRUMB2 MYAGENT s1`";
        let Some(first) = places.iter().position(|place| place.line.kind != LineKind::Blank) else {
            self.error(0..0, CODE, "the file is empty".to_owned(), REMEDY);
            return Some(places.len());
        };
        let place = &places[first];
        if first > 0 {
            let message = "a blank line stands before the header".to_owned();
            self.warn(places[0].span(), "blank-before-header", message, "take it out");
        }
        let text = &*place.line.text;
        let Err(problem) = Header::parse(text) else {
            if text.starts_with([' ', '\t']) {
                let message = "the header is indented".to_owned();
                self.warn(place.span(), "indented-header", message, "take the indent out");
            }
            return Some(first + 1);
        };
        let message = match problem {
            BadHeader::NoMark if text.starts_with("BEGIN CRUMB") => {
                let message = "the file starts with `BEGIN CRUMB`: it is of another format that ends in `.crumb` too";
                self.error(place.span(), "other-format", message.to_owned(), "give it another name");
                return None;
            }
            BadHeader::NoMark => format!("a header is expected, and `{}` was found", excerpt(text)),
            BadHeader::Version(found) => {
                format!("versions 1 and 2 of the format are known, and `{HEADER}{}` was found", excerpt(found))
            }
            BadHeader::NoIdentity => "the header names nobody".to_owned(),
            BadHeader::NoSession => "the header has no session".to_owned(),
            BadHeader::Session(found) => {
                format!("a session such as `s1` is expected, and `{}` was found", excerpt(found))
            }
            BadHeader::TrailingText(found) => {
                format!("the header ends with its session, and `{}` follows", excerpt(found))
            }
        };
        self.error(place.span(), CODE, message, REMEDY);
        // What is a section or an entry is checked as one too.
        let is_checked = matches!(place.line.kind, LineKind::Section | LineKind::Entry);
        Some(if is_checked { first } else { first + 1 })
    }

    fn check_lines(&mut self, places: &[Place<'_>], header: Option<&Header<'_>>) {
        let mut state = State { header, mark: None, section: None, seen: HashMap::new(), failures: 0 };
        for place in places {
            self.check_characters(place);
            match place.line.kind {
                LineKind::Blank => {}
                LineKind::Section => self.check_section(place, &mut state),
                LineKind::Entry => {
                    if let Some(entry) = place.line.entry() {
                        self.check_entry(place, &entry, &mut state);
                    }
                }
                LineKind::Header | LineKind::Unknown => self.check_unknown(place),
            }
        }
        if state.section.is_none() {
            let end = places.last().map_or(0, |place| place.span().end);
            let message = "the file has no section".to_owned();
            self.error(end..end, "no-section", message, "add a line such as `§core`");
        }
    }

    fn check_characters(&mut self, place: &Place<'_>) {
        if let Some((at, c)) = place.line.text.char_indices().find(|(_, c)| c.is_control() && *c != '\t') {
            let message = format!("the line holds the control character {}", c.escape_default());
            let start = place.start + at;
            self.warn(start..start + c.len_utf8(), "control-character", message, "take it out");
        }
    }

    fn check_section<'p>(&mut self, place: &Place<'p>, state: &mut State<'p>) {
        let Some((mark, name)) = parse_section(&place.line.text) else { return };
        state.section = Some(name);
        state.failures = 0;
        let line = self.line(place);
        let (first_mark, first_line) = *state.mark.get_or_insert((mark, line));
        if first_mark != mark {
            let message = format!(
                "line {line} marks a section with `{}`, and line {first_line} with `{}`",
                mark.as_char(),
                first_mark.as_char()
            );
            self.error(place.span(), "mixed-marks", message, "keep to one of the two");
        }
        if let Some(first) = state.seen.insert(name, line) {
            let message = format!("the section `{}` starts in line {first} already", excerpt(name));
            self.warn(place.span(), "section-twice", message, "put its entries together");
        }
    }

    fn check_entry(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &mut State<'_>) {
        let span = place.span();
        let Some(section) = state.section else {
            let message = "an entry stands before the first section".to_owned();
            self.error(span, "entry-before-section", message, "put it below a line such as `§core`");
            return;
        };
        if entry.kind == EntryKind::SharedFact && state.mark.is_some_and(|(mark, _)| mark == SectionMark::Paragraph) {
            let message = "the mark `f` is for shared files, whose sections are marked with `=`".to_owned();
            self.warn(span.clone(), "shared-mark", message, "write `.` with the agent's letter");
        }
        if section == FAILURES {
            if entry.kind == EntryKind::Lesson {
                state.failures += 1;
                if state.failures == FAILURE_LIMIT + 1 {
                    let message = format!("the section has more than {FAILURE_LIMIT} failures");
                    let remedy = "`git trace crumb compress` archives those that failed least";
                    self.warn(span.clone(), "too-many-failures", message, remedy);
                }
            } else {
                let message = format!("an entry of `{FAILURES}` starts with `{}`", entry.kind.mark());
                self.warn(span.clone(), "failure-mark", message, "write `~`, or put it into another section");
            }
        }
        if entry.text.is_empty() && entry.bad_reference.is_none() {
            self.warn(span, "empty-entry", "the entry says nothing".to_owned(), "write what it is to say");
        }
        self.check_sessions(place, entry, state);
    }

    fn check_sessions(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &State<'_>) {
        let span = place.span();
        if let Some(bad) = entry.bad_reference {
            let message = format!("`{}` does not name a session", excerpt(bad));
            self.error(place.part(bad), "bad-reference", message, "write `@15`, `@10-13`, `@s8` or `@pre122`");
        } else if entry.kind.is_dated() && entry.reference.is_none() {
            let message = format!("an entry with the mark `{}` names no session", entry.kind.mark());
            self.warn(span.clone(), "no-reference", message, "write the session behind the mark, such as `@15`");
        }
        if let Some(reference) = entry.reference.filter(super::SessionRange::is_backward) {
            let message = format!("the range {reference} runs backwards");
            self.warn(span.clone(), "backward-range", message, "put the earlier session first");
        }
        let Some(session) = state.header.map(|header| header.session) else { return };
        let reference =
            entry.reference.into_iter().flat_map(|reference| [Some(reference.from), reference.to]).flatten();
        let points: Vec<SessionRef> = reference.chain(entry.counter.map(|counter| counter.last)).collect();
        if let Some(late) = points.iter().find(|point| point.number > session) {
            let message = format!("session {} is later than the header's, which is {session}", late.number);
            self.warn(span, "future-session", message, "correct it, or `git trace crumb start` the session");
        }
    }

    fn check_unknown(&mut self, place: &Place<'_>) {
        let text = &*place.line.text;
        let span = place.span();
        if is_conflict_marker(text) {
            self.error(span, "conflict-marker", "the line is a conflict marker".to_owned(), "resolve the conflict");
        } else if text.trim_start().starts_with(HEADER) {
            self.error(span, "second-header", "the file has a second header".to_owned(), "keep one");
        } else if text.starts_with(['§', '=']) {
            let message = "a section has no name right behind its mark".to_owned();
            self.error(span, "bad-section", message, "write it as in `§core`");
        } else {
            let found: String = text.chars().next().into_iter().flat_map(char::escape_default).collect();
            let remedy = "start it with one of `. ! ~ * > n c` and a space";
            let is_glued = EntryKind::ALL.iter().any(|kind| text.starts_with(kind.mark()));
            let message = match text.chars().next() {
                Some(' ' | '\t') => "the line is indented".to_owned(),
                Some('f') => "the mark `f` wants the letter of an agent and a space behind it".to_owned(),
                _ if is_glued => format!("the mark `{found}` wants a space behind it"),
                _ => format!("`{found}` is not the mark of an entry"),
            };
            self.error(span, "unknown-mark", message, remedy);
        }
    }

    fn line(&self, place: &Place<'_>) -> usize {
        self.index.position(place.start).line
    }

    fn error(&mut self, span: Range<usize>, code: &'static str, message: String, remedy: &str) {
        self.add(span, code, Weight::Error, message, remedy);
    }

    fn warn(&mut self, span: Range<usize>, code: &'static str, message: String, remedy: &str) {
        self.add(span, code, Weight::Warning, message, remedy);
    }

    fn add(&mut self, span: Range<usize>, code: &'static str, weight: Weight, message: String, remedy: &str) {
        let position = self.index.position(span.start);
        self.findings.push(Finding { span, position, code, weight, message, remedy: remedy.to_owned() });
    }
}

/// What the lines before one say.
struct State<'p> {
    header: Option<&'p Header<'p>>,
    /// The first mark of a section, and its line.
    mark: Option<(SectionMark, usize)>,
    section: Option<&'p str>,
    seen: HashMap<&'p str, usize>,
    failures: usize,
}

/// A line and where it starts.
struct Place<'p> {
    line: &'p Line<'p>,
    start: usize,
}

impl Place<'_> {
    fn span(&self) -> Range<usize> {
        self.start..self.start + self.line.text.len()
    }

    /// Where a part of the line stands.
    fn part(&self, part: &str) -> Range<usize> {
        let start = self.start + (part.as_ptr().addr() - self.line.text.as_ptr().addr());
        start..start + part.len()
    }
}

/// The start of a text, for a message.
fn excerpt(text: &str) -> String {
    const LEN: usize = 40;
    if text.chars().count() <= LEN {
        return text.to_owned();
    }
    text.chars().take(LEN - 1).chain(['…']).collect()
}
