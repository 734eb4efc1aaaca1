//! Exchanging entries with other agents: sending a crumb file, and receiving one.
//!
//! A received entry has its agent's letter. An entry is added once: one with the same text and agent is known, and so is one
//! with our own letter. A known failure gets the agent's count if that is greater. So receiving a file again changes nothing.
//!
//! Each file counts its own sessions, so a session of the sender may be in the future here. Such an entry gets the current
//! session, and a tag keeps the original: `nS @15 fixed the parser [FROM: @121]`. The entry is then recent and valid, and its
//! tag identifies it when it is received again.

use std::borrow::Cow;

use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::edit::with_counter;
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, LineKind, is_same_section};
use crate::memory::crumb::grammar::entry::{Counter, Entry, EntryKind, SessionRange, SessionRef};
use crate::trace::model::trailers::one_line;

/// The most lines that may be received at once, because an agent reads the complete file.
const MAX_LINES: usize = 2000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Received {
    pub added: Vec<(String, String)>,
    pub counted: Vec<String>,
    pub known: usize,
}

/// The letter of an agent: the first one of its identity, in uppercase.
fn letter(identity: &str) -> Option<char> {
    identity.chars().next().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase)
}

/// Renders the file, or only the given `sections`, for another agent. Entries without a letter get `agent`, or else the letter
/// of the identity.
pub(crate) fn send(crumb: &CrumbFile<'_>, sections: &[String], agent: Option<char>) -> Result<String, CrumbError> {
    let header = crumb.header().ok_or(CrumbError::NoHeader)?;
    let all = crumb.sections();
    if let Some(missing) = sections.iter().find(|name| !all.iter().any(|section| is_same_section(section.name, name))) {
        return Err(CrumbError::NoSuchSection { name: missing.clone() });
    }
    let agent = agent.or_else(|| letter(header.identity));
    let mut text = format!("{header}\n");
    for section in all
        .iter()
        .filter(|section| sections.is_empty() || sections.iter().any(|name| is_same_section(name, section.name)))
    {
        text.extend(["\n", &section.mark.to_string(), section.name, "\n"]);
        for index in section.start + 1..section.end {
            let line = &crumb.lines[index];
            if let Some(entry) = line.entry() {
                let agent = entry.agent.or(agent).ok_or(CrumbError::NoAgent)?;
                text.extend([with_letter(&line.text, &entry, agent, section.mark).as_str(), "\n"]);
            } else if line.kind != LineKind::Blank {
                return Err(not_an_entry(index));
            }
        }
    }
    Ok(text)
}

/// Adds the entries that another agent sent: a file, or sections without a header. After an error, discard the file.
pub(crate) fn receive(
    crumb: &mut CrumbFile<'_>,
    sent: &CrumbFile<'_>,
    agent: Option<char>,
) -> Result<Received, CrumbError> {
    let header = crumb.header().ok_or(CrumbError::NoHeader)?;
    let (ours, session) = (header.identity.to_owned(), header.session);
    let theirs = sent.header().map(|header| header.identity.to_owned()).unwrap_or_default();
    let (our_letter, their_letter) = (letter(&ours), letter(&theirs));
    if let (Some(letter), None) = (our_letter.filter(|_| our_letter == their_letter && ours != theirs), agent) {
        return Err(CrumbError::SharedLetter { letter, ours, theirs });
    }
    if sent.lines.len() > MAX_LINES {
        let message = format!("the file has more than {MAX_LINES} lines");
        return Err(CrumbError::Invalid { line: MAX_LINES + 1, message });
    }
    if let Some(index) = sent.lines.iter().position(|line| line.kind == LineKind::Unknown) {
        return Err(not_an_entry(index));
    }
    let mark = crumb.mark();
    let mut received = Received::default();
    for (index, section, entry) in sent.entries() {
        if section.is_empty() {
            return Err(not_an_entry(index));
        }
        if let Some(bad) = entry.bad_reference {
            let message = format!("`{}` does not name a session", bad.escape_debug());
            return Err(CrumbError::Invalid { line: index + 1, message });
        }
        // `agent` also replaces the sender's own letter.
        let agent = match entry.agent.filter(|own| agent.is_none() || Some(*own) != their_letter) {
            Some(own) => own,
            None => agent.or(their_letter).ok_or(CrumbError::NoAgent)?,
        };
        let line = with_letter(&sent.lines[index].text, &entry, agent, mark);
        if Some(agent) == our_letter && theirs != ours {
            received.known += 1;
            continue;
        }
        receive_line(crumb, section, &original(&line), session, &mut received)?;
    }
    Ok(received)
}

/// Adds a line as its sender wrote it. `session` is ours.
fn receive_line(
    crumb: &mut CrumbFile<'_>,
    section: &str,
    line: &str,
    session: u64,
    received: &mut Received,
) -> Result<(), CrumbError> {
    let Some(entry) = Entry::parse(line) else { return Ok(()) };
    let is_failure = is_same_section(section, FAILURES) && entry.kind == EntryKind::Lesson && entry.key().is_some();
    let known = crumb.entries().find(|(at, name, known)| {
        let is_same_failure = is_failure && known.agent == entry.agent && known.key() == entry.key();
        is_same_section(name, section) && (is_same_failure || identity_of(&crumb.lines[*at].text) == identity_of(line))
    });
    let Some((at, ..)) = known else {
        let line = localized(line, session);
        crumb.append(section, line.clone())?;
        received.added.push((section.to_owned(), line));
        return Ok(());
    };
    let known = original(&crumb.lines[at].text);
    let weight = |counter: Counter| (counter.count, counter.last.latest());
    let known_weight = Entry::parse(&known).and_then(|known| known.counter).map(weight);
    match entry.counter {
        Some(counter) if is_failure && Some(weight(counter)) > known_weight => {
            let line = localized(&with_counter(&known, counter), session);
            crumb.lines[at].text = Cow::Owned(line.clone());
            received.counted.push(line);
        }
        _ => received.known += 1,
    }
    Ok(())
}

/// The sender's version of a line with normal spacing, which identifies it.
fn identity_of(line: &str) -> String {
    let line = original(line);
    Entry::parse(&line).map(|entry| entry.render()).unwrap_or(line)
}

/// The tag with the sender's sessions: that of the reference, then that of the counter.
pub(crate) const FROM: &str = "FROM";

/// The line with future sessions replaced by `session`.
fn localized(line: &str, session: u64) -> String {
    let Some(entry) = Entry::parse(line) else { return line.to_owned() };
    let is_late = |point: SessionRef| point.number > session;
    let late_reference = entry.reference.filter(|found| is_late(found.from) || found.to.is_some_and(is_late));
    if late_reference.is_none() && !entry.counter.is_some_and(|counter| is_late(counter.last)) {
        return line.to_owned();
    }
    let named = entry.reference.map(|reference| reference.to_string()).into_iter();
    let named: Vec<String> = named.chain(entry.counter.map(|counter| format!("@{}", counter.last))).collect();
    let tags = format!("{} [{FROM}: {}]", entry.tags_text, named.join(" "));
    let here = SessionRef::plain(session);
    let reference =
        if late_reference.is_some() { Some(SessionRange { from: here, to: None }) } else { entry.reference };
    let counter =
        entry.counter.map(|counter| if is_late(counter.last) { Counter { last: here, ..counter } } else { counter });
    Entry { reference, counter, tags_text: tags.trim_start(), ..entry }.render()
}

/// Reverts [`localized`]. Other lines are returned unchanged.
fn original(line: &str) -> String {
    let restored = Entry::parse(line).and_then(|entry| {
        let tag = entry.tags.last().filter(|tag| tag.name == FROM)?;
        let mut named = tag.text?.split(' ').map(SessionRange::parse);
        let reference = if entry.reference.is_some() { Some(named.next()??) } else { None };
        let counter = match entry.counter {
            Some(counter) => Some(Counter { last: named.next()??.from, ..counter }),
            None => None,
        };
        let tags_text = &entry.tags_text[..entry.tags_text.rfind('[')?];
        let is_whole = named.next().is_none() && (reference.is_some() || counter.is_some());
        is_whole.then(|| Entry { reference, counter, tags_text: tags_text.trim_end(), ..entry }.render())
    });
    restored.unwrap_or_else(|| line.to_owned())
}

/// A line with its agent's letter, without control characters, and with the mark for facts that fits the section mark.
fn with_letter(line: &str, entry: &Entry<'_>, agent: char, mark: char) -> String {
    let kind = match (entry.kind, mark) {
        (EntryKind::Fact, '=') => EntryKind::SharedFact,
        (EntryKind::SharedFact, '§') => EntryKind::Fact,
        (kind, _) => kind,
    };
    let taken = entry.kind.mark().len_utf8() + usize::from(entry.agent.is_some());
    let rest = line[taken..].trim_end();
    let rest = if rest.contains(char::is_control) { format!(" {}", one_line(rest)) } else { rest.to_owned() };
    format!("{}{agent}{rest}", kind.mark())
}

fn not_an_entry(index: usize) -> CrumbError {
    CrumbError::Invalid { line: index + 1, message: "the line is not an entry of a section".to_owned() }
}
