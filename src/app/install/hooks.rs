//! The hooks of git that judge what is about to be committed.
//!
//! Each is a script of the project's folder `hooks/`, put where git looks (`git rev-parse --git-path hooks`). Its second line
//! holds a digest of the rest, so that any version of us knows its own, and what somebody changed is left alone. A hook that
//! was there before is kept beside it as `<name>.before-git-trace`, is run first, and comes back at the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::config::shell_word;
use super::{Action, InstallError, Mode, Scope, Setup, Step};
use crate::base::replace::{self, Access};
use crate::git::{Git, GitError};

/// The hooks, by the name that git calls them by.
pub(crate) const HOOKS: [(&str, &str); 2] = [
    ("pre-commit", include_str!("../../../hooks/pre-commit")),
    ("pre-merge-commit", include_str!("../../../hooks/pre-merge-commit")),
];

/// What a hook that was there before is called.
pub(crate) const BEFORE: &str = ".before-git-trace";

const MARK: &str = "# git-trace: hook ";
/// What the mark adds where there was no folder for hooks.
const NEW_FOLDER: &str = " (in a new folder)";

/// Where git looks for hooks, and whether they are this repository's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// They are, or its user said so for this repository.
    Own(PathBuf),
    /// Hooks of all the user's repositories are there, or those of a tool that writes them anew.
    Foreign(PathBuf),
}

impl Place {
    /// Asks git.
    pub(crate) fn find(git: &Git) -> Result<Self, GitError> {
        let folder = git.folder().join(git.line(&["rev-parse", "--git-path", "hooks"])?);
        let answer = git.ask(&["config", "--show-scope", "--get", "core.hooksPath"])?;
        let scope = String::from_utf8_lossy(&answer.stdout).into_owned();
        let is_everywhere = answer.code == Some(0) && (scope.starts_with("global") || scope.starts_with("system"));
        // Husky keeps its own there and writes them anew; a line in `.husky/pre-commit` is its way.
        let is_husky = folder.ends_with(".husky/_");
        Ok(if is_everywhere || is_husky { Self::Foreign(folder) } else { Self::Own(folder) })
    }
}

/// What stands where a hook is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    Nothing,
    Ours,
    /// Somebody else's, or ours changed by hand.
    Theirs,
}

/// Tells what stands at a path.
#[must_use]
pub(crate) fn standing(path: &Path) -> Standing {
    if path.symlink_metadata().is_err() {
        return Standing::Nothing;
    }
    match fs::read_to_string(path) {
        Ok(text) if own_mark(&text).is_some() => Standing::Ours,
        _ => Standing::Theirs,
    }
}

/// The note of our mark, if the text is one that we wrote.
fn own_mark(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let (mark, rest) = rest.split_once('\n')?;
    let mark = mark.strip_prefix(MARK)?;
    let (digest, note) = mark.split_at_checked(16)?;
    (digest == digest_of(first, rest)).then_some(note)
}

fn digest_of(first: &str, rest: &str) -> String {
    let mut digits = blake3::hash(format!("{first}\n{rest}").as_bytes()).to_hex().to_string();
    digits.truncate(16);
    digits
}

/// The script of a hook that calls `program`.
#[must_use]
pub(crate) fn script(template: &str, program: &str, in_new_folder: bool) -> String {
    let text = template.replacen("git_trace=git-trace\n", &format!("git_trace={}\n", shell_word(program)), 1);
    let (first, rest) = text.split_once('\n').unwrap_or(("#!/bin/sh", &text));
    let note = if in_new_folder { NEW_FOLDER } else { "" };
    format!("{first}\n{MARK}{}{note}\n{rest}", digest_of(first, rest))
}

/// Puts the hooks where git looks, in front of those that are there.
pub(crate) fn install(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    if setup.scope != Scope::Local {
        return Ok(Vec::new());
    }
    let folder = match Place::find(&setup.git)? {
        Place::Own(folder) => folder,
        Place::Foreign(folder) => {
            let what = folder.display().to_string();
            return Ok(vec![Step { action: Action::LeftAlone, what }]);
        }
    };
    // An install that was stopped leaves it empty.
    let mut is_new = fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    let mut steps = Vec::new();
    for (name, template) in HOOKS {
        let path = folder.join(name);
        let old = fs::read_to_string(&path).unwrap_or_default();
        is_new |= own_mark(&old) == Some(NEW_FOLDER);
        let new = script(template, &setup.program, is_new);
        let before = before(&path);
        let action = match standing(&path) {
            Standing::Ours if old == new => Action::Kept,
            Standing::Ours => Action::Updated,
            // Two cannot be kept; an install that was stopped leaves one under both names.
            Standing::Theirs if before.symlink_metadata().is_ok() && !is_same(&path, &before) => Action::LeftAlone,
            Standing::Theirs | Standing::Nothing => Action::Added,
        };
        if setup.mode == Mode::Write && matches!(action, Action::Added | Action::Updated) {
            let put = || {
                fs::create_dir_all(&folder)?;
                if standing(&path) == Standing::Theirs && before.symlink_metadata().is_err() {
                    // Under both names for a moment, so that at none there is no hook; not every file system can.
                    fs::hard_link(&path, &before).or_else(|error| match error.kind() {
                        // Another install was here meanwhile: by now it is ours that stands at the path.
                        io::ErrorKind::AlreadyExists => Err(error),
                        _ => fs::rename(&path, &before),
                    })?;
                }
                replace::put(&path, Access::Program, new.as_bytes())
            };
            put().map_err(|source| InstallError::Hook { path: path.clone(), source })?;
        }
        steps.push(Step { action, what: path.display().to_string() });
    }
    Ok(steps)
}

/// Takes the hooks away, and puts back those that were there before.
pub(crate) fn uninstall(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    if setup.scope != Scope::Local {
        return Ok(Vec::new());
    }
    let (Place::Own(folder) | Place::Foreign(folder)) = Place::find(&setup.git)?;
    let mut steps = Vec::new();
    let mut was_new = false;
    for (name, _) in HOOKS {
        let path = folder.join(name);
        let before = before(&path);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let action = match own_mark(&text) {
            Some(note) => {
                was_new |= note == NEW_FOLDER;
                Action::Removed
            }
            // Somebody changed ours, or put theirs in front of it.
            None if text.contains(MARK) || before.symlink_metadata().is_ok() => Action::LeftAlone,
            None => continue,
        };
        if setup.mode == Mode::Write && action == Action::Removed {
            let has_before = before.symlink_metadata().is_ok();
            let undone = if has_before { fs::rename(&before, &path) } else { fs::remove_file(&path) };
            undone.map_err(|source| InstallError::Hook { path: path.clone(), source })?;
        }
        steps.push(Step { action, what: path.display().to_string() });
    }
    if was_new && setup.mode == Mode::Write {
        // Where others put something into it, it stays.
        let _ = fs::remove_dir(&folder);
    }
    Ok(steps)
}

/// Whether two files say the same, so that losing one of them loses nothing.
fn is_same(path: &Path, other: &Path) -> bool {
    matches!((fs::read(path), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BEFORE);
    PathBuf::from(name)
}
