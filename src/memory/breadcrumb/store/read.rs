//! Reading: looking up one key, and listing.
//!
//! Both scan the file. Reading it costs little compared with parsing it, so a file of up to 1 MiB is parsed completely, and
//! every invalid line is reported. In a larger file, only lines with the requested keys are parsed.

use std::borrow::Cow;
use std::io;

use super::lines::{find_key, looks_valid, numbered};
use super::{LARGE_FILE_LEN, Store, StoreError, StoreFile};
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
pub(crate) struct Listing {
    /// In the order and up to the limit of the query.
    pub records: Vec<Record<'static>>,
    pub total: usize,
    pub skipped_lines: Vec<SkippedLine>,
}

impl Store {
    pub(crate) fn lookup(&self, key: &str, now: Time) -> Result<Lookup, StoreError> {
        let (mut records, mut skipped_lines) = (Vec::new(), Vec::new());
        // A person may have put the record into the wrong file, so look into both.
        for file in [StoreFile::of_key(key), StoreFile::of_key(key).other()] {
            self.scan(file, |found| found == key.as_bytes(), &mut records, &mut skipped_lines)?;
            if !records.is_empty() {
                break;
            }
        }
        keep_winners(&mut records);
        Ok(Lookup { record: records.pop().filter(|record| !record.is_expired(now)), skipped_lines })
    }

    pub(crate) fn list(&self, query: &Query, now: Time) -> Result<Listing, StoreError> {
        let (mut records, mut skipped_lines) = (Vec::new(), Vec::new());
        for file in StoreFile::ALL {
            self.scan(file, |key| key.starts_with(query.prefix.as_bytes()), &mut records, &mut skipped_lines)?;
        }
        keep_winners(&mut records);
        records.retain(|record| query.matches(record, now));
        let total = records.len();
        query.sort_and_truncate(&mut records);
        Ok(Listing { records, total, skipped_lines })
    }

    /// Reads the records whose key `is_requested`.
    fn scan(
        &self,
        file: StoreFile,
        is_requested: impl Fn(&[u8]) -> bool,
        records: &mut Vec<Record<'static>>,
        skipped_lines: &mut Vec<SkippedLine>,
    ) -> Result<(), StoreError> {
        let path = self.path(file);
        let text = match self.real_path(file).and_then(|real| bounded::read_file(&real)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text.map_err(|source| FileError::Read { path, source })?,
        };
        let is_large = text.len() as u64 > LARGE_FILE_LEN;
        for (number, line) in numbered(&text) {
            if is_large && looks_valid(line) && !find_key(line).is_some_and(|key| is_requested(&key)) {
                continue;
            }
            match Record::parse(line) {
                Ok(record) if is_requested(record.key.as_bytes()) => records.push(record.into_owned()),
                Ok(_) => {}
                Err(reason) => skipped_lines.push(SkippedLine {
                    file,
                    invalid: InvalidLine { line: number, reason },
                    key: find_key(line).map(Cow::into_owned),
                }),
            }
        }
        Ok(())
    }
}
