//! Lists the recorded sessions, with the traces that continue them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::git::{CodeCommit, Repo};
use crate::trace::model::name::TRACES;
use crate::trace::model::trailers::Total;
use crate::trace::store::session::{SESSIONS, continued_by};
use crate::trace::store::view::View;
use crate::trace::store::{settings, total};
use crate::trace::{ItemEntry, Time, Tip, TraceError, TraceName};
use crate::transcript::continuation::recorded_by_one_of;
use crate::transcript::format::Format;
use crate::transcript::title::{records_session, title};

/// How many items are read to find a time.
const MAX_SEARCHED: usize = 30;

#[derive(Clone, Debug)]
pub(crate) struct RecordedSession {
    pub name: TraceName,
    pub agent: Option<Format>,
    /// The times of its first and its last item. A clean or an export makes a session no longer.
    pub began: Time,
    pub ended: Time,
    pub items: usize,
    pub total: Total,
    pub title: Option<String>,
    pub sub_agents: usize,
    /// The commits of the code during the session, newest first.
    pub commits: Vec<CodeCommit>,
}

/// A recorded session, and the traces that share its history.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub name: TraceName,
    /// The trace of the first session, if it exists, then the others, the most recently changed first.
    pub members: Vec<RecordedSession>,
}

/// The recorded session, or branch of one, that was changed last. Reads the tip of each trace.
pub(crate) fn newest(repo: &Repo) -> Result<Option<TraceName>, TraceError> {
    let mut newest: Option<(Time, TraceName)> = None;
    for (refname, oid) in repo.list_refs(TRACES)? {
        let Some(name) = TraceName::of_ref(&refname).filter(|name| !name.is_of_sub_agent()) else { continue };
        let tip = Tip::read(repo, oid)?;
        let is_newer = newest.as_ref().is_none_or(|(time, _)| *time <= tip.time());
        if is_newer && records_session(&name, &tip) {
            newest = Some((tip.time(), name));
        }
    }
    Ok(newest.map(|(_, name)| name))
}

/// Lists the families of sessions, the most recently changed first, at most `most`.
///
/// Reads the tip of each trace; of those that are listed, the tree and first items; and the code's history back to the start of the
/// oldest of these.
pub(crate) fn list(repo: &Repo, most: usize) -> Result<Vec<Family>, TraceError> {
    let (mut sub_agents, mut found) = (HashMap::new(), BTreeMap::<TraceName, Vec<(TraceName, Tip)>>::new());
    for (refname, oid) in repo.list_refs(TRACES)? {
        let Some(name) = TraceName::of_ref(&refname) else { continue };
        if name.is_of_sub_agent() {
            for above in name.above_sub_agents() {
                *sub_agents.entry(above.to_owned()).or_default() += 1;
            }
            continue;
        }
        let tip = Tip::read(repo, oid)?;
        if records_session(&name, &tip) {
            let family = tip.family().unwrap_or(&name).clone();
            found.entry(family).or_default().push((name, tip));
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, members)| Reverse(members.iter().map(|(_, tip)| tip.time()).max()));
    found.truncate(most);
    let mut bound: HashMap<String, Vec<TraceName>> = HashMap::new();
    for (refname, target) in repo.list_symbolic_refs(SESSIONS)? {
        let session = refname.strip_prefix(SESSIONS).and_then(|name| name.parse().ok());
        bound.entry(target).or_default().extend(session);
    }
    let mut families = Vec::new();
    for (name, mut traces) in found {
        traces.sort_by_key(|(_, tip)| Reverse(tip.time()));
        let mut members = Vec::new();
        for (name, tip) in traces {
            let sessions = bound.remove(&name.refname()).unwrap_or_default();
            let above = sessions.iter().filter(|session| **session != name).chain([&name]);
            let count: usize = above.filter_map(|above| sub_agents.get(above.as_str())).sum();
            members.push(read(repo, name, tip, sessions, count)?);
        }
        let first = continued_by(repo, &name)?;
        members.sort_by_key(|member| member.name != first);
        families.push(Family { name, members });
    }
    let oldest = families.iter().flat_map(|family| &family.members).map(|session| session.began.as_second()).min();
    let mut commits = oldest.map_or_else(|| Ok(Vec::new()), |oldest| repo.code_since(oldest))?;
    commits.sort_by_key(|commit| Reverse(commit.time));
    for session in families.iter_mut().flat_map(|family| &mut family.members) {
        let [after, until] = [session.ended.as_second(), session.began.as_second() - 1]
            .map(|bound| commits.partition_point(|commit| commit.time > bound));
        session.commits = commits[after..until.max(after)].to_vec();
    }
    Ok(families)
}

/// The time of the first item that has one.
fn first_time<'s>(repo: &Repo, slots: impl Iterator<Item = &'s ItemEntry>) -> Result<Option<Time>, TraceError> {
    for slot in slots.take(MAX_SEARCHED) {
        if let Some(time) = total::read_item(repo, slot)?.fields.created {
            return Ok(Some(time));
        }
    }
    Ok(None)
}

fn read(
    repo: &Repo,
    name: TraceName,
    tip: Tip,
    sessions: Vec<TraceName>,
    sub_agents: usize,
) -> Result<RecordedSession, TraceError> {
    let changed = tip.time();
    let view = View::at(repo, tip, None)?;
    let live = view.slots.iter().filter(|slot| view.left_out(slot).is_none());
    let (began, ended) = (first_time(repo, live.clone())?, first_time(repo, live.rev())?);
    let counter = settings::counter(repo, Some(&name))?;
    Ok(RecordedSession {
        agent: recorded_by_one_of(repo, &view, || Ok(sessions))?,
        title: title(repo, &name, &view),
        name,
        began: began.unwrap_or(changed),
        ended: ended.unwrap_or(changed),
        items: view.slots.len(),
        total: view.listed_total(repo, counter)?,
        sub_agents,
        commits: Vec::new(),
    })
}
