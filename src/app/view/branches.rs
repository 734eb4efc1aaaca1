//! The other traces of the repository that share history with the one that is shown.

use std::collections::HashSet;

use super::data::Data;
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::model::name::TRACES;
use crate::trace::store::view::View;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{Tip, TraceError, TraceName};

/// How many commits of other traces are read in search of where they parted, for all traces together.
const PATIENCE: usize = 20_000;

/// Another trace.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) name: TraceName,
    /// The newest commit on its own line that the shown trace has.
    pub(crate) parted: Oid,
    /// How many commits it has on that line since then.
    pub(crate) ahead: usize,
    pub(crate) items: usize,
    pub(crate) tokens: u64,
}

/// The other traces.
#[derive(Debug)]
pub(crate) struct Branches {
    /// Those that share a commit that is shown, by name.
    pub(crate) related: Vec<Branch>,
    pub(crate) others: usize,
}

/// Finds where the other traces parted from the shown one: each is walked back until it meets a commit that is shown, all
/// together for no more than 20,000 commits, so that a repository with thousands of unrelated sessions opens as quickly.
pub(crate) fn parted(
    repo: &Repo,
    name: &TraceName,
    data: &Data<'_>,
    encoding: Encoding,
) -> Result<Branches, TraceError> {
    let shown: HashSet<Oid> = data.steps.iter().map(|step| step.tip.commit.oid).collect();
    let mut branches = Branches { related: Vec::new(), others: 0 };
    let mut patience = PATIENCE;
    for (refname, oid) in repo.list_refs(TRACES)? {
        let Some(other) = TraceName::of_ref(&refname).filter(|other| other != name) else { continue };
        // What is damaged in another trace is no matter of this page.
        match branch(repo, other, oid, &shown, &mut patience, encoding) {
            Ok(Some(branch)) => branches.related.push(branch),
            Ok(None) | Err(_) => branches.others += 1,
        }
    }
    Ok(branches)
}

/// Where one trace parted from the shown commits; `None` if it does not meet them while patience lasts.
fn branch(
    repo: &Repo,
    name: TraceName,
    oid: Oid,
    shown: &HashSet<Oid>,
    patience: &mut usize,
    encoding: Encoding,
) -> Result<Option<Branch>, TraceError> {
    let tip = Tip::read(repo, oid)?;
    for (ahead, earlier) in Walk::new(repo, tip.clone(), Parents::First).enumerate() {
        let parted = earlier?.commit.oid;
        if shown.contains(&parted) {
            let view = View::at(repo, tip, None)?;
            let tokens = view.total(repo, encoding)?.tokens;
            return Ok(Some(Branch { name, parted, ahead, items: view.slots.len(), tokens }));
        }
        if *patience == 0 {
            break;
        }
        *patience -= 1;
    }
    Ok(None)
}
