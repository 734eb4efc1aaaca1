//! The sources of a brief. Each reader returns sections, or why its source cannot be read.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::error::Error;

use super::section::{Section, SectionKind};
use super::{BriefRequest, SourcePath};
use crate::base::bounded;
use crate::base::escape::{escaped, shell_word};
use crate::base::worktree_path::check_regular_or_open;
use crate::git::Repo;
use crate::memory::breadcrumb::{self, Record, Store, StoreFile};
use crate::memory::checkpoint::folder::{checkpoints, is_current};
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::memory::crumb::grammar::document::{BOM, Header};
use crate::memory::crumb::{CrumbFile, Entry, EntryKind, FAILURES, read as read_crumb_file};
use crate::memory::forward::{self, DamagedCrumb, ForwardCrumb, Query, text};
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::model::tree;
use crate::trace::store::{priority, settings, total};
use crate::trace::{Time, Tip, TraceError};

/// Reads every source. One that fails becomes a warning, and the others are still read.
pub(crate) fn read_all(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> Vec<Section> {
    let mut details = Vec::new();
    let sources = [
        ("forward crumbs", forward_crumbs(repo, request, now, &mut details)),
        ("crumb file", crumb_file(request)),
        ("checkpoint", checkpoint(repo)),
        ("inbox", text_file(request, SectionKind::Inbox, request.inbox.as_ref())),
        ("team", text_file(request, SectionKind::Team, request.team.as_ref())),
        ("breadcrumbs", breadcrumbs(repo, request, now, &mut details)),
        ("trace", last_items(repo, request).map(|section| vec![section]).map_err(cause)),
    ];
    let mut sections = Vec::new();
    for (name, result) in sources {
        match result {
            Ok(read) => read.into_iter().for_each(|section| add(&mut sections, section)),
            Err(cause) => warnings.push(format!("{name}: {cause}")),
        }
    }
    warnings.append(&mut details);
    sections
}

/// Adds a section, or its entries to those of the same kind and place.
fn add(sections: &mut Vec<Section>, section: Section) {
    let known = sections.iter_mut().find(|known| known.kind == section.kind && known.shown_by == section.shown_by);
    match known {
        Some(known) => known.entries.extend(section.entries),
        None => sections.push(section),
    }
}

type SourceResult = Result<Vec<Section>, String>;

fn cause(error: impl Error) -> String {
    let sources = std::iter::successors(error.source(), |inner| (*inner).source());
    std::iter::once(error.to_string()).chain(sources.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}

/// How many forward crumbs with open tasks are read. A warning says if there are more.
const MAX_FORWARD_CRUMBS: usize = 100;

/// The last session, from the newest forward crumb whatever its status, and open tasks, from active forward crumbs of any age
/// that are not expired. Tasks are ordered by priority, then newest first.
fn forward_crumbs(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> SourceResult {
    let Some(agent) = &request.agent else { return Ok(Vec::new()) };
    let query = Query { lookback_hours: None, limit: MAX_FORWARD_CRUMBS, ..Query::default() };
    let mut found = forward::search(repo, agent, &query, now).map_err(cause)?;
    let damaged = found.damaged.iter();
    warnings.extend(damaged.map(|DamagedCrumb { path, cause, .. }| format!("forward crumb {path}: {cause}")));
    if found.crumbs.len() == MAX_FORWARD_CRUMBS {
        let more = "`git trace forward get --limit N` shows more";
        let read = format!("only the newest {MAX_FORWARD_CRUMBS} active ones of {} were read", found.total);
        warnings.push(format!("forward crumbs: {read}; {more}"));
    }
    let newest = forward::search(repo, agent, &Query { status: None, limit: 1, ..query }, now).map_err(cause)?;
    let command = format!("git trace forward get --agent {agent} --all");
    let [mut last, mut tasks, mut imported] =
        [SectionKind::LastSession, SectionKind::Tasks, SectionKind::Imported].map(|kind| Section::new(kind, &command));
    if let Some(newest) = newest.crumbs.first() {
        last_session(newest, if newest.metadata.source.is_some() { &mut imported } else { &mut last });
    }
    found.crumbs.sort_by_key(|crumb| crumb.metadata.priority);
    let mut seen = HashSet::new();
    for crumb in &found.crumbs {
        let section = if crumb.metadata.source.is_some() { &mut imported } else { &mut tasks };
        for task in text::tasks(&crumb.text) {
            if seen.insert(task.clone()) {
                section.push(&task, &format!(" ({}, {})", crumb.metadata.priority, crumb.id.short()));
            }
        }
    }
    Ok(vec![last, tasks, imported])
}

fn last_session(newest: &ForwardCrumb, section: &mut Section) {
    let id = newest.id.short();
    let Some((_, content)) = text::parse(&newest.text) else {
        return section.push(&text::gist(&newest.text), &format!(" ({id})"));
    };
    section.push(&content.summary, &format!(" ({id})"));
    for line in &content.if_disoriented {
        section.push(line, "");
    }
    for discovery in &content.discoveries {
        section.push(&format!("Discovery: {discovery}"), "");
    }
    let state = content.emotional.iter().map(|(name, value)| format!("{name}: {value}"));
    let references = content.references.iter().map(|(kind, ids)| format!("{kind}: {}", ids.join(", ")));
    for (name, parts) in [("State", state.collect::<Vec<_>>()), ("References", references.collect())] {
        if !parts.is_empty() {
            section.push(&format!("{name}: {}", parts.join("; ")), "");
        }
    }
}

/// The sections of the agent's crumb file. Entries with the letter of another agent are words of others.
fn crumb_file(request: &BriefRequest) -> SourceResult {
    let Some(path) = request.crumb.clone().transpose()? else { return Ok(Vec::new()) };
    let bytes = read_crumb_file(&path).map_err(cause)?;
    let crumb = CrumbFile::parse(&bytes).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let command = format!("git trace crumb show {}", shell_word(request.shown(&path)));
    let section = |kind| Section::new(kind, &command);
    let kinds = [
        SectionKind::Identity,
        SectionKind::Rules,
        SectionKind::Failures,
        SectionKind::Active,
        SectionKind::Notes,
        SectionKind::Other,
        SectionKind::Team,
    ];
    let mut sections = kinds.map(section);
    let own_letter = crumb.header().and_then(|header| header.identity.chars().next()).map(|c| c.to_ascii_uppercase());
    if let Some(header) = crumb.header() {
        sections[0].push(&format!("{}, session {}", header.identity, header.session), "");
    }
    let mut entries: Vec<_> = crumb.entries().collect();
    entries.sort_by_key(|(index, name, entry)| importance(&crumb, *index, name, entry));
    for (index, name, entry) in entries {
        let line = &*crumb.lines[index].text;
        let is_of_another = entry.agent.is_some_and(|agent| Some(agent) != own_letter);
        let kind = match name.to_lowercase().as_str() {
            _ if is_of_another => SectionKind::Team,
            "core" => SectionKind::Identity,
            "rules" => SectionKind::Rules,
            FAILURES => SectionKind::Failures,
            "active" => SectionKind::Active,
            "volatile" => SectionKind::Notes,
            _ => SectionKind::Other,
        };
        let Some(section) = sections.iter_mut().find(|section| section.kind == kind) else { continue };
        let is_rule = kind == SectionKind::Rules || matches!(entry.kind, EntryKind::Constraint | EntryKind::Directive);
        let line = if kind == SectionKind::Other { format!("{name}: {line}") } else { line.to_owned() };
        if is_rule && !is_of_another {
            section.push_rule(&line);
        } else {
            section.push(&line, "");
        }
    }
    Ok(sections.into())
}

/// Sorts the entries of each section: failures that happened most often first; directives first, then notes and summaries with
/// the newest first; everything else as in the file.
fn importance(
    crumb: &CrumbFile<'_>,
    index: usize,
    section: &str,
    entry: &Entry<'_>,
) -> (u8, Reverse<u64>, Reverse<u64>, usize) {
    if section.to_lowercase() == FAILURES && entry.kind == EntryKind::Lesson {
        let (count, last) = entry.frequency();
        return (1, Reverse(count), Reverse(last.unwrap_or(0)), index);
    }
    let newest = if entry.kind.is_dated() { entry.latest().unwrap_or(0) } else { 0 };
    let rank = match entry.kind {
        EntryKind::Directive => 0,
        EntryKind::Note => 2,
        EntryKind::Summary => 3,
        _ => 1,
    };
    // Of the same session, the note that was written last is the newest.
    let place = if newest > 0 { crumb.lines.len() - index } else { index };
    (rank, Reverse(newest), Reverse(0), place)
}

/// The problem, the state, and the open next actions of the current checkpoint, if there is one.
fn checkpoint(repo: &Repo) -> SourceResult {
    let Some(root) = repo.worktree() else { return Ok(Vec::new()) };
    let setting = settings::text(repo, "trace.checkpoints").map_err(cause)?;
    let files = Folder { root, pathspec: Pathspec::new(setting.as_deref()) }.files().map_err(cause)?;
    let checkpoints = checkpoints(&files);
    let current: Vec<_> = checkpoints.iter().filter(|checkpoint| is_current(checkpoint)).collect();
    if current.len() > 1 {
        return Err("several are current; keep one with `git trace checkpoint current <id>`".to_owned());
    }
    let [mut state, mut actions] = [SectionKind::Checkpoint, SectionKind::NextActions]
        .map(|kind| Section::new(kind, "git trace checkpoint prime"));
    for one in current {
        let (document, id) = (&one.document, format!(" ({})", escaped(&one_line(one.id()))));
        for (name, part) in [("Problem", document.section("Problem")), ("State", document.essential("Current State"))] {
            let text = part.map(|part| one_line(document.body(&part))).filter(|text| !text.is_empty());
            text.inspect(|text| state.push(&format!("{name}: {text}"), &id));
        }
        document.open_actions().iter().for_each(|action| actions.push(action, &id));
    }
    Ok(vec![state, actions])
}

/// The lines of a text file without list markers, the last line first in the inbox, because it is the newest. Only in a crumb
/// file are headings no messages.
fn text_file(request: &BriefRequest, kind: SectionKind, path: Option<&SourcePath>) -> SourceResult {
    let Some(path) = path.cloned().transpose()? else { return Ok(Vec::new()) };
    let bytes = check_regular_or_open(&path).and_then(|()| bounded::read_file(&path));
    let bytes = bytes.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches(BOM);
    let is_crumb_file = Header::parse(text.lines().next().unwrap_or_default()).is_ok();
    let mut section = Section::new(kind, &format!("cat {}", shell_word(request.shown(&path))));
    for line in text.lines().map(str::trim) {
        if !is_crumb_file {
            section.push(["- ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line), "");
        } else if Entry::parse(line).is_some() {
            section.push(line, "");
        }
    }
    if kind == SectionKind::Inbox {
        section.entries.reverse();
    }
    Ok(vec![section])
}

/// The requested breadcrumbs, in the requested order; those of a prefix are sorted by key. Private ones are never included.
fn breadcrumbs(repo: &Repo, request: &BriefRequest, now: Time, warnings: &mut Vec<String>) -> SourceResult {
    let (Some(root), false) = (repo.worktree(), request.breadcrumbs.is_empty()) else { return Ok(Vec::new()) };
    let store = Store::find(&request.folder, &root);
    store.check_checked_out(Some(repo), &request.folder).map_err(cause)?;
    let mut section = Section::new(SectionKind::Breadcrumbs, "git trace breadcrumb list");
    let mut skipped = Vec::new();
    for key in &request.breadcrumbs {
        let records: Vec<Record<'_>> = if key.ends_with('.') {
            let query = breadcrumb::Query { prefix: key.clone(), ..breadcrumb::Query::default() };
            let listing = store.list(&query, now).map_err(cause)?;
            skipped.extend(listing.skipped_lines);
            listing.records
        } else {
            let lookup = store.lookup(key, now).map_err(cause)?;
            skipped.extend(lookup.skipped_lines);
            lookup.record.into_iter().collect()
        };
        if records.is_empty() {
            let missing = if key.ends_with('.') { "no breadcrumb begins with" } else { "there is no breadcrumb" };
            warnings.push(format!("breadcrumbs: {missing} `{key}`"));
        }
        for record in records.iter().filter(|record| StoreFile::of_key(&record.key) == StoreFile::Shared) {
            section.push(&format!("{} = {}", record.key, record.value), "");
        }
    }
    if let Some(first) = skipped.first() {
        let (file, invalid) = (first.file, &first.invalid);
        warnings.push(format!("breadcrumbs: line {} of `{file}` cannot be read: {}", invalid.line, invalid.reason));
    }
    Ok(vec![section])
}

const MAX_ITEMS: usize = 10;

/// The last items of the trace that are not skipped, newest first.
fn last_items(repo: &Repo, request: &BriefRequest) -> Result<Section, TraceError> {
    let mut section = Section::new(SectionKind::Trace, "git trace log");
    let Some(name) = &request.trace else { return Ok(section) };
    let Some(tip) = Tip::find(repo, name)? else { return Ok(section) };
    let entries = tree::list(repo, tip.commit.tree)?;
    // Looking up a priority costs time. Three times the number leaves room for skipped items.
    let last = &entries[entries.len().saturating_sub(3 * MAX_ITEMS)..];
    let levels = priority::Record::open(repo)?.levels(repo, last, None)?;
    let included = last.iter().rev().filter(|entry| !levels.is_skipped(entry.id, &entry.item_type));
    for entry in included.take(MAX_ITEMS) {
        let item = total::read_item(repo, entry)?;
        section.push(&format!("#{} {}", entry.seq, preview(&item)), "");
    }
    Ok(section)
}
