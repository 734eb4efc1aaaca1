//! Changing a crumb file: an entry goes last in its section, and nothing else moves.

use std::borrow::Cow;

use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, Header, Line, LineEnding, LineKind};
use crate::memory::crumb::grammar::entry::{Counter, DASH, EntryKind, SessionForm, SessionRef, is_key};
use crate::trace::model::trailers::one_line;

/// The sections of the published text, in its order.
pub(crate) const STANDARD: [&str; 5] = ["core", "rules", FAILURES, "active", "volatile"];

/// Length of the longest text that may be added, in bytes.
pub(crate) const MAX_TEXT_LEN: usize = 4096;

/// An entry to be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NewEntry<'t> {
    pub kind: EntryKind,
    pub section: &'t str,
    /// Whose it is, in a file of several agents.
    pub agent: Option<char>,
    pub text: &'t str,
}

/// What noting a failure came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedFailure {
    pub line: String,
    pub count: u64,
}

/// The text of a new file: a header of session 1 and the five sections, empty but for `facts`.
pub(crate) fn new_file(identity: &str, facts: &[String]) -> Result<Vec<u8>, CrumbError> {
    let is_word = !identity.is_empty() && !identity.contains(|c: char| c.is_whitespace() || c.is_control());
    if !is_word {
        return Err(CrumbError::BadIdentity { identity: identity.to_owned() });
    }
    let mut text = format!("{}\n", Header { version: 2, identity, session: 1 });
    for name in STANDARD {
        text.extend(["\n§", name, "\n"]);
    }
    let mut crumb = CrumbFile::parse(text.as_bytes())?;
    for fact in facts {
        add(&mut crumb, &NewEntry { kind: EntryKind::Fact, section: "core", agent: None, text: fact })?;
    }
    Ok(crumb.print())
}

/// Raises the session; gives the new one. The rest of the header keeps its bytes.
pub(crate) fn start(crumb: &mut CrumbFile<'_>) -> Result<u64, CrumbError> {
    let line = crumb.lines.iter_mut().find(|line| line.kind == LineKind::Header).ok_or(CrumbError::NoHeader)?;
    let header = Header::parse(&line.text).map_err(|_| CrumbError::NoHeader)?;
    let session = header.session.checked_add(1).ok_or(CrumbError::LastSession { session: header.session })?;
    let digits = line.text.rfind('s').map_or(line.text.len(), |at| at + 1);
    let rest = line.text[digits..].trim_start_matches(|c: char| c.is_ascii_digit());
    line.text = Cow::Owned(format!("{}{session}{rest}", &line.text[..digits]));
    Ok(session)
}

/// Adds an entry, last in its section; gives its line. A note names the session; a section that is missing is added.
pub(crate) fn add(crumb: &mut CrumbFile<'_>, addition: &NewEntry<'_>) -> Result<String, CrumbError> {
    let text = text_of(addition.text)?;
    let session = crumb.header().ok_or(CrumbError::NoHeader)?.session;
    let agent = addition.agent.map(String::from).unwrap_or_default();
    let reference = if addition.kind.is_dated() { format!(" @{session}") } else { String::new() };
    let line = format!("{}{agent}{reference} {text}", addition.kind.mark());
    append(crumb, addition.section, line.clone())?;
    Ok(line)
}

/// Notes a failure: counts up the one that is known by `key` to this agent, or adds it with `text`. The words of a known
/// one stay.
pub(crate) fn add_failure(
    crumb: &mut CrumbFile<'_>,
    key: &str,
    text: &str,
    agent: Option<char>,
) -> Result<RecordedFailure, CrumbError> {
    if !is_key(key) || key.contains(char::is_control) || key.starts_with('@') {
        return Err(CrumbError::BadKey { key: key.to_owned() });
    }
    let session = crumb.header().ok_or(CrumbError::NoHeader)?.session;
    let known = crumb.entries().find(|(_, section, entry)| {
        *section == FAILURES && entry.kind == EntryKind::Lesson && entry.agent == agent && entry.key() == Some(key)
    });
    if let Some((index, _, entry)) = known {
        let count = entry.counter.map_or(1, |counter| counter.count).saturating_add(1);
        let form = entry.counter.map_or(SessionForm::Plain, |counter| counter.last.form);
        let form = if form == SessionForm::Session { form } else { SessionForm::Plain };
        let line =
            with_counter(&crumb.lines[index].text, Counter { count, last: SessionRef { number: session, form } });
        crumb.lines[index].text = Cow::Owned(line.clone());
        return Ok(RecordedFailure { line, count });
    }
    let text = if text.trim().is_empty() { String::new() } else { format!(" {}", text_of(text)?) };
    let counter = Counter { count: 1, last: SessionRef::plain(session) };
    let agent = agent.map(String::from).unwrap_or_default();
    let line = format!("{}{agent} {key}{text}{DASH}{counter}", EntryKind::Lesson.mark());
    append(crumb, FAILURES, line.clone())?;
    Ok(RecordedFailure { line, count: 1 })
}

/// The line of an entry with another counter; all else keeps its bytes.
pub(crate) fn with_counter(line: &str, counter: Counter) -> String {
    let Some(entry) = super::Entry::parse(line) else { return line.to_owned() };
    let end = |part: &str| part.as_ptr().addr() - line.as_ptr().addr() + part.len();
    let tags = if entry.tags_text.is_empty() { String::new() } else { format!(" {}", entry.tags_text) };
    format!("{}{DASH}{counter}{tags}", &line[..end(entry.text)])
}

/// Takes the line at `index` out; gives what it said.
pub(crate) fn remove(crumb: &mut CrumbFile<'_>, index: usize) -> String {
    let removed = crumb.lines.remove(index);
    fix_line_endings(crumb);
    removed.text.into_owned()
}

/// Puts a line last in a section, behind its last line that is not blank.
pub(crate) fn append(crumb: &mut CrumbFile<'_>, section: &str, text: String) -> Result<(), CrumbError> {
    let find = |crumb: &CrumbFile<'_>| {
        crumb.sections().iter().find(|found| found.name == section).map(|found| (found.start, found.end))
    };
    if find(crumb).is_none() {
        add_section(crumb, section)?;
    }
    let place = find(crumb);
    let (start, end) = place.ok_or_else(|| CrumbError::BadSection { name: section.to_owned() })?;
    let last = crumb.lines[start..end].iter().rposition(|line| line.kind != LineKind::Blank).unwrap_or(0);
    let ending = crumb.ending();
    crumb.lines.insert(start + last + 1, Line::new(text, ending));
    fix_line_endings(crumb);
    Ok(())
}

/// Adds an empty section at its place: standard ones in their order, others at the end.
pub(crate) fn add_section(crumb: &mut CrumbFile<'_>, name: &str) -> Result<(), CrumbError> {
    let text = format!("{}{name}", crumb.mark().as_char());
    let is_name = crate::memory::crumb::grammar::document::section_start(&text).is_some_and(|(_, read)| read == name);
    if !is_name || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(CrumbError::BadSection { name: name.to_owned() });
    }
    let order = |name: &str| STANDARD.iter().position(|standard| *standard == name).unwrap_or(STANDARD.len());
    let ending = crumb.ending();
    let before = crumb.sections().iter().find(|section| order(section.name) > order(name)).map(|section| section.start);
    if let Some(index) = before {
        let lines = [Line::new(text, ending), Line::new("", ending)];
        crumb.lines.splice(index..index, lines.map(own));
    } else {
        if crumb.lines.last().is_some_and(|line| line.kind != LineKind::Blank) {
            crumb.lines.push(Line::new("", ending));
        }
        crumb.lines.push(Line::new(text, ending));
    }
    fix_line_endings(crumb);
    Ok(())
}

fn own(line: Line<'_>) -> Line<'static> {
    Line { text: Cow::Owned(line.text.into_owned()), ending: line.ending, kind: line.kind }
}

/// Gives every line but the last an end, as they came to stand in the middle.
pub(crate) fn fix_line_endings(crumb: &mut CrumbFile<'_>) {
    let ending = crumb.ending();
    let inner = crumb.lines.len().saturating_sub(1);
    for line in crumb.lines[..inner].iter_mut().filter(|line| line.ending == LineEnding::None) {
        line.ending = ending;
    }
}

fn text_of(text: &str) -> Result<String, CrumbError> {
    let line = one_line(text);
    match line.len() {
        0 => Err(CrumbError::NoText),
        len if len > MAX_TEXT_LEN => Err(CrumbError::TextTooLong { len }),
        _ => Ok(line),
    }
}
