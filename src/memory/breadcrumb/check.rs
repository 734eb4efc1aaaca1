//! Checking a store's file: what a commit must not bring, and what is worth a look.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::key::{Key, is_customary, is_secret, namespace};
use super::lines::{BOM, Lines};
use super::namespace::Namespaces;
use super::record::Record;
use super::store::{LARGE_FILE_LEN, StoreFile};
use super::writer::MAX_VALUE_LEN;
use crate::base::finding::{Finding, LineIndex, Weight};
use crate::base::time::Time;

/// What a file is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    /// Which file it is.
    pub half: StoreFile,
    /// The namespaces of the project.
    pub namespaces: &'r Namespaces,
    /// The time, for what expired.
    pub now: Time,
}

/// Says all there is to say about a store's file, by place.
///
/// Errors are lines that cannot be read, keys out of order or there twice, keys and times that are not valid, values past
/// 10 KiB, and secrets in the shared file; all else is a warning.
#[must_use]
pub(crate) fn check(text: &[u8], rules: &Rules<'_>) -> Vec<Finding> {
    let mut check = Check { text, rules, index: LineIndex::new(text), findings: Vec::new() };
    check.check_file();
    let lines = Lines::new(text);
    let mut last: Option<&[u8]> = None;
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    for entry in &lines.entries {
        match Record::parse(entry.line) {
            Ok(record) => {
                let key = entry.key.as_deref().unwrap_or_default();
                check.check_record(entry.line, &record);
                let first_line = seen.entry(key).or_insert_with(|| check.line_number(entry.line));
                let (first_line, this_line) = (*first_line, check.line_number(entry.line));
                if first_line != this_line {
                    let message = format!("`{}` is in line {first_line} already", record.key);
                    check.error(entry.line, "duplicate-key", message, "keep the line that is right");
                } else if last.is_some_and(|last| last.cmp(key) == Ordering::Greater) {
                    let message = format!("`{}` stands behind a greater key", record.key);
                    check.error(entry.line, "unsorted", message, "sort the lines by key; any `breadcrumb set` does it");
                }
                last = last.max(Some(key));
            }
            Err(reason) => {
                let start = check.offset(entry.line) + reason.offset().min(entry.line.len());
                let message = reason.to_string();
                check.add(
                    start..check.offset(entry.line) + entry.line.len(),
                    reason.code(),
                    Weight::Error,
                    message,
                    reason.remedy(),
                );
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
            self.add(0..BOM.len(), "byte-order-mark", Weight::Warning, message, "save it as UTF-8 without one");
        }
        if len > 0 && !self.text.ends_with(b"\n") {
            let message = "the last line has no end".to_owned();
            self.add(len..len, "no-final-newline", Weight::Warning, message, "add a line end");
        }
        if len as u64 > LARGE_FILE_LEN {
            let message = format!("the file has {len} bytes, more than {LARGE_FILE_LEN}");
            self.add(0..0, "large-file", Weight::Warning, message, "delete what nobody needs");
        }
    }

    fn check_record(&mut self, line: &[u8], record: &Record<'_>) {
        let key = &*record.key;
        if let Err(error) = key.parse::<Key>() {
            self.error(line, "bad-key", error.to_string(), "rename it with `breadcrumb rename`");
        } else {
            self.check_custom(line, key);
        }
        if self.rules.half == StoreFile::Shared && is_secret(key) {
            let message = format!("`{key}` is a secret in the file that is committed");
            let remedy = "take the line out, set it again, and replace the secret if it was pushed";
            self.error(line, "secret-in-shared-file", message, remedy);
        }
        if record.value.len() > MAX_VALUE_LEN {
            let message = format!("the value of `{key}` has {} bytes, more than {MAX_VALUE_LEN}", record.value.len());
            self.error(line, "value-too-long", message, "put it into a file and store its path");
        }
        self.check_times(line, record);
    }

    fn check_custom(&mut self, line: &[u8], key: &str) {
        if !is_customary(key) {
            let message = format!("`{key}` is not written as custom has it");
            self.warn(line, "key-style", message, "use lower case, and a name between any two dots");
        }
        if !self.rules.namespaces.know(key) {
            let message = format!("the namespace `{}` is neither standard nor declared", namespace(key));
            self.warn(line, "unknown-namespace", message, "declare it in `.synapse/config.json`");
        }
    }

    fn check_times(&mut self, line: &[u8], record: &Record<'_>) {
        let times = [
            ("created_at", record.created_at.as_deref(), record.created()),
            ("updated_at", record.updated_at.as_deref(), record.updated()),
            ("expires_at", record.expires_at.as_deref(), record.expires()),
        ];
        for (name, text, time) in times {
            match (text, time) {
                (None, _) if name != "expires_at" => {
                    let message = format!("`{}` has no `{name}`", record.key);
                    self.error(line, "missing-time", message, "set it again");
                }
                (Some(text), None) => {
                    let message = format!("`{name}` of `{}` is not a time: `{text}`", record.key);
                    self.error(line, "bad-time", message, "write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z");
                }
                (Some(text), Some(_)) if !text.ends_with('Z') => {
                    let message = format!("`{name}` of `{}` is not in UTC: `{text}`", record.key);
                    self.warn(line, "not-utc", message, "write it in UTC, with a `Z`");
                }
                _ => {}
            }
        }
        if let (Some(created), Some(updated)) = (record.created(), record.updated())
            && updated < created
        {
            let message = format!("`{}` was updated before it was created", record.key);
            self.warn(line, "time-order", message, "correct one of the two times");
        }
        if record.is_expired(self.rules.now) {
            let message = format!("`{}` expired at {}", record.key, record.expires_at.as_deref().unwrap_or_default());
            self.warn(line, "expired", message, "remove it with `breadcrumb prune`");
        }
    }

    fn offset(&self, line: &[u8]) -> usize {
        line.as_ptr().addr() - self.text.as_ptr().addr()
    }

    fn line_number(&self, line: &[u8]) -> usize {
        self.index.position(self.offset(line)).line
    }

    fn error(&mut self, line: &[u8], code: &'static str, message: String, remedy: &str) {
        let start = self.offset(line);
        self.add(start..start + line.len(), code, Weight::Error, message, remedy);
    }

    fn warn(&mut self, line: &[u8], code: &'static str, message: String, remedy: &str) {
        let start = self.offset(line);
        self.add(start..start + line.len(), code, Weight::Warning, message, remedy);
    }

    fn add(&mut self, span: std::ops::Range<usize>, code: &'static str, weight: Weight, message: String, remedy: &str) {
        let position = self.index.position(span.start);
        self.findings.push(Finding { span, position, code, weight, message, remedy: remedy.to_owned() });
    }
}
