//! States of traces, as `branch`, `reset`, `diff` and their kin take them.

use super::moment;
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;
use crate::trace::store::tip::Tip;

/// Where the tips of other repositories' traces are, as the last fetch saw them.
const REMOTES: &str = "refs/trace-remotes/";

/// A state of a trace.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub tip: Tip,
    /// Until when changes of priority count; `None`: now, for it is the tip of a trace.
    pub at: Option<Time>,
    /// The ref whose tip it is; `None` of an earlier state.
    pub refname: Option<String>,
}

impl State {
    /// The tip of a trace, now.
    pub(crate) fn of_trace(repo: &Repo, name: &TraceName) -> Result<Self, TraceError> {
        Ok(Self { tip: Tip::of_trace(repo, name)?, at: None, refname: Some(name.refname()) })
    }
}

/// Finds the state that `spec` names: a trace, then what was fetched of one (`origin/main`), then what [`moment`] takes in
/// the trace `current`: a commit, an item (the commit that last touched it) or a time.
pub(crate) fn state(repo: &Repo, current: &TraceName, spec: &str) -> Result<State, TraceError> {
    if let Some(tip) = find_tip(repo, spec)? {
        return Ok(tip);
    }
    let unknown = || TraceError::UnknownState { spec: spec.to_owned(), trace: current.clone() };
    let tip = Tip::find(repo, current)?.ok_or_else(unknown)?;
    match moment(repo, current, &tip, spec) {
        Ok(moment) => Ok(State { tip: moment.tip, at: Some(moment.at), refname: None }),
        Err(TraceError::UnknownMoment { .. }) => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// The tip that `spec` names: of a trace, or of what was fetched of one. `None` if it names neither.
pub(crate) fn find_tip(repo: &Repo, spec: &str) -> Result<Option<State>, TraceError> {
    let fetched = format!("{REMOTES}{}", spec.strip_prefix(REMOTES).unwrap_or(spec));
    let names =
        [spec.parse().ok().map(|name: TraceName| name.refname()), Repo::is_refname(&fetched).then_some(fetched)];
    for refname in names.into_iter().flatten() {
        if let Some(oid) = repo.find_ref(&refname)? {
            return Ok(Some(State { tip: Tip::read(repo, oid)?, at: None, refname: Some(refname) }));
        }
    }
    Ok(None)
}
