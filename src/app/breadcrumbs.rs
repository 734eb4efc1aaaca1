//! Writes breadcrumbs for the command line and MCP. Makes git ignore the secrets, and mentions a large file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, absolute};
use std::time::Duration;

use super::context::Context;
use crate::base::error::Result;
use crate::base::folders::create_folders;
use crate::base::replace::{self, Access, FileError, Stem};
use crate::git::Git;
use crate::memory::breadcrumb::encryption::{self, EncryptionError};
use crate::memory::breadcrumb::store::LARGE_FILE_LEN;
use crate::memory::breadcrumb::{Record, Store, StoreFile, Writer};

/// How often a large file is mentioned.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Calls `write`; returns its result and notes for the user.
pub(crate) fn write<T>(
    context: &Context,
    store: &Store,
    git: &Git,
    write: impl FnOnce(&Writer<'_>) -> Result<T>,
) -> Result<(T, Vec<String>)> {
    let notes = RefCell::new(Vec::new());
    // If git cannot tell, the path is not ignored.
    let is_ignored = |path: &Path| {
        let (outer, git) = (git, &git.at(path));
        let is_tracked_above =
            || absolute(outer.folder().join(path)).is_ok_and(|path| Git::that_tracks(&path, false).is_some());
        if outer.tracks(path) || is_tracked_above() {
            return false;
        }
        git.is_ignored(path).unwrap_or(false)
            || ignore(git).is_ok_and(|()| git.is_ignored(path).unwrap_or(false)) && {
                let note = format!("added `{}` to `.git/info/exclude`, so that git ignores secrets", StoreFile::Secret);
                notes.borrow_mut().push(note);
                true
            }
    };
    let result = write(&Writer::new(store, &is_ignored))?;
    let mut notes = notes.into_inner();
    notes.extend(large_file(context, store));
    Ok((result, notes))
}

/// The value to store under a key: encrypted if it is a secret and there are recipients.
pub(crate) fn stored_value<'v>(context: &Context, key: &str, value: &'v str) -> Result<Cow<'v, str>> {
    if StoreFile::of_key(key) == StoreFile::Shared {
        return Ok(value.into());
    }
    let recipients = context.repo()?.config()?.texts("trace.ageRecipient")?;
    if recipients.is_empty() { Ok(value.into()) } else { Ok(encryption::encrypt(key, value, &recipients)?.into()) }
}

/// The record with its value as it was set.
pub(crate) fn decrypted(context: &Context, record: Record<'static>) -> Result<Record<'static>> {
    // Somebody who cannot read a secret may have put its ciphertext under a key whose value nobody keeps from others.
    if StoreFile::of_key(&record.key) == StoreFile::Shared || !encryption::is_encrypted(&record.value) {
        return Ok(record);
    }
    let repo = context.repo()?;
    let key = &*record.key;
    let Some(path) = repo.config()?.text("trace.ageIdentity")? else {
        return Err(EncryptionError::NoIdentity { key: key.to_owned() }.into());
    };
    let refused = |source| EncryptionError::Identities { key: key.to_owned(), path: (&path).into(), source };
    let identity = repo.configured_file(&path).map_err(refused)?;
    let value = encryption::decrypt(key, &record.value, identity)?;
    Ok(Record { value: value.into(), ..record })
}

/// Adds the name of the file with the secrets to the excludes of this repository.
fn ignore(git: &Git) -> Result<()> {
    let exclude = git.path(&["rev-parse", "--git-path", "info/exclude"])?;
    let failed = |source| FileError::Write { path: exclude.clone(), source };
    create_folders(exclude.parent().unwrap_or(git.folder())).map_err(failed)?;
    replace::update::<(), FileError>(&exclude, Stem(".exclude"), Access::Usual, |seen| {
        let name = StoreFile::Secret.file_name();
        if seen.text.split(|byte| *byte == b'\n').any(|line| line == name.as_bytes()) {
            return Ok((None, ()));
        }
        let mut text = seen.text.clone();
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend(name.bytes());
        text.push(b'\n');
        Ok((Some(vec![text.into()]), ()))
    })?;
    Ok(git.share_file(&exclude)?)
}

/// A warning about a large file, once a day in each repository.
pub(crate) fn large_file(context: &Context, store: &Store) -> Option<String> {
    let len_of = |file: &StoreFile| fs::metadata(store.path(*file)).map_or(0, |metadata| metadata.len());
    let file = StoreFile::ALL.into_iter().find(|file| len_of(file) > LARGE_FILE_LEN)?;
    let stamp = context.repo().ok()?.common_dir().join("trace/breadcrumbs-large");
    let age = fs::metadata(&stamp).and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
    if age.is_some_and(|age| age < A_DAY) {
        return None;
    }
    // Without the stamp, the next write says it again.
    let _ = create_folders(stamp.parent()?).and_then(|()| fs::write(&stamp, ""));
    Some(format!("warning: `{file}` has {} bytes, more than 1 MiB; delete unused breadcrumbs", len_of(&file)))
}
