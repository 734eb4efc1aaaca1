//! Changing a crumb file in memory. A new entry is added at the end of its section, and no other line moves.

use std::borrow::Cow;

use super::check::FAILURES;
use super::error::CrumbError;
use super::grammar::document::{CrumbFile, Header, Line, LineEnding, LineKind, is_same_section, parse_section};
use super::grammar::entry::{Counter, DASH, Entry, EntryKind, SEPARATOR, SessionForm, SessionRef, is_key};
use crate::trace::model::trailers::one_line;

pub(crate) const STANDARD: [&str; 5] = ["core", "rules", FAILURES, "active", "volatile"];

/// Length of the longest text that may be added, in bytes.
pub(crate) const MAX_TEXT_LEN: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NewEntry<'t> {
    pub kind: EntryKind,
    pub section: &'t str,
    pub agent: Option<char>,
    pub text: &'t str,
}

/// The text of a new file: a header with session 1, and the five sections, with `facts` in the first.
pub(crate) fn new_file(identity: &str, facts: &[String]) -> Result<Vec<u8>, CrumbError> {
    if !is_word(identity) {
        return Err(bad_name("identity", identity));
    }
    let mut text = format!("{}\n", Header { version: 2, identity, session: 1 });
    for name in STANDARD {
        text.extend(["\n§", name, "\n"]);
    }
    let mut crumb = CrumbFile::parse(text.as_bytes())?;
    for fact in facts {
        crumb.add(&NewEntry { kind: EntryKind::Fact, section: "core", agent: None, text: fact })?;
    }
    Ok(crumb.print())
}

impl CrumbFile<'_> {
    /// Increments the session number in the header; returns the new number.
    pub(crate) fn start_session(&mut self) -> Result<u64, CrumbError> {
        let line = self.lines.iter_mut().find(|line| line.kind == LineKind::Header).ok_or(CrumbError::NoHeader)?;
        let header = Header::parse(&line.text).map_err(|_| CrumbError::NoHeader)?;
        let session = header.session.checked_add(1).ok_or(CrumbError::LastSession { session: header.session })?;
        let digits = line.text.rfind('s').map_or(line.text.len(), |at| at + 1);
        let rest = line.text[digits..].trim_start_matches(|c: char| c.is_ascii_digit());
        line.text = Cow::Owned(format!("{}{session}{rest}", &line.text[..digits]));
        Ok(session)
    }

    /// Adds an entry and returns its line. A note names the current session. A missing section is added.
    pub(crate) fn add(&mut self, entry: &NewEntry<'_>) -> Result<String, CrumbError> {
        let text = clean_text(entry.text)?;
        let session = self.header().ok_or(CrumbError::NoHeader)?.session;
        let agent = entry.agent.map(String::from).unwrap_or_default();
        let reference = if entry.kind.is_dated() { format!(" @{session}") } else { String::new() };
        let line = format!("{}{agent}{reference} {text}", entry.kind.mark());
        self.append(entry.section, line.clone())?;
        Ok(line)
    }

    /// Counts a failure: increments the counter of the agent's failure `key`, or adds it with `text`. An existing failure keeps
    /// its text, to which other words are added. Returns the line.
    pub(crate) fn add_failure(&mut self, key: &str, text: &str, agent: Option<char>) -> Result<String, CrumbError> {
        if !is_key(key) || key.contains(char::is_control) || key.starts_with('@') {
            let expected = "`area:topic` without spaces";
            return Err(CrumbError::BadName { what: "failure name", name: key.to_owned(), expected });
        }
        let session = self.header().ok_or(CrumbError::NoHeader)?.session;
        let known = self.entries().find(|(_, section, entry)| {
            is_same_section(section, FAILURES)
                && entry.kind == EntryKind::Lesson
                && entry.agent == agent
                && entry.key() == Some(key)
        });
        let text = if text.trim().is_empty() { String::new() } else { clean_text(text)? };
        if let Some((index, _, entry)) = known {
            let count = entry.counter.map_or(1, |counter| counter.count).saturating_add(1);
            let form = entry.counter.map(|counter| counter.last.form).filter(|form| *form == SessionForm::Session);
            let form = form.unwrap_or(SessionForm::Plain);
            let counter = Counter { count, last: SessionRef { number: session, form } };
            let mut line = with_counter(&self.lines[index].text, counter);
            if !entry.text.contains(&text) {
                let is_bare = entry.key() == Some(entry.text);
                let more = format!("{}{}{text}", entry.text, if is_bare { " " } else { SEPARATOR });
                if more.len() > MAX_TEXT_LEN {
                    return Err(CrumbError::TextTooLong { len: more.len() });
                }
                line = Entry { text: &more, counter: Some(counter), ..entry }.render();
            }
            self.lines[index].text = Cow::Owned(line.clone());
            return Ok(line);
        }
        let text = if text.is_empty() { text } else { format!(" {text}") };
        let counter = Counter { count: 1, last: SessionRef::plain(session) };
        let agent = agent.map(String::from).unwrap_or_default();
        let line = format!("{}{agent} {key}{text}{DASH}{counter}", EntryKind::Lesson.mark());
        self.append(FAILURES, line.clone())?;
        Ok(line)
    }

    pub(crate) fn remove(&mut self, index: usize) -> String {
        let removed = self.lines.remove(index);
        self.fix_line_endings();
        removed.text.into_owned()
    }

    pub(crate) fn append(&mut self, section: &str, text: String) -> Result<(), CrumbError> {
        let find = |crumb: &CrumbFile<'_>| {
            crumb
                .sections()
                .iter()
                .find(|found| is_same_section(found.name, section))
                .map(|found| (found.start, found.end))
        };
        if find(self).is_none() {
            self.add_section(section)?;
        }
        let (start, end) = find(self).ok_or_else(|| bad_name("section name", section))?;
        let last = self.lines[start..end].iter().rposition(|line| line.kind != LineKind::Blank).unwrap_or(0);
        let ending = self.ending();
        self.lines.insert(start + last + 1, Line::new(text, ending));
        self.fix_line_endings();
        Ok(())
    }

    /// Adds an empty section at its place.
    fn add_section(&mut self, name: &str) -> Result<(), CrumbError> {
        let text = format!("{}{name}", self.mark());
        if !is_word(name) || parse_section(&text).is_none_or(|(_, parsed)| parsed != name) {
            return Err(bad_name("section name", name));
        }
        let ending = self.ending();
        let sections = self.sections();
        let names: Vec<&str> = sections.iter().map(|section| section.name).collect();
        let next = sections.get(section_place(&names, name)).map(|section| section.start);
        if let Some(index) = next {
            self.lines.splice(index..index, [Line::new(text, ending), Line::new("", ending)]);
        } else {
            if self.lines.last().is_some_and(|line| line.kind != LineKind::Blank) {
                self.lines.push(Line::new("", ending));
            }
            self.lines.push(Line::new(text, ending));
        }
        self.fix_line_endings();
        Ok(())
    }

    /// Adds the line ending that a line lacks if it was the last one before.
    pub(crate) fn fix_line_endings(&mut self) {
        let ending = self.ending();
        let inner = self.lines.len().saturating_sub(1);
        for line in self.lines[..inner].iter_mut().filter(|line| line.ending == LineEnding::None) {
            line.ending = ending;
        }
    }
}

/// The place of a new section among the others: a standard one follows the last one that comes before it in the standard order,
/// or else precedes the first one that comes after it. The section `volatile`, and any other one, is the last.
pub(crate) fn section_place(names: &[&str], new: &str) -> usize {
    let order = |name: &str| STANDARD.iter().position(|standard| is_same_section(standard, name));
    let Some(own) = order(new).filter(|own| own + 1 < STANDARD.len()) else { return names.len() };
    let earlier = names.iter().rposition(|name| order(name).is_some_and(|other| other < own)).map(|index| index + 1);
    let later = || names.iter().position(|name| order(name).is_some_and(|other| other > own));
    earlier.or_else(later).unwrap_or(names.len())
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn bad_name(what: &'static str, name: &str) -> CrumbError {
    CrumbError::BadName { what, name: name.to_owned(), expected: "one word without control characters" }
}

/// The line of an entry with another counter. The rest keeps its bytes.
pub(crate) fn with_counter(line: &str, counter: Counter) -> String {
    let Some(entry) = Entry::parse(line) else { return line.to_owned() };
    let text_end = entry.text.as_ptr().addr() - line.as_ptr().addr() + entry.text.len();
    let tags = if entry.tags_text.is_empty() { String::new() } else { format!(" {}", entry.tags_text) };
    format!("{}{DASH}{counter}{tags}", &line[..text_end])
}

fn clean_text(text: &str) -> Result<String, CrumbError> {
    let line = one_line(text);
    match line.len() {
        0 => Err(CrumbError::NoText),
        len if len > MAX_TEXT_LEN => Err(CrumbError::TextTooLong { len }),
        _ => Ok(line),
    }
}
