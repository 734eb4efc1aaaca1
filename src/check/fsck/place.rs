//! Refs as such: those that git cannot read, reflogs, places that were kept, what dead processes left.

use super::fault::{Fault, Repair};
use super::{Inspection, Line};
use crate::git::{GitError, LogEntry, Oid, RefListing};
use crate::memory::crumb::archive::ARCHIVES;
use crate::trace::TraceError;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACE_HEAD, TRACES};
use crate::trace::store::backup::BACKUP_REFS;
use crate::trace::store::head::PREVIOUS;
use crate::trace::store::priority::RECORD;

/// Where fetches keep what they saw of traces.
pub(crate) const REMOTES: &str = "refs/trace-remotes/";
/// Where records of priorities that are shared are.
pub(crate) const RECORDS: &str = "refs/trace-records/";
/// Where fetches keep what they saw of those.
pub(crate) const REMOTE_RECORDS: &str = "refs/trace-remote-records/";

impl Inspection<'_> {
    /// Checks refs, reflogs, heads and left-overs.
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
            for refname in self.repo.left_over_locks(prefix) {
                let message = "a process that wrote here died and left its `.lock` file";
                self.faults.push(Fault::warning("lock", &refname, message).repair(Repair::Lock(refname.clone())));
            }
        }
        Ok(())
    }

    pub(crate) fn broken_ref(&mut self, refname: &str) -> Result<(), TraceError> {
        let fault = Fault::error("ref-broken", refname, "git cannot read this ref");
        let last = self.last_move(refname)?;
        self.faults.push(match last {
            Some(last) if self.repo.read_commit(last.new).is_ok() => {
                fault.commit(last.new).repair(Repair::Ref(refname.to_owned()))
            }
            _ => fault.remedy("remove its file in the git folder, and fetch it or point it anew with `git update-ref`"),
        });
        Ok(())
    }

    /// The last line of a reflog. Of a reftable git shows none while the ref's object is missing, which is told elsewhere.
    fn last_move(&self, refname: &str) -> Result<Option<LogEntry>, TraceError> {
        match self.repo.read_reflog(refname) {
            Err(GitError::Command { .. }) => Ok(None),
            log => Ok(log?.pop()),
        }
    }

    /// A reflog that is there ends where its ref is.
    fn reflog(&mut self, refname: &str, tip: Oid) -> Result<(), TraceError> {
        let Some(last) = self.last_move(refname)? else { return Ok(()) };
        if last.new != tip {
            let message = format!("its reflog ends at {}, so `git trace undo` refuses", last.new);
            let fault = Fault::warning("reflog", refname, message).commit(tip);
            self.faults.push(fault.repair(Repair::Reflog(refname.to_owned())));
        }
        Ok(())
    }

    /// Checks the places that traces were moved from, what fetches saw, and shared records: that they can be read.
    pub(crate) fn kept(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for (refname, tip) in &listing.refs {
            if [BACKUP_REFS, REMOTES, RECORDS, REMOTE_RECORDS].iter().any(|prefix| refname.starts_with(prefix)) {
                let line = Line::of_ref(refname);
                if refname.starts_with(BACKUP_REFS) || refname.starts_with(REMOTES) {
                    if refname.starts_with(BACKUP_REFS) && !is_kept_name(&refname[BACKUP_REFS.len()..]) {
                        let message = "no trace has this place: a `/` is written `%2F` here, and `%` as `%25`";
                        self.faults.push(Fault::warning("kept-name", refname, message).commit(*tip));
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
                let fault = Fault::warning("record-line", &line.label, message).item(Some(item)).remedy(remedy);
                inspection.faults.push(fault);
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
