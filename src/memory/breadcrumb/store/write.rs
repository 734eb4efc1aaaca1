//! Writing: each change reads the file under the lock, and replaces it atomically.
//!
//! Lines that are not being changed keep their bytes. The first write sorts a file that a person left unsorted. A change
//! without effect writes nothing. A damaged line blocks the write; in a file of more than 1 MiB, only if it has one of the keys or
//! does not look complete. Of such a file, only the part with the keys is read into memory; see [`super::part`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::Path;

use serde_json::value::{RawValue, to_raw_value};

use super::edit::{Selection, Selector};
use super::part::find_part;
use super::{LARGE_FILE_LEN, Store, StoreError, StoreFile, is_large};
use crate::base::replace::{Access, FileError, Stem, update_part};
use crate::base::time::Time;
use crate::memory::breadcrumb::exchange::OnConflict;
use crate::memory::breadcrumb::key::is_secret;
use crate::memory::breadcrumb::record::keep_winners;
use crate::memory::breadcrumb::{Key, Record};

pub(crate) const MAX_VALUE_LEN: usize = 10 * 1024;

/// The member that version 2.0 of the format adds: an object.
const METADATA: &str = "metadata";

pub(crate) const STEM: Stem = Stem(".breadcrumbs");

/// Writes to a store. All methods fail with the [`StoreError`]s of reading and writing a file.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'s> {
    store: &'s Store,
    is_ignored: &'s dyn Fn(&Path) -> bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SetRequest<'s> {
    pub key: &'s Key,
    pub value: &'s str,
    /// `None` keeps the task of an existing record.
    pub task_id: Option<i64>,
    pub expiry: Expiry,
    /// Members of `metadata` to set; an empty value removes a member.
    pub metadata: &'s [(String, String)],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Expiry {
    /// Keeps the expiry of an existing record, unless it has passed: the new value could not be read.
    #[default]
    Kept,
    Never,
    At(Time),
}

impl Expiry {
    /// A record that expired already could not be read.
    pub(crate) fn not_past(time: Time, now: Time) -> Result<Self, StoreError> {
        if time <= now { Err(StoreError::AlreadyExpired { time }) } else { Ok(Self::At(time)) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Kept,
    Deleted,
}

#[derive(Debug)]
pub(crate) struct SetResult {
    pub record: Record<'static>,
    pub is_new: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Imported {
    pub added: usize,
    pub replaced: usize,
    pub kept: usize,
}

/// The records that replace the selected ones, and the result to return.
type Replacement<T> = (Vec<Record<'static>>, T);

impl<'s> Writer<'s> {
    /// The secret file is written only if `is_ignored` says that git ignores its path.
    pub(crate) fn new(store: &'s Store, is_ignored: &'s dyn Fn(&Path) -> bool) -> Self {
        Self { store, is_ignored }
    }

    /// Adds or updates a breadcrumb. An update keeps `created_at`, unknown members, and what the request does not give.
    ///
    /// `updated_at` becomes `now`, or one nanosecond after its old value if that is later.
    pub(crate) fn set(&self, request: &SetRequest<'_>, now: Time) -> Result<SetResult, StoreError> {
        let key = request.key.as_str();
        check_value(key, request.value)?;
        let file = StoreFile::of_record(key, request.value);
        let moved = if is_secret(key) { self.take(file.other(), key, Taken::Kept)? } else { None };
        let update = |old: Vec<Record<'static>>| {
            let old = winner(old.into_iter().chain(moved.clone()).collect());
            let is_new = old.is_none();
            let mut record = old.unwrap_or_else(|| Record::new(key.to_owned(), ""));
            record.value = request.value.to_owned().into();
            record.task_id = request.task_id.or(record.task_id);
            record.expires_at = match request.expiry {
                Expiry::Kept if record.is_expired(now) => None,
                Expiry::Kept => record.expires_at.take(),
                Expiry::Never => None,
                Expiry::At(time) => Some(time.to_string().into()),
            };
            set_metadata(&mut record, request.metadata)?;
            set_updated(&mut record, now);
            Ok((vec![record.clone()], SetResult { record, is_new }))
        };
        let set = self.edit(file, Selector::Keys(&[key.as_bytes()]), update)?;
        if moved.is_some() {
            // Only now: after a crash it is in both files, not in none.
            self.take(file.other(), key, Taken::Deleted)?;
        }
        Ok(set)
    }

    /// The record of a key in one file.
    fn take(&self, file: StoreFile, key: &str, taken: Taken) -> Result<Option<Record<'static>>, StoreError> {
        let kept = |old: &Vec<_>| if taken == Taken::Kept { old.clone() } else { Vec::new() };
        self.edit(file, Selector::Keys(&[key.as_bytes()]), |old| Ok((kept(&old), winner(old))))
    }

    /// Sets times that are missing or cannot be read; returns the number of records, and of those that changed.
    pub(crate) fn repair_times(&self, now: Time) -> Result<(usize, usize), StoreError> {
        let (mut all, mut repaired) = (0, 0);
        for file in StoreFile::ALL {
            let repair = |mut records: Vec<Record<'static>>| {
                keep_winners(&mut records);
                let mut count = 0;
                for record in &mut records {
                    if record.created().is_none() || record.updated().is_none() {
                        fill_missing_times(record, now);
                        count += 1;
                    }
                }
                let len = records.len();
                Ok((records, (len, count)))
            };
            let (in_file, repaired_in_file) = self.edit(file, Selector::Records(&|_| true), repair)?;
            all += in_file;
            repaired += repaired_in_file;
        }
        Ok((all, repaired))
    }

    /// Deletes a breadcrumb and returns it. The key may be any text.
    pub(crate) fn delete(&self, key: &str) -> Result<Option<Record<'static>>, StoreError> {
        Ok(winner(self.delete_where(Selector::Keys(&[key.as_bytes()]))?))
    }

    /// Deletes all breadcrumbs of a task; returns them, sorted by key.
    pub(crate) fn delete_task(&self, task_id: i64) -> Result<Vec<Record<'static>>, StoreError> {
        self.delete_where(Selector::Records(&|record| record.task_id == Some(task_id)))
    }

    /// Deletes expired breadcrumbs; returns them, sorted by key.
    pub(crate) fn prune(&self, now: Time) -> Result<Vec<Record<'static>>, StoreError> {
        self.delete_where(Selector::Records(&|record| record.is_expired(now)))
    }

    fn delete_where(&self, selector: Selector<'_>) -> Result<Vec<Record<'static>>, StoreError> {
        let mut deleted = Vec::new();
        for file in StoreFile::ALL {
            deleted.extend(self.edit(file, selector, |old| Ok((Vec::new(), old)))?);
        }
        keep_winners(&mut deleted);
        Ok(deleted)
    }

    /// Changes the key of a breadcrumb. One that has the new key is an error, unless `replace`.
    pub(crate) fn rename(&self, from: &str, to: &Key, replace: bool, now: Time) -> Result<Record<'static>, StoreError> {
        let to = to.as_str();
        let mut old_file = StoreFile::of_key(from);
        if old_file == StoreFile::Secret && self.take(old_file, from, Taken::Kept)?.is_none() {
            // It may be encrypted.
            old_file = StoreFile::Shared;
        }
        if is_secret(from) && !is_secret(to) {
            return Err(StoreError::LeavesSecret { from: from.to_owned(), to: to.to_owned() });
        }
        let new_file = if is_secret(from) { old_file } else { StoreFile::of_key(to) };
        let no_such_key = || StoreError::NoSuchKey { key: from.to_owned() };
        let rename = |old: Record<'static>, taken: Option<Record<'static>>| {
            if taken.is_some() && !replace {
                return Err(StoreError::KeyTaken { key: to.to_owned() });
            }
            // Later than both, so that in a merge it wins over the record that had the key before.
            let earlier = old.updated().max(taken.and_then(|taken| taken.updated()));
            let mut record = Record { key: to.to_owned().into(), ..old };
            set_updated(&mut record, now.after(earlier));
            Ok((vec![record.clone()], record))
        };
        if old_file == new_file {
            let mut both = [from.as_bytes(), to.as_bytes()];
            both.sort_unstable();
            let rename_in_file = |both: Vec<Record<'static>>| {
                if from == to {
                    let record = winner(both).ok_or_else(no_such_key)?;
                    return Ok((vec![record.clone()], record));
                }
                let (old, taken) = both.into_iter().partition(|record| record.key == from);
                rename(winner(old).ok_or_else(no_such_key)?, winner(taken))
            };
            return self.edit(old_file, Selector::Keys(&both), rename_in_file);
        }
        // Add it to the new file before deleting it from the old one: after a crash it is in both files, not in none.
        let old = self.take(old_file, from, Taken::Kept)?.ok_or_else(no_such_key)?;
        let add = |taken| rename(old.clone(), winner(taken));
        let record = self.edit(new_file, Selector::Keys(&[to.as_bytes()]), add)?;
        self.delete(from)?;
        Ok(record)
    }

    /// Imports breadcrumbs, all or none per file. Missing times become `now`.
    pub(crate) fn import(
        &self,
        mut records: Vec<Record<'static>>,
        on_conflict: OnConflict,
        now: Time,
    ) -> Result<Imported, StoreError> {
        for record in &mut records {
            check_value(&record.key, &record.value)?;
            fill_missing_times(record, now);
        }
        keep_winners(&mut records);
        let mut imported = Imported::default();
        for file in StoreFile::ALL {
            let in_file = records.iter().filter(|record| StoreFile::of_record(&record.key, &record.value) == file);
            let new: HashMap<&[u8], &Record<'static>> = in_file.map(|record| (record.key.as_bytes(), record)).collect();
            if new.is_empty() {
                continue;
            }
            let merge = |mut old: Vec<Record<'static>>| {
                let mut new = new.clone();
                keep_winners(&mut old);
                let found = old.len();
                old.retain(|old| !new.get(old.key.as_bytes()).is_some_and(|new| on_conflict.replaces(old, new)));
                let kept = old.len();
                for old in &old {
                    new.remove(old.key.as_bytes());
                }
                let replaced = found - kept;
                let counts = Imported { added: new.len() - replaced, replaced, kept };
                old.extend(new.into_values().cloned());
                Ok((old, counts))
            };
            let mut keys: Vec<_> = new.keys().copied().collect();
            keys.sort_unstable();
            let counts = self.edit(file, Selector::Keys(&keys), merge)?;
            imported.added += counts.added;
            imported.replaced += counts.replaced;
            imported.kept += counts.kept;
        }
        Ok(imported)
    }

    /// Replaces the selected records by those that `change` returns; returns its result.
    /// `change` is called again if another program changed the file.
    fn edit<T>(
        &self,
        file: StoreFile,
        selector: Selector<'_>,
        change: impl Fn(Vec<Record<'static>>) -> Result<Replacement<T>, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.store.path(file);
        let write_error = |source| FileError::Write { path: path.clone(), source };
        let real = self.store.real_path(file).map_err(write_error)?;
        let folder = real.parent().unwrap_or(&self.store.folder);
        if !folder.exists() {
            let (records, result) = change(Vec::new())?;
            if records.is_empty() {
                return Ok(result);
            }
            self.check_ignored(file, &real)?;
            fs::create_dir_all(folder).map_err(write_error)?;
        }
        let access = if file == StoreFile::Secret { Access::Private } else { Access::Usual };
        let find_part = |file: &File, len| match selector {
            Selector::Keys(keys) if len > LARGE_FILE_LEN => find_part(file, keys),
            _ => Ok(None),
        };
        update_part(&real, STEM, access, find_part, |seen| {
            let is_large = seen.part.is_some() || is_large(&seen.text);
            let selection = Selection::parse(&seen.text, is_large, selector)
                .map_err(|(first, count)| StoreError::InvalidLines { path: path.clone(), first, count })?;
            let (records, result) = change(selection.records())?;
            let new = selection.replace(&records);
            if new.is_some() {
                self.check_ignored(file, &real)?;
            }
            Ok((new, result))
        })
    }

    fn check_ignored(&self, file: StoreFile, path: &Path) -> Result<(), StoreError> {
        if file == StoreFile::Secret && !(self.is_ignored)(path) {
            return Err(StoreError::NotIgnored { path: path.to_owned() });
        }
        Ok(())
    }
}

fn check_value(key: &str, value: &str) -> Result<(), StoreError> {
    if value.len() > MAX_VALUE_LEN {
        return Err(StoreError::ValueTooLong { key: key.to_owned(), len: value.len() });
    }
    Ok(())
}

fn winner(mut records: Vec<Record<'static>>) -> Option<Record<'static>> {
    keep_winners(&mut records);
    records.into_iter().next()
}

fn set_metadata(record: &mut Record<'static>, members: &[(String, String)]) -> Result<(), StoreError> {
    if members.is_empty() {
        return Ok(());
    }
    let at = record.unknown.iter().position(|(name, _)| name == METADATA);
    let text = at.map_or("{}", |at| record.unknown[at].1.get());
    let not_an_object = |_| StoreError::MetadataNotAnObject { key: record.key.to_string() };
    // Raw, so that numbers keep their digits.
    let mut metadata: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).map_err(not_an_object)?;
    for (name, value) in members {
        if value.is_empty() {
            metadata.remove(name);
        } else {
            metadata.insert(name.clone(), to_raw_value(value).map_err(not_an_object)?);
        }
    }
    let raw = to_raw_value(&metadata).map_err(not_an_object)?;
    match at {
        Some(at) if metadata.is_empty() => drop(record.unknown.remove(at)),
        Some(at) => record.unknown[at].1 = Cow::Owned(raw),
        None if metadata.is_empty() => {}
        None => record.unknown.push((METADATA.into(), Cow::Owned(raw))),
    }
    Ok(())
}

fn set_updated(record: &mut Record<'static>, now: Time) {
    let updated = now.after(record.updated());
    record.updated_at = Some(updated.to_string().into());
    record.created_at.get_or_insert_with(|| updated.to_string().into());
}

/// Sets the times that an imported record lacks, or that are invalid.
fn fill_missing_times(record: &mut Record<'static>, now: Time) {
    let created = record.created().or(record.updated()).unwrap_or(now);
    let updated = record.updated().unwrap_or_else(|| now.max(created));
    record.created_at = Some(created.to_string().into());
    record.updated_at = Some(updated.to_string().into());
}
