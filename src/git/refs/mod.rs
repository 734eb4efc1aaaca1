//! Refs: read, moved from the oid that was read, deleted.
//!
//! Refs that are files are read and moved in this process (`packed`, `files`). libgit2 cannot read reftable, so git's own commands
//! do it there (`command`). Opening the repository decides which of them is used.
//!
//! - `git update-ref` deletes refs of both kinds: libgit2 reads packed refs before it locks them, and loses refs while
//!   `git pack-refs` runs.
//! - Refs outside `refs/`, such as `HEAD`, belong to this worktree, or to the one that their name begins with (`worktree`).

mod command;
mod files;
mod packed;
mod reflog;
mod rename;
mod update;
mod worktree;

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use git2::{ConfigLevel, ErrorCode, Repository};

use super::config::is_expanded_by_git;
use super::error::GitError;
use super::ident::Ident;
use super::lock::{LOCK_PATIENCE, Wait};
use super::open::Repo;
use super::operation::{BACKUP_REFS, Move};
use super::process::text_of;
use crate::base::effect;
use crate::git::oid::Oid;
use command::Reading;
pub(super) use command::locked;
pub(super) use files::{STALE_GIT_LOCK, STALE_LOCK, files_below, lock_files, remove_older};
pub(crate) use packed::RefsState;
pub(crate) use reflog::LogEntry;
pub(crate) use update::RefUpdate;

/// Git's hook that sees each move of a ref.
const HOOK: &str = "reference-transaction";

const PAUSE: Duration = Duration::from_millis(5);

pub(super) enum RefStorage {
    Files,
    Reftable(Reading),
}

impl RefStorage {
    /// As in git, only the repository's own configuration counts.
    pub(super) fn of(repository: &Repository) -> Result<Self, GitError> {
        let failed = |source| GitError::store("read the git configuration", source);
        let local = repository.config().and_then(|config| config.open_level(ConfigLevel::Local)).map_err(failed)?;
        check_extensions(&local)?;
        match local.get_string("extensions.refstorage") {
            Ok(storage) => match storage.as_str() {
                "files" => Ok(Self::Files),
                "reftable" => Ok(Self::Reftable(Reading::default())),
                other => Err(GitError::UnknownExtension { extension: format!("refStorage={}", other.escape_debug()) }),
            },
            Err(error) if error.code() == ErrorCode::NotFound => Ok(Self::Files),
            Err(source) => Err(failed(source)),
        }
    }
}

/// Refuses what git refuses and libgit2 accepts.
fn check_extensions(local: &git2::Config) -> Result<(), GitError> {
    const OF_VERSION_1: [&str; 4] = ["noop-v1", "objectformat", "compatobjectformat", "refstorage"];
    let bad = |key: &str, value: &str, expected| {
        Err(GitError::BadSetting { key: key.to_owned(), value: value.to_owned(), expected })
    };
    let (version, promisor) = ("core.repositoryformatversion", "extensions.partialclone");
    if local.get_i32(version).unwrap_or(0) == 0
        && OF_VERSION_1.iter().any(|name| local.get_entry(&format!("extensions.{name}")).is_ok())
    {
        return bad(version, "0", "the version that its extensions need");
    }
    if local.get_entry(promisor).is_ok_and(|entry| !entry.has_value()) {
        return bad(promisor, "", "the name of a remote");
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLine<'a> {
    pub(crate) who: &'a Ident,
    pub(crate) why: &'a str,
}

impl LogLine<'_> {
    fn one_line(&self) -> String {
        self.why.replace(['\n', '\r', '\0'], " ")
    }
}

impl Repo {
    /// Whether git accepts `refname` as the name of a ref.
    pub(crate) fn is_refname(refname: &str) -> bool {
        git2::Reference::is_valid_name(refname)
    }

    /// Whether each ref may have its own file; with reftable none has.
    pub(crate) fn has_refs_as_files(&self) -> bool {
        matches!(self.refs, RefStorage::Files)
    }

    /// Follows symbolic refs.
    pub(crate) fn find_ref(&self, refname: &str) -> Result<Option<Oid>, GitError> {
        match &self.refs {
            RefStorage::Files => self.find_file(refname),
            RefStorage::Reftable(reading) => reading.find(self, refname),
        }
    }

    /// The object that `rev` names in git's notation. A complete oid is not looked up.
    ///
    /// Git resolves other names, because libgit2 never returns from a truncated commit on the way.
    pub(super) fn resolve(&self, rev: &str) -> Result<Option<Oid>, GitError> {
        match Oid::parse(rev, self.object_format()) {
            Some(oid) => Ok(Some(oid)),
            None => self.resolve_by_git(rev),
        }
    }

    /// The next call of git asks for this ref as well.
    pub(crate) fn expect_ref(&self, refname: &'static str) {
        if let RefStorage::Reftable(reading) = &self.refs {
            reading.expect(refname);
        }
    }

    pub(crate) fn note_there(&self, refname: &str) {
        if !self.seen.borrow().contains(refname) {
            self.seen.borrow_mut().insert(refname.to_owned());
        }
    }

    /// Notes where a ref is, `again` if this was noted before.
    pub(crate) fn watch_ref(&self, refname: &'static str, again: bool) -> Result<(), GitError> {
        if again || !self.watched.borrow().contains_key(refname) {
            let oid = self.find_ref(refname)?;
            self.watched.borrow_mut().insert(refname, oid);
        }
        Ok(())
    }

    /// This process has moved a ref.
    pub(crate) fn take_note_along(&self, refname: &str, old: Option<Oid>, new: Oid) {
        if let Some(noted) = self.watched.borrow_mut().get_mut(refname).filter(|noted| **noted == old) {
            *noted = Some(new);
        }
    }

    /// Whether another process has moved the ref since it was noted. False if it was not.
    pub(crate) fn has_moved(&self, refname: &'static str) -> Result<bool, GitError> {
        let noted = self.watched.borrow().get(refname).copied();
        Ok(match noted {
            Some(noted) => self.find_ref(refname)? != noted,
            None => false,
        })
    }

    /// Whether the ref existed and was not deleted through this [`Repo`]: if it is missing, another process renamed or deleted it.
    pub(crate) fn was_there(&self, refname: &str) -> bool {
        self.seen.borrow().contains(refname)
    }

    /// The target of a symbolic ref, which need not exist.
    pub(crate) fn find_symbolic_ref(&self, refname: &str) -> Result<Option<String>, GitError> {
        match &self.refs {
            RefStorage::Files => self.find_symbolic_file(refname),
            RefStorage::Reftable(reading) => reading.find_symbolic(self, refname),
        }
    }

    /// Moves a symbolic ref to `target`, whatever it names now.
    pub(crate) fn point_symbolic_ref(&self, refname: &str, target: &str, log: LogLine<'_>) -> Result<(), GitError> {
        let _lock = self.lock(&self.qualified(refname))?;
        // A damaged one is replaced.
        let old = self.find_symbolic_ref(refname).ok().flatten();
        self.move_symbolic_ref(refname, (old.as_deref(), Some(target)), log)
    }

    /// Moves a symbolic ref back to `old`, or deletes it. Fails with [`GitError::RefMoved`] if it does not name `new`.
    pub(crate) fn restore_symbolic_ref(
        &self,
        refname: &str,
        (old, new): (Option<&str>, Option<&str>),
        log: LogLine<'_>,
    ) -> Result<(), GitError> {
        let _lock = self.lock(&self.qualified(refname))?;
        if self.find_symbolic_ref(refname)?.as_deref() != new {
            return Err(GitError::RefMoved { refname: refname.to_owned() });
        }
        self.move_symbolic_ref(refname, (new, old), log)
    }

    fn move_symbolic_ref(
        &self,
        refname: &str,
        (old, new): (Option<&str>, Option<&str>),
        log: LogLine<'_>,
    ) -> Result<(), GitError> {
        let is_head = !refname.starts_with("refs/");
        self.logged_move(&Move { refname: &self.qualified(refname), old, new, left: None }, log.who, || {
            self.patiently(|| {
                let in_process =
                    self.has_refs_as_files() && self.is_in_process()? && !self.are_logged([refname].into_iter())?;
                match new {
                    Some(target) if in_process => self.point_symbolic_file(refname, target),
                    Some(target) => self.point_symbolic_by_git(refname, target, log.why),
                    // Git also removes the folders below `refs/` that are empty then.
                    None if in_process && is_head => self.delete_symbolic_file(refname),
                    None => self.delete_symbolic_by_git(refname),
                }
            })
        })
    }

    /// The refs under `prefix` (which ends in `/`), sorted by name. Symbolic refs are left out.
    pub(crate) fn list_refs(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        debug_assert!(prefix.ends_with('/'), "`{prefix}` would list nothing");
        match &self.refs {
            RefStorage::Files => self.list_files(prefix),
            RefStorage::Reftable(_) => self.list_by_git(&[prefix]),
        }
    }

    /// The symbolic refs under `prefix` (which ends in `/`) with their targets, sorted by name. With reftable, git lists
    /// only those that name a ref that exists.
    pub(crate) fn list_symbolic_refs(&self, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
        debug_assert!(prefix.ends_with('/'), "`{prefix}` would list nothing");
        match &self.refs {
            RefStorage::Files => self.list_symbolic_files(prefix),
            RefStorage::Reftable(_) => self.list_symbolic_by_git(prefix),
        }
    }

    /// Deletes a symbolic ref of all worktrees, whatever it names.
    pub(crate) fn delete_symbolic_ref(&self, refname: &str, log: LogLine<'_>) -> Result<(), GitError> {
        let _lock = self.lock(refname)?;
        match self.find_symbolic_ref(refname)? {
            Some(old) => self.move_symbolic_ref(refname, (Some(&old), None), log),
            None => Ok(()),
        }
    }

    /// Moves a ref from `old` (`None`: it does not exist) to `new`, and logs it. `left` is backed up.
    ///
    /// The caller holds the ref's [`Repo::lock`], so an old `.lock` file belongs to a dead process and is removed. A reftable has
    /// one lock for all refs, which is left to git.
    fn move_ref(&self, moved: (&str, Option<Oid>, Oid), left: Option<Oid>, log: LogLine<'_>) -> Result<(), GitError> {
        let (refname, old, new) = moved;
        let moved = Move { refname, old, new: Some(new), left };
        self.logged_move(&moved, log.who, || self.make_move(refname, old, new, log))
    }

    fn make_move(&self, refname: &str, old: Option<Oid>, new: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        match &self.refs {
            RefStorage::Files if self.is_in_process()? => self.move_file(refname, old, new, log),
            // Writers of other refs take the lock of a reftable, too, and release it soon.
            _ => self.patiently(|| self.move_by_git(refname, old, new, log)),
        }
    }

    /// Keeps a commit by a ref of its name, which is returned. Git refuses to run beside a ref to a missing or damaged commit, so
    /// such a commit gets none, and a damaged file is moved away.
    pub(crate) fn back_up(&self, oid: Oid) -> Result<Option<String>, GitError> {
        Ok(self.back_up_all([oid].into_iter())?.pop())
    }

    /// As [`Self::back_up`] for many, with one call of git if it sets refs.
    pub(super) fn back_up_all(&self, oids: impl Iterator<Item = Oid>) -> Result<Vec<String>, GitError> {
        let (mut kept, mut new) = (Vec::new(), Vec::new());
        for oid in oids {
            if self.read_commit(oid).is_err_and(|error| !matches!(error, GitError::WrongKind { .. })) {
                self.set_aside(oid)?;
                continue;
            }
            let refname = format!("{BACKUP_REFS}{oid}");
            if self.find_ref(&refname)?.is_none() {
                new.push((refname.clone(), oid));
            }
            kept.push(refname);
        }
        if !new.is_empty() {
            self.set_tags(&new)?;
        }
        Ok(kept)
    }

    /// Moves lightweight tags whatever their old targets are. The caller holds the [`Repo::lock`] that guards them.
    pub(crate) fn set_tags(&self, tags: &[(String, Oid)]) -> Result<(), GitError> {
        match &self.refs {
            RefStorage::Files
                if self.is_in_process()? && !self.are_logged(tags.iter().map(|(refname, _)| &**refname))? =>
            {
                tags.iter().try_for_each(|(refname, target)| self.patiently(|| self.set_file(refname, *target)))
            }
            _ => self.patiently(|| self.set_by_git(tags)),
        }?;
        effect::note_change();
        Ok(())
    }

    /// Deletes the refs that exist, all or none. The caller holds the [`Repo::lock`] that guards them.
    pub(crate) fn delete_refs<'n>(&self, refnames: impl IntoIterator<Item = &'n str>) -> Result<(), GitError> {
        let refnames: Vec<&str> = refnames.into_iter().collect();
        let listed: Option<HashSet<String>> = match &self.refs {
            RefStorage::Files => None,
            RefStorage::Reftable(_) => Some(self.list_by_git(&refnames)?.into_iter().map(|(name, _)| name).collect()),
        };
        let mut input = String::new();
        for refname in refnames {
            let exists = match &listed {
                Some(listed) => listed.contains(refname),
                None => self.find_ref(refname)?.is_some(),
            };
            if exists {
                self.remove_stale_lock(refname);
                input.extend(["delete ", refname, "\n"]);
            }
        }
        if input.is_empty() { Ok(()) } else { self.delete_by_git("refs", &input) }
    }

    /// Deletes refs that have these values, all or none, without a line in the operation log.
    pub(crate) fn delete_refs_at(&self, refs: &[(String, Oid)]) -> Result<(), GitError> {
        let mut input = String::new();
        for (refname, oid) in refs {
            self.remove_stale_lock(refname);
            self.seen.borrow_mut().remove(refname);
            input.extend(["delete ", refname, " ", &oid.to_string(), "\n"]);
        }
        self.delete_by_git("refs", &input)
    }

    fn delete_by_git(&self, refname: &str, input: &str) -> Result<(), GitError> {
        self.remove_stale_packed_lock();
        self.patiently(|| self.update_refs(&[], None, input).map_err(|error| locked(error, refname)))?;
        effect::note_change();
        Ok(())
    }

    /// Whether refs that are files are moved without git: `reference-transaction` may watch or refuse moves.
    pub(super) fn is_in_process(&self) -> Result<bool, GitError> {
        // Git refuses a bad value.
        self.logs_all()?;
        Ok(!self.may_run_hook(HOOK)?)
    }

    /// Whether git may run a hook of this name.
    pub(crate) fn may_run_hook(&self, name: &str) -> Result<bool, GitError> {
        // Git 2.54 and later also run hooks that the configuration names.
        let is_event = |key: &str| key.strip_suffix(".event").is_some();
        if self.config()?.section("hook").any(|(key, event)| is_event(key) && event == name.as_bytes()) {
            return Ok(true);
        }
        // Git also knows paths that are not UTF-8.
        let Ok(configured) = self.config()?.text("core.hooksPath") else { return Ok(true) };
        let folder = match configured {
            None => self.common_dir().join("hooks"),
            // Only git resolves the home folder of another user, and its own prefixes, and fails without a home.
            Some(path) if is_expanded_by_git(&path) => return Ok(true),
            Some(path) if path.starts_with("~/") && self.env.os("HOME").is_none() => return Ok(true),
            // Git looks for it in the folder that it runs in, which is the root of the working tree only for commands inside of that.
            Some(path) if !path.starts_with("~/") && Path::new(&path).is_relative() && !self.runs_in_worktree() => {
                return Ok(true);
            }
            Some(path) => self.configured_path(&path),
        };
        Ok(folder.join(name).exists())
    }

    /// Whether git runs its commands here in the root of the working tree.
    pub(super) fn runs_in_worktree(&self) -> bool {
        let canonical = |path: &Path| path.canonicalize().ok();
        let (Some(here), Some(root)) = (canonical(Path::new(".")), self.worktree().and_then(|root| canonical(&root)))
        else {
            return false;
        };
        // A linked worktree may be in the git directory that it shares.
        let is_in = |git_dir: &Path| {
            canonical(git_dir).is_some_and(|git_dir| here.starts_with(&git_dir) && !root.starts_with(git_dir))
        };
        let is_named = || self.env().is_set("GIT_WORK_TREE");
        here.starts_with(&root) && (is_named() || !is_in(self.git_dir()) && !is_in(self.common_dir()))
    }

    /// Retries while another process has the lock.
    pub(super) fn patiently(&self, mut attempt: impl FnMut() -> Result<(), GitError>) -> Result<(), GitError> {
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        loop {
            match attempt() {
                Err(error @ GitError::RefLocked { .. }) => {
                    if let GitError::RefLocked { refname, .. } = &error {
                        let _ = self.remove_stale_lock(refname);
                    }
                    if !wait.go_on(PAUSE, || error.to_string()) {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }

    /// All instructions are followed, or none.
    pub(super) fn update_refs(&self, settings: &[&str], log: Option<LogLine<'_>>, input: &str) -> Result<(), GitError> {
        let mut command = self.git_with(settings, "update-ref");
        if let Some(log) = log {
            let why = log.one_line();
            // Git accepts no empty reason.
            if !why.trim().is_empty() {
                command.arg("-m").arg(why);
            }
            command.env("GIT_COMMITTER_NAME", log.who.name()).env("GIT_COMMITTER_EMAIL", log.who.email());
            command.env("GIT_COMMITTER_DATE", log.who.date());
        }
        self.lend_objects_lock(&mut command)?;
        match text_of(command.arg("--stdin").input(input)) {
            // Git has moved the refs, but cannot compact the tables, as on a full disk.
            Err(GitError::Command { stderr, .. })
                if stderr.contains("reftable: transaction failure") && self.has_followed(input)? =>
            {
                Ok(())
            }
            done => done.map(drop),
        }
    }

    /// Whether refs have the values that instructions to `git update-ref` gave them.
    fn has_followed(&self, input: &str) -> Result<bool, GitError> {
        for line in input.lines() {
            let mut words = line.split(' ');
            let wanted = match (words.next(), words.next(), words.next()) {
                (Some("update"), Some(refname), Some(new)) => (refname, Some(self.parse_oid(new)?)),
                (Some("delete"), Some(refname), _) => (refname, None),
                _ => return Ok(false),
            };
            if self.find_ref(wanted.0)? != wanted.1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
