//! Writing the store: each change reads the file under the lock, and puts a whole new one in its place.
//!
//! Lines that are not being changed keep their bytes. A file that a hand left out of order is put in order by the first
//! write. A change that changes nothing writes nothing.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::document::Document;
use super::exchange::OnExisting;
use super::key::Key;
use super::record::Record;
use super::store::{Store, StoreError, StoreFile, keep_what_counts};
use crate::base::replace::{Access, Lock, Seen, Stem, read, real_path, replace};
use crate::base::time::Time;

/// Length of the longest value that may be set, in bytes.
pub(crate) const MAX_VALUE_LEN: usize = 10 * 1024;

/// What the files beside the store are called while it is written.
pub(crate) const STEM: Stem = Stem(".breadcrumbs");

/// How often a change is made anew because a program without our lock changed the file meanwhile.
const MAX_ATTEMPTS: usize = 10;

/// Writes to a store.
#[derive(Clone, Copy)]
pub struct Writer<'s> {
    store: &'s Store,
    is_ignored: &'s dyn Fn(&Path) -> bool,
    patience: Duration,
}

/// What to set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetRequest<'s> {
    /// Under which key.
    pub key: &'s Key,
    /// The value.
    pub value: &'s str,
    /// The task that found it out; without one, an old record keeps its own.
    pub task_id: Option<i64>,
    /// Until when.
    pub expiry: Expiry,
}

/// Until when a breadcrumb is to be in reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expiry {
    /// As before; but an expiry that has passed is taken off, else what was set could not be read.
    #[default]
    Kept,
    /// For ever.
    Never,
    /// Until this instant.
    At(Time),
}

/// What setting came to.
#[derive(Debug)]
pub struct Set {
    /// The breadcrumb as it is now.
    pub record: Record<'static>,
    /// Whether the key is new.
    pub is_new: bool,
    /// Length of the file in bytes; see [`super::store::LARGE_FILE_LEN`].
    pub file_len: u64,
}

/// What an import came to, in numbers of breadcrumbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// New keys.
    pub added: usize,
    /// Keys that got another record.
    pub replaced: usize,
    /// Keys that kept theirs.
    pub kept: usize,
}

impl<'s> Writer<'s> {
    /// How long to wait for other writers where nobody says otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// Writes to `store`. The secret file is written only where `is_ignored` says that git ignores its path; waiting for
    /// other writers ends after `patience`.
    #[must_use]
    pub fn new(store: &'s Store, is_ignored: &'s dyn Fn(&Path) -> bool, patience: Duration) -> Self {
        Self { store, is_ignored, patience }
    }

    /// Sets a breadcrumb, and updates an old one: `created_at`, unknown members and what is not given stay.
    ///
    /// `updated_at` is `now`, or a nanosecond past what it was where that is later.
    ///
    /// # Errors
    ///
    /// [`StoreError::ValueTooLong`], and all that say why a file cannot be read or written.
    pub fn set(&self, setting: &SetRequest<'_>, now: Time) -> Result<Set, StoreError> {
        let key = setting.key.as_str();
        check_value(key, setting.value)?;
        let update = |old| {
            let old = counting(old);
            let is_new = old.is_none();
            let mut record = old.unwrap_or_else(|| Record::new(key, ""));
            record.value = setting.value.to_owned().into();
            record.task_id = setting.task_id.or(record.task_id);
            record.expires_at = match setting.expiry {
                Expiry::Kept if record.is_expired(now) => None,
                Expiry::Kept => record.expires_at.take(),
                Expiry::Never => None,
                Expiry::At(time) => Some(time.to_string().into()),
            };
            touch(&mut record, now);
            Ok(Change { put: vec![record.clone()], answer: (record, is_new) })
        };
        let ((record, is_new), file_len) = self.edit(StoreFile::of_key(key), |record| record.key == key, update)?;
        Ok(Set { record, is_new, file_len })
    }

    /// Deletes a breadcrumb, whatever its key looks like; gives what it was.
    ///
    /// # Errors
    ///
    /// All that say why a file cannot be read or written.
    pub fn delete(&self, key: &str) -> Result<Option<Record<'static>>, StoreError> {
        Ok(counting(self.delete_where(|record| record.key == key)?))
    }

    /// Deletes all breadcrumbs of a task; gives what they were, by key.
    ///
    /// # Errors
    ///
    /// All that say why a file cannot be read or written.
    pub fn delete_task(&self, task_id: i64) -> Result<Vec<Record<'static>>, StoreError> {
        self.delete_where(|record| record.task_id == Some(task_id))
    }

    /// Deletes the breadcrumbs that expired before `now`; gives what they were, by key.
    ///
    /// # Errors
    ///
    /// All that say why a file cannot be read or written.
    pub fn prune(&self, now: Time) -> Result<Vec<Record<'static>>, StoreError> {
        self.delete_where(|record| record.is_expired(now))
    }

    fn delete_where(&self, is_meant: impl Fn(&Record<'_>) -> bool + Sync) -> Result<Vec<Record<'static>>, StoreError> {
        let mut deleted = Vec::new();
        for half in StoreFile::ALL {
            let delete = |old| Ok(Change { put: Vec::new(), answer: old });
            deleted.append(&mut self.edit(half, &is_meant, delete)?.0);
        }
        keep_what_counts(&mut deleted);
        Ok(deleted)
    }

    /// Gives a breadcrumb another key; gives it as it is then. What has that key already is only replaced if `existing`
    /// says so.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchKey`], [`StoreError::KeyTaken`], [`StoreError::LeavesSecret`], and all that say why a file
    /// cannot be read or written.
    pub fn rename(&self, from: &str, to: &Key, existing: Existing, now: Time) -> Result<Record<'static>, StoreError> {
        let (old_half, new_half) = (StoreFile::of_key(from), StoreFile::of_key(to.as_str()));
        let no_such_key = || StoreError::NoSuchKey { key: from.to_owned() };
        let renamed = |old: Record<'static>, taken: Option<Record<'static>>| {
            if taken.is_some() && existing == Existing::Refused {
                return Err(StoreError::KeyTaken { key: to.to_string() });
            }
            // Past both, so that in a merge it outranks what had the key before.
            let earlier = old.updated().max(taken.and_then(|taken| taken.updated()));
            let mut record = Record { key: to.to_string().into(), ..old };
            touch(&mut record, now.after(earlier));
            Ok(Change { put: vec![record.clone()], answer: record })
        };
        if old_half == new_half {
            let is_meant = |record: &Record<'_>| record.key == from || record.key == to.as_str();
            let split_and_rename = |both: Vec<Record<'static>>| {
                if from == to.as_str() {
                    let record = counting(both).ok_or_else(no_such_key)?;
                    return Ok(Change { put: vec![record.clone()], answer: record });
                }
                let (old, taken) = both.into_iter().partition(|record| record.key == from);
                renamed(counting(old).ok_or_else(no_such_key)?, counting(taken))
            };
            return Ok(self.edit(old_half, is_meant, split_and_rename)?.0);
        }
        if new_half == StoreFile::Shared {
            return Err(StoreError::LeavesSecret { from: from.to_owned(), to: to.to_string() });
        }
        // First in its new place, then out of the old one: killed in between, it is in both and not lost.
        let keep = |old: Vec<Record<'static>>| Ok(Change { put: old.clone(), answer: counting(old) });
        let old = self.edit(old_half, |record| record.key == from, keep)?.0.ok_or_else(no_such_key)?;
        let rename = |taken| renamed(old.clone(), counting(taken));
        let record = self.edit(new_half, |record| record.key == to.as_str(), rename)?.0;
        self.delete(from)?;
        Ok(record)
    }

    /// Takes in breadcrumbs from elsewhere, all or none of each half; times they do not have are `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError::ValueTooLong`], and all that say why a file cannot be read or written.
    pub fn import(
        &self,
        records: Vec<Record<'static>>,
        existing: OnExisting,
        now: Time,
    ) -> Result<Imported, StoreError> {
        let mut records = records;
        for record in &mut records {
            check_value(&record.key, &record.value)?;
            complete_times(record, now);
        }
        keep_what_counts(&mut records);
        let mut imported = Imported::default();
        for half in StoreFile::ALL {
            let ours: HashMap<&str, &Record<'static>> =
                records.iter().filter(|record| record.lives_in(half)).map(|record| (&*record.key, record)).collect();
            if ours.is_empty() {
                continue;
            }
            let take_in = |old: Vec<Record<'static>>| {
                let mut put = ours.clone();
                let mut counts = Imported::default();
                let mut kept = old;
                keep_what_counts(&mut kept);
                kept.retain(|old| {
                    let is_taken = put.get(&*old.key).is_some_and(|new| existing.takes(old, new));
                    if is_taken {
                        counts.replaced += 1;
                    } else {
                        counts.kept += 1;
                        put.remove(&*old.key);
                    }
                    !is_taken
                });
                counts.added = put.len() - counts.replaced;
                kept.extend(put.into_values().cloned());
                Ok(Change { put: kept, answer: counts })
            };
            let counts = self.edit(half, |record| ours.contains_key(&*record.key), take_in)?.0;
            imported.added += counts.added;
            imported.replaced += counts.replaced;
            imported.kept += counts.kept;
        }
        Ok(imported)
    }

    /// Replaces the records that are meant by those that `decide` puts in their place; gives its answer and the length of
    /// the file. `decide` may be asked again, after somebody else changed the file.
    fn edit<T>(
        &self,
        half: StoreFile,
        is_meant: impl Fn(&Record<'_>) -> bool + Sync,
        decide: impl Fn(Vec<Record<'static>>) -> Result<Change<T>, StoreError>,
    ) -> Result<(T, u64), StoreError> {
        let named = self.store.path(half);
        let write_error = |source| StoreError::Write { path: named.clone(), source };
        let path = real_path(&named).map_err(write_error)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        if !folder.exists() {
            let change = decide(Vec::new())?;
            if change.put.is_empty() {
                return Ok((change.answer, 0));
            }
            self.check_ignored(half, &named)?;
            fs::create_dir_all(folder).map_err(write_error)?;
        }
        let lock = Lock::take(folder, STEM, self.patience).map_err(write_error)?;
        let _lock = lock.ok_or_else(|| StoreError::Busy { path: named.clone() })?;
        for _ in 0..MAX_ATTEMPTS {
            let Seen { text, stamp, is_read_only } =
                read(&path).map_err(|source| StoreError::Read { path: named.clone(), source })?;
            let document = Document::read(&text, &is_meant).map_err(|(first, count)| StoreError::InvalidLine {
                path: named.clone(),
                first,
                count,
            })?;
            let change = decide(document.meant())?;
            let new_text = document.with(&change.put);
            if new_text.changes_nothing() {
                return Ok((change.answer, text.len() as u64));
            }
            self.check_ignored(half, &named)?;
            if is_read_only {
                return Err(StoreError::ReadOnly { path: named });
            }
            let access = if half == StoreFile::Secret { Access::Private } else { Access::Usual };
            let mut file_len = 0;
            let is_done = replace(&path, STEM, stamp.as_ref(), access, |out| {
                file_len = new_text.write(out)?;
                Ok(())
            });
            if is_done.map_err(write_error)? {
                return Ok((change.answer, file_len));
            }
        }
        Err(StoreError::Changing { path: named })
    }

    fn check_ignored(&self, half: StoreFile, path: &Path) -> Result<(), StoreError> {
        if half == StoreFile::Secret && !(self.is_ignored)(path) {
            return Err(StoreError::NotIgnored { path: path.to_owned() });
        }
        Ok(())
    }
}

/// What becomes of a breadcrumb whose key a rename is to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// The rename is refused.
    Refused,
    /// It goes.
    Replaced,
}

/// What to put in the place of the records that an edit is about.
struct Change<T> {
    put: Vec<Record<'static>>,
    answer: T,
}

fn check_value(key: &str, value: &str) -> Result<(), StoreError> {
    if value.len() > MAX_VALUE_LEN {
        return Err(StoreError::ValueTooLong { key: key.to_owned(), len: value.len() });
    }
    Ok(())
}

/// The record that counts, of those of one key.
fn counting(records: Vec<Record<'static>>) -> Option<Record<'static>> {
    let mut records = records;
    keep_what_counts(&mut records);
    records.into_iter().next()
}

/// Notes on a record that it changed now.
fn touch(record: &mut Record<'static>, now: Time) {
    let updated = now.after(record.updated());
    record.updated_at = Some(updated.to_string().into());
    record.created_at.get_or_insert_with(|| updated.to_string().into());
}

/// Gives a record from elsewhere the times that it lacks, or that cannot be read.
fn complete_times(record: &mut Record<'static>, now: Time) {
    let created = record.created().or(record.updated()).unwrap_or(now);
    let updated = record.updated().unwrap_or_else(|| now.max(created));
    record.created_at = Some(created.to_string().into());
    record.updated_at = Some(updated.to_string().into());
}
