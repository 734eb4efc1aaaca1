//! Notes that were left by hand before there were forward crumbs, made into crumbs.
//!
//! What is a crumb in the published text already comes in as it stands. Of other texts one counts as a note to a next session
//! if it holds `session` and one of `summary`, `breadcrumb`, `context` and `note to self`, in whatever case: the protocol's
//! heuristic. It becomes a crumb's summary; the list under a line with `unfinished` becomes its tasks.

use super::crumb::{About, CrumbStatus, CrumbType, Priority};
use super::error::ForwardError;
use super::exchange::{self, Arrival};
use super::text::{self, Content, Head};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::model::source::Source;
use crate::trace::store::signature::Signature;
use crate::trace::{AgentName, ItemId, Time};

/// What the sources of migrated notes are called.
const FORMAT: &str = "manual-note";

/// A text that may be a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// Where it stands, for people.
    pub place: String,
    /// The text.
    pub text: String,
    /// When it was written, as far as is known.
    pub at: Time,
}

/// What becomes of a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Judged {
    /// Where it stands.
    pub place: String,
    /// What it becomes.
    pub verdict: Verdict,
}

/// What becomes of a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// A crumb.
    Crumb(ItemId),
    /// Nothing: it is a crumb already.
    Known(ItemId),
    /// Nothing: it is no note to a next session.
    NoNote,
    /// Nothing: it is a crumb of somebody else.
    OfAgent(String),
}

/// Judges candidates and, unless it is a trial, makes crumbs of those that are notes. The notes stay where they are.
///
/// Again brings nothing twice: a crumb's id is that of the note's text.
///
/// # Errors
///
/// Those of reading and writing objects.
pub(crate) fn migrate(
    repo: &Repo,
    agent: &AgentName,
    signature: &Signature,
    encoding: Encoding,
    candidates: Vec<Candidate>,
    dry_run: bool,
) -> Result<Vec<Judged>, ForwardError> {
    let known: Vec<ItemId> = super::read::slots(repo, agent)?.iter().map(|slot| slot.id).collect();
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut judged = Vec::new();
    for candidate in candidates {
        let place = candidate.place.clone();
        let verdict = match arrival(agent, candidate) {
            Ok(arrival) if known.contains(&arrival.id) || arrivals.iter().any(|other| other.id == arrival.id) => {
                Verdict::Known(arrival.id)
            }
            Ok(arrival) => {
                let id = arrival.id;
                arrivals.push(arrival);
                Verdict::Crumb(id)
            }
            Err(verdict) => verdict,
        };
        judged.push(Judged { place, verdict });
    }
    if !dry_run && !arrivals.is_empty() {
        exchange::write(repo, agent, signature, encoding, arrivals)?;
    }
    Ok(judged)
}

fn arrival(agent: &AgentName, candidate: Candidate) -> Result<Arrival, Verdict> {
    let Candidate { text, at, .. } = candidate;
    let source = Source::of_content(FORMAT, text.as_bytes(), 0);
    let (head, text) = match text::parse(&text) {
        Some((head, _)) if head.agent == agent.as_str() => (head, text),
        Some((head, _)) => return Err(Verdict::OfAgent(head.agent)),
        None if is_note(&text) => {
            let (priority, crumb_type) = (Priority::Medium, CrumbType::Orientation);
            let session_id = text::session_id(agent, at);
            let head = Head { priority, crumb_type, session_id, agent: agent.to_string(), at };
            let text = text::render(&head, &content(&text));
            (head, text)
        }
        None => return Err(Verdict::NoNote),
    };
    let about = About {
        created: head.at,
        priority: head.priority,
        crumb_type: head.crumb_type,
        status: CrumbStatus::Active,
        session_id: head.session_id,
        parent: None,
        source: Some(source.clone()),
    };
    Ok(Arrival { id: ItemId::of_source(&source), about, text })
}

/// The protocol's heuristic.
fn is_note(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("session")
        && ["summary", "breadcrumb", "context", "note to self"].iter().any(|word| text.contains(word))
}

/// The whole note as a summary, and its tasks.
fn content(note: &str) -> Content {
    let note = note.replace("\r\n", "\n");
    let names_tasks = |line: &str| line.to_lowercase().contains("unfinished") && text_after_mark(line).is_none();
    let lines = note.split('\n').skip_while(|line| !names_tasks(line)).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#') || names_tasks(line)).map(str::trim_start);
    // `* ` is Markdown's third mark of a list.
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix("* ").map_or(line.to_owned(), |rest| format!("- {rest}"))).collect();
    let unfinished = text::tasks_in(lines.iter().map(String::as_str));
    Content { summary: note.trim().to_owned(), unfinished, ..Content::default() }
}

fn text_after_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("• "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_told_by_its_words() {
        assert!(is_note("Session 4 SUMMARY"));
        assert!(is_note("note to self for the next session"));
        assert!(!is_note("a summary") && !is_note("the session ended") && !is_note(""));
    }

    #[test]
    fn tasks_of_a_note_end_with_its_section() {
        let note =
            "# Session summary\nDid it.\n\n## Unfinished\n* write the docs\n- [ ] ask about it\n\n## Links\n- a link\n";
        assert_eq!(content(note).unfinished, ["write the docs", "[ ] ask about it"]);
    }
}
