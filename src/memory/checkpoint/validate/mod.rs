//! Validation: what is wrong with a checkpoint, and what could be better.
//!
//! Errors reject the file: a required key or heading is missing, the frontmatter cannot be parsed, or a row of the Breadcrumbs
//! table has the wrong number of cells. Advice is given only if there are no errors. Source of the rules and limits:
//! checkpoint format 1.3.

mod advice;
mod consistency;
pub(crate) mod files;
mod index;

use std::ops::Range;
use std::str::Utf8Error;

use serde_json::Value;

use super::document::frontmatter::{Frontmatter, NO_FRONTMATTER};
use super::document::markdown::{Markdown, TableRow, lines};
use super::document::{Document, REFERENCE_COLUMNS, ReferenceKind, Section, Timestamp, start_of};
use crate::base::finding::{Finding, Findings, Weight};
use crate::base::merge::conflict;
use crate::trace::Time;

pub(crate) use consistency::{cycles, validate_set};
pub(crate) use index::validate_index;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The current time, for advice about age; `None` disables all advice.
    pub advise_at: Option<Time>,
    pub is_archived: bool,
}

const SECTIONS: [(&str, Weight); 3] =
    [("Problem", Weight::Error), ("Session Intent", Weight::Warning), ("Essential Information", Weight::Error)];

const PARTS: [(&str, Weight); 6] = [
    ("Decisions", Weight::Error),
    ("Current State", Weight::Error),
    ("Next Actions", Weight::Error),
    ("Technical Context", Weight::Warning),
    ("Play-By-Play", Weight::Warning),
    ("Artifact Trail", Weight::Warning),
];

const TIME_REMEDY: &str = "write RFC 3339, such as 2026-02-10T09:00:00Z";

/// Validates a checkpoint, which may be any bytes, in linear time. Returns findings sorted by position.
pub(crate) fn validate(bytes: &[u8], rules: Rules) -> Vec<Finding> {
    match std::str::from_utf8(bytes) {
        Ok(text) => validate_document(&Document::parse(text), rules),
        Err(error) => not_utf8(bytes, error),
    }
}

pub(crate) fn validate_document(document: &Document<'_>, rules: Rules) -> Vec<Finding> {
    let mut findings = Findings::new(document.text.as_bytes());
    if document.text[start_of(document.text)..].trim().is_empty() {
        findings.error("empty", 0..0, "the file is empty", "delete it, or write it with `git trace checkpoint new`");
        return findings.finish();
    }
    match &document.frontmatter {
        // It may be any other page, so one warning is enough.
        Err(error) if error.code == NO_FRONTMATTER => {
            findings.warning(error.code, error.span.clone(), error.message.as_str(), error.remedy);
            check_conflict_markers(&mut findings, document.text, &document.markdown);
            return findings.finish();
        }
        Ok(frontmatter) => check_frontmatter(&mut findings, document, frontmatter),
        Err(error) => findings.error(error.code, error.span.clone(), error.message.as_str(), error.remedy),
    }
    check_conflict_markers(&mut findings, document.text, &document.markdown);
    check_headings(&mut findings, document);
    if rules.is_archived {
        check_completion(&mut findings, document);
    }
    check_breadcrumbs(&mut findings, document);
    check_deltas(&mut findings, document);
    if let (false, Some(now)) = (findings.has_errors(), rules.advise_at) {
        advice::advise(&mut findings, document, now, rules.is_archived);
    }
    findings.finish()
}

fn not_utf8(bytes: &[u8], error: Utf8Error) -> Vec<Finding> {
    let mut findings = Findings::new(bytes);
    let at = error.valid_up_to();
    findings.error("not-utf8", at..at + 1, "the file is not UTF-8 from here on", "save it as UTF-8");
    findings.finish()
}

fn check_frontmatter(findings: &mut Findings<'_>, document: &Document<'_>, frontmatter: &Frontmatter) {
    let top = start_of(document.text);
    for (key, weight, remedy) in [
        ("checkpoint", Weight::Error, "add its id: `checkpoint: chk-<name>`"),
        ("created", Weight::Error, "add the time of creation: `created: 2026-02-10T09:00:00Z`"),
        ("anchor", Weight::Warning, "add the point in the work to which it belongs"),
        ("last_delta", Weight::Warning, "add the time of the newest delta, or of its creation"),
        ("parent", Weight::Warning, "add the id of its parent, or `parent: null`"),
    ] {
        let value = frontmatter.entry(key).map(|entry| &entry.value);
        if value.is_none_or(|value| key == "anchor" && value.is_null()) {
            findings.add(weight, "missing-key", top..top, format!("the frontmatter has no `{key}`"), remedy);
        }
    }
    let is_id = |value: &Value| value.as_str().is_some_and(|id| !id.trim().is_empty());
    if let Some(entry) = frontmatter.entry("checkpoint").filter(|entry| !is_id(&entry.value)) {
        let message = "`checkpoint` is not a non-empty string";
        findings.error("bad-id", entry.span.clone(), message, "write an id, in quotes if it is a number");
    }
    check_time(findings, frontmatter, "created", Weight::Error);
    check_time(findings, frontmatter, "last_delta", Weight::Warning);
    if let Some(entry) = frontmatter.entry("parent").filter(|entry| !is_id(&entry.value) && !entry.value.is_null()) {
        let message = "`parent` is not an id or null";
        findings.warning("bad-parent", entry.span.clone(), message, "write the id of its parent, or `null`");
    }
    if let Some(entry) = frontmatter.entry("status")
        && !matches!(entry.value.as_str(), Some("active" | "current"))
    {
        let message = format!("the status `{}` is unknown", shown(&entry.value));
        findings.warning("unknown-status", entry.span.clone(), message, "use `active` or `current`");
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn check_time(findings: &mut Findings<'_>, frontmatter: &Frontmatter, key: &str, weight: Weight) {
    let Some(entry) = frontmatter.entry(key) else { return };
    match entry.value.as_str().and_then(Timestamp::parse) {
        None => {
            let message = format!("`{key}` is not a time: `{}`", shown(&entry.value));
            findings.add(weight, "bad-time", entry.span.clone(), message, TIME_REMEDY);
        }
        Some(Timestamp { has_zone: false, .. }) => no_zone(findings, entry.span.clone(), &format!("`{key}`")),
        Some(_) => {}
    }
}

fn no_zone(findings: &mut Findings<'_>, span: Range<usize>, what: &str) {
    findings.warning("no-zone", span, format!("{what} has no zone and is read as UTC"), "add `Z` or an offset");
}

/// Reports conflict markers that a merge left, outside of code.
fn check_conflict_markers(findings: &mut Findings<'_>, text: &str, markdown: &Markdown) {
    for marker in conflict_markers(text, markdown) {
        findings.error("conflict-marker", marker, "the line is a conflict marker", conflict::REMEDY);
    }
}

/// Whether a merge left conflict markers.
pub(super) fn has_conflict(text: &str) -> bool {
    conflict_markers(text, &Markdown::parse(text, 0)).next().is_some()
}

/// The lines that start a conflict.
fn conflict_markers<'t>(text: &'t str, markdown: &'t Markdown) -> impl Iterator<Item = Range<usize>> + 't {
    let is_marker = |line: &str| matches!(conflict::marker(line.as_bytes()), Some((b'<', 7..)));
    let found = lines(text, 0..text.len()).filter(move |(start, line)| is_marker(line) && !markdown.is_code(*start));
    found.map(|(start, line)| start..start + line.len())
}

fn check_headings(findings: &mut Findings<'_>, document: &Document<'_>) {
    let end = document.text.len();
    for (title, weight) in SECTIONS {
        if document.section(title).is_none() {
            let message = format!("the heading `## {title}` is missing");
            findings.add(weight, "missing-heading", end..end, message, "add it; headings in code are ignored");
        }
    }
    // If the section is missing, so are its parts.
    let Some(essential) = document.section("Essential Information") else { return };
    for (title, weight) in PARTS {
        if document.part(&essential, title).is_none() {
            let message = format!("the heading `### {title}` is missing under `## Essential Information`");
            findings.add(weight, "missing-heading", essential.head.clone(), message, "add it there");
        }
    }
}

pub(crate) const COMPLETION_FIELDS: [&str; 4] = ["Status", "Outcome", "Learnings", "Date"];

fn check_completion(findings: &mut Findings<'_>, document: &Document<'_>) {
    let end = document.text.len();
    let Some(section) = document.section("Completion") else {
        let message = "it is archived and has no heading `## Completion`";
        findings.warning("no-completion", end..end, message, "add it with Status, Outcome, Learnings, and Date");
        return;
    };
    for name in COMPLETION_FIELDS {
        if completion_field(document, &section, name).is_none() {
            let message = format!("`## Completion` has no {name}");
            findings.warning("no-completion", section.head.clone(), message, "add an item `**<name>**: <text>`");
        }
    }
}

/// Whether a text is more than the words that people write where there is nothing to learn.
pub(crate) fn has_learnings(text: &str) -> bool {
    const NOTHING: [&str; 5] = ["none", "none noted", "nothing", "n/a", "-"];
    !NOTHING.contains(&text.trim_end_matches('.').to_lowercase().as_str())
}

/// The value of a field such as `- **Outcome**: text` or `Outcome: text`, with the lines below it up to the next field: people
/// write learnings as a list, or as prose.
pub(crate) fn completion_field<'t>(document: &'t Document<'_>, section: &Section, name: &str) -> Option<&'t str> {
    let field = |line: &'t str| {
        let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
        let rest = line.trim_start().trim_start_matches('*');
        let name = COMPLETION_FIELDS.into_iter().find(|name| rest.starts_with(name))?;
        let rest = rest[name.len()..].trim_start_matches('*').trim_start().strip_prefix(':')?;
        Some((name, rest.trim_start_matches('*').trim_start()))
    };
    let is_end = |line: &str| line.trim_end() == "---" || line.starts_with('#');
    let mut lines = document.body(section).split_inclusive('\n');
    let value = lines.by_ref().find_map(|line| field(line).filter(|(found, _)| *found == name))?.1;
    let start = value.as_ptr().addr() - document.text.as_ptr().addr();
    let more = lines.take_while(|line| field(line).is_none() && !is_end(line));
    let len = value.len() + more.map(str::len).sum::<usize>();
    let text = document.text[start..start + len].trim();
    (!text.is_empty()).then_some(text)
}

fn check_breadcrumbs(findings: &mut Findings<'_>, document: &Document<'_>) {
    let Some(section) = document.essential("Breadcrumbs") else { return };
    let Some(table) = document.table(&section) else {
        check_unparsed_table(findings, document, &section);
        return;
    };
    let wrong_cell_count = |findings: &mut Findings<'_>, row: &TableRow, what: &str| {
        let message = format!("the {what} of the Breadcrumbs table has {} cells instead of 3", row.cells.len());
        let remedy = "write `| type | reference | hint |`; write a bar in a cell as `\\|`";
        findings.error("bad-row", row.span.clone(), message, remedy);
    };
    if table.head.cells.len() != REFERENCE_COLUMNS.len() {
        wrong_cell_count(findings, &table.head, "header");
    } else if table.head.cells.iter().zip(REFERENCE_COLUMNS).any(|(cell, column)| !cell.eq_ignore_ascii_case(column)) {
        let message = "the columns of the Breadcrumbs table are not Type, Reference, Hint";
        findings.warning("bad-columns", table.head.span.clone(), message, "rename them");
    }
    for row in table.rows.iter().filter(|row| row.cells.len() != REFERENCE_COLUMNS.len()) {
        wrong_cell_count(findings, row, "row");
    }
    for reference in document.breadcrumbs() {
        if reference.reference.is_empty() {
            let message = "the breadcrumb has no reference";
            findings.warning("no-reference", reference.span.clone(), message, "write what it refers to");
        }
        if reference.known_kind().is_none() {
            let message = format!("the breadcrumb type `{}` is unknown", reference.kind);
            let remedy = format!("use one of {}", ReferenceKind::VALUES.join(", "));
            findings.warning("unknown-type", reference.span, message, &remedy);
        }
    }
}

/// Reports lines in the section Breadcrumbs that look like a table but are not one in Markdown.
fn check_unparsed_table(findings: &mut Findings<'_>, document: &Document<'_>, section: &Section) {
    let mut lines = lines(document.text, section.body.clone());
    let is_row = |(at, line): &(usize, &str)| line.trim_start().starts_with('|') && !document.markdown.is_code(*at);
    if let Some((start, line)) = lines.find(is_row) {
        let remedy = "give the header and the line of dashes three cells each, and add an empty line before them";
        let span = start..start + line.trim_end().len();
        findings.error("bad-table", span, "the Breadcrumbs table is not valid Markdown", remedy);
    }
}

fn check_deltas(findings: &mut Findings<'_>, document: &Document<'_>) {
    for delta in document.deltas() {
        let head = || delta.section.head.clone();
        match delta.timestamp {
            None => {
                let message = format!("the time of the delta is invalid: `{}`", delta.time_text);
                findings.warning("bad-time", head(), message, TIME_REMEDY);
            }
            Some(Timestamp { has_zone: false, .. }) => no_zone(findings, head(), "the time of the delta"),
            Some(_) => {}
        }
        for title in ["What Changed", "Artifacts"] {
            if document.part(&delta.section, title).is_none() {
                let message = format!("the delta has no heading `### {title}`");
                findings.warning("missing-delta-part", head(), message, "add it");
            }
        }
    }
    let Some(entry) = document.frontmatter.as_ref().ok().and_then(|front| front.entry("last_delta")) else { return };
    let stated = entry.value.as_str().and_then(Timestamp::parse);
    if let (Some(newest), Some(stated)) = (document.newest_delta(), stated)
        && newest.time != stated.time
    {
        let message = format!("`last_delta` is not the time of the newest delta, {}", newest.time);
        findings.warning("stale-last-delta", entry.span.clone(), message, "set it to that time");
    }
}
