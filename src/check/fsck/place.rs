//! Refs: unreadable ones, reflogs, backups, and stale locks.

use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::{GitError, LogEntry, Oid, RefListing};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::TraceError;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACE_HEAD, TRACES};
use crate::trace::store::backup::BACKUP_REFS;
use crate::trace::store::head::PREVIOUS;
use crate::trace::store::priority::RECORD;

/// Remote-tracking refs of traces.
pub(crate) const REMOTES: &str = "refs/trace-remotes/";
/// Shared priority records.
pub(crate) const RECORDS: &str = "refs/trace-records/";
/// Remote-tracking refs of shared priority records.
pub(crate) const REMOTE_RECORDS: &str = "refs/trace-remote-records/";

impl Inspection<'_> {
    pub(crate) fn places(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for refname in &listing.broken {
            self.broken_ref(refname)?;
        }
        self.heads()?;
        for (refname, tip) in &listing.refs {
            if [TRACES, FORWARD_CRUMBS].iter().any(|prefix| refname.starts_with(prefix)) || refname == RECORD {
                self.reflog(refname, *tip)?;
            }
        }
        for prefix in [TRACES, FORWARD_CRUMBS, BACKUP_REFS, ARCHIVES, RECORD, TRACE_HEAD, PREVIOUS, &self.prefix] {
            for refname in self.repo.stale_ref_locks(prefix) {
                let message = "a process that wrote here died and left its `.lock` file";
                self.problems.push(Problem::warning("lock", &refname, message).repair(Repair::Lock(refname.clone())));
            }
        }
        Ok(())
    }

    pub(crate) fn broken_ref(&mut self, refname: &str) -> Result<(), TraceError> {
        let problem = Problem::error("ref-broken", refname, "git cannot read this ref");
        let last = self.last_move(refname)?;
        self.problems.push(match last {
            Some(last) if self.repo.read_commit(last.new).is_ok() => {
                problem.commit(last.new).repair(Repair::Ref(refname.to_owned()))
            }
            _ => {
                problem.remedy("remove its file in the git folder, and fetch it or point it anew with `git update-ref`")
            }
        });
        Ok(())
    }

    /// The last line of a reflog. With reftable, git shows none while the ref's object is missing, which is reported elsewhere.
    fn last_move(&self, refname: &str) -> Result<Option<LogEntry>, TraceError> {
        match self.repo.read_reflog(refname) {
            Err(GitError::Command { .. }) => Ok(None),
            log => Ok(log?.pop()),
        }
    }

    /// A reflog ends where its ref is.
    fn reflog(&mut self, refname: &str, tip: Oid) -> Result<(), TraceError> {
        let Some(last) = self.last_move(refname)? else { return Ok(()) };
        if last.new != tip {
            let message = format!("its reflog ends at {}, so `git trace undo` refuses", last.new);
            let problem = Problem::warning("reflog", refname, message).commit(tip);
            self.problems.push(problem.repair(Repair::Reflog(refname.to_owned())));
        }
        Ok(())
    }

    /// Checks that backups, remote-tracking refs, and shared records can be read.
    pub(crate) fn kept(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for (refname, tip) in &listing.refs {
            if [BACKUP_REFS, REMOTES, RECORDS, REMOTE_RECORDS].iter().any(|prefix| refname.starts_with(prefix)) {
                let line = Line::of_ref(refname);
                if refname.starts_with(BACKUP_REFS) || refname.starts_with(REMOTES) {
                    if refname.starts_with(BACKUP_REFS) && !is_kept_name(&refname[BACKUP_REFS.len()..]) {
                        let message = "no trace has this place: a `/` is written `%2F` here, and `%` as `%25`";
                        self.problems.push(Problem::warning("kept-name", refname, message).commit(*tip));
                    }
                    self.history(&line, *tip)?;
                } else {
                    self.shared_record(&line, *tip)?;
                }
            }
        }
        Ok(())
    }

    fn shared_record(&mut self, line: &Line, tip: Oid) -> Result<(), TraceError> {
        let Some(commit) = self.read_commit(line, tip, None)? else { return Ok(()) };
        self.record_files(line, &commit, |inspection, file, bytes| {
            let bad = file.item.filter(|_| super::record::lines(bytes).iter().any(Result::is_err));
            if let Some(item) = bad {
                let message = "the shared record has a line that cannot be read";
                let remedy = "a fetch passes it over; whoever wrote it should mend it";
                let problem = Problem::warning("record-line", &line.label, message).item(Some(item)).remedy(remedy);
                inspection.problems.push(problem);
            }
        });
        Ok(())
    }
}

/// Whether the name below [`BACKUP_REFS`] is that of a trace as it is written there.
fn is_kept_name(name: &str) -> bool {
    let plain = name.replace("%2F", "").replace("%25", "");
    !plain.contains(['/', '%'])
}
