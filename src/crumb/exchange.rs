//! Exchanging memory with other agents: what is sent is a crumb file, what comes in is tagged with its agent's letter.
//!
//! An entry is taken in once: one that is there with the same words and the same agent is known, and so is one that carries
//! our own letter. A failure that is known takes over the agent's count where that is greater. So receiving the same again
//! changes nothing.

use std::borrow::Cow;

use super::check::FAILURES;
use super::document::{Crumb, Mark, Role};
use super::edit::{append, with_counter};
use super::entry::{Entry, Kind};
use super::error::CrumbError;
use crate::trace::message::one_line;

/// How many lines may be received at once: what is sent is to be read whole.
const MAX_LINES: usize = 2000;

/// What receiving came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Lines that are new, with their sections.
    pub added: Vec<(String, String)>,
    /// Failures that are counted higher now.
    pub counted: Vec<String>,
    /// How many entries were known.
    pub known: usize,
}

/// The letter of the agent that an identity names: its first one, as a capital.
fn letter(identity: &str) -> Option<char> {
    identity.chars().next().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase)
}

/// The file, or those of its `sections` that are named, for another agent to receive: every entry with its agent's letter,
/// which is `agent` or else the first of the identity.
///
/// # Errors
///
/// [`CrumbError::NoHeader`], [`CrumbError::NoSuchSection`], [`CrumbError::NoAgent`], and [`CrumbError::Invalid`] for lines
/// that are no entries.
pub fn send(crumb: &Crumb<'_>, sections: &[String], agent: Option<char>) -> Result<String, CrumbError> {
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
            } else if line.role != Role::Blank {
                return Err(no_entry(index));
            }
        }
    }
    Ok(text)
}

/// Takes in what another agent sent: a file, or sections without a header.
///
/// # Errors
///
/// [`CrumbError::NoAgent`] where an entry has no letter and none can be told, [`CrumbError::Invalid`] for lines that are no
/// entries; and as [`super::add`]. Nothing is to be written then.
pub fn receive(crumb: &mut Crumb<'_>, sent: &Crumb<'_>, agent: Option<char>) -> Result<Received, CrumbError> {
    let ours = crumb.header().ok_or(CrumbError::NoHeader)?.identity.to_owned();
    let theirs = sent.header().map(|header| header.identity.to_owned()).unwrap_or_default();
    if sent.lines.len() > MAX_LINES {
        let message = format!("more than {MAX_LINES} lines are not taken in");
        return Err(CrumbError::Invalid { line: MAX_LINES + 1, message });
    }
    if let Some(index) = sent.lines.iter().position(|line| line.role == Role::Unknown) {
        return Err(no_entry(index));
    }
    let agent = agent.or_else(|| letter(&theirs));
    let mark = crumb.mark();
    let mut received = Received::default();
    for (index, section, entry) in sent.entries() {
        if section.is_empty() {
            return Err(no_entry(index));
        }
        let agent = entry.agent.or(agent).ok_or(CrumbError::NoAgent)?;
        let line = tagged(&sent.lines[index].text, &entry, agent, mark);
        if Some(agent) == letter(&ours) && theirs != ours {
            received.known += 1;
            continue;
        }
        take_in(crumb, section, line, &mut received)?;
    }
    Ok(received)
}

fn take_in(crumb: &mut Crumb<'_>, section: &str, line: String, received: &mut Received) -> Result<(), CrumbError> {
    let Some(entry) = Entry::parse(&line) else { return Ok(()) };
    let is_failure = section == FAILURES && entry.kind == Kind::Lesson && entry.key().is_some();
    let known = crumb.entries().find(|(at, name, known)| {
        let is_same_failure = is_failure && known.agent == entry.agent && known.key() == entry.key();
        *name == section && (crumb.lines[*at].text == line || is_same_failure)
    });
    let Some((at, _, known)) = known else {
        append(crumb, section, line.clone())?;
        received.added.push((section.to_owned(), line));
        return Ok(());
    };
    let weight = |entry: &Entry<'_>| entry.counter.map(|counter| (counter.count, counter.last.latest()));
    match entry.counter {
        Some(counter) if is_failure && weight(&entry) > weight(&known) => {
            let line = with_counter(&crumb.lines[at].text, counter);
            crumb.lines[at].text = Cow::Owned(line.clone());
            received.counted.push(line);
        }
        _ => received.known += 1,
    }
    Ok(())
}

/// A line with its agent's letter, without control characters, and with the mark for facts that goes with the sections'.
fn tagged(line: &str, entry: &Entry<'_>, agent: char, mark: Mark) -> String {
    let kind = match (entry.kind, mark) {
        (Kind::Fact, Mark::Equals) => Kind::SharedFact,
        (Kind::SharedFact, Mark::Paragraph) => Kind::Fact,
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
