//! The other traces of the repository that share history with the one that is shown.

use std::collections::HashSet;

use super::data::Data;
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::name::TRACES;
use crate::trace::store::trace_index::Group;
use crate::trace::store::view::View;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{Tip, TraceError, TraceName};

/// The most commits of other traces that are read, for all traces together: a repository with thousands of unrelated sessions
/// opens as quickly.
const MAX_COMMITS: usize = 20_000;

pub(crate) struct Branch {
    pub(crate) name: TraceName,
    /// The newest commit on its first-parent line that is shown.
    pub(crate) merge_base: Oid,
    pub(crate) ahead: usize,
    pub(crate) items: usize,
    pub(crate) tokens: u64,
}

pub(crate) struct Branches {
    /// Those that share a commit that is shown, by name.
    pub(crate) related: Vec<Branch>,
    pub(crate) others: usize,
}

impl Branches {
    /// Among a family, or all traces.
    pub(crate) fn find(
        repo: &Repo,
        name: &TraceName,
        data: &Data<'_>,
        family: Option<&Group>,
        counter: Counter,
    ) -> Result<Self, TraceError> {
        let among = match family {
            Some(family) => family.traces.iter().map(|trace| (trace.name.refname(), trace.tip)).collect(),
            None => repo.list_refs(TRACES)?,
        };
        let shown: HashSet<Oid> = data.steps.iter().map(|step| step.tip.commit.oid).collect();
        let mut branches = Self { related: Vec::new(), others: 0 };
        let mut left = MAX_COMMITS;
        for (refname, oid) in among {
            let Some(other) = TraceName::of_ref(&refname).filter(|other| other != name) else { continue };
            // Damage in another trace does not concern this page.
            match branch(repo, other, oid, &shown, &mut left, counter) {
                Ok(Some(branch)) => branches.related.push(branch),
                Ok(None) | Err(_) => branches.others += usize::from(family.is_none()),
            }
        }
        Ok(branches)
    }
}

/// Walks a trace back to a commit that is shown; `None` if there is none among the `left` commits.
fn branch(
    repo: &Repo,
    name: TraceName,
    oid: Oid,
    shown: &HashSet<Oid>,
    left: &mut usize,
    counter: Counter,
) -> Result<Option<Branch>, TraceError> {
    let tip = Tip::read(repo, oid)?;
    for (ahead, earlier) in Walk::new(repo, tip.clone(), Parents::First).enumerate() {
        let merge_base = earlier?.commit.oid;
        if shown.contains(&merge_base) {
            let view = View::at(repo, tip, None)?;
            let tokens = view.total(repo, counter)?.tokens;
            return Ok(Some(Branch { name, merge_base, ahead, items: view.slots.len(), tokens }));
        }
        if *left == 0 {
            break;
        }
        *left -= 1;
    }
    Ok(None)
}
