//! Lists the recorded sessions, with the traces that continue them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::git::{CodeCommit, Repo};
use crate::tokens::Counter;
use crate::trace::model::name::TRACES;
use crate::trace::model::trailers::Total;
use crate::trace::store::session::{self, continued_by};
use crate::trace::store::total;
use crate::trace::store::view::View;
use crate::trace::{Time, Tip, TraceError, TraceName};
use crate::transcript::continuation::recorded_by;
use crate::transcript::format::Format;
use crate::transcript::title::{records_session, title};

/// How many items are read to find a time.
const MAX_SEARCHED: usize = 30;

#[derive(Clone, Debug)]
pub(crate) struct RecordedSession {
    pub name: TraceName,
    pub agent: Option<Format>,
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

impl Family {
    fn ended(&self) -> Option<Time> {
        self.members.iter().map(|member| member.ended).max()
    }
}

/// Lists the families of sessions, the most recently changed first.
///
/// Reads the tree and first items of each trace, and the code's history back to the start of the oldest session.
pub(crate) fn list(repo: &Repo, encoding: Counter) -> Result<Vec<Family>, TraceError> {
    let refs = repo.list_refs(TRACES)?;
    let names: Vec<TraceName> = refs.iter().filter_map(|(refname, _)| TraceName::of_ref(refname)).collect();
    let mut found: BTreeMap<TraceName, Vec<RecordedSession>> = BTreeMap::new();
    for name in names.iter().filter(|name| !name.is_of_sub_agent()) {
        let Some(tip) = Tip::find(repo, name)?.filter(|tip| records_session(name, tip)) else { continue };
        let mut bases = session::of_trace(repo, name)?;
        bases.push(name.clone());
        let is_below = |other: &&TraceName| bases.iter().any(|base| other.is_sub_agent_of(base));
        let sub_agents = names.iter().filter(is_below).count();
        let family = tip.family().unwrap_or(name).clone();
        found.entry(family).or_default().push(read(repo, encoding, name.clone(), tip, sub_agents)?);
    }
    let oldest = found.values().flatten().map(|session| session.began.as_second()).min();
    let commits = oldest.map_or_else(|| Ok(Vec::new()), |oldest| repo.code_since(oldest))?;
    let mut families = Vec::new();
    for (name, mut members) in found {
        for session in &mut members {
            let period = session.began.as_second()..=session.ended.as_second();
            session.commits = commits.iter().filter(|commit| period.contains(&commit.time)).cloned().collect();
        }
        let first = continued_by(repo, &name)?;
        members.sort_by_key(|member| (member.name != first, Reverse(member.ended)));
        families.push(Family { name, members });
    }
    families.sort_by_key(|family| Reverse(family.ended()));
    Ok(families)
}

fn read(
    repo: &Repo,
    encoding: Counter,
    name: TraceName,
    tip: Tip,
    sub_agents: usize,
) -> Result<RecordedSession, TraceError> {
    let ended = tip.time();
    let view = View::at(repo, tip, None)?;
    let mut began = None;
    for slot in view.slots.iter().filter(|slot| view.left_out(slot).is_none()).take(MAX_SEARCHED) {
        began = total::read_item(repo, slot)?.fields.created;
        if began.is_some() {
            break;
        }
    }
    Ok(RecordedSession {
        agent: recorded_by(repo, &name, &view)?,
        title: title(repo, &name, &view),
        name,
        began: began.unwrap_or(ended),
        ended,
        items: view.slots.len(),
        total: view.listed_total(repo, encoding)?,
        sub_agents,
        commits: Vec::new(),
    })
}
