//! Reading: looking up one key, and listing.
//!
//! Both scan the file. A file of up to 1 MiB is parsed completely, and every invalid line is reported. In a larger file, only lines
//! with the requested keys are parsed, and one key is found without a scan while the file is known to be sorted; see [`super::sorted`].

use std::borrow::Cow;
use std::fs::File;
use std::io;

use super::lines::{complete_key, find_key, numbered, parse_all};
use super::{Store, StoreError, StoreFile, is_large};
use crate::base::bounded;
use crate::base::replace::FileError;
use crate::base::time::Time;
use crate::memory::breadcrumb::record::keep_winners;
use crate::memory::breadcrumb::{InvalidLine, Query, Record};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SkippedLine {
    pub file: StoreFile,
    pub invalid: InvalidLine,
    /// The key with which the line starts, if that is readable.
    pub key: Option<Vec<u8>>,
}

impl Lookup {
    /// Whether a line that cannot be read may be the record.
    pub(crate) fn is_damaged(&self, key: &str) -> bool {
        let may_be = |line: &SkippedLine| line.key.as_deref().is_none_or(|found| found == key.as_bytes());
        self.record.is_none() && self.skipped_lines.iter().any(may_be)
    }
}

#[derive(Debug)]
pub(crate) struct Lookup {
    /// `None` also if the record expired.
    pub record: Option<Record<'static>>,
    pub skipped_lines: Vec<SkippedLine>,
}

#[derive(Debug)]
pub(crate) struct Listing<'t> {
    /// In the order and up to the limit of the query.
    pub records: Vec<Record<'t>>,
    pub total: usize,
    pub skipped_lines: Vec<SkippedLine>,
}

/// The text of a file; empty if there is none.
struct StoreText {
    file: StoreFile,
    text: Vec<u8>,
}

/// The texts of both files, from which listings borrow: copies of a hundred thousand records would take longer than parsing them.
pub(crate) struct Texts([StoreText; 2]);

impl Store {
    pub(crate) fn lookup(&self, key: &str, now: Time) -> Result<Lookup, StoreError> {
        let (mut records, mut skipped_lines) = (Vec::new(), Vec::new());
        // A person may have put the record into the wrong file, and a secret is in either, so look into both.
        for file in [StoreFile::of_key(key), StoreFile::of_key(key).other()] {
            if let Some(found) = self.find_sorted(file, key) {
                records.extend(found);
            } else {
                let text = self.read(file, now)?;
                let mut found = Vec::new();
                text.scan(|found| found == key.as_bytes(), &mut found, &mut skipped_lines);
                records.extend(found.into_iter().map(Record::into_owned));
            }
            if !records.is_empty() && file == StoreFile::Shared {
                break;
            }
        }
        keep_winners(&mut records);
        Ok(Lookup { record: records.pop().filter(|record| !record.is_expired(now)), skipped_lines })
    }

    pub(crate) fn list(&self, query: &Query, now: Time) -> Result<Listing<'static>, StoreError> {
        let texts = self.texts(now)?;
        let Listing { records, total, skipped_lines } = texts.list(query, now);
        Ok(Listing { records: records.into_iter().map(Record::into_owned).collect(), total, skipped_lines })
    }

    pub(crate) fn texts(&self, now: Time) -> Result<Texts, StoreError> {
        let [first, second] = StoreFile::ALL;
        Ok(Texts([self.read(first, now)?, self.read(second, now)?]))
    }

    /// The records of a key in a file that is known to be sorted. If one cannot be read, the file is scanned for its line number.
    fn find_sorted(&self, file: StoreFile, key: &str) -> Option<Vec<Record<'static>>> {
        let lines = self.sorted.as_ref()?.find(&self.real_path(file).ok()?, key.as_bytes())?;
        lines.iter().map(|line| Record::parse(line).ok().map(Record::into_owned)).collect()
    }

    fn read(&self, file: StoreFile, now: Time) -> Result<StoreText, StoreError> {
        let read = || -> io::Result<_> {
            let real = self.real_path(file)?;
            let opened = File::open(&real)?;
            Ok((real, opened.metadata()?, bounded::read_opened(&opened)?))
        };
        let text = match read() {
            Ok((real, before, text)) => {
                if let Some(sorted) = self.sorted.as_ref().filter(|_| is_large(&text)) {
                    sorted.note(&real, &before, &text, now);
                }
                text
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(FileError::Read { path: self.path(file), source }.into()),
        };
        Ok(StoreText { file, text })
    }
}

impl Texts {
    pub(crate) fn list(&self, query: &Query, now: Time) -> Listing<'_> {
        let (mut records, mut skipped_lines) = (Vec::new(), Vec::new());
        let is_requested = |key: &[u8]| query.prefix.is_empty() || key.starts_with(query.prefix.as_bytes());
        for text in &self.0 {
            text.scan(is_requested, &mut records, &mut skipped_lines);
        }
        keep_winners(&mut records);
        records.retain(|record| query.matches(record, now));
        let total = records.len();
        query.sort_and_truncate(&mut records);
        Listing { records, total, skipped_lines }
    }
}

impl StoreText {
    /// Reads the records whose key `is_requested`.
    fn scan<'t>(
        &'t self,
        is_requested: impl Fn(&[u8]) -> bool + Sync,
        records: &mut Vec<Record<'t>>,
        skipped_lines: &mut Vec<SkippedLine>,
    ) {
        let is_large = is_large(&self.text);
        let lines: Vec<_> = numbered(&self.text).collect();
        let parse = |(number, line): &(usize, &'t [u8])| {
            if is_large && complete_key(line).is_some_and(|key| !is_requested(key)) {
                return None;
            }
            match Record::parse(line) {
                Ok(record) => is_requested(record.key.as_bytes()).then_some(Ok(record)),
                Err(reason) => Some(Err(SkippedLine {
                    file: self.file,
                    invalid: InvalidLine { line: *number, reason },
                    key: find_key(line).map(Cow::into_owned),
                })),
            }
        };
        for part in parse_all(&lines, parse) {
            // In the memory of the part: a hundred thousand records take longer to copy than to parse.
            let part = part.into_iter().filter_map(|line| line.map_err(|skipped| skipped_lines.push(skipped)).ok());
            let mut part: Vec<_> = part.collect();
            if records.is_empty() {
                *records = part;
            } else {
                records.append(&mut part);
            }
        }
    }
}
