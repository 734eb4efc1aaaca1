//! What is wrong with a checkpoint, and what could be better.
//!
//! Errors refuse the file: a needed key or heading is missing, the frontmatter cannot be read, a row of the Breadcrumbs
//! table has the wrong number of cells. Advice is given only where there are no errors. Source of the rules and limits:
//! checkpoint format 1.3.

use serde_json::Value;

use super::document::{Document, ReferenceKind, Section, decode, start_of};
use super::front::{BadFront, Front};
use super::moment::Moment;
use super::report::Report;
use crate::base::finding::{Finding, Weight};
use crate::base::merge::conflict;
use crate::trace::Time;

/// What a checkpoint is held against, besides its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The clock, for advice about age; `None` leaves all advice out.
    pub advise_at: Option<Time>,
    /// Whether it is archived.
    pub is_archived: bool,
}

/// Sections that a file must have, and those it should have.
const SECTIONS: [(&str, Weight); 3] =
    [("Problem", Weight::Error), ("Session Intent", Weight::Warning), ("Essential Information", Weight::Error)];

/// Parts of Essential Information.
const PARTS: [(&str, Weight); 6] = [
    ("Decisions", Weight::Error),
    ("Current State", Weight::Error),
    ("Next Actions", Weight::Error),
    ("Technical Context", Weight::Warning),
    ("Play-By-Play", Weight::Warning),
    ("Artifact Trail", Weight::Warning),
];

const MIN_PROBLEM_WORDS: usize = 20;
const MIN_STATE_WORDS: usize = 30;
const MIN_DECISIONS: usize = 2;
const MIN_STEPS: usize = 2;
const MAX_BREADCRUMBS: usize = 50;
const MAX_AGE_DAYS: i64 = 7;
const MAX_IDLE_DAYS: i64 = 3;
const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// Judges the bytes of a checkpoint; gives findings by place. Any bytes will do; linear in their length.
#[must_use]
pub(crate) fn validate(bytes: &[u8], rules: Rules) -> Vec<Finding> {
    let mut report = Report::new(bytes);
    match decode(bytes) {
        Ok(text) => judge(&mut report, &Document::parse(text), rules),
        Err(bad) => not_utf8(&mut report, bad.at),
    }
    report.finish()
}

/// Judges a checkpoint that was read already; see [`validate`].
#[must_use]
pub(crate) fn validate_document(document: &Document<'_>, rules: Rules) -> Vec<Finding> {
    let mut report = Report::new(document.text.as_bytes());
    judge(&mut report, document, rules);
    report.finish()
}

pub(crate) fn not_utf8(report: &mut Report<'_>, at: usize) {
    report.error("not-utf8", at..at + 1, "the file is not UTF-8 from here on".to_owned(), "save it as UTF-8");
}

fn judge(report: &mut Report<'_>, document: &Document<'_>, rules: Rules) {
    match &document.front {
        Ok(front) => judge_front(report, document, front),
        Err(bad) => judge_bad_front(report, document.text, bad),
    }
    judge_markers(report, document);
    judge_headings(report, document, rules);
    judge_breadcrumbs(report, document);
    judge_deltas(report, document);
    let is_sound = report.findings.iter().all(|finding| finding.weight != Weight::Error);
    if let (true, Some(now)) = (is_sound, rules.advise_at) {
        advise(report, document, now, rules.is_archived);
    }
}

fn judge_bad_front(report: &mut Report<'_>, text: &str, bad: &BadFront) {
    let start = start_of(text);
    match bad {
        BadFront::Missing => {
            let message = "the file does not start with frontmatter".to_owned();
            let remedy = "put `checkpoint` and `created` between two lines `---` at the top";
            report.error("no-frontmatter", start..start, message, remedy);
        }
        BadFront::Unclosed => {
            let message = "the frontmatter is not closed".to_owned();
            report.error("unclosed-frontmatter", start..start + 3, message, "end it with a line `---`");
        }
        BadFront::NotYaml { at, problem } => {
            report.error("bad-yaml", *at..*at, format!("the frontmatter is not YAML: {problem}"), "correct the line");
        }
        BadFront::NotAMapping { at } => {
            let message = "the frontmatter is not a mapping".to_owned();
            report.error("not-a-mapping", *at..*at, message, "write `key: value`, a line each");
        }
    }
}

fn judge_front(report: &mut Report<'_>, document: &Document<'_>, front: &Front) {
    let top = start_of(document.text);
    let missing = |report: &mut Report<'_>, key: &str, weight, remedy: &str| {
        let message = format!("the frontmatter has no `{key}`");
        report.add(weight, "missing-key", top..top, message, remedy);
    };
    match front.entry("checkpoint") {
        None => missing(report, "checkpoint", Weight::Error, "add its id: `checkpoint: chk-<name>`"),
        Some(entry) if entry.value.as_str().is_none_or(|id| id.trim().is_empty()) => {
            let message = "`checkpoint` is not a text that says something".to_owned();
            report.error("bad-id", entry.span.clone(), message, "write an id, in quotes if it is a number");
        }
        Some(_) => {}
    }
    match front.entry("created") {
        None => missing(report, "created", Weight::Error, "add when it was: `created: 2026-02-10T09:00:00Z`"),
        Some(_) => judge_time(report, front, "created", Weight::Error),
    }
    if front.entry("anchor").is_none_or(|entry| matches!(&entry.value, Value::Null)) {
        missing(report, "anchor", Weight::Warning, "add the point in the work it belongs to");
    }
    match front.entry("last_delta") {
        None => missing(report, "last_delta", Weight::Warning, "add the time of the newest delta, or of its creation"),
        Some(_) => judge_time(report, front, "last_delta", Weight::Warning),
    }
    match front.entry("parent") {
        None => missing(report, "parent", Weight::Warning, "add the id it branched from, or `parent: null`"),
        Some(entry) => {
            let is_id = entry.value.as_str().is_some_and(|id| !id.trim().is_empty());
            if !is_id && !entry.value.is_null() {
                let message = "`parent` is neither an id nor null".to_owned();
                report.warning("bad-parent", entry.span.clone(), message, "write the id it branched from, or `null`");
            }
        }
    }
    if let Some(entry) = front.entry("status")
        && !matches!(entry.value.as_str(), Some("active" | "current"))
    {
        let message = format!("the status `{}` is unknown", shown(&entry.value));
        report.warning("unknown-status", entry.span.clone(), message, "`active` and `current` are known");
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn judge_time(report: &mut Report<'_>, front: &Front, key: &str, weight: Weight) {
    let Some(entry) = front.entry(key) else { return };
    match entry.value.as_str().and_then(Moment::parse) {
        None => {
            let message = format!("`{key}` is not a time: `{}`", shown(&entry.value));
            report.add(weight, "bad-time", entry.span.clone(), message, "write RFC 3339, such as 2026-02-10T09:00:00Z");
        }
        Some(Moment { has_zone: false, .. }) => no_zone(report, entry.span.clone(), &format!("`{key}`")),
        Some(_) => {}
    }
}

fn no_zone(report: &mut Report<'_>, span: std::ops::Range<usize>, what: &str) {
    report.warning("no-zone", span, format!("{what} has no zone and counts as UTC"), "add `Z`, or an offset");
}

/// A line of a conflict that a merge left behind, outside of code.
pub(crate) fn judge_markers(report: &mut Report<'_>, document: &Document<'_>) {
    let mut start = 0;
    for line in document.text.split_inclusive('\n') {
        let end = start + line.len();
        let is_marker = matches!(conflict::marker(line.as_bytes()), Some((b'<', 7..)));
        if is_marker && !document.outline.code.iter().any(|code| code.contains(&start)) {
            let message = "the line is a conflict marker".to_owned();
            report.error("conflict-marker", start..end, message, "resolve the conflict");
        }
        start = end;
    }
}

fn judge_headings(report: &mut Report<'_>, document: &Document<'_>, rules: Rules) {
    let end = document.text.len();
    for (title, weight) in SECTIONS {
        if document.section(title).is_none() {
            let message = format!("there is no heading `## {title}`");
            report.add(weight, "missing-heading", end..end, message, "add it; headings in code do not count");
        }
    }
    let essential = document.section("Essential Information");
    for (title, weight) in PARTS {
        let found = match &essential {
            Some(section) => document.part(section, title).is_some(),
            // Its absence is told above; of the parts only those that are nowhere.
            None => document
                .outline
                .headings
                .iter()
                .any(|heading| heading.level == 3 && heading.title.to_lowercase().contains(&title.to_lowercase())),
        };
        if !found {
            let at = essential.as_ref().map_or(end..end, |section| section.head.clone());
            let message = format!("there is no heading `### {title}` under `## Essential Information`");
            report.add(weight, "missing-heading", at, message, "add it there");
        }
    }
    if rules.is_archived {
        judge_completion(report, document);
    }
}

/// What the part Completion has to say.
pub(crate) const COMPLETION: [&str; 4] = ["Status", "Outcome", "Learnings", "Date"];

fn judge_completion(report: &mut Report<'_>, document: &Document<'_>) {
    let end = document.text.len();
    let Some(section) = document.section("Completion") else {
        let message = "it is archived and has no heading `## Completion`".to_owned();
        report.warning("no-completion", end..end, message, "add it with Status, Outcome, Learnings and Date");
        return;
    };
    for name in COMPLETION {
        if completion_field(document, &section, name).is_none() {
            let message = format!("`## Completion` does not say its {name}");
            report.warning("no-completion", section.head.clone(), message, "add an item `**<name>**: <text>`");
        }
    }
}

/// What a field of the part Completion says: `- **Outcome**: text`.
#[must_use]
pub(crate) fn completion_field<'t>(document: &'t Document<'_>, section: &Section, name: &str) -> Option<&'t str> {
    let said = |text: &'t str| {
        let rest = text.trim().strip_prefix(name)?.trim_start().strip_prefix(':')?.trim();
        (!rest.is_empty()).then_some(rest)
    };
    document.items(section).find_map(|item| said(&item.text))
}

fn judge_breadcrumbs(report: &mut Report<'_>, document: &Document<'_>) {
    const COLUMNS: [&str; 3] = ["Type", "Reference", "Hint"];
    let Some(section) = document.essential("Breadcrumbs") else { return };
    let Some(table) = document.table(&section) else {
        let body = document.body(&section);
        let mut start = section.body.start;
        for line in body.split_inclusive('\n') {
            let in_code = document.outline.code.iter().any(|code| code.contains(&start));
            if line.trim_start().starts_with('|') && !in_code {
                let message = "the Breadcrumbs are not a table that Markdown can read".to_owned();
                let remedy = "give the head and the line of dashes three cells each, and an empty line before";
                report.error("bad-table", start..start + line.trim_end().len(), message, remedy);
                break;
            }
            start += line.len();
        }
        return;
    };
    let wrong = |report: &mut Report<'_>, row: &super::outline::Row, what: &str| {
        let message = format!("the {what} of the Breadcrumbs table has {} cells, not 3", row.cells.len());
        report.error(
            "bad-row",
            row.span.clone(),
            message,
            "write `| type | reference | hint |`; a bar in a cell is `\\|`",
        );
    };
    if table.head.cells.len() != COLUMNS.len() {
        wrong(report, &table.head, "head");
    } else if table.head.cells.iter().zip(COLUMNS).any(|(cell, column)| !cell.eq_ignore_ascii_case(column)) {
        let message = "the columns of the Breadcrumbs are not Type, Reference, Hint".to_owned();
        report.warning("bad-columns", table.head.span.clone(), message, "name them so");
    }
    for row in &table.rows {
        if row.cells.len() != COLUMNS.len() {
            wrong(report, row, "row");
        }
    }
    for reference in document.breadcrumbs() {
        if reference.known_kind().is_none() {
            let message = format!("the breadcrumb type `{}` is unknown", reference.kind);
            let remedy = format!("the known ones are {}", ReferenceKind::VALUES.join(", "));
            report.warning("unknown-type", reference.span, message, &remedy);
        }
    }
}

fn judge_deltas(report: &mut Report<'_>, document: &Document<'_>) {
    let deltas = document.deltas();
    for delta in &deltas {
        let head = || delta.section.head.clone();
        match delta.moment {
            None => {
                let message = format!("the time of the delta is none: `{}`", delta.time_text);
                report.warning("bad-time", head(), message, "write RFC 3339, such as 2026-02-10T09:00:00Z");
            }
            Some(Moment { has_zone: false, .. }) => no_zone(report, head(), "the time of the delta"),
            Some(_) => {}
        }
        for title in ["What Changed", "Artifacts"] {
            if document.part(&delta.section, title).is_none() {
                let message = format!("the delta has no heading `### {title}`");
                report.warning("missing-delta-part", head(), message, "add it");
            }
        }
    }
    let newest = deltas.iter().filter_map(|delta| delta.moment).map(|moment| moment.time).max();
    let Ok(front) = &document.front else { return };
    let Some(entry) = front.entry("last_delta") else { return };
    let said = entry.value.as_str().and_then(Moment::parse).map(|moment| moment.time);
    if let (Some(newest), Some(said)) = (newest, said)
        && newest != said
    {
        let message = format!("`last_delta` is not the time of the newest delta, {newest}");
        report.warning("stale-last-delta", entry.span.clone(), message, "set it to that time");
    }
}

fn advise(report: &mut Report<'_>, document: &Document<'_>, now: Time, is_archived: bool) {
    let mut advise = |code, span, message: String, remedy: &str| {
        report.add(Weight::Advice, code, span, message, remedy);
    };
    if let Some(section) = document.section("Problem") {
        let count = document.word_count(&section);
        if count < MIN_PROBLEM_WORDS {
            let message = format!("the Problem has {count} words, fewer than {MIN_PROBLEM_WORDS}");
            advise("short-problem", section.head, message, "say what is wrong, for whom, and why it matters");
        }
    }
    let points: [(&str, &str, usize, &'static str); 4] = [
        ("Decisions", "few-decisions", MIN_DECISIONS, "note what was decided, and why"),
        ("Play-By-Play", "few-steps", MIN_STEPS, "note what was done, step by step"),
        ("Artifact Trail", "no-artifacts", 1, "list the files that were touched"),
        ("Next Actions", "no-actions", 1, "list what is to be done next"),
    ];
    for (title, code, min, remedy) in points {
        let Some(section) = document.essential(title) else { continue };
        let count = document.point_count(&section);
        if count < min {
            let message = format!("{title} lists {count}, fewer than {min}");
            advise(code, section.head, message, remedy);
        }
    }
    if let Some(section) = document.essential("Current State") {
        let count = document.word_count(&section);
        if count < MIN_STATE_WORDS {
            let message = format!("the Current State has {count} words, fewer than {MIN_STATE_WORDS}");
            advise("short-state", section.head, message, "say what works, what does not, and what is half done");
        }
    }
    let breadcrumbs = document.breadcrumbs();
    if let (true, Some(first)) = (breadcrumbs.len() > MAX_BREADCRUMBS, breadcrumbs.first()) {
        let message = format!("there are {} breadcrumbs, more than {MAX_BREADCRUMBS}", breadcrumbs.len());
        advise(
            "many-breadcrumbs",
            first.span.clone(),
            message,
            "divide the checkpoint, or write down what they lead to",
        );
    }
    if is_archived {
        return;
    }
    let days = |moment: Moment| (now.as_second() - moment.time.as_second()).div_euclid(SECONDS_A_DAY);
    let span = |key| document.front.as_ref().ok().and_then(|front| front.entry(key)).map(|entry| entry.span.clone());
    if let (Some(created), Some(span)) = (document.created(), span("created"))
        && now.as_second() - created.time.as_second() > MAX_AGE_DAYS * SECONDS_A_DAY
    {
        let message = format!("it was created {} days ago", days(created));
        advise("old", span, message, "finish and archive it, or write a new one");
    }
    let last_delta = document.key("last_delta").and_then(Moment::parse);
    let newest = document.deltas().into_iter().filter_map(|delta| delta.moment).chain(last_delta);
    if let Some(last) = newest.max_by_key(|moment| moment.time)
        && now.as_second() - last.time.as_second() > MAX_IDLE_DAYS * SECONDS_A_DAY
    {
        let at = span("last_delta").unwrap_or_default();
        advise("idle", at, format!("its last delta is {} days old", days(last)), "add a delta, or archive it");
    }
}
