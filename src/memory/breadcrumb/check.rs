//! Checking a store file: errors that a commit must not contain, and warnings.

use std::collections::HashMap;
use std::ops::Range;

use super::key::{is_conventional, is_secret};
use super::store::lines::{BOM, Lines};
use super::store::write::MAX_VALUE_LEN;
use super::store::{LARGE_FILE_LEN, StoreFile};
use super::{Key, Namespaces, Record, namespace_of};
use crate::base::finding::{Finding, LineIndex, Weight};
use crate::base::time::Time;

/// What a file is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    pub file: StoreFile,
    pub namespaces: &'r Namespaces,
    /// Records that expired by then are warned about.
    pub now: Time,
}

/// Returns the findings about a store file, by position.
///
/// Errors are invalid lines, keys, and times; unsorted and duplicate keys; values above 10 KiB; and secrets in the shared
/// file. Everything else is a warning.
pub(crate) fn check(text: &[u8], rules: &Rules<'_>) -> Vec<Finding> {
    let mut check = Check { text, rules, index: LineIndex::new(text), findings: Vec::new() };
    check.check_file();
    let mut greatest: Option<&[u8]> = None;
    let mut first_lines: HashMap<&[u8], usize> = HashMap::new();
    let lines = Lines::new(text).lines;
    for keyed in &lines {
        let line = keyed.line;
        match Record::parse(line) {
            Ok(record) => {
                check.check_record(line, &record);
                let key = keyed.key.as_deref().unwrap_or_default();
                let this_line = check.line_number(line);
                let first_line = *first_lines.entry(key).or_insert(this_line);
                if first_line != this_line {
                    let message = format!("`{}` is already on line {first_line}", record.key);
                    check.error(line, "duplicate-key", message, "keep the correct line");
                } else if greatest.is_some_and(|greatest| greatest > key) {
                    let message = format!("`{}` follows a greater key", record.key);
                    check.error(line, "unsorted", message, "sort the lines by key; any `breadcrumb set` does that");
                }
                greatest = greatest.max(Some(key));
            }
            Err(reason) => {
                let Range { start, end } = check.span(line);
                let start = (start + reason.offset()).min(end);
                check.add(start..end, reason.code(), Weight::Error, reason.to_string(), reason.remedy());
            }
        }
    }
    check.findings.sort_by_key(|finding| finding.span.start);
    check.findings
}

struct Check<'c> {
    text: &'c [u8],
    rules: &'c Rules<'c>,
    index: LineIndex<'c>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn check_file(&mut self) {
        let len = self.text.len();
        if self.text.starts_with(BOM) {
            let message = "the file starts with a byte order mark".to_owned();
            self.add(0..BOM.len(), "byte-order-mark", Weight::Warning, message, "save it without the byte order mark");
        }
        if len > 0 && !self.text.ends_with(b"\n") {
            let message = "the last line has no line ending".to_owned();
            self.add(len..len, "no-final-newline", Weight::Warning, message, "add a line feed");
        }
        if len as u64 > LARGE_FILE_LEN {
            let message = format!("the file has {len} bytes, more than {LARGE_FILE_LEN}");
            self.add(0..0, "large-file", Weight::Warning, message, "delete breadcrumbs that nobody needs");
        }
    }

    fn check_record(&mut self, line: &[u8], record: &Record<'_>) {
        let key = &*record.key;
        if let Err(error) = key.parse::<Key>() {
            self.error(line, "bad-key", error.to_string(), "rename it with `breadcrumb rename`");
        } else {
            if !is_conventional(key) {
                let message = format!("key `{key}` does not follow the naming convention");
                self.warn(line, "key-style", message, "use lowercase letters and no empty segments");
            }
            if !self.rules.namespaces.contains(key) {
                let message = format!("namespace `{}` is neither standard nor declared", namespace_of(key));
                self.warn(line, "unknown-namespace", message, "declare it in `.synapse/config.json`");
            }
        }
        if self.rules.file == StoreFile::Shared && is_secret(key) {
            let message = format!("secret `{key}` is in the file that is committed");
            let remedy = "delete the line, set it again, and replace the secret if it was pushed";
            self.error(line, "secret-in-shared-file", message, remedy);
        }
        if record.value.len() > MAX_VALUE_LEN {
            let message = format!("the value of `{key}` has {} bytes, more than {MAX_VALUE_LEN}", record.value.len());
            self.error(line, "value-too-long", message, "put the value in a file and store its path");
        }
        self.check_times(line, record);
    }

    fn check_times(&mut self, line: &[u8], record: &Record<'_>) {
        let key = &record.key;
        let times = [
            ("created_at", record.created_at.as_deref(), record.created()),
            ("updated_at", record.updated_at.as_deref(), record.updated()),
            ("expires_at", record.expires_at.as_deref(), record.expires()),
        ];
        for (name, text, time) in times {
            match (text, time) {
                (None, _) if name != "expires_at" => {
                    self.error(line, "missing-time", format!("`{key}` has no `{name}`"), "set it again");
                }
                (Some(text), None) => {
                    let message = format!("`{name}` of `{key}` is not a valid time: `{text}`");
                    self.error(line, "bad-time", message, "write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z");
                }
                (Some(text), Some(_)) if !text.ends_with('Z') => {
                    let message = format!("`{name}` of `{key}` is not in UTC: `{text}`");
                    self.warn(line, "not-utc", message, "write it in UTC, with a `Z`");
                }
                _ => {}
            }
        }
        if record.created().zip(record.updated()).is_some_and(|(created, updated)| updated < created) {
            let message = format!("`{key}` was updated before it was created");
            self.warn(line, "time-order", message, "correct one of the two times");
        }
        if record.is_expired(self.rules.now) {
            let message = format!("`{key}` expired at {}", record.expires_at.as_deref().unwrap_or_default());
            self.warn(line, "expired", message, "remove it with `breadcrumb prune`");
        }
    }

    fn span(&self, line: &[u8]) -> Range<usize> {
        let start = line.as_ptr().addr() - self.text.as_ptr().addr();
        start..start + line.len()
    }

    fn line_number(&self, line: &[u8]) -> usize {
        self.index.position(self.span(line).start).line
    }

    fn error(&mut self, line: &[u8], code: &'static str, message: String, remedy: &str) {
        self.add(self.span(line), code, Weight::Error, message, remedy);
    }

    fn warn(&mut self, line: &[u8], code: &'static str, message: String, remedy: &str) {
        self.add(self.span(line), code, Weight::Warning, message, remedy);
    }

    fn add(&mut self, span: Range<usize>, code: &'static str, weight: Weight, message: String, remedy: &str) {
        let position = self.index.position(span.start);
        self.findings.push(Finding { span, position, code, weight, message, remedy: remedy.to_owned() });
    }
}
