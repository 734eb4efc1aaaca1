//! The sources of a brief. Each reader returns sections, or why its source cannot be read.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::Read as _;

use super::section::{Section, SectionKind};
use super::{BriefRequest, SourcePath};
use crate::git::Repo;
use crate::memory::breadcrumb::{self, Record, Store, StoreFile};
use crate::memory::checkpoint::folder::{checkpoints, is_current};
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::memory::crumb::{CrumbFile, FAILURE_LIMIT, FAILURES, read as read_crumb_file, triage};
use crate::memory::forward::{self, DamagedCrumb, ForwardCrumb, Query, text};
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::model::tree;
use crate::trace::store::{priority, total};
use crate::trace::{Time, Tip, TraceError};

/// Reads every source. One that fails becomes a warning, and the others are still read.
pub(crate) fn read_all(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> Vec<Section> {
    let mut details = Vec::new();
    let sources = [
        ("forward crumbs", forward_crumbs(repo, request, now, &mut details)),
        ("crumb file", crumb_file(request)),
        ("checkpoint", next_actions(repo)),
        ("inbox", text_file(SectionKind::Inbox, request.inbox.clone())),
        ("team", text_file(SectionKind::Team, request.team.clone())),
        ("breadcrumbs", breadcrumbs(repo, request, now, &mut details)),
        ("trace", last_items(repo, request).map(|section| vec![section]).map_err(cause)),
    ];
    let mut sections = Vec::new();
    for (name, result) in sources {
        match result {
            Ok(read) => sections.extend(read),
            Err(cause) => warnings.push(format!("{name}: {cause}")),
        }
    }
    warnings.append(&mut details);
    sections
}

type SourceResult = Result<Vec<Section>, String>;

fn cause(error: impl Error) -> String {
    let sources = std::iter::successors(error.source(), |inner| (*inner).source());
    std::iter::once(error.to_string()).chain(sources.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}

/// How many forward crumbs are read; the tasks of so many exceed any budget.
const MAX_FORWARD_CRUMBS: usize = 30;

/// The last session and open tasks, from active forward crumbs of any age that are not expired. Tasks are ordered by
/// priority, then newest first.
fn forward_crumbs(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> SourceResult {
    let Some(agent) = &request.agent else { return Ok(Vec::new()) };
    let query = Query { lookback_hours: None, limit: MAX_FORWARD_CRUMBS, ..Query::default() };
    let mut found = forward::search(repo, agent, &query, now).map_err(cause)?;
    let damaged = found.damaged.iter();
    warnings.extend(damaged.map(|DamagedCrumb { path, cause, .. }| format!("forward crumb {path}: {cause}")));
    let last_session = found.crumbs.first().map(last_session);
    found.crumbs.sort_by_key(|crumb| crumb.metadata.priority);
    let mut tasks = Section::new(SectionKind::Tasks);
    let mut seen = HashSet::new();
    for crumb in &found.crumbs {
        for task in text::tasks(&crumb.text) {
            if seen.insert(task.clone()) {
                tasks.push(&task, &format!(" ({}, {})", crumb.metadata.priority, crumb.id.short()));
            }
        }
    }
    Ok(last_session.into_iter().chain([tasks]).collect())
}

fn last_session(newest: &ForwardCrumb) -> Section {
    let mut section = Section::new(SectionKind::LastSession);
    let content = text::parse(&newest.text).map(|(_, content)| content);
    let summary = content.as_ref().map_or(newest.text.as_str(), |content| content.summary.as_str());
    section.push(summary, &format!(" ({})", newest.id.short()));
    for line in content.iter().flat_map(|content| &content.if_disoriented) {
        section.push(line, "");
    }
    section
}

/// `core`, `rules`, and the most important `failures` of the agent's crumb file.
fn crumb_file(request: &BriefRequest) -> SourceResult {
    let Some(path) = request.crumb.clone().transpose()? else { return Ok(Vec::new()) };
    let bytes = read_crumb_file(&path).map_err(cause)?;
    let crumb = CrumbFile::parse(&bytes).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let [mut identity, mut rules, mut failures] =
        [SectionKind::Identity, SectionKind::Rules, SectionKind::Failures].map(Section::new);
    if let Some(header) = crumb.header() {
        identity.push(&format!("{}, session {}", header.identity, header.session), "");
    }
    for (index, section, _) in crumb.entries() {
        match section {
            "core" => identity.push(&crumb.lines[index].text, ""),
            "rules" => rules.push(&crumb.lines[index].text, ""),
            _ => {}
        }
    }
    for score in triage(&crumb).iter().filter(|score| score.section == FAILURES).take(FAILURE_LIMIT) {
        failures.push(&score.line, "");
    }
    Ok(vec![identity, rules, failures])
}

/// The open next actions of the current checkpoint, if there is one.
fn next_actions(repo: &Repo) -> SourceResult {
    let Some(root) = repo.worktree() else { return Ok(Vec::new()) };
    let setting = repo.config().and_then(|config| config.text("trace.checkpoints")).map_err(cause)?;
    let files = Folder { root, pathspec: Pathspec::new(setting.as_deref()) }.files().map_err(cause)?;
    let checkpoints = checkpoints(&files);
    let mut section = Section::new(SectionKind::NextActions);
    let current: Vec<_> = checkpoints.iter().filter(|checkpoint| is_current(checkpoint)).collect();
    if current.len() > 1 {
        return Err("several are current; keep one with `git trace checkpoint current <id>`".to_owned());
    }
    for one in current {
        for action in one.document.open_actions() {
            section.push(action, &format!(" ({})", one_line(one.id())));
        }
    }
    Ok(vec![section])
}

/// How many bytes of a text file are read; a brief contains only a few thousand.
const MAX_TEXT_LEN: u64 = 64 * 1024;

/// The lines of a text file without list markers. Headings of Markdown and of crumb files (`∴CRUMB2 …`, `§core`, `=team`) are
/// skipped.
fn text_file(kind: SectionKind, path: Option<SourcePath>) -> SourceResult {
    let Some(path) = path.transpose()? else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(MAX_TEXT_LEN).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut section = Section::new(kind);
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if !line.starts_with(['#', '=', '§']) && !line.starts_with("∴CRUMB") {
            section.push(text::after_bullet(line).unwrap_or(line), "");
        }
    }
    Ok(vec![section])
}

/// The requested breadcrumbs, in the requested order; those of a prefix are sorted by key. Private ones are never included.
fn breadcrumbs(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> SourceResult {
    let (Some(root), false) = (repo.worktree(), request.breadcrumbs.is_empty()) else { return Ok(Vec::new()) };
    let store = Store::find(&request.folder, &root);
    let mut section = Section::new(SectionKind::Breadcrumbs);
    for key in &request.breadcrumbs {
        let records: Vec<Record<'_>> = if key.ends_with('.') {
            let query = breadcrumb::Query { prefix: key.clone(), ..breadcrumb::Query::default() };
            store.list(&query, now).map_err(cause)?.records
        } else {
            store.lookup(key, now).map_err(cause)?.record.into_iter().collect()
        };
        if records.is_empty() {
            warnings.push(format!("breadcrumbs: `{key}` does not exist"));
        }
        for record in records.iter().filter(|record| StoreFile::of_key(&record.key) == StoreFile::Shared) {
            section.push(&format!("{} = {}", record.key, record.value), "");
        }
    }
    Ok(vec![section])
}

const MAX_ITEMS: usize = 10;

/// The last items of the trace that are not skipped, newest first.
fn last_items(repo: &Repo, request: &BriefRequest) -> Result<Section, TraceError> {
    let mut section = Section::new(SectionKind::Trace);
    let Some(name) = &request.trace else { return Ok(section) };
    let Some(tip) = Tip::find(repo, name)? else { return Ok(section) };
    let entries = tree::list(repo, tip.commit.tree)?;
    // Looking up a priority costs time. Three times the number leaves room for skipped items.
    let last = &entries[entries.len().saturating_sub(3 * MAX_ITEMS)..];
    let levels = priority::Record::open(repo)?.levels(repo, last, None)?.within(repo, &tip)?;
    let included = last.iter().rev().filter(|entry| !levels.is_skipped(entry.id, &entry.item_type));
    for entry in included.take(MAX_ITEMS) {
        let item = total::read_item(repo, entry)?;
        section.push(&format!("#{} {}", entry.seq, preview(&item)), "");
    }
    Ok(section)
}
