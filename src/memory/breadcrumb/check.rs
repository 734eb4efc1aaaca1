//! Checking a store file: errors that a commit must not contain, and warnings.

use std::collections::{HashMap, HashSet};

use super::encryption::is_encrypted;
use super::key::{is_conventional, is_secret};
use super::record::parse_time;
use super::store::lines::{BOM, KeyedLine, Lines};
use super::store::write::MAX_VALUE_LEN;
use super::store::{LARGE_FILE_LEN, StoreFile};
use super::{Key, Namespaces, Record, namespace, namespace_of};
use crate::base::finding::{Finding, Findings, Weight};
use crate::base::line_ending::LineEnding;
use crate::base::time::Time;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    pub file: StoreFile,
    pub namespaces: &'r Namespaces,
    pub now: Time,
    /// Keys that were in the file before. Synapse allows more keys than we do, and a commit is judged by the lines that it adds.
    pub earlier_keys: &'r HashSet<Vec<u8>>,
    /// Records that were last set before this time are reported.
    pub stale_before: Option<Time>,
}

/// Returns the findings about a store file, by position.
///
/// Errors are invalid lines, keys, and times; unsorted and duplicate keys; values above 10 KiB; and secrets in the shared
/// file. Everything else is a warning.
pub(crate) fn check(text: &[u8], rules: &Rules<'_>) -> Vec<Finding> {
    let mut findings = Findings::new(text);
    let len = text.len();
    if text.starts_with(BOM) {
        let message = "the file starts with a byte order mark";
        findings.warning("byte-order-mark", 0..BOM.len(), message, "save it without the byte order mark");
    }
    if len > 0 && !text.ends_with(b"\n") {
        findings.warning("no-final-newline", len..len, "the last line has no line ending", "add a line feed");
    }
    if let Some(ending) = LineEnding::of(text)
        && let count @ 1.. = ending.count_others(text)
    {
        let message = format!("lines that do not end with {}, as most do: {count}", ending.name());
        findings.warning("mixed-line-endings", 0..0, message, "fix it with `git trace hook pre-commit --fix`");
    }
    if len as u64 > LARGE_FILE_LEN {
        let message = format!("the file has {len} bytes, more than {LARGE_FILE_LEN}");
        findings.warning("large-file", 0..0, message, "delete breadcrumbs that nobody needs");
    }
    let mut greatest: Option<&[u8]> = None;
    let mut first_lines: HashMap<&[u8], usize> = HashMap::new();
    let mut unknown_namespaces: HashSet<String> = HashSet::new();
    for line in &Lines::new(text).lines {
        let record = match Record::parse(line.text) {
            Ok(record) => record,
            Err(reason) => {
                let span = line.start + reason.offset().min(line.text.len())..line.span().end;
                let (code, remedy) = reason.code_and_remedy();
                findings.error(code, span, reason.to_string(), remedy);
                continue;
            }
        };
        check_record(&mut findings, rules, line, &record, &mut unknown_namespaces);
        check_times(&mut findings, rules, line, &record);
        let key = line.key.as_deref().unwrap_or_default();
        let first_line = *first_lines.entry(key).or_insert(line.number);
        if first_line != line.number {
            let message = format!("`{}` is already on line {first_line}", record.key);
            findings.error("duplicate-key", line.span(), message, "keep the correct line");
        } else if greatest.is_some_and(|greatest| greatest > key) {
            let message = format!("`{}` follows a greater key", record.key);
            findings.error("unsorted", line.span(), message, "sort the lines by key; any `breadcrumb set` does that");
        }
        greatest = greatest.max(Some(key));
    }
    findings.finish()
}

fn check_record(
    findings: &mut Findings<'_>,
    rules: &Rules<'_>,
    line: &KeyedLine<'_>,
    record: &Record<'_>,
    unknown_namespaces: &mut HashSet<String>,
) {
    let key = &*record.key;
    let is_new = !rules.earlier_keys.contains(key.as_bytes());
    if let Err(error) = key.parse::<Key>() {
        let weight = if is_new { Weight::Error } else { Weight::Warning };
        findings.add(weight, "bad-key", line.span(), error.to_string(), "rename it with `breadcrumb rename`");
    } else {
        if !is_conventional(key) {
            let message = format!("key `{key}` does not follow the naming convention");
            findings.warning("key-style", line.span(), message, "use lowercase letters and no empty segments");
        }
        // Once is enough: a project that uses a namespace uses it often.
        let name = namespace_of(key);
        if is_new && !rules.namespaces.contains(key) && unknown_namespaces.insert(name.to_owned()) {
            let message = format!("namespace `{name}` is neither standard nor declared");
            findings.warning("unknown-namespace", line.span(), message, &namespace::remedy(name));
        }
    }
    if rules.file == StoreFile::Shared && is_secret(key) && !is_encrypted(&record.value) {
        let message = format!("secret `{key}` is in the file that is committed");
        let remedy = "delete the line, set it again, and replace the secret if it was pushed";
        findings.error("secret-in-shared-file", line.span(), message, remedy);
    }
    if record.value.len() > MAX_VALUE_LEN {
        let message = format!("the value of `{key}` has {} bytes, more than {MAX_VALUE_LEN}", record.value.len());
        findings.error("value-too-long", line.span(), message, "put the value in a file and store its path");
    }
}

fn check_times(findings: &mut Findings<'_>, rules: &Rules<'_>, line: &KeyedLine<'_>, record: &Record<'_>) {
    let key = &record.key;
    for (name, text) in record.times() {
        match text.as_deref().map(|text| (text, parse_time(text))) {
            None if name != "expires_at" => {
                findings.error("missing-time", line.span(), format!("`{key}` has no `{name}`"), "set it again");
            }
            Some((text, None)) => {
                let message = format!("`{name}` of `{key}` is not a valid time: `{text}`");
                let remedy = "write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z";
                findings.error("bad-time", line.span(), message, remedy);
            }
            Some((text, Some(_))) if !text.ends_with('Z') => {
                let message = format!("`{name}` of `{key}` is not in UTC: `{text}`");
                findings.warning("not-utc", line.span(), message, "write it in UTC, with a `Z`");
            }
            _ => {}
        }
    }
    if record.created().zip(record.updated()).is_some_and(|(created, updated)| updated < created) {
        let message = format!("`{key}` was updated before it was created");
        findings.warning("time-order", line.span(), message, "correct one of the two times");
    }
    if let Some((before, updated)) = rules.stale_before.zip(record.updated())
        && updated < before
    {
        let message = format!("`{key}` was last set at {updated}");
        findings.warning("stale", line.span(), message, "set it again if it still holds, or delete it");
    }
    if record.is_expired(rules.now) {
        let message = format!("`{key}` expired at {}", record.expires_at.as_deref().unwrap_or_default());
        findings.warning("expired", line.span(), message, "remove it with `breadcrumb prune`");
    }
}
