//! Refs of any storage, through git's own commands.
//!
//! A process costs two milliseconds, so answers are kept while they are valid: every change gives a reftable's list of tables new,
//! unique names, so while the list is the same, so is every ref. One call reads all refs that are expected to be needed.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;

use super::LogLine;
use super::reflog::LogEntry;
use super::worktree::split_worktree;
use crate::base::process::Process;
use crate::git::error::GitError;
use crate::git::ident::Ident;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::process::{Answer, path_of, text_of};

/// How many of the latest moves are copied when a ref is renamed: each is a call of git.
const COPIED_MOVES: usize = 100;

/// The answers of git about refs, and the state that they belong to.
#[derive(Default)]
pub(in crate::git) struct Reading(RefCell<Said>);

#[derive(Default)]
struct Said {
    /// The lists of tables: the shared one, then this worktree's.
    tables: Vec<Vec<u8>>,
    refs: HashMap<String, Option<Oid>>,
    symbolic: HashMap<String, Option<String>>,
    expected: BTreeSet<&'static str>,
}

impl Reading {
    pub(super) fn expect(&self, refname: &'static str) {
        self.0.borrow_mut().expected.insert(refname);
    }

    pub(super) fn find(&self, repo: &Repo, refname: &str) -> Result<Option<Oid>, GitError> {
        if !Repo::is_refname(refname) {
            return Ok(None);
        }
        if split_worktree(refname).is_some() {
            return repo.resolve_by_git(refname);
        }
        let mut said = self.0.borrow_mut();
        let is_kept = said.forget_old(repo);
        if let Some(known) = said.refs.get(refname) {
            return Ok(*known);
        }
        // Git stops at the first that is missing.
        let mut refnames = vec![refname];
        let others = ["HEAD"].into_iter().chain(said.expected.iter().copied());
        refnames.extend(others.filter(|other| *other != refname && !said.refs.contains_key(*other)));
        let found = repo.ask_for(&refnames)?;
        let answer = found.iter().find(|(name, _)| name == refname).and_then(|(_, oid)| *oid);
        if is_kept {
            said.refs.extend(found);
        }
        Ok(answer)
    }

    pub(super) fn find_symbolic(&self, repo: &Repo, refname: &str) -> Result<Option<String>, GitError> {
        // A bad setting must give the same error as without git.
        repo.config()?;
        let mut said = self.0.borrow_mut();
        // Its tables are not compared.
        let is_kept = said.forget_old(repo) && split_worktree(refname).is_none();
        if let Some(known) = said.symbolic.get(refname) {
            return Ok(known.clone());
        }
        let answer = Answer::of(repo.git("symbolic-ref").args(["--quiet", "--no-recurse", "--", refname]))?;
        let target = match answer.code {
            // There is none, or it is not symbolic.
            Some(1) => None,
            _ => Some(String::from_utf8_lossy(&answer.into_stdout()?).trim_end().to_owned()),
        };
        if is_kept {
            said.symbolic.insert(refname.to_owned(), target.clone());
        }
        Ok(target)
    }
}

impl Said {
    /// Forgets answers about another state. Returns whether new ones may be kept.
    fn forget_old(&mut self, repo: &Repo) -> bool {
        let mut folders = vec![repo.common_dir()];
        if repo.git_dir() != repo.common_dir() {
            folders.push(repo.git_dir());
        }
        let lists: Result<Vec<_>, _> =
            folders.iter().map(|folder| fs::read(folder.join("reftable/tables.list"))).collect();
        let known = lists.is_ok();
        let tables = lists.unwrap_or_default();
        if !known || tables != self.tables {
            self.refs.clear();
            self.symbolic.clear();
            self.tables = tables;
        }
        known
    }
}

pub(super) struct Logged {
    pub(super) entry: LogEntry,
    who: Ident,
}

impl Repo {
    /// Asks for refs by their full names. The answer ends at the first missing one, so the first is always answered.
    fn ask_for(&self, refnames: &[&str]) -> Result<Vec<(String, Option<Oid>)>, GitError> {
        let answer = Answer::of(self.git("show-ref").args(["--verify", "--"]).args(refnames))?;
        let mut found = Vec::new();
        for line in String::from_utf8_lossy(&answer.stdout).lines() {
            if let Some((oid, name)) = line.split_once(' ') {
                found.push((name.to_owned(), Some(self.parse_oid(oid)?)));
            }
        }
        if !answer.is_success()
            && let Some(refname) = refnames.get(found.len())
        {
            let stderr = &answer.stderr;
            if stderr.contains(" - not a valid ref") {
                found.push(((*refname).to_owned(), None));
            } else if let Some(oid) = stderr.lines().find_map(|line| line.rsplit_once(": bad ref ")?.1.split_once(" ("))
            {
                // Its object is missing, which reading the object reports.
                found.push(((*refname).to_owned(), Some(self.parse_oid(oid.1.trim_end_matches(')'))?)));
            } else if found.is_empty() {
                return Err(answer.into_error());
            }
        }
        Ok(found)
    }

    pub(super) fn resolve_by_git(&self, rev: &str) -> Result<Option<Oid>, GitError> {
        if rev.contains('\0') {
            return Ok(None);
        }
        match text_of(self.git("rev-parse").args(["--verify", "--quiet", "--end-of-options", rev])) {
            Ok(printed) => self.parse_oid(printed.trim_end()).map(Some),
            // It names nothing, unless an object on the way is damaged.
            Err(GitError::Command { stderr, .. }) if !stderr.contains("is corrupt") => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(in crate::git) fn parse_oid(&self, text: &str) -> Result<Oid, GitError> {
        let bad = || GitError::store("read an oid that git printed", git2::Error::from_str(text));
        Oid::parse(text, self.object_format()).ok_or_else(bad)
    }

    /// Patterns are complete names or folders with their `/`. Symbolic refs are left out.
    pub(super) fn list_by_git(&self, patterns: &[&str]) -> Result<Vec<(String, Oid)>, GitError> {
        let mut command = self.git("for-each-ref");
        command.arg("--format=%(objectname) %(refname) %(symref)");
        match patterns {
            // Git before 2.41, which has no reftable, reads no patterns from its input.
            [only] => command.arg(only),
            many => command.arg("--stdin").input(many.join("\n")),
        };
        let printed = Answer::of(&mut command)?.into_stdout()?;
        let mut listed = Vec::new();
        // Like files, refs whose names are not UTF-8 are left out.
        for line in printed.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
            let mut words = line.split(' ');
            if let (Some(oid), Some(refname), Some("")) = (words.next(), words.next(), words.next()) {
                listed.push((refname.to_owned(), self.parse_oid(oid)?));
            }
        }
        listed.sort();
        Ok(listed)
    }

    /// Deletes the refs in folders whose names are not UTF-8, which nothing here can name. Returns their names, as text.
    pub(crate) fn delete_unnamable(&self, folders: &[&str]) -> Result<Vec<(String, Oid)>, GitError> {
        let format = "--format=%(objectname) %(refname)";
        let printed = Answer::of(self.git("for-each-ref").arg(format).args(folders))?.into_stdout()?;
        let unnamable = printed.split(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_err());
        let mut deleted = Vec::new();
        for line in unnamable {
            let Some(space) = line.iter().position(|byte| *byte == b' ') else { continue };
            let (oid, name) = (self.parse_oid(&String::from_utf8_lossy(&line[..space]))?, &line[space + 1..]);
            text_of(self.git("update-ref").arg("-d").arg(path_of(name)))?;
            deleted.push((String::from_utf8_lossy(name).into_owned(), oid));
        }
        Ok(deleted)
    }

    pub(super) fn list_symbolic_by_git(&self, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
        let printed = text_of(self.git("for-each-ref").args(["--format=%(refname) %(symref)", prefix]))?;
        let words = printed.lines().filter_map(|line| line.split_once(' '));
        let named = words.filter(|(_, target)| !target.is_empty());
        Ok(named.map(|(refname, target)| (refname.to_owned(), target.to_owned())).collect())
    }

    pub(super) fn point_symbolic_by_git(&self, refname: &str, target: &str, why: &str) -> Result<(), GitError> {
        let (mut command, name) = self.git_for_symbolic(&["core.preferSymlinkRefs=false"], refname);
        let done = text_of(command.args(["-m", why, "--", name, target]));
        done.map(drop).map_err(|error| locked_at(error, refname, name))
    }

    /// For refs of any storage.
    pub(super) fn delete_symbolic_by_git(&self, refname: &str) -> Result<(), GitError> {
        let (mut command, name) = self.git_for_symbolic(&[], refname);
        let done = text_of(command.args(["--delete", "--", name]));
        done.map(drop).map_err(|error| locked_at(error, refname, name))
    }

    pub(super) fn move_by_git(
        &self,
        refname: &str,
        old: Option<Oid>,
        new: Oid,
        log: LogLine<'_>,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(new.as_bytes().len() * 2);
        let old = old.map_or(nothing, |oid| oid.to_string());
        let done =
            self.update_refs(&["core.logAllRefUpdates=always"], Some(log), &format!("update {refname} {new} {old}\n"));
        done.map_err(|error| refused(error, refname))
    }

    pub(super) fn set_by_git(&self, tags: &[(String, Oid)]) -> Result<(), GitError> {
        let mut input = String::new();
        for (refname, target) in tags {
            input.extend(["update ", refname, " ", &target.to_string(), "\n"]);
        }
        let first = tags.first().map_or("refs", |(refname, _)| refname);
        self.update_refs(&[], None, &input).map_err(|error| refused(error, first))
    }

    /// A `git reflog show` whose output no setting changes. Texts have the bytes that are stored.
    pub(in crate::git) fn show_reflog(&self, format: &str, refname: &str) -> Process {
        let mut command = self.git_with(&["i18n.logOutputEncoding=UTF-8", "log.mailmap=false"], "reflog");
        command.args(["show", "--no-show-signature", "--no-color", "--date=raw", format, refname, "--"]);
        command
    }

    /// Oldest first. The old value of a move is the new value of the previous move, because git does not print it.
    pub(super) fn logged_by_git(&self, refname: &str) -> Result<Vec<Logged>, GitError> {
        let printed = match text_of(&mut self.show_reflog("--format=%H%x00%gn <%ge> %gd%x00%gs", refname)) {
            Err(GitError::Command { stderr, .. }) if stderr.contains("bad revision") => return Ok(Vec::new()),
            printed => printed?,
        };
        let mut moves: Vec<Logged> = Vec::new();
        for line in printed.lines().rev() {
            let mut parts = line.splitn(3, '\0');
            let (Some(oid), Some(who), Some(why)) = (parts.next(), parts.next(), parts.next()) else { continue };
            // `Name <email> refs/traces/x@{1770714000 +0000}`
            let (person, when) = who.rsplit_once("@{").unwrap_or((who, ""));
            let person = person.rsplit_once(' ').map_or(person, |(person, _)| person);
            let seconds = when.split_once(' ').and_then(|(seconds, _)| seconds.parse().ok()).unwrap_or(0);
            let old = moves.last().map(|before| before.entry.new);
            let entry = LogEntry { old, new: self.parse_oid(oid)?, why: why.to_owned() };
            moves.push(Logged { entry, who: Ident::of(person, seconds) });
        }
        Ok(moves)
    }

    /// Creates a ref with the latest moves of another. Git cannot copy the log of such refs, so the moves are repeated.
    pub(super) fn copy_by_git(&self, from: &str, to: &str, oid: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let moves = self.logged_by_git(from)?;
        let latest = &moves[moves.len().saturating_sub(COPIED_MOVES)..];
        let mut at = None;
        for Logged { entry, who } in latest {
            self.copy_move(to, at, entry.new, LogLine { who, why: &entry.why })?;
            at = Some(entry.new);
        }
        // Git does not log a move to the same commit, so the copied log lacks the renaming itself.
        if at == Some(oid) { Ok(()) } else { self.copy_move(to, at, oid, log) }
    }

    fn copy_move(&self, to: &str, at: Option<Oid>, new: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        match (self.patiently(|| self.move_by_git(to, at, new, log)), at) {
            (Err(error), Some(at)) => self.take_back(to, at, error),
            (done, _) => done,
        }
    }
}

fn refused(error: GitError, refname: &str) -> GitError {
    let GitError::Command { stderr, .. } = &error else { return error };
    let has = |part: &str| stderr.contains(part);
    if has("but expected") || has("unable to resolve reference") || has("reference already exists") {
        return GitError::RefMoved { refname: refname.to_owned() };
    }
    if has(&format!("{refname}.lock': File exists")) {
        return GitError::locked_file(refname);
    }
    if has("; cannot create") {
        return GitError::RefConflict { refname: refname.to_owned() };
    }
    locked(error, refname)
}

pub(in crate::git) fn locked(error: GitError, refname: &str) -> GitError {
    let GitError::Command { stderr, .. } = &error else { return error };
    // `cannot lock ref 'refs/x': Unable to create '/r/.git/refs/x.lock': File exists.`
    let file = stderr.split_once("cannot lock ref '").filter(|(_, rest)| rest.contains(".lock': File exists"));
    let named = file.and_then(|(_, rest)| Some(rest.split_once('\'')?.0));
    match named {
        Some(refname) => GitError::locked_file(refname),
        // Of a reftable, which has one lock for all refs.
        None if stderr.contains("cannot lock references") => {
            let worktree = split_worktree(refname).map(|(worktree, _)| worktree);
            let folder = worktree.filter(|worktree| worktree.contains('/'));
            let lock = folder.map(|folder| format!("{folder}/")).unwrap_or_default() + "reftable/tables.list.lock";
            GitError::RefLocked { refname: refname.to_owned(), lock }
        }
        None => error,
    }
}

/// As [`locked`], for a ref that git calls `name` in its worktree.
fn locked_at(error: GitError, refname: &str, name: &str) -> GitError {
    match locked(error, refname) {
        GitError::RefLocked { refname: named, .. } if named == name => GitError::locked_file(refname),
        error => error,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/git/command.rs"]
mod tests;
