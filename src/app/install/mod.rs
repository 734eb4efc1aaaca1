//! Setting up git, and the programs that work with it.
//!
//! - git: the sections `merge.trace` and `diff.trace-crumb` of its [`config`], lines in a file of [`attributes`], and [`hooks`]
//! - [`agent`]s, which record their sessions by hooks, and [`client`]s, which start the MCP server
//! - [`owned`] files: manual pages and shell [`completions`]
//!
//! Each can be installed repeatedly, and uninstalled byte for byte: what we write is marked with a digest, a comment, or a note
//! of the original. Everything else is left alone.

pub(crate) mod agent;
pub(crate) mod attributes;
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod hooks;
pub(crate) mod json_text;
pub(crate) mod owned;

use std::cell::LazyCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::folders::create_folders;
use crate::base::replace::{self, Access, FileError, FileSnapshot, STEM, real_path};
use crate::base::worktree_path::{check_configured, resolve};
use crate::git::{Git, GitError};

pub(crate) use config::Scope;

pub(crate) struct Setup {
    pub(crate) git: Git,
    pub(crate) scope: Scope,
    pub(crate) attributes: PathBuf,
    /// How the driver's command starts: a name on the path or a path, see [`config::driver`].
    pub(crate) program: String,
    pub(crate) mode: Mode,
    /// Whether to install git's hooks, if the setup is that of one repository.
    pub(crate) hooks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    DryRun,
}

/// A change, or the reason why there was none, for a config key or a file.
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) what: String,
    /// What to do about it, if that is special.
    pub(crate) hint: Option<String>,
}

impl Step {
    fn on(action: Action, path: &Path) -> Self {
        Self { action, what: path.display().to_string(), hint: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Added,
    Updated,
    Kept,
    LeftAlone,
    Removed,
}

impl Action {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Kept => "kept",
            Self::LeftAlone => "left alone",
            Self::Removed => "removed",
        }
    }

    /// In a dry run.
    pub(crate) fn as_intended(self) -> &'static str {
        match self {
            Self::Added => "would add",
            Self::Updated => "would update",
            Self::Removed => "would remove",
            Self::Kept | Self::LeftAlone => self.as_str(),
        }
    }
}

#[derive(Debug, Error)]
pub(crate) enum InstallError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The content of a settings file does not allow the change.
    #[error("cannot change `{}`: {cause}", path.display())]
    Settings { path: PathBuf, cause: String },
}

fn refused(path: &Path, cause: impl Into<String>) -> InstallError {
    InstallError::Settings { path: path.to_owned(), cause: cause.into() }
}

impl Diagnostic for InstallError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::File(error) => Some(error),
            _ => None,
        }
    }
}

pub(crate) fn install(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    // A refused folder must not stop an installation in between.
    setup.git.check_checked_out(&setup.attributes)?;
    let hooks = if setup.hooks { hooks::folder(setup)? } else { None };
    if let Some(folder) = &hooks {
        folder.check_checked_out(&setup.git)?;
    }
    let mut steps = config::install(setup)?;
    let old = read_attributes(&setup.attributes)?;
    let action = match attributes::with_block(old.as_deref()) {
        None => Action::Kept,
        Some(new) => {
            put_file(&setup.attributes, old.as_deref(), Some(&new), setup.mode)?;
            if setup.mode == Mode::Write && setup.attributes.ends_with("info/attributes") {
                setup.git.share_file(&setup.attributes)?;
            }
            if old.is_some_and(|old| attributes::has_block(&old)) { Action::Updated } else { Action::Added }
        }
    };
    steps.push(Step::on(action, &setup.attributes));
    if let Some(folder) = hooks {
        steps.extend(hooks::install(setup, &folder)?);
    }
    Ok(steps)
}

pub(crate) fn uninstall(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let hooks = hooks::folder(setup)?;
    let mut steps = config::uninstall(setup)?;
    if let Some(folder) = hooks {
        steps.extend(hooks::uninstall(setup, &folder)?);
    }
    let old = read_attributes(&setup.attributes)?;
    if let Some(rest) = old.as_deref().and_then(attributes::without_block) {
        let is_shared = is_committed(setup)?;
        let action = match &rest {
            _ if is_shared => Action::Kept,
            Some(_) => Action::Updated,
            None => Action::Removed,
        };
        if !is_shared {
            put_file(&setup.attributes, old.as_deref(), rest.as_deref(), setup.mode)?;
        }
        let hint = "`.gitattributes` is committed, so it stays; clones without git-trace merge these files as text";
        let hint = is_shared.then(|| hint.to_owned());
        steps.push(Step { hint, ..Step::on(action, &setup.attributes) });
    }
    Ok(steps)
}

/// Whether the attributes are those of the project, not only of this clone.
fn is_committed(setup: &Setup) -> Result<bool, InstallError> {
    if setup.attributes.file_name().is_none_or(|name| name != ".gitattributes") {
        return Ok(false);
    }
    let committed = setup.git.ask(&["cat-file", "blob", "HEAD:.gitattributes"])?;
    Ok(committed.code == Some(0) && attributes::has_block(&committed.stdout))
}

fn read_attributes(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if is_link && path.file_name().is_some_and(|name| name == ".gitattributes") {
        return Err(refused(path, "it is a symbolic link, which git does not follow"));
    }
    read_file(path)
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let seen = replace::read(path).map_err(|source| InstallError::Write { path: path.to_owned(), source })?;
    Ok(seen.version.map(|_| seen.text))
}

/// The real path of a file of the work tree.
fn in_worktree(root: &Path, file: &str) -> Result<PathBuf, InstallError> {
    let path = resolve(root, file).map_err(|source| InstallError::Write { path: root.join(file), source })?;
    Git::in_folder(root).check_checked_out(&path)?;
    Ok(path)
}

/// A file of the user's settings or data, which may be in a clone: no link that git tracks there leads out of it, and it is not left out of a
/// sparse checkout.
pub(crate) fn of_user(path: PathBuf) -> Result<PathBuf, InstallError> {
    // The home may be a work tree that variables or settings name, as those of dotfiles often are.
    let is_in = |root: &PathBuf| path.ancestors().any(|folder| folder.canonicalize().is_ok_and(|real| real == *root));
    let named = LazyCell::new(|| Git::in_folder(".").toplevel().ok().filter(is_in));
    let clone_of = |link: &Path| {
        let named = || named.as_ref().filter(|root| link.starts_with(root) && Git::in_folder(*root).tracks(link));
        Git::that_tracks(link, true).or_else(|| named().cloned())
    };
    if let Err(source) = check_configured(&path, clone_of) {
        return Err(InstallError::Write { path, source });
    }
    let folder = path.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("/"));
    Git::elsewhere(folder).check_checked_out(&path)?;
    if let Some(root) = named.as_deref() {
        Git::in_folder(root).check_checked_out(&path)?;
    }
    Ok(path)
}

fn read_text(path: &Path) -> Result<Option<String>, InstallError> {
    let text = read_file(path)?.map(String::from_utf8).transpose();
    text.map_err(|_| refused(path, "it is not UTF-8"))
}

/// Replaces the file atomically, or removes it. A link is followed, so that it stays one. Fails if the file is no longer `old`, which
/// was read: another command may have added its own entry.
fn put_file(path: &Path, old: Option<&[u8]>, new: Option<&[u8]>, mode: Mode) -> Result<(), InstallError> {
    if mode == Mode::DryRun {
        return Ok(());
    }
    let failed = |source| InstallError::Write { path: path.to_owned(), source };
    let real = real_path(path).map_err(failed)?;
    let check = |seen: &FileSnapshot| -> Result<(), InstallError> {
        let is_old = seen.version.as_ref().map(|_| &*seen.text) == old;
        is_old.then_some(()).ok_or_else(|| FileError::Changing { path: path.to_owned() }.into())
    };
    let Some(new) = new else {
        check(&replace::read(&real).map_err(failed)?)?;
        return fs::remove_file(&real).map_err(failed);
    };
    real.parent().map_or(Ok(()), create_folders).map_err(failed)?;
    replace::update(&real, STEM, Access::Usual, |seen| {
        check(seen)?;
        Ok((Some(vec![new.to_owned().into()]), ()))
    })
}

fn digest(bytes: &[u8], len: usize) -> String {
    blake3::hash(bytes).to_hex()[..len].to_owned()
}
