//! Exchanging memory with other agents: what is sent is a crumb file, what comes in is tagged with its agent's letter.
//!
//! An entry is taken in once: one that is there with the same words and the same agent is known, and so is one that carries
//! our own letter. A failure that is known takes over the agent's count where that is greater. So receiving the same again
//! changes nothing.
//!
//! Each file counts its own sessions, so one that the sender names may be still to come here. Such an entry gets the session
//! in which it is received, and a tag keeps what it said: `nS @15 fixed the parser [FROM: @121]`. What comes in then ranks as
//! new, is valid, and is known again by what it said.

use std::borrow::Cow;

use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::edit::{append, with_counter};
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, LineKind, SectionMark};
use crate::memory::crumb::grammar::entry::{Counter, Entry, EntryKind, SessionRange, SessionRef};
use crate::trace::model::trailers::one_line;

/// How many lines may be received at once: what is sent is to be read whole.
const MAX_LINES: usize = 2000;

/// What receiving came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Received {
    pub added: Vec<(String, String)>,
    pub counted: Vec<String>,
    pub known: usize,
}

/// The letter of the agent that an identity names: its first one, as a capital.
fn letter(identity: &str) -> Option<char> {
    identity.chars().next().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase)
}

/// The file, or those of its `sections` that are named, for another agent to receive: every entry with its agent's letter,
/// which is `agent` or else the first of the identity.
pub(crate) fn send(crumb: &CrumbFile<'_>, sections: &[String], agent: Option<char>) -> Result<String, CrumbError> {
    let header = crumb.header().ok_or(CrumbError::NoHeader)?;
    let all = crumb.sections();
    if let Some(missing) = sections.iter().find(|name| !all.iter().any(|section| section.name == **name)) {
        return Err(CrumbError::NoSuchSection { name: missing.clone() });
    }
    let agent = agent.or_else(|| letter(header.identity));
    let mut text = format!("{header}\n");
    for section in all.iter().filter(|section| sections.is_empty() || sections.iter().any(|name| name == section.name))
    {
        text.extend(["\n", &section.mark.as_char().to_string(), section.name, "\n"]);
        for index in section.start + 1..section.end {
            let line = &crumb.lines[index];
            if let Some(entry) = line.entry() {
                let agent = entry.agent.or(agent);
                let agent = agent.ok_or(CrumbError::NoAgent)?;
                text.extend([tagged(&line.text, &entry, agent, section.mark).as_str(), "\n"]);
            } else if line.kind != LineKind::Blank {
                return Err(no_entry(index));
            }
        }
    }
    Ok(text)
}

/// Takes in what another agent sent: a file, or sections without a header.
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
        let message = format!("more than {MAX_LINES} lines are not taken in");
        return Err(CrumbError::Invalid { line: MAX_LINES + 1, message });
    }
    if let Some(index) = sent.lines.iter().position(|line| line.kind == LineKind::Unknown) {
        return Err(no_entry(index));
    }
    let mark = crumb.mark();
    let mut received = Received::default();
    for (index, section, entry) in sent.entries() {
        if section.is_empty() {
            return Err(no_entry(index));
        }
        if let Some(bad) = entry.bad_reference {
            let message = format!("`{}` does not name a session", bad.escape_debug());
            return Err(CrumbError::Invalid { line: index + 1, message });
        }
        // The letter that is asked for stands for the sender's own too.
        let agent = match entry.agent.filter(|own| agent.is_none() || Some(*own) != their_letter) {
            Some(own) => own,
            None => agent.or(their_letter).ok_or(CrumbError::NoAgent)?,
        };
        let line = tagged(&sent.lines[index].text, &entry, agent, mark);
        if Some(agent) == our_letter && theirs != ours {
            received.known += 1;
            continue;
        }
        take_in(crumb, section, &original(&line), session, &mut received)?;
    }
    Ok(received)
}

/// Takes in a line as its sender wrote it, `session` being ours.
fn take_in(
    crumb: &mut CrumbFile<'_>,
    section: &str,
    line: &str,
    session: u64,
    received: &mut Received,
) -> Result<(), CrumbError> {
    let Some(entry) = Entry::parse(line) else { return Ok(()) };
    let is_failure = section == FAILURES && entry.kind == EntryKind::Lesson && entry.key().is_some();
    let known = crumb.entries().find(|(at, name, known)| {
        let is_same_failure = is_failure && known.agent == entry.agent && known.key() == entry.key();
        *name == section && (is_same_failure || said(&crumb.lines[*at].text) == said(line))
    });
    let Some((at, ..)) = known else {
        let line = placed(line, session);
        append(crumb, section, line.clone())?;
        received.added.push((section.to_owned(), line));
        return Ok(());
    };
    let known = original(&crumb.lines[at].text);
    let weight = |counter: Counter| (counter.count, counter.last.latest());
    let known_weight = Entry::parse(&known).and_then(|known| known.counter).map(weight);
    match entry.counter {
        Some(counter) if is_failure && Some(weight(counter)) > known_weight => {
            let line = placed(&with_counter(&known, counter), session);
            crumb.lines[at].text = Cow::Owned(line.clone());
            received.counted.push(line);
        }
        _ => received.known += 1,
    }
    Ok(())
}

/// What a line said where it came from, in the customary spacing: by that it is known again.
fn said(line: &str) -> String {
    let line = original(line);
    Entry::parse(&line).map(|entry| entry.render()).unwrap_or(line)
}

/// The tag that keeps the sessions which an entry named where it came from: the reference's, then the counter's.
const FROM: &str = "FROM";

/// A line whose sessions are none to come in `session`.
fn placed(line: &str, session: u64) -> String {
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

/// A line as it was before it was [`placed`]; one that was not is as it is.
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

/// A line with its agent's letter, without control characters, and with the mark for facts that goes with the sections'.
fn tagged(line: &str, entry: &Entry<'_>, agent: char, mark: SectionMark) -> String {
    let kind = match (entry.kind, mark) {
        (EntryKind::Fact, SectionMark::Equals) => EntryKind::SharedFact,
        (EntryKind::SharedFact, SectionMark::Paragraph) => EntryKind::Fact,
        (kind, _) => kind,
    };
    let taken = entry.kind.mark().len_utf8() + usize::from(entry.agent.is_some());
    let rest = line[taken..].trim_end();
    let rest = if rest.contains(char::is_control) { format!(" {}", one_line(rest)) } else { rest.to_owned() };
    format!("{}{agent}{rest}", kind.mark())
}

fn no_entry(index: usize) -> CrumbError {
    CrumbError::Invalid { line: index + 1, message: "what stands there is no entry of a section".to_owned() }
}
