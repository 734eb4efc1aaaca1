//! Migration: notes from before forward crumbs existed become forward crumbs.
//!
//! A text that already has the published form is imported as it is. Any other text counts as a note to the next session if it
//! contains `session` and one of `summary`, `breadcrumb`, `context`, and `note to self`, in any case; this is the protocol's
//! heuristic. The note becomes the summary, and the list below a line with `unfinished` becomes the tasks.

use std::collections::{HashMap, HashSet};

use super::crumb::{CrumbType, Metadata, Priority, read_backwards};
use super::error::ForwardError;
use super::head::head;
use super::import::{ImportedCrumb, write_all};
use super::query::{entries, refuse_other_case};
use super::text::{self, CrumbContent, TextHeader, after_bullet, with_unix_lines};
use crate::trace::model::source::Source;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, ItemId, Time};

const FORMAT: &str = "manual-note";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// Where the text was found, as shown to the user.
    pub place: String,
    pub text: String,
    pub at: Time,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Migrated(ItemId),
    Known(ItemId),
    NotANote,
    OtherAgent(String),
}

/// Makes forward crumbs of the candidates that are notes, unless it is a dry run. The notes are left unchanged.
///
/// Returns what happens to the candidate at each place. The id of each forward crumb is derived from the note's text, so a second
/// migration adds nothing.
pub(crate) fn migrate(
    trace: &Trace<'_>,
    agent: &AgentName,
    candidates: Vec<Candidate>,
    dry_run: bool,
) -> Result<Vec<(String, Outcome)>, ForwardError> {
    refuse_other_case(trace.repo(), agent)?;
    let entries = entries(trace.repo(), trace.name())?;
    let mut known: HashSet<ItemId> = entries.iter().map(|entry| entry.id).collect();
    let here = read_backwards(trace.repo(), &entries)?.into_iter().filter_map(|(crumb, _)| crumb.ok());
    let by_text: HashMap<String, ItemId> = here.map(|crumb| (crumb.text, crumb.id)).collect();
    let mut crumbs: Vec<ImportedCrumb> = Vec::new();
    let mut migrations = Vec::new();
    for Candidate { place, text, at } in candidates {
        let outcome = match imported_crumb(agent, text, at) {
            Ok(crumb) if by_text.contains_key(&crumb.text) => Outcome::Known(by_text[&crumb.text]),
            Ok(crumb) if !known.insert(crumb.id) => Outcome::Known(crumb.id),
            Ok(crumb) => {
                let outcome = Outcome::Migrated(crumb.id);
                crumbs.push(crumb);
                outcome
            }
            Err(outcome) => outcome,
        };
        migrations.push((place, outcome));
    }
    if !dry_run && !crumbs.is_empty() {
        write_all(trace, crumbs)?;
    }
    Ok(migrations)
}

fn imported_crumb(agent: &AgentName, text: String, at: Time) -> Result<ImportedCrumb, Outcome> {
    let source = Source::of_content(FORMAT, text.as_bytes(), 0);
    let head = head(&text);
    if let Some(theirs) =
        head.as_ref().and_then(|head| head.agent).filter(|theirs| theirs.parse().ok().as_ref() != Some(agent))
    {
        return Err(Outcome::OtherAgent(theirs.to_owned()));
    }
    let (header, text) = match (text::parse(&text), head) {
        (Some((header, _)), _) => (header, text),
        // The header is damaged; what it still says is kept.
        (None, Some(head)) => {
            let at = head.at.unwrap_or(at);
            let header = TextHeader {
                priority: head.priority().and_then(Result::ok).unwrap_or(Priority::Medium),
                crumb_type: head.crumb_type().and_then(Result::ok).unwrap_or(CrumbType::Orientation),
                session_id: head.session_id.map_or_else(|| text::session_id(agent, at), str::to_owned),
                agent: agent.to_string(),
                at,
            };
            let content = CrumbContent { summary: text::gist(&text).trim().to_owned(), ..text::content(head.body) };
            let text = text::render(&header, &content);
            (header, text)
        }
        (None, None) if is_note(&text) => {
            let (priority, crumb_type) = (Priority::Medium, CrumbType::Orientation);
            let session_id = text::session_id(agent, at);
            let header = TextHeader { priority, crumb_type, session_id, agent: agent.to_string(), at };
            let text = text::render(&header, &content(&text));
            (header, text)
        }
        (None, None) => return Err(Outcome::NotANote),
    };
    let metadata = Metadata::of_text(&header, Some(source.clone()));
    Ok(ImportedCrumb { id: ItemId::of_source(&source), metadata, text })
}

pub(crate) fn is_note(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("session")
        && ["summary", "breadcrumb", "context", "note to self"].iter().any(|word| text.contains(word))
}

pub(crate) fn content(note: &str) -> CrumbContent {
    let note = with_unix_lines(note);
    let lines = note.split('\n').skip_while(|line| !names_tasks(line)).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#') || names_tasks(line)).map(str::trim_start);
    // Quotations are the words of others.
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with('>')).collect();
    let unfinished = text::tasks_in(lines.into_iter());
    CrumbContent { summary: note.trim().to_owned(), unfinished, ..CrumbContent::default() }
}

/// Whether a line is a heading above tasks: it contains `unfinished`, and is a heading of Markdown, ends with a colon, or is nothing
/// else. In a sentence, a list entry, or a quotation the word is no heading.
fn names_tasks(line: &str) -> bool {
    let line = line.trim();
    let plain = line.trim_matches(['#', '*', '_', ' ']);
    let is_heading = line.starts_with('#') || plain.ends_with(':') || plain.split_whitespace().count() <= 2;
    let is_other = line.starts_with('>') || after_bullet(line).is_some();
    is_heading && !is_other && plain.to_lowercase().contains("unfinished")
}
