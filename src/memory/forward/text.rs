//! The published text of a forward crumb.
//!
//! ```text
//! ════════════════════════════════════════════════════════════════════════════════
//! ∴ FORWARD CRUMB (HIGH PRIORITY - TASK) ∴
//! From: azoth_20260103_183045
//! To: Future azoth instances
//! Timestamp: 2026-01-03T18:30:45.120934
//! ════════════════════════════════════════════════════════════════════════════════
//!
//! SESSION SUMMARY:
//! Split the parser from the validator.
//!
//! UNFINISHED BUSINESS:
//! - Build the convergence detector
//!
//! ════════════════════════════════════════════════════════════════════════════════
//! ∴ End Forward Crumb ∴
//! 🎺⊙⟨∞⟩⊙🎺
//! ```
//!
//! The six parts have a fixed order. Empty ones are omitted, and there is no final newline. Times are UTC with microseconds,
//! written without a zone.
//!
//! A line of a summary that looks like a rule, a header, or the name of a part is indented by one space; the second and later
//! lines of an entry are indented by two. No content can therefore forge structure, and `parse(render(x))` is `x`.

use std::sync::LazyLock;

use regex::Regex;

use super::crumb::{CrumbType, Priority};
use super::head::head;
use crate::trace::{AgentName, Time};

/// The minimum length of a task in characters; the protocol treats shorter ones as noise. Its text says "minimum 5", its program
/// wants 6.
pub(crate) const MIN_TASK_LEN: usize = 5;

const RULE: char = '═';
const MARK: char = '∴';
const END: &str = "∴ End Forward Crumb ∴\n🎺⊙⟨∞⟩⊙🎺";

const SUMMARY: &str = "SESSION SUMMARY:";
const DISCOVERIES: &str = "KEY DISCOVERIES:";
const EMOTIONAL: &str = "EMOTIONAL STATE:";
const UNFINISHED: &str = "UNFINISHED BUSINESS:";
const REFERENCES: &str = "REFERENCES:";
const DISORIENTED: &str = "IF DISORIENTED:";
pub(crate) const PARTS: [&str; 6] = [SUMMARY, DISCOVERIES, EMOTIONAL, UNFINISHED, REFERENCES, DISORIENTED];

const TASK_WORDS: [&str; 5] = ["need", "todo", "continue", "pending", "unfinished"];

/// The content of a forward crumb. Entries may have several lines; all are trimmed, and none is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CrumbContent {
    pub summary: String,
    pub discoveries: Vec<String>,
    pub emotional: Vec<(String, String)>,
    pub unfinished: Vec<String>,
    pub references: Vec<(String, Vec<String>)>,
    pub if_disoriented: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TextHeader {
    pub priority: Priority,
    pub crumb_type: CrumbType,
    pub session_id: String,
    pub agent: String,
    /// In microseconds.
    pub at: Time,
}

/// The id of a session that ends at `at`: `azoth_20260103_183045`.
pub(crate) fn session_id(agent: &AgentName, at: Time) -> String {
    format!("{agent}_{}", at.civil().strftime("%Y%m%d_%H%M%S"))
}

pub(crate) fn render(header: &TextHeader, content: &CrumbContent) -> String {
    let rule = RULE.to_string().repeat(80);
    let TextHeader { priority, crumb_type, session_id, agent, at } = header;
    let crumb_type = crumb_type.as_str().to_ascii_uppercase();
    let mut text = format!(
        "{rule}\n{MARK} FORWARD CRUMB ({priority} PRIORITY - {crumb_type}) {MARK}\nFrom: {session_id}\n\
         To: Future {agent} instances\nTimestamp: {}\n{rule}\n\n{SUMMARY}\n",
        timestamp(*at)
    );
    text.extend(content.summary.split('\n').map(|line| escaped(line) + "\n"));
    text.push('\n');
    let pairs = content.emotional.iter().map(|(key, value)| format!("{key}: {value}"));
    let references = content.references.iter().filter(|(_, ids)| !ids.is_empty());
    let references = references.map(|(kind, ids)| format!("{kind}: {}", ids.join(", ")));
    for (name, entries) in [
        (DISCOVERIES, &content.discoveries),
        (EMOTIONAL, &pairs.collect()),
        (UNFINISHED, &content.unfinished),
        (REFERENCES, &references.collect()),
        (DISORIENTED, &content.if_disoriented),
    ] {
        if entries.is_empty() {
            continue;
        }
        text.extend([name, "\n"]);
        for (number, entry) in (1..).zip(entries) {
            let mark = if name == DISORIENTED { format!("{number}.") } else { "-".to_owned() };
            text.extend([&mark, " ", &of_entry(entry), "\n"]);
        }
        text.push('\n');
    }
    text.extend([&rule, "\n", END]);
    text
}

/// A line of a summary, which does not look like structure.
fn escaped(line: &str) -> String {
    let indent = if is_structure(line.trim_start_matches(' ')) { " " } else { "" };
    format!("{indent}{line}")
}

/// The lines of an entry.
fn of_entry(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// A part of a field with Unix line ends, as [`super::add`] stores it.
pub(crate) fn with_unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// How a forward crumb may contain a text that was given for a part of one of its fields.
pub(crate) fn forms_of(text: &str) -> [String; 3] {
    let text = with_unix_lines(text);
    let mut lines = text.split('\n');
    // The indent of the first line is before it.
    let first = lines.next().unwrap_or_default().to_owned();
    let of_summary = lines.fold(first, |all, line| format!("{all}\n{}", escaped(line)));
    [of_entry(&text), of_summary, text]
}

/// Formats like Python's `isoformat` without a zone, which omits a fraction of zero.
fn timestamp(at: Time) -> String {
    let shown = at.civil();
    let micros = shown.subsec_nanosecond() / 1000;
    let seconds = shown.strftime("%Y-%m-%dT%H:%M:%S");
    if micros == 0 { seconds.to_string() } else { format!("{seconds}.{micros:06}") }
}

/// Whether a line of a summary would look like a rule, a header, or the name of a part.
pub(crate) fn is_structure(line: &str) -> bool {
    line.starts_with([RULE, MARK]) || PARTS.contains(&line.trim_end())
}

/// Parses the text of a forward crumb; returns `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<(TextHeader, CrumbContent)> {
    let (header, body) = parse_header(text)?;
    Some((header, content(body)))
}

/// The header of a text, and the text after it.
fn parse_header(text: &str) -> Option<(TextHeader, &str)> {
    let mut lines = text.lines();
    let is_rule = |line: &str| line.starts_with(RULE);
    lines.next().filter(|line| is_rule(line))?;
    let title = lines.next()?.strip_prefix("∴ FORWARD CRUMB (")?.strip_suffix(") ∴")?;
    let (priority, crumb_type) = title.split_once(" PRIORITY - ")?;
    let session_id = lines.next()?.strip_prefix("From: ")?.trim().to_owned();
    let agent = lines.next()?.strip_prefix("To: Future ")?.strip_suffix(" instances")?.to_owned();
    let at = parse_timestamp(lines.next()?.strip_prefix("Timestamp: ")?)?;
    lines.next().filter(|line| is_rule(line))?;
    let (priority, crumb_type) = (priority.parse().ok()?, crumb_type.to_ascii_lowercase().parse().ok()?);
    let header_len = text.split_inclusive('\n').take(6).map(str::len).sum();
    Some((TextHeader { priority, crumb_type, session_id, agent, at }, &text[header_len..]))
}

/// The content of the text after a header.
pub(crate) fn content(body: &str) -> CrumbContent {
    let summary: Vec<&str> = part(body, SUMMARY).map(unescaped).collect();
    CrumbContent {
        summary: summary.join("\n").trim().to_owned(),
        discoveries: entries(body, DISCOVERIES),
        emotional: entries(body, EMOTIONAL).iter().map(|entry| split_pair(entry)).collect(),
        unfinished: entries(body, UNFINISHED),
        references: references(body),
        if_disoriented: entries(body, DISORIENTED),
    }
}

/// The text in one piece, for a line of a list: its summary, else what is in it beside rules and headers.
pub(crate) fn gist(text: &str) -> String {
    let body = parse_header(text).map(|(_, body)| body).or_else(|| Some(head(text)?.body));
    let summary = body.map(|body| content(body).summary).filter(|summary| !summary.is_empty());
    summary.unwrap_or_else(|| {
        let lines = body.unwrap_or(text).lines().filter(|line| !line.starts_with([RULE, MARK]));
        lines.collect::<Vec<_>>().join("\n")
    })
}

pub(crate) fn parse_timestamp(text: &str) -> Option<Time> {
    text.parse().ok().or_else(|| Time::of_civil(text.parse().ok()?))
}

fn unescaped(line: &str) -> &str {
    match line.strip_prefix(' ') {
        Some(rest) if is_structure(rest.trim_start_matches(' ')) => rest,
        _ => line,
    }
}

/// The lines of a part, up to the next part or the final rule.
///
/// Programs that do not escape content may write a line of a summary that looks like the name of a part. Parts have an order, and each
/// follows a blank line; another such line is content.
fn part<'t>(body: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    let (mut current, mut follows_blank) = (None, true);
    let lines = body.lines().take_while(|line| !line.starts_with(RULE));
    lines.filter(move |line| {
        let place = PARTS.iter().position(|part| *part == line.trim_end());
        let is_name = follows_blank && place.is_some() && current < place;
        if is_name {
            current = place;
        }
        follows_blank = line.trim().is_empty();
        !is_name && current.is_some_and(|place| PARTS[place] == name)
    })
}

/// The entries of a part; a line that is indented by two spaces continues the entry before it.
fn entries(body: &str, name: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in part(body, name) {
        match (after_mark(line), line.strip_prefix("  "), entries.last_mut()) {
            (Some(entry), ..) => entries.push(entry.trim_start().to_owned()),
            (None, Some(more), Some(last)) => last.extend(["\n", more]),
            _ => {}
        }
    }
    trim_entries(&entries, 1)
}

/// Trims the ends of entries, and removes those of fewer than `min_len` characters.
fn trim_entries(entries: &[String], min_len: usize) -> Vec<String> {
    let trimmed = entries.iter().map(|entry| entry.trim_end());
    trimmed.filter(|entry| entry.chars().count() >= min_len).map(str::to_owned).collect()
}

/// The text after a list marker of Markdown or `• `.
pub(crate) fn after_bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark))
}

/// The text after `- `, `• `, or `1. `.
fn after_mark(line: &str) -> Option<&str> {
    let plain = line.strip_prefix("- ").or_else(|| line.strip_prefix("• "));
    plain.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 { None } else { line[digits..].strip_prefix(". ") }
    })
}

fn split_pair(entry: &str) -> (String, String) {
    let (key, value) = entry.split_once(':').unwrap_or((entry, ""));
    (key.trim().to_owned(), value.trim().to_owned())
}

fn references(body: &str) -> Vec<(String, Vec<String>)> {
    let pairs = entries(body, REFERENCES).into_iter().map(|entry| split_pair(&entry));
    pairs.map(|(kind, ids)| (kind, split_ids(&ids))).filter(|(_, ids)| !ids.is_empty()).collect()
}

pub(crate) fn split_ids(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// A warning if unfinished business is too short to be listed as tasks.
pub(crate) fn short_task_warning(content: &CrumbContent, text: &str) -> Option<String> {
    let count = content.unfinished.iter().filter(|task| !task.trim().is_empty()).count();
    let is_short = tasks(text).len() < count;
    is_short.then(|| format!("warning: tasks of fewer than {MIN_TASK_LEN} characters are not listed"))
}

/// The open tasks of a forward crumb, in order; only UNFINISHED BUSINESS contains tasks.
///
/// By the protocol, tasks are list entries of at least [`MIN_TASK_LEN`] characters, and other lines that contain `need`,
/// `todo`, `continue`, `pending`, or `unfinished`. A text without the published header, or in which the name of the part is more
/// than once, has none: it may quote the tasks of another.
pub(crate) fn tasks(text: &str) -> Vec<String> {
    let Some((_, body)) = parse_header(text) else { return Vec::new() };
    let count = body.lines().filter(|line| line.trim_end() == UNFINISHED).count();
    if count == 1 { tasks_in(part(body, UNFINISHED)) } else { Vec::new() }
}

/// The tasks in a list. An entry that is indented below another belongs to it.
pub(crate) fn tasks_in<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut tasks: Vec<String> = Vec::new();
    // Whether an indented line would continue the entry before it.
    let mut in_entry = false;
    for line in lines {
        let below = line.strip_prefix("  ").or_else(|| line.strip_prefix('\t')).filter(|_| in_entry);
        if let (Some(more), Some(last)) = (below, tasks.last_mut()) {
            last.extend(["\n", more]);
        } else if let Some(entry) = after_people_mark(line.trim_start()) {
            tasks.push(entry.to_owned());
            in_entry = true;
        } else {
            in_entry = false;
            let lower = line.to_lowercase();
            if TASK_WORDS.iter().any(|word| lower.contains(word)) && !line.starts_with('#') {
                tasks.push(line.trim().to_owned());
            }
        }
    }
    trim_entries(&tasks, MIN_TASK_LEN)
}

/// The text after a list marker as people write it: doubled, as in `-- ` or `- - `, or without a space, as in `-write it`.
fn after_people_mark(line: &str) -> Option<&str> {
    let Some(mut rest) = after_mark(line).or_else(|| after_bullet(line)) else {
        let rest = line.strip_prefix("-- ").or_else(|| line.strip_prefix(['-', '•']));
        return rest.map(str::trim_start).filter(|rest| !rest.starts_with('-'));
    };
    while let Some(more) = ["- ", "-- "].iter().find_map(|mark| rest.trim_start().strip_prefix(mark)) {
        rest = more;
    }
    Some(rest.trim_start())
}

/// The message ids in a text, such as `knowledge_village_1735841880.12345`, without trailing dots.
pub(crate) fn message_ids(text: &str) -> Vec<String> {
    static MESSAGE_ID: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"knowledge_(village|private|bridges)_[0-9.]*[0-9]").expect("the pattern is valid")
    });
    MESSAGE_ID.find_iter(text).map(|id| id.as_str().to_owned()).collect()
}

/// The thread ids in the line `- thread_ids: …`.
pub(crate) fn thread_ids(text: &str) -> Vec<String> {
    let body = parse_header(text).map_or(text, |(_, body)| body);
    references(body).into_iter().filter(|(kind, _)| kind == "thread_ids").flat_map(|(_, ids)| ids).collect()
}
