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

use std::fmt::Write as _;

use jiff::civil::DateTime;
use memchr::memmem;

use super::crumb::{CrumbType, Priority};
use crate::trace::{AgentName, Time};

/// The minimum length of a task in characters; the protocol treats shorter ones as noise.
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
const PARTS: [&str; 6] = [SUMMARY, DISCOVERIES, EMOTIONAL, UNFINISHED, REFERENCES, DISORIENTED];

/// Words that make a line a task even if it is not a list entry.
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

/// The lines above the parts.
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
    for line in content.summary.split('\n') {
        if is_structure(line.trim_start_matches(' ')) {
            text.push(' ');
        }
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    let dash = |_| "- ".to_owned();
    let pairs = content.emotional.iter().map(|(key, value)| format!("{key}: {value}"));
    let references = content.references.iter().filter(|(_, ids)| !ids.is_empty());
    let references = references.map(|(kind, ids)| format!("{kind}: {}", ids.join(", ")));
    push_part(&mut text, DISCOVERIES, content.discoveries.iter().cloned(), dash);
    push_part(&mut text, EMOTIONAL, pairs, dash);
    push_part(&mut text, UNFINISHED, content.unfinished.iter().cloned(), dash);
    push_part(&mut text, REFERENCES, references, dash);
    push_part(&mut text, DISORIENTED, content.if_disoriented.iter().cloned(), |index| format!("{}. ", index + 1));
    text.extend([&rule, "\n", END]);
    text
}

fn push_part(text: &mut String, name: &str, entries: impl Iterator<Item = String>, mark: fn(usize) -> String) {
    let start = text.len();
    for (index, entry) in entries.enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}{}", mark(index), entry.replace('\n', "\n  "));
    }
    if text.len() > start {
        text.insert_str(start, &format!("{name}\n"));
        text.push('\n');
    }
}

/// Formats like Python's `isoformat` without a zone, which omits a fraction of zero.
fn timestamp(at: Time) -> String {
    let shown = at.civil();
    let micros = shown.subsec_nanosecond() / 1000;
    let seconds = shown.strftime("%Y-%m-%dT%H:%M:%S");
    if micros == 0 { seconds.to_string() } else { format!("{seconds}.{micros:06}") }
}

/// Whether a line would be parsed as a rule, a header, or the name of a part.
fn is_structure(line: &str) -> bool {
    line.starts_with([RULE, MARK]) || PARTS.contains(&line.trim_end())
}

/// Parses the text of a forward crumb; returns `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<(TextHeader, CrumbContent)> {
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let is_rule = |line: &str| line.starts_with(RULE);
    lines.next().filter(|line| is_rule(line))?;
    let title = lines.next()?.strip_prefix("∴ FORWARD CRUMB (")?.strip_suffix(") ∴")?;
    let (priority, crumb_type) = title.split_once(" PRIORITY - ")?;
    let session_id = lines.next()?.strip_prefix("From: ")?.trim().to_owned();
    let agent = lines.next()?.strip_prefix("To: Future ")?.strip_suffix(" instances")?.to_owned();
    let at = parse_timestamp(lines.next()?.strip_prefix("Timestamp: ")?)?;
    lines.next().filter(|line| is_rule(line))?;
    let header = TextHeader {
        priority: priority.parse().ok()?,
        crumb_type: crumb_type.to_ascii_lowercase().parse().ok()?,
        session_id,
        agent,
        at,
    };
    let summary: Vec<&str> = part(text, SUMMARY).map(unescaped).collect();
    let entries = |name| entries(part(text, name));
    Some((
        header,
        CrumbContent {
            summary: summary.join("\n").trim().to_owned(),
            discoveries: entries(DISCOVERIES),
            emotional: entries(EMOTIONAL).iter().map(|entry| split_pair(entry)).collect(),
            unfinished: entries(UNFINISHED),
            references: references(text),
            if_disoriented: entries(DISORIENTED),
        },
    ))
}

/// Parses a time; without a zone it is UTC.
pub(crate) fn parse_timestamp(text: &str) -> Option<Time> {
    text.parse().ok().or_else(|| Time::of_civil(text.parse::<DateTime>().ok()?))
}

fn unescaped(line: &str) -> &str {
    match line.strip_prefix(' ') {
        Some(rest) if is_structure(rest.trim_start_matches(' ')) => rest,
        _ => line,
    }
}

/// The lines of a part, up to the name of the next part or the final rule.
fn part<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let from = lines.skip_while(move |line| line.trim_end() != name).skip(1);
    from.take_while(|line| !is_structure(line))
}

/// The entries of a list; a line that is indented by two spaces continues the entry before it.
fn entries<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in lines {
        if let Some(entry) = after_mark(line) {
            entries.push(entry.trim_start().to_owned());
        } else if let (Some(more), Some(last)) = (line.strip_prefix("  "), entries.last_mut()) {
            last.push('\n');
            last.push_str(more);
        }
    }
    for entry in &mut entries {
        entry.truncate(entry.trim_end().len());
    }
    entries.retain(|entry| !entry.is_empty());
    entries
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

fn references(text: &str) -> Vec<(String, Vec<String>)> {
    let lists = entries(part(text, REFERENCES)).into_iter().map(|entry| {
        let (kind, ids) = split_pair(&entry);
        let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned);
        (kind, ids.collect())
    });
    lists.collect()
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
/// `todo`, `continue`, `pending`, or `unfinished`.
pub(crate) fn tasks(text: &str) -> Vec<String> {
    tasks_in(part(text, UNFINISHED))
}

pub(crate) fn tasks_in<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut tasks: Vec<String> = Vec::new();
    // Whether an indented line would continue the entry before it.
    let mut in_entry = false;
    for line in lines {
        if let Some(entry) = after_mark(line) {
            tasks.push(entry.trim_start().to_owned());
            in_entry = true;
        } else if let (true, Some(more), Some(last)) = (in_entry, line.strip_prefix("  "), tasks.last_mut()) {
            last.push('\n');
            last.push_str(more);
        } else {
            in_entry = false;
            let lower = line.to_lowercase();
            if TASK_WORDS.iter().any(|word| lower.contains(word)) && !line.starts_with('#') {
                tasks.push(line.trim().to_owned());
            }
        }
    }
    for task in &mut tasks {
        task.truncate(task.trim_end().len());
    }
    tasks.retain(|task| task.chars().count() >= MIN_TASK_LEN);
    tasks
}

/// The message ids in a text, such as `knowledge_village_1735841880.12345`, without trailing dots.
pub(crate) fn message_ids(text: &str) -> Vec<String> {
    const START: &str = "knowledge_";
    let mut ids = Vec::new();
    for start in memmem::find_iter(text.as_bytes(), START) {
        let rest = &text[start + START.len()..];
        let Some((realm, number)) = rest.split_once('_') else { continue };
        if !matches!(realm, "village" | "private" | "bridges") {
            continue;
        }
        let len = number.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let number = number[..len].trim_end_matches('.');
        if !number.is_empty() {
            ids.push(format!("{START}{realm}_{number}"));
        }
    }
    ids
}

/// The thread ids in the line `- thread_ids: …`.
pub(crate) fn thread_ids(text: &str) -> Vec<String> {
    references(text).into_iter().filter(|(kind, _)| kind == "thread_ids").flat_map(|(_, ids)| ids).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> TextHeader {
        TextHeader {
            priority: Priority::High,
            crumb_type: CrumbType::Task,
            session_id: "azoth_20260103_183045".to_owned(),
            agent: "azoth".to_owned(),
            at: "2026-01-03T18:30:45.120934Z".parse().unwrap(),
        }
    }

    #[test]
    fn message_ids_are_found_without_trailing_dots() {
        let text = "see knowledge_village_1.5. and knowledge_private_2..., knowledge_bridges_3 knowledge_other_4 \
            knowledge_village_ knowledge_village_. knowledge_";
        assert_eq!(message_ids(text), ["knowledge_village_1.5", "knowledge_private_2", "knowledge_bridges_3"]);
    }

    #[test]
    fn the_session_id_excludes_trailing_carriage_returns() {
        let text = render(&header(), &CrumbContent::default())
            .replace("From: azoth_20260103_183045", "From: azoth_20260103_183045\r\r\r");
        assert_eq!(parse(&text), Some((header(), CrumbContent::default())));
    }

    #[test]
    fn a_time_without_a_zone_is_utc() {
        for (text, at) in [
            ("2026-01-04T23:59:59", "2026-01-04T23:59:59Z"),
            ("2026-03-29T02:30:00.5", "2026-03-29T02:30:00.5Z"),
            ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00Z"),
        ] {
            assert_eq!(parse_timestamp(text), at.parse().ok(), "{text}");
        }
        assert_eq!(parse_timestamp("soon"), None);
    }

    fn line() -> impl Strategy<Value = String> {
        let parts: Vec<_> =
            PARTS.iter().chain(&["═", "∴ ", "- ", "1. ", " ", "a", "\r", "#", "todo"]).copied().collect();
        proptest::collection::vec(proptest::sample::select(parts), 0..4).prop_map(|parts| parts.concat())
    }

    fn entry() -> impl Strategy<Value = String> {
        let lines = proptest::collection::vec(line(), 0..4);
        lines.prop_map(|lines| format!("x {}", lines.join("\n")).replace('\r', "").trim().to_owned())
    }

    proptest! {
        #[test]
        fn no_text_forges_structure(summary in entry(), lists in proptest::collection::vec(
            proptest::collection::vec(entry(), 0..3), 3), value in entry()) {
            let [discoveries, unfinished, if_disoriented] = lists.try_into().unwrap();
            let emotional = vec![("W".to_owned(), value)];
            let references = vec![("thread_ids".to_owned(), vec!["a".to_owned(), "b".to_owned()])];
            let content = CrumbContent { summary, discoveries, emotional, unfinished, references, if_disoriented };
            let text = render(&header(), &content);
            prop_assert_eq!(parse(&text), Some((header(), content.clone())));
            let long = |task: &&String| task.chars().count() >= MIN_TASK_LEN;
            prop_assert_eq!(tasks(&text), content.unfinished.iter().filter(long).cloned().collect::<Vec<_>>());
            prop_assert_eq!(thread_ids(&text), ["a", "b"]);
        }

        #[test]
        fn any_text_can_be_parsed(text in "(═|∴ FORWARD CRUMB \\(HIGH PRIORITY - TASK\\) ∴|From: |\n|To: Future a instances|Timestamp: 2026-01-01T00:00:00|UNFINISHED BUSINESS:|- |é){0,24}") {
            let _ = (parse(&text), tasks(&text), message_ids(&text), thread_ids(&text));
        }
    }
}
