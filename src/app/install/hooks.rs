//! The git hooks that check what is about to be committed.
//!
//! Each is a script of the project's folder `hooks/`, installed in the folder of `git rev-parse --git-path hooks`. Its second
//! line has a digest of the rest, by which any version recognizes its own. A hook that somebody changed is left alone. A hook
//! that was there before is renamed to `<name>.before-git-trace`, runs first, and is restored at the end.

mod husky;

use std::fs;
use std::path::{Path, PathBuf};
use std::{io, iter};

use super::{Action, InstallError, Mode, Scope, Setup, Step, digest};
use crate::base::bounded;
use crate::base::escape::shell_word;
use crate::base::folders::create_folders;
use crate::base::replace::{self, Access};
use crate::base::worktree_path::{MAX_LINKS, check_regular};
use crate::git::{Git, Worktrees};

pub(crate) const HOOKS: [(&str, &str); 2] = [
    ("pre-commit", include_str!("../../../hooks/pre-commit")),
    ("pre-merge-commit", include_str!("../../../hooks/pre-merge-commit")),
];

const BEFORE: &str = ".before-git-trace";
/// The ends of the names to which tools move the hook that they find. The tool pre-commit calls the first.
const MOVED: [&str; 2] = ["legacy", "old"];

/// Configurations of hook managers.
pub(super) const MANAGERS: [&str; 7] = [
    ".pre-commit-config.yaml",
    "prek.toml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "lefthook.toml",
];

/// The line for hooks of others. It does nothing where there is no git-trace.
pub(crate) const CALL: &str = "if command -v git-trace >/dev/null; then git-trace hook pre-commit || exit; fi";

const MARK: &str = "# git-trace: hook ";
/// Follows the digest if there was no folder for hooks.
const NEW_FOLDER: &str = " (in a new folder)";

pub(crate) struct HookFolder {
    pub(crate) path: PathBuf,
    /// Whether it belongs to this repository, and not to all of the user's.
    is_own: bool,
    /// Git's own folder, if another one is configured: an earlier install may have written there. Users may share that folder.
    default: Option<PathBuf>,
    /// The folder in which husky finds the project's hooks. It rewrites the folder that git uses.
    pub(crate) husky: Option<PathBuf>,
}

impl HookFolder {
    /// The user may configure any folder, or make git's own a link to any, but a link in the work tree comes from the repository.
    pub(crate) fn find(git: &Git) -> Result<Self, InstallError> {
        let answer = git.ask(&["config", "--show-scope", "--type=path", "--get", "core.hooksPath"])?;
        let configured = String::from_utf8_lossy(&answer.stdout).into_owned();
        let configured = configured.split_once('\t');
        let path = match configured {
            // Git searches the root of the file system.
            Some((_, "\n")) => PathBuf::from("/"),
            // Without a slash at the end: nothing exists at `/dev/null/`.
            _ => git.path(&["rev-parse", "--git-path", "hooks"])?.components().collect(),
        };
        let husky = if path.ends_with(".husky/_") { path.parent().map(Path::to_owned) } else { None };
        let default = Some(git.path(&["rev-parse", "--git-common-dir"])?.join("hooks")).filter(|own| *own != path);
        check_links(git, [Some(&path), husky.as_ref()].into_iter().flatten())?;
        let Some((scope, _)) = configured else {
            return Ok(Self { path, is_own: true, default: None, husky: None });
        };
        let is_everywhere = scope == "global" || scope == "system";
        Ok(Self { path, is_own: !is_everywhere, default, husky })
    }
}

/// Fails for a link in a work tree that leads out of it on the way to a hook in one of these folders.
fn check_links<'p>(git: &Git, folders: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), InstallError> {
    let (root, common_dir) = (git.toplevel().ok(), git.path(&["rev-parse", "--git-common-dir"])?);
    let failed = |path: &Path, source| InstallError::Write { path: path.to_owned(), source };
    let mut worktrees = Worktrees::new(root.as_deref(), &common_dir).map_err(|source| failed(&common_dir, source))?;
    for hook in folders.into_iter().flat_map(|folder| HOOKS.map(|(name, _)| folder.join(name))) {
        for path in MOVED.map(|end| hook.with_extension(end)).into_iter().chain([before(&hook), hook]) {
            worktrees.check(&path).map_err(|source| failed(&path, source))?;
        }
    }
    Ok(())
}

impl HookFolder {
    /// Fails if a sparse checkout leaves out a hook in the folder, or the file behind a hook of husky. Other hooks that are links are
    /// replaced by files.
    pub(super) fn check_checked_out(&self, git: &Git) -> Result<(), InstallError> {
        git.check_checked_out(self.husky.as_ref().unwrap_or(&self.path))?;
        let mut in_husky = self.husky.iter().flat_map(|husky| HOOKS.map(|(name, _)| husky.join(name)));
        Ok(in_husky.try_for_each(|hook| git.check_checked_out(&hook))?)
    }

    /// What to do if the folder serves other repositories, too, or is none; `None` if it is this repository's own.
    pub(crate) fn remedy(&self) -> Option<String> {
        let path = self.path.display();
        let rest = "so git runs no hook of this repository; run `git trace check --staged` before a commit";
        if self.path.parent().is_none() {
            return Some(format!("`core.hooksPath` is empty or `/`, {rest}"));
        }
        if self.path.ancestors().find(|above| above.exists()).is_some_and(|above| !above.is_dir()) {
            return Some(format!("`{path}` is no folder, {rest}"));
        }
        (!self.is_own).then(|| {
            format!(
                "`core.hooksPath` is `{path}` for all repositories, so no hook is added there; run `git trace check --staged` before a \
                 commit, or add the line `{CALL}` to the hooks pre-commit and pre-merge-commit in it"
            )
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookOwner {
    Nobody,
    Ours,
    Theirs,
}

pub(crate) fn owner(path: &Path) -> HookOwner {
    if path.symlink_metadata().is_err() {
        return HookOwner::Nobody;
    }
    match text(path) {
        Some(text) if own_mark(&text).is_some() => HookOwner::Ours,
        _ => HookOwner::Theirs,
    }
}

fn text(hook: &Path) -> Option<String> {
    String::from_utf8(read(hook).ok()?).ok()
}

fn read(hook: &Path) -> io::Result<Vec<u8>> {
    check_regular(hook)?;
    bounded::read_file(hook)
}

fn own_mark(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let (mark, rest) = rest.split_once('\n')?;
    let (digest, note) = mark.strip_prefix(MARK)?.split_at_checked(16)?;
    (digest == digest_of(first, rest)).then_some(note)
}

fn digest_of(first: &str, rest: &str) -> String {
    digest(format!("{first}\n{rest}").as_bytes(), 16)
}

/// The script of a hook that calls `program`. `note` follows the digest.
fn script(template: &str, program: &str, note: &str) -> String {
    let text = template.replacen("git_trace=git-trace\n", &format!("git_trace={}\n", shell_word(program)), 1);
    let (first, rest) = text.split_once('\n').unwrap_or(("#!/bin/sh", &text));
    format!("{first}\n{MARK}{}{note}\n{rest}", digest_of(first, rest))
}

/// The folder for hooks, if the setup is that of one repository.
pub(crate) fn folder(setup: &Setup) -> Result<Option<HookFolder>, InstallError> {
    if setup.scope == Scope::Local { HookFolder::find(&setup.git).map(Some) } else { Ok(None) }
}

pub(crate) fn install(setup: &Setup, folder: &HookFolder) -> Result<Vec<Step>, InstallError> {
    if let Some(remedy) = folder.remedy() {
        return Ok(vec![Step { hint: Some(remedy), ..Step::on(Action::LeftAlone, &folder.path) }]);
    }
    if let Some(husky) = &folder.husky {
        let mut paths: Vec<(PathBuf, &str)> = Vec::new();
        for (name, _) in HOOKS {
            let path = in_husky(husky, name)?;
            // One may be a link to the other.
            if paths.iter().all(|(other, _)| *other != path) {
                paths.push((path, name));
            }
        }
        return paths.iter().map(|(path, name)| husky::install(setup, path, name)).collect();
    }
    let linked = linked_to_each_other(&folder.path);
    // An interrupted install leaves it empty.
    let mut is_new = fs::read_dir(&folder.path).map_or(true, |mut entries| entries.next().is_none());
    let mut steps = Vec::new();
    for (name, template) in HOOKS {
        let path = folder.path.join(name);
        // The tool pre-commit moved ours there, and calls it.
        let path = Some(legacy(&path)).filter(|legacy| is_moved(legacy)).unwrap_or(path);
        let old = text(&path).unwrap_or_default();
        is_new |= own_mark(&old) == Some(NEW_FOLDER);
        let new = script(template, &setup.program, if is_new { NEW_FOLDER } else { "" });
        let before = before(&path);
        let action = match owner(&path) {
            _ if linked => Action::LeftAlone,
            HookOwner::Ours if old == new => Action::Kept,
            HookOwner::Ours => Action::Updated,
            HookOwner::Theirs if is_blocked(&path) => Action::LeftAlone,
            HookOwner::Theirs | HookOwner::Nobody => Action::Added,
        };
        if setup.mode == Mode::Write && matches!(action, Action::Added | Action::Updated) {
            let put = || {
                create_folders(&replace::real_path(&folder.path)?)?;
                if owner(&path) == HookOwner::Theirs && before.symlink_metadata().is_err() {
                    // It has both names for a moment, so that there is always a hook. Not every file system can do that.
                    fs::hard_link(&path, &before).or_else(|error| match error.kind() {
                        // Another install was faster: the hook at the path is ours by now.
                        io::ErrorKind::AlreadyExists => Err(error),
                        _ => fs::rename(&path, &before),
                    })?;
                }
                replace::put(&path, Access::Program, new.as_bytes())
            };
            put().map_err(|source| InstallError::Write { path: path.clone(), source })?;
            if folder.default.is_none() {
                setup.git.share_file(&path)?;
            }
        }
        let hint = (action == Action::LeftAlone).then(|| format!("add the line `{CALL}` to `{}`", path.display()));
        steps.push(Step { hint, ..Step::on(action, &path) });
    }
    Ok(steps)
}

pub(crate) fn uninstall(setup: &Setup, folder: &HookFolder) -> Result<Vec<Step>, InstallError> {
    let mut steps = Vec::new();
    if let Some(husky) = &folder.husky {
        for (name, _) in HOOKS {
            steps.extend(husky::uninstall(setup, &in_husky(husky, name)?)?);
        }
    } else {
        steps.extend(uninstall_from(setup, &folder.path)?);
    }
    if let Some(default) = &folder.default {
        check_links(&setup.git, [default])?;
        steps.extend(uninstall_from(setup, default)?);
    }
    Ok(steps)
}

fn uninstall_from(setup: &Setup, folder: &Path) -> Result<Vec<Step>, InstallError> {
    let mut steps = Vec::new();
    let mut was_new = false;
    for (name, _) in HOOKS {
        let hook = folder.join(name);
        let before = before(&hook);
        let moved = || MOVED.map(|end| hook.with_extension(end)).into_iter().filter(|path| is_moved(path));
        // A hook from before ours takes its place.
        let path = Some(&hook).filter(|hook| owner(hook) == HookOwner::Ours).cloned().or_else(|| moved().next());
        let path = path.unwrap_or_else(|| hook.clone());
        let others: Vec<_> = moved().filter(|other| *other != path).collect();
        let has_before = before.symlink_metadata().is_ok();
        let Some(text) = text(&path) else { continue };
        let action = match own_mark(&text) {
            Some(note) => {
                was_new |= note == NEW_FOLDER;
                Action::Removed
            }
            // Somebody changed ours, or put theirs in front of it.
            None if text.contains(MARK) || has_before => Action::LeftAlone,
            None => continue,
        };
        if setup.mode == Mode::Write && action == Action::Removed {
            // The tool that moved ours would call itself.
            let is_its_own = has_before && path != hook && is_same(&before, &hook);
            let undone = match has_before {
                true if is_its_own => fs::remove_file(&before).and_then(|()| fs::remove_file(&path)),
                true => fs::rename(&before, &path),
                false => fs::remove_file(&path),
            };
            undone.map_err(|source| InstallError::Write { path: path.clone(), source })?;
        }
        steps.push(Step::on(action, &path));
        for other in others {
            if setup.mode == Mode::Write {
                fs::remove_file(&other).map_err(|source| InstallError::Write { path: other.clone(), source })?;
            }
            steps.push(Step::on(Action::Removed, &other));
        }
    }
    if was_new && setup.mode == Mode::Write {
        // It is kept if others put something into it.
        let _ = fs::remove_dir(folder);
    }
    Ok(steps)
}

/// Whether one of the hooks is a link to another one, which it would run under a name that has no hook from before.
fn linked_to_each_other(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let paths = HOOKS.map(|(name, _)| folder.join(name));
    // The other one need not exist.
    let next = |link: &Path| {
        let target = link.parent()?.join(fs::read_link(link).ok()?);
        Some(target.parent()?.canonicalize().ok()?.join(target.file_name()?))
    };
    let chain = |path| iter::successors(next(path), |place| next(place)).take(MAX_LINKS);
    paths.iter().flat_map(|path| chain(path)).any(|place| paths.contains(&place))
}

/// Whether a tool moved a hook of ours there. A link is the user's.
fn is_moved(path: &Path) -> bool {
    !path.is_symlink() && owner(path) == HookOwner::Ours
}

/// Whether `install` leaves a hook of others alone.
pub(crate) fn is_left_alone(path: &Path) -> bool {
    is_blocked(path) || path.parent().is_some_and(linked_to_each_other)
}

/// Whether both a hook and one from before ours are others'. Only one can be kept. An interrupted install leaves one under both names.
fn is_blocked(path: &Path) -> bool {
    let (before, target) = (before(path), |path: &Path| fs::read_link(path).ok());
    // A link to the hook has its text, too.
    let is_interrupted = || target(path) == target(&before) && is_same(path, &before);
    path.is_dir() || (before.symlink_metadata().is_ok() && !is_interrupted())
}

/// Whether two files are equal, so that losing one of them loses nothing.
fn is_same(path: &Path, other: &Path) -> bool {
    matches!((read(path), read(other)), (Ok(one), Ok(other)) if one == other)
}

/// The project's own hook of husky, which may be a link.
fn in_husky(folder: &Path, name: &str) -> Result<PathBuf, InstallError> {
    let path = folder.join(name);
    replace::real_path(&path).map_err(|source| InstallError::Write { path, source })
}

/// Where the tool pre-commit moves the hook that it finds.
pub(crate) fn legacy(path: &Path) -> PathBuf {
    path.with_extension(MOVED[0])
}

fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BEFORE);
    PathBuf::from(name)
}
