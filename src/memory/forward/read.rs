//! Reading crumbs: the newest first, until there are enough.

use super::crumb::{self, Crumb, CrumbStatus, CrumbType, Damaged, Priority, Sieve};
use super::error::ForwardError;
use super::order;
use crate::git::Repo;
use crate::trace::model::tree::{self, ItemEntry};
use crate::trace::store::signature::Signature;
use crate::trace::{AgentName, ItemId, Time, Tip, TraceError, TraceName};

/// How many crumbs are read at first; twice as many each time that is not enough.
const FIRST_BATCH: usize = 16;
/// How many crumbs are read at a time at most.
const MAX_BATCH: usize = 1024;

/// Which crumbs are asked for. The default is the protocol's: the ten newest active ones of a week.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Query {
    /// How far to look back: a crumb that is exactly so old is found. Nothing is found in no time; `None` looks at all.
    pub lookback_hours: Option<u64>,
    /// Only those that matter so much.
    pub priority: Option<Priority>,
    /// Only those about this.
    pub crumb_type: Option<CrumbType>,
    /// Only those of this status.
    pub status: Option<CrumbStatus>,
    /// Whether those whose time is over are found too.
    pub expired: bool,
    /// How many at most.
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            lookback_hours: Some(168),
            priority: None,
            crumb_type: None,
            status: Some(CrumbStatus::Active),
            expired: false,
            limit: 10,
        }
    }
}

impl Query {
    /// All crumbs there are.
    #[must_use]
    pub(crate) fn all() -> Self {
        let (lookback_hours, priority, crumb_type, status) = (None, None, None, None);
        Self { lookback_hours, priority, crumb_type, status, expired: true, limit: usize::MAX }
    }

    fn asks_for(&self, crumb: &Crumb, now: Time) -> bool {
        let about = &crumb.about;
        self.priority.is_none_or(|priority| priority == about.priority)
            && self.crumb_type.is_none_or(|crumb_type| crumb_type == about.crumb_type)
            && self.status.is_none_or(|status| status == about.status)
            && (self.expired || !about.is_expired(now))
    }

    /// Before when no crumb can be asked for.
    fn oldest(&self, now: Time) -> Option<Time> {
        let by_window = self.lookback_hours.and_then(|hours| now.hours_earlier(hours));
        let most = Priority::ALL.map(Priority::hours).into_iter().max().unwrap_or(0);
        let by_expiry = if self.expired { None } else { now.hours_earlier(most) };
        by_window.max(by_expiry)
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// The crumbs, newest first; of one moment, the one left last first.
    pub crumbs: Vec<Crumb>,
    /// What was met on the way and could not be read.
    pub damaged: Vec<Damaged>,
}

/// The moment at which a command reads: the clock's, or the one that `GIT_COMMITTER_DATE` fixes, as it does for writing.
///
/// # Errors
///
/// If that date cannot be read.
pub(crate) fn moment(repo: &Repo, clock: Time) -> Result<Time, TraceError> {
    if repo.env().text("GIT_COMMITTER_DATE").is_none() {
        return Ok(clock);
    }
    Ok(Signature::take(repo, clock)?.at)
}

/// Finds crumbs of `agent`, and of nobody else. One that left none has none, and that is no error.
///
/// Reads names, and from the end the files of what it returns and of what the filters pass over.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn get(repo: &Repo, agent: &AgentName, query: &Query, now: Time) -> Result<Found, ForwardError> {
    let mut found = Found::default();
    if query.limit == 0 || query.lookback_hours == Some(0) {
        return Ok(found);
    }
    let slots = slots(repo, agent)?;
    let is_one_line = order::is_one_line(&slots);
    let oldest = query.oldest(now);
    let sieve = Sieve::new(query.priority, query.crumb_type, query.status);
    let mut waiting: Vec<&ItemEntry> = slots.iter().collect();
    let mut read = Vec::new().into_iter();
    let mut batch = FIRST_BATCH;
    loop {
        let Some((crumb, bound)) = read.next() else {
            let mut next = waiting.split_off(waiting.len().saturating_sub(batch));
            if next.is_empty() {
                break;
            }
            next.reverse();
            read = crumb::read_many(repo, &next, &sieve)?.into_iter();
            batch = (batch * 2).min(MAX_BATCH);
            continue;
        };
        if let Some(bound) = bound.filter(|_| is_one_line) {
            let too_old = oldest.is_some_and(|oldest| bound < oldest);
            let last = if found.crumbs.len() == query.limit { found.crumbs.last() } else { None };
            if too_old || last.is_some_and(|last| bound <= last.about.created) {
                break;
            }
        }
        match crumb {
            Some(Ok(crumb))
                if oldest.is_none_or(|oldest| crumb.about.created >= oldest) && query.asks_for(&crumb, now) =>
            {
                // What is met later was left earlier, so among equals it comes after.
                let place = found.crumbs.partition_point(|known| known.about.created >= crumb.about.created);
                found.crumbs.insert(place, crumb);
                found.crumbs.truncate(query.limit);
            }
            Some(Err(damaged)) => found.damaged.push(damaged),
            Some(Ok(_)) | None => {}
        }
    }
    Ok(found)
}

/// Where an agent's crumbs stand, in the order in which they were left.
pub(crate) fn slots(repo: &Repo, agent: &AgentName) -> Result<Vec<ItemEntry>, TraceError> {
    match Tip::find(repo, &TraceName::of_agent(agent))? {
        Some(tip) => Ok(tree::list(repo, tip.commit.tree)?),
        None => Ok(Vec::new()),
    }
}

/// The crumb of `agent` that `spec` names: its id, or four digits of it or more.
///
/// # Errors
///
/// [`ForwardError::UnknownCrumb`], [`ForwardError::AmbiguousCrumb`], [`ForwardError::Damaged`].
pub(crate) fn find(repo: &Repo, agent: &AgentName, spec: &str) -> Result<Crumb, ForwardError> {
    let slots = slots(repo, agent)?;
    let is_prefix = spec.len() >= 4 && spec.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let named: Vec<&ItemEntry> = slots.iter().filter(|slot| is_prefix && slot.id.has_prefix(spec)).collect();
    match named.as_slice() {
        [] => Err(ForwardError::UnknownCrumb { agent: agent.clone(), spec: spec.to_owned() }),
        [slot] => crumb::read(repo, slot)?.0.map_err(|Damaged { id, cause, .. }| ForwardError::Damaged { id, cause }),
        _ => {
            let candidates: Vec<ItemId> = named.iter().take(10).map(|slot| slot.id).collect();
            Err(ForwardError::AmbiguousCrumb { spec: spec.to_owned(), candidates })
        }
    }
}
