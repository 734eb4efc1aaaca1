//! Whether operations left something to reverse.

use std::collections::HashSet;

use super::priority::brings_only_disputes;
use super::{ends, is_tracking, value};
use crate::git::{Operation, RefMove, Repo};
use crate::trace::TraceError;
use crate::trace::model::name::TRACES;
use crate::trace::store::priority::RECORD;

/// What decides it, while operations are looked at from the newest one to older ones.
#[derive(Default)]
pub(super) struct Effects<'o> {
    /// The refs of later operations, which are reversed first.
    later: HashSet<&'o str>,
    /// The refs of traces, once they were listed.
    traces: Option<HashSet<String>>,
}

impl<'o> Effects<'o> {
    /// Whether something is left to reverse. Nothing is if others moved its remote-tracking refs again, if the traces that it created are
    /// gone, or if a pull or an import brought only disputes.
    pub(super) fn has(&mut self, repo: &Repo, operation: &'o Operation) -> Result<bool, TraceError> {
        let brings_lines = ["pull", "import"].contains(&operation.command.split(' ').next().unwrap_or_default());
        for made in &operation.refs {
            let is_left = if made.refname == RECORD {
                !brings_lines || !is_dispute(repo, operation, made)
            } else if is_tracking(&made.refname) {
                value(repo, &made.refname)? == made.new
            } else {
                made.old.is_some() || !self.is_gone(repo, &made.refname)
            };
            if is_left {
                self.later.extend(operation.refs.iter().map(|made| made.refname.as_str()));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a trace is gone, and none of the later operations brings it back.
    fn is_gone(&mut self, repo: &Repo, refname: &str) -> bool {
        if !refname.starts_with(TRACES) || self.later.contains(refname) {
            return false;
        }
        if self.traces.is_none() {
            let listed = repo.list_refs(TRACES).ok();
            self.traces = listed.map(|listed| listed.into_iter().map(|(refname, _)| refname).collect());
        }
        self.traces.as_ref().is_some_and(|traces| !traces.contains(refname))
    }
}

fn is_dispute(repo: &Repo, operation: &Operation, made: &RefMove) -> bool {
    let Ok((old, Some(new))) = ends(repo, operation, made) else { return false };
    brings_only_disputes(repo, old, new).unwrap_or(false)
}
