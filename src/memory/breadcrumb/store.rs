//! The store: where its files are, and reading them.
//!
//! A file of up to a mebibyte is read whole, and every line that cannot be read is told. Of a larger one only what is
//! needed is looked at: one key is found by bisecting, and what that misses by a scan, since a hand may have edited the
//! file; a list is always made by a scan.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::bisect;
use super::key::is_secret;
use super::lines::{find_key, is_blank, looks_whole};
use super::namespace::{ConfigError, Namespaces};
use super::query::Query;
use super::record::Record;
use super::unreadable::InvalidLine;
use crate::base::bounded;
use crate::base::error::Diagnostic;
use crate::base::time::Time;

/// Name of the folder that holds the store.
pub(crate) const FOLDER: &str = ".synapse";

/// Length of a file, in bytes, past which its keeper should be warned.
pub(crate) const LARGE_FILE_LEN: u64 = 1024 * 1024;

/// A breadcrumb store: the folder `.synapse` of one working tree. It need not exist before the first write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// One of the two files of a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StoreFile {
    /// `breadcrumbs.jsonl`, which is committed.
    Shared,
    /// `breadcrumbs-secret.jsonl`, which git must ignore.
    Secret,
}

impl StoreFile {
    /// Both, in the order in which they are read.
    pub const ALL: [Self; 2] = [Self::Shared, Self::Secret];

    /// The half in which a key lives.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        if is_secret(key) { Self::Secret } else { Self::Shared }
    }

    /// The half across.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Shared => Self::Secret,
            Self::Secret => Self::Shared,
        }
    }

    /// Name of the file.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Shared => "breadcrumbs.jsonl",
            Self::Secret => "breadcrumbs-secret.jsonl",
        }
    }
}

impl fmt::Display for StoreFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file_name())
    }
}

/// Why a store could not be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file holds lines that cannot be read; nothing was written.
    #[error("cannot write `{}`: a line in it cannot be read", path.display())]
    InvalidLine {
        /// The file.
        path: PathBuf,
        /// The first such line.
        #[source]
        first: InvalidLine,
        /// How many there are.
        count: usize,
    },
    /// A file may only be read, by its permissions.
    #[error("cannot write `{}`: its permissions forbid it", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Others were writing for too long.
    #[error("cannot write `{}`: another process keeps it locked", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A program without our lock changed the file again and again.
    #[error("cannot write `{}`: another program keeps changing it", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// Git would see the secret file.
    #[error("cannot write `{}`: git does not ignore it", path.display())]
    NotIgnored {
        /// The file.
        path: PathBuf,
    },
    /// A value past what is allowed.
    #[error("a value of {len} bytes is too long for `{key}`: {} are allowed", super::writer::MAX_VALUE_LEN)]
    ValueTooLong {
        /// Its key.
        key: String,
        /// Its length in bytes.
        len: usize,
    },
    /// There is no such breadcrumb.
    #[error("there is no breadcrumb `{key}`")]
    NoSuchKey {
        /// The key.
        key: String,
    },
    /// There is such a breadcrumb already.
    #[error("there is a breadcrumb `{key}` already")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// A rename would make a secret public.
    #[error("cannot rename `{from}` to `{to}`: the value would leave the file that git ignores")]
    LeavesSecret {
        /// The key it has.
        from: String,
        /// The key it was to have.
        to: String,
    },
    /// The declared namespaces cannot be read.
    #[error("cannot use `{}`", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is the matter with it.
        source: ConfigError,
    },
}

impl Diagnostic for StoreError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::InvalidLine { .. } => {
                "correct or delete it; if it is a conflict, `git trace breadcrumb resolve` settles it"
            }
            Self::NotIgnored { .. } => {
                "add `breadcrumbs-secret.jsonl` to `.gitignore`, and if it was committed: git rm --cached <it>"
            }
            Self::Busy { .. } | Self::Changing { .. } => "try again when it has ended",
            Self::KeyTaken { .. } => "give --force to replace it",
            Self::ValueTooLong { .. } => "put it into a file and store its path",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn exit_status(&self) -> u8 {
        if matches!(self, Self::NoSuchKey { .. }) { 1 } else { 2 }
    }
}

/// A line that was passed over in reading, with its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedLine {
    /// Which file.
    pub half: StoreFile,
    /// Which line, and why.
    pub unreadable: InvalidLine,
}

/// The answer to the question for one key.
#[derive(Debug)]
pub struct Lookup {
    /// The breadcrumb, unless there is none or it expired.
    pub record: Option<Record<'static>>,
    /// Lines that were looked at and could not be read.
    pub skipped_lines: Vec<SkippedLine>,
}

/// The answer to a query.
#[derive(Debug)]
pub struct Listing {
    /// What was asked for, in order, cut to the limit.
    pub records: Vec<Record<'static>>,
    /// How many there are without the limit.
    pub total: usize,
    /// Lines that were looked at and could not be read.
    pub skipped_lines: Vec<SkippedLine>,
}

impl Store {
    /// The store whose files are in `folder`, by custom named `.synapse`.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The store that serves `start`: the nearest `.synapse` from there up to `top`, else the one that `top` will have.
    ///
    /// `top` is the root of the working tree. A `start` outside of it is served by `top`; both should be absolute.
    #[must_use]
    pub fn find(start: &Path, top: &Path) -> Self {
        let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (start, top) = (absolute(start), absolute(top));
        let within = start.ancestors().take_while(|folder| folder.starts_with(&top));
        let found = within.map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
        Self { folder: found.unwrap_or_else(|| top.join(FOLDER)) }
    }

    /// The folder of its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where one of its files is.
    #[must_use]
    pub fn path(&self, half: StoreFile) -> PathBuf {
        self.folder.join(half.file_name())
    }

    /// The namespaces declared in `config.json`; none where there is no such file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Read`] and [`StoreError::Config`].
    pub fn namespaces(&self) -> Result<Namespaces, StoreError> {
        let path = self.folder.join("config.json");
        match bounded::read_file(&path) {
            Ok(text) => Namespaces::parse(&text).map_err(|source| StoreError::Config { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Namespaces::default()),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }

    /// Reads the breadcrumb of a key, as of `now`: one that expired is not there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Read`].
    pub fn lookup(&self, key: &str, now: Time) -> Result<Lookup, StoreError> {
        let mut lookup = Lookup { record: None, skipped_lines: Vec::new() };
        // Where a hand put it into the wrong file, it is in the other.
        for half in [StoreFile::of_key(key), StoreFile::of_key(key).other()] {
            let mut reading = Reading::new(half);
            self.with_file(half, |file| reading.look_for(file, key))?;
            lookup.skipped_lines.append(&mut reading.skipped_lines);
            keep_what_counts(&mut reading.records);
            lookup.record = reading.records.pop();
            if lookup.record.is_some() {
                break;
            }
        }
        lookup.record = lookup.record.filter(|record| !record.is_expired(now));
        Ok(lookup)
    }

    /// Reads the breadcrumbs of both files that a query asks for, as of `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Read`].
    pub fn list(&self, query: &Query, now: Time) -> Result<Listing, StoreError> {
        let mut records = Vec::new();
        let mut skipped_lines = Vec::new();
        for half in StoreFile::ALL {
            let mut reading = Reading::new(half);
            self.with_file(half, |file| reading.collect(file, &query.prefix))?;
            records.append(&mut reading.records);
            skipped_lines.append(&mut reading.skipped_lines);
        }
        keep_what_counts(&mut records);
        records.retain(|record| query.matches(record, now));
        let total = records.len();
        query.arrange(&mut records);
        Ok(Listing { records, total, skipped_lines })
    }

    fn with_file(&self, half: StoreFile, read: impl FnOnce(&File) -> io::Result<()>) -> Result<(), StoreError> {
        let path = self.path(half);
        match File::open(&path).and_then(|file| read(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.map_err(|source| StoreError::Read { path, source }),
        }
    }
}

/// Sorts records by key and keeps of each key the one that counts.
pub(crate) fn keep_what_counts(records: &mut Vec<Record<'static>>) {
    if records.is_sorted_by(|a, b| a.key < b.key) {
        return;
    }
    records.sort_by(|a, b| a.key.cmp(&b.key).then_with(|| b.precedence(a)));
    records.dedup_by(|later, first| later.key == first.key);
}

/// What was read of one file so far.
struct Reading {
    half: StoreFile,
    records: Vec<Record<'static>>,
    skipped_lines: Vec<SkippedLine>,
}

impl Reading {
    fn new(half: StoreFile) -> Self {
        Self { half, records: Vec::new(), skipped_lines: Vec::new() }
    }

    fn look_for(&mut self, file: &File, key: &str) -> io::Result<()> {
        if file.metadata()?.len() <= LARGE_FILE_LEN {
            return self.read_whole(file, |record| record.key == key);
        }
        for line in bisect::lines_with_key(file, key.as_bytes())? {
            self.records.extend(Record::parse(&line).ok().map(Record::into_owned));
        }
        if self.records.is_empty() {
            let is_wanted = |line: &[u8]| find_key(line).as_deref() == Some(key.as_bytes());
            bisect::each_line(file, |number, line| {
                if !looks_whole(line) || is_wanted(line) {
                    self.read_line(number, line, |record| record.key == key);
                }
            })?;
        }
        Ok(())
    }

    fn collect(&mut self, file: &File, prefix: &str) -> io::Result<()> {
        let is_wanted = |line: &[u8]| find_key(line).is_some_and(|key| key.starts_with(prefix.as_bytes()));
        if file.metadata()?.len() <= LARGE_FILE_LEN {
            return self.read_whole(file, |record| record.key.starts_with(prefix));
        }
        bisect::each_line(file, |number, line| {
            if !looks_whole(line) || is_wanted(line) {
                self.read_line(number, line, |record| record.key.starts_with(prefix));
            }
        })
    }

    fn read_whole(&mut self, file: &File, is_wanted: impl Fn(&Record<'_>) -> bool) -> io::Result<()> {
        let text = bounded::read_opened(file)?;
        let (_, text) = super::lines::split_bom(&text);
        for (index, line) in text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !is_blank(line)) {
            self.read_line(index + 1, line, &is_wanted);
        }
        Ok(())
    }

    fn read_line(&mut self, number: usize, line: &[u8], is_wanted: impl Fn(&Record<'_>) -> bool) {
        match Record::parse(line) {
            Ok(record) if is_wanted(&record) => self.records.push(record.into_owned()),
            Ok(_) => {}
            Err(reason) => {
                let unreadable = InvalidLine { line: number, reason };
                self.skipped_lines.push(SkippedLine { half: self.half, unreadable });
            }
        }
    }
}

impl Record<'_> {
    /// Whether this breadcrumb belongs into `half`.
    #[must_use]
    pub fn lives_in(&self, half: StoreFile) -> bool {
        StoreFile::of_key(&self.key) == half
    }

    /// A record of its own for a key and a value, without anything else.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Record<'static> {
        Record {
            key: Cow::Owned(key.into()),
            value: Cow::Owned(value.into()),
            task_id: None,
            created_at: None,
            updated_at: None,
            expires_at: None,
            unknown: Vec::new(),
        }
    }
}
