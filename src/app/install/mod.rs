//! Setting git up: which driver merges which files, in config and attributes; and [`agent`]s, to record their sessions.
//!
//! The config gets the sections `merge.trace` and `diff.trace-crumb`; the attributes get a block of lines between two comments. Both can be written
//! any number of times and taken back to the byte: next to the config stands a record of what was written, a digest for
//! each value, and the block's first comment says how the file was before. What is not ours by these is left alone.

pub(crate) mod agent;
pub(crate) mod attributes;
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod forward;
pub(crate) mod hooks;
pub(crate) mod owned;
mod place;
mod plain_json;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::{Git, GitError};

pub(crate) use config::Scope;

/// What a set-up is made of.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub git: Git,
    pub scope: Scope,
    /// The file of attributes that is written.
    pub attributes: PathBuf,
    /// What the driver's command starts with: a name on the path or a path, see [`config::driver`].
    pub program: String,
    pub mode: Mode,
    /// Whether git's hooks are part of it.
    pub hooks: Hooks,
}

/// Whether git's hooks are part of a set-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hooks {
    /// They are, where the set-up is that of one repository.
    With,
    /// Somebody else calls `git trace hook`.
    Without,
}

/// Whether a plan is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Write,
    DryRun,
}

/// One thing that was done, or found as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub action: Action,
    pub what: String,
}

/// What was done to a config key or a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// It was not there before.
    Added,
    /// An older value of ours was replaced.
    Updated,
    Kept,
    /// It is somebody else's, and other than ours would be.
    LeftAlone,
    Removed,
}

impl Action {
    /// The word it is told with.
    #[must_use]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Kept => "kept",
            Self::LeftAlone => "left alone",
            Self::Removed => "removed",
        }
    }
}

/// Why a set-up could not be made.
#[derive(Debug, Error)]
pub(crate) enum InstallError {
    /// Git could not be asked, or refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file of attributes could not be read or written.
    #[error("cannot write `{}`", path.display())]
    Attributes { path: PathBuf, source: io::Error },
    /// The settings of an agent or of another client could not be read, written or added to.
    #[error("cannot change `{}`: {cause}", path.display())]
    Settings { path: PathBuf, cause: String },
    /// A hook could not be read, written or put back.
    #[error("cannot write the hook `{}`", path.display())]
    Hook { path: PathBuf, source: io::Error },
    /// Git does not follow symbolic links there.
    #[error("`{}` is a symbolic link, which git does not follow there", path.display())]
    Symlink { path: PathBuf },
}

impl Diagnostic for InstallError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            _ => None,
        }
    }
}

/// Sets git up. Doing it again changes nothing.
pub(crate) fn install(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let mut steps = config::install(setup)?;
    let old = read_attributes(&setup.attributes)?;
    let new = attributes::with_block(old.as_deref());
    let has_block = old.as_deref().is_some_and(attributes::has_block);
    let action = match new {
        None => Action::Kept,
        Some(_) if has_block => Action::Updated,
        Some(_) => Action::Added,
    };
    if let Some(new) = new {
        write_attributes(setup, Some(&new))?;
    }
    steps.push(Step { action, what: setup.attributes.display().to_string() });
    if setup.hooks == Hooks::With {
        steps.extend(hooks::install(setup)?);
    }
    Ok(steps)
}

/// Takes back what [`install`] wrote, and nothing else.
pub(crate) fn uninstall(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let mut steps = config::uninstall(setup)?;
    steps.extend(hooks::uninstall(setup)?);
    if let Some(old) = read_attributes(&setup.attributes)? {
        let new = match attributes::without_block(&old) {
            attributes::Without::Same => return Ok(steps),
            attributes::Without::Nothing => None,
            attributes::Without::Text(new) => Some(new),
        };
        write_attributes(setup, new.as_deref())?;
        steps.push(Step { action: Action::Removed, what: setup.attributes.display().to_string() });
    }
    Ok(steps)
}

fn read_attributes(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if is_link && path.file_name().is_some_and(|name| name == ".gitattributes") {
        return Err(InstallError::Symlink { path: path.to_owned() });
    }
    read_file(path)
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    match crate::base::bounded::read_file(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(InstallError::Attributes { path: path.to_owned(), source }),
    }
}

/// Puts a text in the place of the file at once, or removes the file.
fn write_attributes(setup: &Setup, text: Option<&[u8]>) -> Result<(), InstallError> {
    if setup.mode == Mode::DryRun {
        return Ok(());
    }
    put_file(&setup.attributes, text)
}

/// Puts a text in the place of the file at once, or removes the file.
fn put_file(path: &Path, text: Option<&[u8]>) -> Result<(), InstallError> {
    place::put(path, text).map_err(|source| InstallError::Attributes { path: path.to_owned(), source })
}
