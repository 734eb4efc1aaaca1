//! Checking a crumb file by the rules of the published format.

use std::collections::HashMap;
use std::ops::Range;

use crate::base::escape::marked;
use crate::base::finding::{Finding, Findings, Weight};
use crate::base::merge::conflict;
use crate::memory::crumb::grammar::document::{
    BadHeader, CrumbFile, HEADER, Header, Line, LineEnding, LineKind, MAX_SECTION, is_conflict_marker, is_same_section,
    parse_section,
};
use crate::memory::crumb::grammar::entry::{Entry, EntryKind, MAX_COMPARED, SessionRange};
use crate::tokens::Counter;

/// The most tokens that a file should have, because agents read it completely at the start of every session.
pub(crate) const TOKEN_LIMIT: u64 = 400;

pub(crate) const FAILURE_LIMIT: usize = 5;

pub(crate) const FAILURES: &str = "failures";

/// Returns the findings about a crumb file, which may be any bytes, by position.
pub(crate) fn check(bytes: &[u8], counter: Counter) -> Vec<Finding> {
    let mut check = Check { bytes, findings: Findings::new(bytes) };
    match CrumbFile::parse(bytes) {
        Ok(crumb) => check.check_file(&crumb, counter),
        Err(error) => {
            let span = error.offset..error.offset + 1;
            check.findings.error("not-utf8", span, error.to_string(), "save it as UTF-8, or restore it from git");
        }
    }
    check.findings.finish()
}

struct Check<'c> {
    bytes: &'c [u8],
    findings: Findings<'c>,
}

struct State<'p> {
    header: Option<Header<'p>>,
    mark: Option<(char, usize)>,
    section: Option<&'p str>,
    seen: HashMap<String, usize>,
    /// The summaries of the section: agent, sessions, line.
    summaries: Vec<(Option<char>, SessionRange, usize)>,
    failures: usize,
}

impl Check<'_> {
    /// The position of a part of the file, which must borrow from it.
    fn span(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr().addr() - self.bytes.as_ptr().addr();
        start..start + part.len()
    }

    fn error(&mut self, code: &'static str, part: &str, message: impl Into<String>, remedy: &str) {
        self.findings.error(code, self.span(part), message, remedy);
    }

    fn warn(&mut self, code: &'static str, part: &str, message: impl Into<String>, remedy: &str) {
        self.findings.warning(code, self.span(part), message, remedy);
    }

    fn check_file(&mut self, crumb: &CrumbFile<'_>, counter: Counter) {
        if crumb.has_bom {
            let message = "the file starts with a byte order mark";
            self.findings.warning("byte-order-mark", 0..3, message, "save it as UTF-8 without one");
        }
        self.check_endings(&crumb.lines);
        if let Some(first) = self.check_header(&crumb.lines) {
            self.check_lines(crumb, first);
        }
        let tokens = counter.count(self.bytes);
        if tokens > TOKEN_LIMIT {
            let message = format!("the file has {tokens} tokens, more than {TOKEN_LIMIT}");
            let remedy = "run `git trace crumb compress`, or delete what nobody needs";
            self.findings.warning("too-long", 0..0, message, remedy);
        }
    }

    /// Checks the lines up to the header; returns the index of the next line to check, or `None` for another format.
    fn check_header(&mut self, lines: &[Line<'_>]) -> Option<usize> {
        const CODE: &str = "bad-header";
        const REMEDY: &str = "start the file with a line such as `∴CRUMB2 MYAGENT s1`";
        let Some(first) = lines.iter().position(|line| line.kind != LineKind::Blank) else {
            self.findings.error(CODE, 0..0, "the file is empty", REMEDY);
            return Some(lines.len());
        };
        if first > 0 {
            self.warn("blank-before-header", &lines[0].text, "a blank line is before the header", "remove it");
        }
        let text = &*lines[first].text;
        let message = match Header::parse(text) {
            Ok(_) => {
                if text.starts_with([' ', '\t']) {
                    self.warn("indented-header", text, "the header is indented", "remove the indent");
                }
                return Some(first + 1);
            }
            Err(BadHeader::NoMark) if text.starts_with("BEGIN CRUMB") => {
                let message = "the file starts with `BEGIN CRUMB`: it has another format with the extension `.crumb`";
                self.error("other-format", text, message, "give it another name");
                return None;
            }
            Err(BadHeader::NoMark) => format!("expected a header, found `{}`", excerpt(text)),
            Err(BadHeader::Version(found)) => {
                format!("unsupported version `{HEADER}{}`: expected 1 or 2", excerpt(found))
            }
            Err(BadHeader::NoIdentity) => "the header has no identity".to_owned(),
            Err(BadHeader::NoSession) => "the header has no session".to_owned(),
            Err(BadHeader::Session(found)) => {
                format!("expected a session such as `s1`, found `{}`", excerpt(found))
            }
            Err(BadHeader::TrailingText(found)) => {
                format!("unexpected `{}` after the session", excerpt(found))
            }
        };
        self.error(CODE, text, message, REMEDY);
        // A line that looks like a section or an entry is checked as one too.
        let is_checked = matches!(lines[first].kind, LineKind::Section | LineKind::Entry);
        Some(if is_checked { first } else { first + 1 })
    }

    fn check_lines(&mut self, crumb: &CrumbFile<'_>, first: usize) {
        let mut state = State {
            header: crumb.header(),
            mark: None,
            section: None,
            seen: HashMap::new(),
            summaries: Vec::new(),
            failures: 0,
        };
        for (index, line) in crumb.lines.iter().enumerate().skip(first) {
            let text = &*line.text;
            let mut at = 0;
            let found = marked(text).find(|(c, is_unprintable)| {
                at += c.len_utf8();
                *is_unprintable && *c != '\t'
            });
            if let Some((c, _)) = found {
                let (kind, shown) = (if c.is_control() { "control" } else { "invisible" }, c.escape_default());
                let message = format!("the line contains the {kind} character {shown}");
                self.warn("control-character", &text[at - c.len_utf8()..at], message, "remove it");
            }
            match line.kind {
                LineKind::Blank => {}
                LineKind::Section => self.check_section(index + 1, text, &mut state),
                LineKind::Entry => {
                    if let Some(entry) = line.entry() {
                        self.check_entry(index + 1, text, &entry, &mut state);
                    }
                }
                LineKind::Header | LineKind::Unknown => self.check_unknown(text),
            }
        }
        if state.section.is_none() {
            let end = crumb.lines[first..].last().map_or(0, |line| self.span(&line.text).end);
            self.findings.error("no-section", end..end, "the file has no section", "add a line such as `§core`");
        }
    }

    fn check_section<'p>(&mut self, line: usize, text: &'p str, state: &mut State<'p>) {
        let Some((mark, name)) = parse_section(text) else { return };
        state.section = Some(name);
        state.failures = 0;
        state.summaries.clear();
        let (first_mark, first_line) = *state.mark.get_or_insert((mark, line));
        if first_mark != mark {
            let message =
                format!("line {line} marks a section with `{mark}`, and line {first_line} with `{first_mark}`");
            self.error("mixed-marks", text, message, "use only one of the two");
        }
        if let Some(first) = state.seen.insert(name.to_lowercase(), line) {
            let message = format!("the section `{}` already starts on line {first}", excerpt(name));
            self.warn("section-twice", text, message, "merge the two");
        }
        if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')) {
            let message = format!("the section name `{}` is not one word of letters and digits", excerpt(name));
            self.warn("odd-section-name", text, message, "write it as in `§core`, with `-` between words");
        }
    }

    fn check_entry(&mut self, number: usize, line: &str, entry: &Entry<'_>, state: &mut State<'_>) {
        let Some(section) = state.section else {
            let message = "the entry is before the first section";
            self.error("entry-before-section", line, message, "put it below a line such as `§core`");
            return;
        };
        if entry.kind == EntryKind::SharedFact && state.mark.is_some_and(|(mark, _)| mark == '§') {
            let message = "the mark `f` is for shared files, whose sections are marked with `=`";
            self.warn("shared-mark", line, message, "write `.` with the agent's letter");
        }
        let is_in_failures = is_same_section(section, FAILURES);
        if is_in_failures && entry.kind != EntryKind::Lesson {
            let message = format!("an entry of `{FAILURES}` starts with `{}`", entry.kind.mark());
            self.warn("failure-mark", line, message, "write `~`, or put it into another section");
        } else if is_in_failures {
            state.failures += 1;
            if state.failures == FAILURE_LIMIT + 1 {
                let message = format!("the section has more than {FAILURE_LIMIT} failures");
                let remedy = "`git trace crumb compress` archives those that failed least";
                self.warn("too-many-failures", line, message, remedy);
            }
        }
        if entry.text.is_empty() && entry.bad_reference.is_none() {
            self.warn("empty-entry", line, "the entry has no text", "add text or delete it");
        }
        self.check_sessions(line, entry, state);
        self.check_overlap(number, line, entry, state);
    }

    fn check_overlap(&mut self, number: usize, line: &str, entry: &Entry<'_>, state: &mut State<'_>) {
        let Some(range) = entry.reference.filter(|_| entry.kind == EntryKind::Summary) else { return };
        let mut others = state.summaries.iter().take(MAX_COMPARED);
        if let Some((_, other, at)) = others.find(|(agent, other, _)| *agent == entry.agent && other.overlaps(&range)) {
            let message = format!("the summary of {range} overlaps that of {other} on line {at}");
            self.warn("overlapping-summaries", line, message, "keep one, or run `git trace crumb compress`");
        }
        state.summaries.push((entry.agent, range, number));
    }

    /// Warns of line endings other than line feeds, once.
    fn check_endings(&mut self, lines: &[Line<'_>]) {
        let Some(first) = lines.iter().find(|line| line.ending == LineEnding::CrLf) else { return };
        let is_mixed = lines.iter().any(|line| line.ending == LineEnding::Lf);
        // Git makes all of them CR and LF where it is asked to, so these alone are no reason to refuse a file.
        let (weight, code, message) = if is_mixed {
            (Weight::Warning, "mixed-line-endings", "some lines end with CR and LF, others with LF")
        } else {
            (Weight::Advice, "crlf", "the lines end with CR and LF")
        };
        let end = self.span(&first.text).end;
        self.findings.add(weight, code, end..end + 2, message, "`git trace crumb fmt` makes them LF");
    }

    fn check_sessions(&mut self, line: &str, entry: &Entry<'_>, state: &State<'_>) {
        if let Some(bad) = entry.bad_reference {
            let message = format!("`{}` does not name a session", excerpt(bad));
            self.error("bad-reference", bad, message, "write `@15`, `@10-13`, `@s8` or `@pre122`");
        } else if entry.kind.is_dated() && entry.reference.is_none() {
            let message = format!("an entry with the mark `{}` names no session", entry.kind.mark());
            self.warn("no-reference", line, message, "write the session after the mark, such as `@15`");
        }
        if let Some(reference) = entry.reference.filter(SessionRange::is_backward) {
            let message = format!("the range {reference} runs backwards");
            self.warn("backward-range", line, message, "put the earlier session first");
        }
        let Some(session) = state.header.map(|header| header.session) else { return };
        let named = entry.reference.map(|reference| [Some(reference.from), reference.to]).unwrap_or_default();
        let mut named = named.into_iter().flatten().chain(entry.counter.map(|counter| counter.last));
        if let Some(late) = named.find(|named| named.number > session) {
            let message = format!("session {} is later than session {session} of the header", late.number);
            self.warn("future-session", line, message, "correct it, or `git trace crumb start` the session");
        }
    }

    fn check_unknown(&mut self, line: &str) {
        if is_conflict_marker(line) {
            self.error("conflict-marker", line, "the line is a conflict marker", conflict::REMEDY);
        } else if line.trim_start().starts_with(HEADER) {
            self.error("second-header", line, "the file has a second header", "keep one");
        } else if line.starts_with(['§', '=']) {
            let (message, remedy) = if line.len() > MAX_SECTION {
                ("the name of a section is too long", "use at most 200 bytes")
            } else {
                ("a section has no name directly after its mark", "write it as in `§core`")
            };
            self.error("bad-section", line, message, remedy);
        } else {
            let found: String = line.chars().next().into_iter().flat_map(char::escape_default).collect();
            let is_glued = EntryKind::ALL.iter().any(|kind| line.starts_with(kind.mark()));
            let message = match line.chars().next() {
                Some(' ' | '\t') => "the line is indented".to_owned(),
                Some('f') => "the mark `f` needs an agent's letter and a space after it".to_owned(),
                _ if is_glued => format!("the mark `{found}` needs a space after it"),
                _ => format!("`{found}` is not the mark of an entry"),
            };
            self.error("unknown-mark", line, message, "start it with one of `. ! ~ * > n c` and a space");
        }
    }
}

fn excerpt(text: &str) -> String {
    const LEN: usize = 40;
    match text.char_indices().nth(LEN) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LEN - 1).chain(['…']).collect(),
    }
}
