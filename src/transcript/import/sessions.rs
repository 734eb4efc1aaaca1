//! Lists the recorded sessions, with the traces that continue them.

use std::cmp::Reverse;
use std::collections::HashMap;

use regex::Regex;

use crate::git::{CodeCommit, Repo};
use crate::trace::model::trailers::Total;
use crate::trace::query::find::Wanted;
use crate::trace::store::session::{SESSIONS, continued_by};
use crate::trace::store::trace_index::{Group, ListedTrace, TraceIndex};
use crate::trace::store::view::View;
use crate::trace::store::{settings, total};
use crate::trace::{ItemEntry, Time, Tip, TraceError, TraceName};
use crate::transcript::continuation::recorded_by_one_of;
use crate::transcript::format::Format;
use crate::transcript::title::{is_session_name, title, titled};

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
    /// The newest commit of the trace.
    pub tip: Tip,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Among {
    /// Recorded sessions and the traces that share their history, without those of sub-agents.
    Sessions,
    Traces,
}

/// The recorded session, or branch of one, that was changed last. Reads the tip of each trace.
pub(crate) fn newest(repo: &Repo) -> Result<Option<TraceName>, TraceError> {
    Ok(TraceIndex::open(repo)?.newest_first(repo).find(is_session).map(|trace| trace.name))
}

/// The recorded session, or branch of one, that was changed last, if that was after the last change of a trace and not made of it.
pub(crate) fn newer_than(repo: &Repo, name: &TraceName) -> Result<Option<TraceName>, TraceError> {
    let Some(newest) = TraceIndex::open(repo)?.newest_first(repo).find(is_session) else { return Ok(None) };
    let is_newer = match Tip::find(repo, name)? {
        Some(tip) => {
            newest.time.is_some_and(|time| time >= tip.time()) && !repo.is_ancestor(tip.commit.oid, newest.tip)?
        }
        None => true,
    };
    Ok((is_newer && newest.name != *name).then_some(newest.name))
}

/// Whether a trace is a recorded session, or shares the history of one.
fn is_session(trace: &ListedTrace) -> bool {
    !trace.name.is_of_sub_agent() && (trace.has_family || is_session_name(&trace.name))
}

/// Lists families of sessions, or of all traces. Of those that are listed, reads the tips, trees, and first items, and the code's history back to the
/// start of the oldest of these.
pub(crate) fn list(repo: &Repo, wanted: &Wanted, among: Among) -> Result<Vec<Family>, TraceError> {
    let mut bound: HashMap<String, Vec<TraceName>> = HashMap::new();
    for (refname, target) in repo.list_symbolic_refs(SESSIONS)? {
        let session = refname.strip_prefix(SESSIONS).and_then(|name| name.parse().ok());
        bound.entry(target).or_default().extend(session);
    }
    let mut families = Vec::new();
    for Group { name, traces } in wanted.groups(repo)? {
        if families.len() == wanted.most {
            break;
        }
        let mut members = Vec::new();
        for ListedTrace { name, tip, .. } in traces.iter().filter(|trace| among == Among::Traces || is_session(trace)) {
            let sessions = bound.remove(&name.refname()).unwrap_or_default();
            let above: Vec<&TraceName> = sessions.iter().filter(|session| *session != name).chain([name]).collect();
            let belongs = |trace: &&ListedTrace| above.iter().any(|above| trace.name.is_sub_agent_of(above));
            let count = traces.iter().filter(belongs).count();
            members.push(read(repo, name.clone(), Tip::read(repo, *tip)?, sessions, count)?);
        }
        let has_title =
            |title: &Regex| members.iter().any(|member| title.is_match(member.title.as_deref().unwrap_or("")));
        if members.is_empty() || !wanted.title.as_ref().is_none_or(has_title) {
            continue;
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
    // The first prompt may have been summarized.
    let began = titled(repo, &view).and_then(|item| item.fields.created).into_iter().chain(began).min();
    let counter = settings::counter(repo, Some(&name))?;
    Ok(RecordedSession {
        agent: recorded_by_one_of(repo, &view, || Ok(sessions))?,
        title: title(repo, &name, &view),
        name,
        began: began.unwrap_or(changed),
        ended: ended.unwrap_or(changed),
        items: view.slots.len(),
        total: view.listed_total(repo, counter)?,
        tip: view.tip,
        sub_agents,
        commits: Vec::new(),
    })
}
