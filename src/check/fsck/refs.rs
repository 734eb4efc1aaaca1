//! Refs: unreadable ones, the heads of worktrees, reflogs, backups, and stale locks.

use std::collections::BTreeSet;
use std::fs;

use super::problem::{Problem, Repair};
use super::repair::newest_complete;
use super::{Inspection, Line};
use crate::git::{BACKUP_REFS, GitError, LogEntry, Oid, RefListing, Repo};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::model::name::{FORWARD_CRUMBS, PREVIOUS, RECORDS, REMOTE_RECORDS, REMOTES, TRACE_HEAD, TRACES};
use crate::trace::store::priority::RECORD;
use crate::trace::store::session::{SESSIONS, is_dangling};
use crate::trace::{TraceError, TraceName};

/// The refs that are gone, although their reflogs are not, each with the newest complete state in its reflog.
pub(crate) fn lost_refs(repo: &Repo, exists: &dyn Fn(&str) -> bool) -> Result<Vec<(String, Oid)>, TraceError> {
    let logged = [TRACES, FORWARD_CRUMBS].iter().flat_map(|prefix| repo.logged_refs(prefix));
    let logged: BTreeSet<String> = logged.chain([RECORD.to_owned()]).collect();
    let gone = logged.into_iter().filter(|refname| !exists(refname));
    let found = gone.filter_map(|refname| Some(way_back(repo, &refname).transpose()?.map(|to| (refname, to))));
    found.collect()
}

/// The newest complete state in a reflog.
fn way_back(repo: &Repo, refname: &str) -> Result<Option<Oid>, TraceError> {
    let log = moves(repo, refname)?;
    Ok(newest_complete(repo, &log).map(|index| log[index].new))
}

/// The moves in a reflog. With reftable, git shows none while the ref's object is missing, which is reported elsewhere.
fn moves(repo: &Repo, refname: &str) -> Result<Vec<LogEntry>, TraceError> {
    match repo.read_reflog(refname) {
        Err(GitError::Command { .. }) => Ok(Vec::new()),
        log => Ok(log?),
    }
}

impl Inspection<'_> {
    pub(crate) fn refs(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for refname in &listing.broken {
            self.broken_ref(refname)?;
        }
        self.heads()?;
        self.sessions()?;
        let exists = |refname: &str| {
            listing.broken.iter().chain(listing.refs.iter().map(|(known, _)| known)).any(|known| known == refname)
        };
        for (refname, to) in lost_refs(self.repo, &exists)? {
            let problem = Problem::error("ref-missing", &refname, "the ref is gone, but its reflog is not");
            self.problems.push(problem.commit(to).repair(Repair::Ref(refname)));
        }
        for (refname, tip) in &listing.refs {
            if [TRACES, FORWARD_CRUMBS].iter().any(|prefix| refname.starts_with(prefix)) || refname == RECORD {
                self.reflog(refname, *tip)?;
            }
        }
        for prefix in [TRACES, FORWARD_CRUMBS, BACKUP_REFS, ARCHIVES, RECORD, TRACE_HEAD, PREVIOUS, &self.prefix] {
            for refname in self.repo.stale_ref_locks(prefix) {
                let problem = Problem::warning("lock", &refname, "a process died and left its `.lock` file");
                self.problems.push(problem.repair(Repair::Lock(refname)));
            }
        }
        Ok(())
    }

    pub(crate) fn broken_ref(&mut self, refname: &str) -> Result<(), TraceError> {
        let problem = Problem::error("ref-broken", refname, "git cannot read this ref");
        self.problems.push(match way_back(self.repo, refname)? {
            Some(to) => problem.commit(to).repair(Repair::Ref(refname.to_owned())),
            None => problem.remedy("remove its file from the git folder, and fetch it or set it with `git update-ref`"),
        });
        Ok(())
    }

    /// Offers to move a ref whose tip is damaged, as the problems from `first` on say.
    pub(crate) fn offer_way_back(&mut self, line: &Line, tip: Oid, first: usize) -> Result<(), TraceError> {
        if way_back(self.repo, &line.refname)?.is_some() {
            // Another ref at this commit was reported before.
            if first == self.problems.len() {
                self.problems.push(Problem::error("tip", &line.label, "its tip is damaged").commit(tip));
            }
            for problem in &mut self.problems[first..] {
                let elsewhere = std::mem::take(&mut problem.remedy);
                *problem = problem.clone().repair(Repair::Ref(line.refname.clone()));
                if !elsewhere.is_empty() {
                    problem.remedy = format!("{elsewhere}; or {}", problem.remedy);
                }
            }
        }
        Ok(())
    }

    fn reflog(&mut self, refname: &str, tip: Oid) -> Result<(), TraceError> {
        if let Some(last) =
            moves(self.repo, refname)?.pop().filter(|last| last.new != tip && self.repo.read_commit(tip).is_ok())
        {
            let message = format!("its reflog ends at {}, so a move is missing there", last.new);
            let problem = Problem::warning("reflog", refname, message).commit(tip);
            self.problems.push(problem.repair(Repair::Reflog(refname.to_owned())));
        }
        Ok(())
    }

    /// A head is a symbolic ref to a trace, which may have no commit yet. Each worktree has a current and a previous one.
    fn heads(&mut self) -> Result<(), TraceError> {
        for git_dir in self.repo.worktree_git_dirs()? {
            for name in [TRACE_HEAD, PREVIOUS] {
                let path = git_dir.join(name);
                let is_file = fs::symlink_metadata(&path).is_ok();
                if !is_file && self.repo.has_refs_as_files() {
                    continue;
                }
                let refname = self.repo.ref_of_worktree(&git_dir, name);
                let cause = match self.repo.find_symbolic_ref(&refname) {
                    // With reftable there may be no head.
                    Ok(None) if !is_file && matches!(self.repo.find_ref(&refname), Ok(None)) => continue,
                    Ok(Some(target)) if TraceName::of_ref(&target).is_some() => continue,
                    Ok(Some(target)) => format!("it points to `{target}`, which is not a trace"),
                    Ok(None) => "it is detached, so it points to no trace".to_owned(),
                    Err(GitError::Store { .. }) => "git cannot read it".to_owned(),
                    Err(error) => error.to_string(),
                };
                let remedy = if is_file {
                    "remove the file, then run `git trace switch <trace>`".to_owned()
                } else {
                    format!(
                        "in that worktree, run `git update-ref --no-deref -d {name}`, then `git trace switch <trace>`"
                    )
                };
                self.problems.push(Problem::error("head", path.display(), cause).remedy(remedy));
            }
        }
        Ok(())
    }

    /// A session ref names the trace that continues the session. Without that trace, the session is recorded under its own name.
    fn sessions(&mut self) -> Result<(), TraceError> {
        for (refname, target) in self.repo.list_symbolic_refs(SESSIONS)? {
            if is_dangling(self.repo, &refname)? {
                let message = format!("it names `{target}`, which is not a trace that exists");
                let problem = Problem::warning("session-ref", &refname, message);
                self.problems.push(problem.repair(Repair::Session(refname)));
            }
        }
        Ok(())
    }

    /// Checks that backups, remote-tracking refs, and shared records can be read.
    pub(crate) fn kept(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for (refname, tip) in &listing.refs {
            let line = Line::of_ref(refname);
            if let Some(name) = refname.strip_prefix(BACKUP_REFS) {
                if name.replace("%2F", "").replace("%25", "").contains(['/', '%']) {
                    let message = "no trace has this name: `/` is written `%2F` here, and `%` as `%25`";
                    self.problems.push(Problem::warning("kept-name", refname, message).commit(*tip));
                }
                // Git has no trouble with what a repair kept because a trace pointed to it.
                if matches!(self.repo.read_commit(*tip), Err(GitError::WrongKind { .. })) {
                    continue;
                }
                let first = self.problems.len();
                self.history(&line, *tip)?;
                let is_lost = self.repo.read_commit(*tip).is_err();
                if is_lost && first == self.problems.len() {
                    self.problems.push(Problem::error("kept", refname, "it points to a damaged commit").commit(*tip));
                }
                for problem in &mut self.problems[first..] {
                    if is_lost {
                        *problem = problem.clone().repair(Repair::Backup(refname.clone()));
                        continue;
                    }
                    let why = "`; `git gc` may fail until then";
                    problem.remedy.extend([", or give it up with `git update-ref -d ", refname, why]);
                }
            } else if refname.starts_with(REMOTES) {
                self.history(&line, *tip)?;
            } else if (refname.starts_with(RECORDS) || refname.starts_with(REMOTE_RECORDS))
                // Tombstones have another format.
                && !refname.ends_with("/purged")
            {
                self.shared_record(&line, *tip)?;
            }
        }
        Ok(())
    }

    fn shared_record(&mut self, line: &Line, tip: Oid) -> Result<(), TraceError> {
        let Some(commit) = self.read_commit(line, tip, None)? else { return Ok(()) };
        self.record_files(line, &commit, |inspection, file, bytes| {
            if file.item.is_some() && super::record::lines(bytes).iter().any(Result::is_err) {
                let problem = Problem::warning("record-line", &line.label, "the shared record has an unreadable line");
                let remedy = "ask the person who wrote it to fix it; a pull skips the line";
                inspection.problems.push(problem.item(file.item).remedy(remedy));
            }
        });
        Ok(())
    }
}
