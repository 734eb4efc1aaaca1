//! Migration: notes from before forward crumbs existed become forward crumbs.
//!
//! A text that already has the published form is imported as it is. Any other text counts as a note to the next session if it
//! contains `session` and one of `summary`, `breadcrumb`, `context`, and `note to self`, in any case; this is the protocol's
//! heuristic. The note becomes the summary, and the list below a line with `unfinished` becomes the tasks.

use std::collections::{HashMap, HashSet};

use super::crumb::{CrumbType, Metadata, Priority, read_backwards};
use super::error::ForwardError;
use super::import::{ImportedCrumb, write_all};
use super::query::{entries, refuse_other_case};
use super::text::{self, CrumbContent, TextHeader, after_bullet};
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
    let (header, text) = match text::parse(&text) {
        Some((header, _)) if header.agent == agent.as_str() => (header, text),
        Some((header, _)) => return Err(Outcome::OtherAgent(header.agent)),
        None if is_note(&text) => {
            let (priority, crumb_type) = (Priority::Medium, CrumbType::Orientation);
            let session_id = text::session_id(agent, at);
            let header = TextHeader { priority, crumb_type, session_id, agent: agent.to_string(), at };
            let text = text::render(&header, &content(&text));
            (header, text)
        }
        None => return Err(Outcome::NotANote),
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
    let note = note.replace("\r\n", "\n");
    let names_tasks =
        |line: &str| line.to_lowercase().contains("unfinished") && after_bullet(line.trim_start()).is_none();
    let lines = note.split('\n').skip_while(|line| !names_tasks(line)).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#') || names_tasks(line)).map(str::trim_start);
    // Markdown also allows `* ` as a list marker.
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix("* ").map_or(line.to_owned(), |rest| format!("- {rest}"))).collect();
    let unfinished = text::tasks_in(lines.iter().map(String::as_str));
    CrumbContent { summary: note.trim().to_owned(), unfinished, ..CrumbContent::default() }
}
