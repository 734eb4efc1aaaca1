//! Reading forward crumbs: whose they are, which are asked for, and which one a forward crumb continues.

use std::collections::{HashMap, HashSet};

use super::crumb::{self, CrumbStatus, CrumbType, DamagedCrumb, ForwardCrumb, Priority};
use super::error::ForwardError;
use crate::base::changes::most_alike;
use crate::git::{Oid, Repo};
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::model::tree::{self, ItemEntry};
use crate::trace::store::signature::Signature;
use crate::trace::{AgentName, ItemId, Time, Tip, TraceError, TraceName};

/// The first batch; the following ones double until [`MAX_BATCH`].
const FIRST_BATCH: usize = 16;
const MAX_BATCH: usize = 1024;

/// The agent named by the command, else by `GITTRACE_AGENT`, else by `trace.agent`.
pub(crate) fn resolve_agent(repo: &Repo, given: Option<&AgentName>) -> Result<Option<AgentName>, ForwardError> {
    if let Some(agent) = given {
        return Ok(Some(agent.clone()));
    }
    let (place, text) = match repo.env().text("GITTRACE_AGENT") {
        Some(text) => ("GITTRACE_AGENT", Some(text.to_owned())),
        None => ("trace.agent", repo.config()?.text("trace.agent")?),
    };
    text.map(|text| text.parse().map_err(|source| ForwardError::BadAgent { place, source })).transpose()
}

/// The agent that has forward crumbs here and may be meant by one that has none.
pub(crate) fn similar_agent(repo: &Repo, agent: &AgentName) -> Result<Option<AgentName>, TraceError> {
    Ok(similar(agent, &repo.list_refs(FORWARD_CRUMBS)?))
}

/// Of the agents whose forward crumbs are among these refs, the one whose name is the same but for case, else a similar one. `None`
/// if the agent itself is among them.
pub(crate) fn similar(agent: &AgentName, refs: &[(String, Oid)]) -> Option<AgentName> {
    let known: Vec<AgentName> = refs.iter().filter_map(|(refname, _)| AgentName::of_ref(refname)).collect();
    if known.contains(agent) {
        return None;
    }
    let same = known.iter().find(|other| other.is_alike(agent.as_str())).cloned();
    let alike = || most_alike(agent.as_str(), known.iter().map(AgentName::as_str));
    same.or_else(|| alike().and_then(|name| name.parse().ok()))
}

/// Refuses the first forward crumb of an agent whose name differs from that of another one only by case: file systems that ignore
/// case cannot store both refs.
pub(crate) fn refuse_other_case(repo: &Repo, agent: &AgentName) -> Result<(), ForwardError> {
    match similar_agent(repo, agent)? {
        Some(known) if known.is_alike(agent.as_str()) => Err(ForwardError::OtherCase { agent: agent.clone(), known }),
        _ => Ok(()),
    }
}

/// Which forward crumbs to return. The default is the protocol's: the ten newest active ones of the last week.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Query {
    /// A forward crumb of exactly this age is found; 0 finds nothing, `None` has no limit.
    pub lookback_hours: Option<u64>,
    pub priority: Option<Priority>,
    pub crumb_type: Option<CrumbType>,
    pub status: Option<CrumbStatus>,
    pub expired: bool,
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self { lookback_hours: Some(168), status: Some(CrumbStatus::Active), expired: false, limit: 10, ..Self::all() }
    }
}

impl Query {
    pub(crate) fn all() -> Self {
        let (lookback_hours, priority, crumb_type, status) = (None, None, None, None);
        Self { lookback_hours, priority, crumb_type, status, expired: true, limit: usize::MAX }
    }

    fn matches(&self, crumb: &ForwardCrumb, now: Time) -> bool {
        let metadata = &crumb.metadata;
        self.priority.is_none_or(|priority| priority == metadata.priority)
            && self.crumb_type.is_none_or(|crumb_type| crumb_type == metadata.crumb_type)
            && self.status.is_none_or(|status| status == metadata.status)
            && (self.expired || !metadata.is_expired(now))
    }

    fn oldest(&self, now: Time) -> Option<Time> {
        let by_window = self.lookback_hours.and_then(|hours| now.hours_earlier(hours));
        let by_expiry = if self.expired { None } else { now.hours_earlier(Priority::High.lifetime_hours()) };
        by_window.max(by_expiry)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QueryResult {
    /// Newest first; of the same time, the one written last first.
    pub crumbs: Vec<ForwardCrumb>,
    pub damaged: Vec<DamagedCrumb>,
    /// How many there are, also of those that were not read.
    pub total: usize,
}

/// The time of a reading command: the clock's, or the one fixed by `GIT_COMMITTER_DATE`, as for writing commands.
pub(crate) fn query_time(repo: &Repo, clock: Time) -> Result<Time, TraceError> {
    if repo.env().text("GIT_COMMITTER_DATE").is_none() {
        return Ok(clock);
    }
    Ok(Signature::take(repo, clock)?.at)
}

/// Finds forward crumbs of `agent`, which need not have any.
///
/// Lists the names of all files, and reads from the end until no earlier one can be returned.
pub(crate) fn search(repo: &Repo, agent: &AgentName, query: &Query, now: Time) -> Result<QueryResult, ForwardError> {
    let mut result = QueryResult::default();
    if query.limit == 0 || query.lookback_hours == Some(0) {
        return Ok(result);
    }
    let entries = entries(repo, &TraceName::of_agent(agent))?;
    result.total = entries.len();
    // Git merges files without looking at positions, so two may share one. Then no `newest` header can be trusted.
    let has_unique_positions = entries.is_sorted_by(|a, b| a.seq < b.seq);
    let oldest = query.oldest(now);
    // A forward crumb that is dated in the future counts as written with its neighbors. With each, the time of the next one.
    let mut future: Vec<(ForwardCrumb, Time)> = Vec::new();
    let mut next_time = now;
    let mut dated: Vec<Time> = Vec::new();
    let mut insert = |result: &mut QueryResult, crumb: ForwardCrumb, at: Time| {
        // This one was written earlier than those already found, so it sorts after those of the same time.
        let place = dated.partition_point(|found| *found >= at);
        if oldest <= Some(at) && query.matches(&crumb, now) && place < query.limit {
            dated.insert(place, at);
            dated.truncate(query.limit);
            result.crumbs.insert(place, crumb);
            result.crumbs.truncate(query.limit);
        }
        dated.last().copied().filter(|_| dated.len() == query.limit)
    };
    let mut last = None;
    let mut unread = &entries[..];
    let mut batch = FIRST_BATCH;
    while !unread.is_empty() {
        let (rest, next) = unread.split_at(unread.len().saturating_sub(batch));
        for (crumb, newest) in crumb::read_backwards(repo, next)? {
            let is_older = |newest| oldest > Some(newest) || last.is_some_and(|last| newest <= last);
            if has_unique_positions && newest.is_some_and(is_older) {
                for (crumb, at) in future {
                    insert(&mut result, crumb, at);
                }
                return Ok(result);
            }
            match crumb {
                Ok(crumb) if crumb.metadata.created > now => future.push((crumb, next_time)),
                Ok(crumb) => {
                    let at = crumb.metadata.created;
                    next_time = at;
                    for (later, next) in future.drain(..) {
                        insert(&mut result, later, next.max(at));
                    }
                    last = insert(&mut result, crumb, at);
                }
                Err(damaged) => result.damaged.push(damaged),
            }
        }
        unread = rest;
        batch = (batch * 2).min(MAX_BATCH);
    }
    for (crumb, at) in future {
        insert(&mut result, crumb, at);
    }
    Ok(result)
}

/// The remedy for a wrong date.
pub(crate) const FUTURE_REMEDY: &str =
    "if the date is wrong, leave its text again with `git trace forward leave`, and set its status to superseded";

/// The id of each forward crumb that is dated in the future, and a message about it.
pub(crate) fn future(crumbs: &[ForwardCrumb], now: Time) -> impl Iterator<Item = (ItemId, String)> {
    let future = crumbs.iter().filter(move |crumb| crumb.metadata.created > now);
    future.map(|crumb| {
        let (id, at) = (crumb.id, crumb.metadata.created);
        let message = "in the future; until then it counts as written when it was recorded";
        (id, format!("forward crumb {id} is dated {at}, {message}"))
    })
}

/// A warning for each forward crumb that is dated in the future.
pub(crate) fn future_warnings(crumbs: &[ForwardCrumb], now: Time) -> Vec<String> {
    future(crumbs, now).map(|(_, message)| format!("warning: {message}")).collect()
}

/// The files of an agent's forward crumbs, in the order in which they were written.
pub(crate) fn entries(repo: &Repo, name: &TraceName) -> Result<Vec<ItemEntry>, TraceError> {
    match Tip::find(repo, name)? {
        Some(tip) => Ok(tree::list(repo, tip.commit.tree)?),
        None => Ok(Vec::new()),
    }
}

/// The latest time among the forward crumbs of a tip. Reads the last one, or all if that one does not state it.
pub(crate) fn newest_time(repo: &Repo, tip: &Tip) -> Result<Option<Time>, TraceError> {
    let Some(last) = tree::last(repo, tip.commit.tree)? else { return Ok(None) };
    if let (Ok(_), Some(newest)) = crumb::read(repo, &last)? {
        return Ok(Some(newest));
    }
    newest_of(repo, &tree::list(repo, tip.commit.tree)?)
}

/// The latest time among forward crumbs. Reads all.
pub(crate) fn newest_of(repo: &Repo, entries: &[ItemEntry]) -> Result<Option<Time>, TraceError> {
    let all = crumb::read_backwards(repo, entries)?;
    Ok(all.into_iter().filter_map(|(crumb, _)| Some(crumb.ok()?.metadata.created)).max())
}

/// The forward crumb with the id `spec`, which may be shortened to four hex digits.
pub(crate) fn resolve(repo: &Repo, agent: &AgentName, spec: &str) -> Result<ForwardCrumb, ForwardError> {
    let entries = entries(repo, &TraceName::of_agent(agent))?;
    let is_prefix = spec.len() >= 4 && spec.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let matching: Vec<&ItemEntry> = entries.iter().filter(|entry| is_prefix && entry.id.has_prefix(spec)).collect();
    match matching[..] {
        [] => Err(ForwardError::UnknownCrumb { agent: agent.clone(), spec: spec.to_owned() }),
        [entry] => {
            crumb::read(repo, entry)?.0.map_err(|DamagedCrumb { id, cause, .. }| ForwardError::Damaged { id, cause })
        }
        _ => {
            let candidates = matching.iter().take(10).map(|entry| entry.id).collect();
            Err(ForwardError::AmbiguousCrumb { spec: spec.to_owned(), candidates })
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ancestry {
    pub crumbs: Vec<ForwardCrumb>,
    pub root: Root,
}

/// Why an ancestry ends at its oldest forward crumb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Root {
    NoParent,
    Missing(ItemId),
    Cycle(ItemId),
}

pub(crate) fn ancestry(repo: &Repo, agent: &AgentName, last: ForwardCrumb) -> Result<Ancestry, ForwardError> {
    let entries = entries(repo, &TraceName::of_agent(agent))?;
    let by_id: HashMap<_, _> = entries.iter().map(|entry| (entry.id, entry)).collect();
    let mut seen = HashSet::from([last.id]);
    let mut next = last.metadata.parent;
    let mut crumbs = vec![last];
    let root = loop {
        let Some(parent) = next else { break Root::NoParent };
        if !seen.insert(parent) {
            break Root::Cycle(parent);
        }
        let Some(entry) = by_id.get(&parent) else { break Root::Missing(parent) };
        let (Ok(crumb), _) = crumb::read(repo, entry)? else { break Root::Missing(parent) };
        next = crumb.metadata.parent;
        crumbs.push(crumb);
    };
    crumbs.reverse();
    Ok(Ancestry { crumbs, root })
}
