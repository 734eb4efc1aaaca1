//! Names that users give: items, and states of traces.
//!
//! An item is named by its id or at least four of its first digits, by `#<position>`, or by a commit that touched only this item.
//! Ambiguous names are errors.

use std::collections::{HashMap, HashSet};

use super::archived;
use super::priority::tags::introduction;
use super::turns::Turns;
use super::walk::{Parents, Walk, changes_of, touched_by};
use crate::base::changes::most_alike;
use crate::base::time::Time;
use crate::base::when::When;
use crate::git::{Oid, Repo};
use crate::trace::model::item_spec::{ItemName, ItemSpec};
use crate::trace::model::name::{REMOTES, TRACES};
use crate::trace::model::tree::{self, Change};
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError, TraceName, View};

const CANDIDATES: usize = 10;

/// As in git, a smaller number after `@` is not a time.
const LEAST_EPOCH: u64 = 100_000_000;

/// Resolves names of items in a trace at one of its commits.
pub(crate) struct Resolver<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    tip: &'r Tip,
    slots: Vec<ItemEntry>,
}

impl<'r> Resolver<'r> {
    pub(crate) fn new(repo: &'r Repo, name: &'r TraceName, tip: &'r Tip) -> Result<Self, TraceError> {
        Ok(Self { repo, name, tip, slots: tree::list(repo, tip.commit.tree)? })
    }

    pub(crate) fn live(&self, spec: &str) -> Result<&ItemEntry, TraceError> {
        let id = self.item(spec)?;
        self.find_live(id).ok_or_else(|| TraceError::NotLive { item: id, trace: self.name.clone() })
    }

    /// The live items, in reading order.
    pub(crate) fn slots(&self) -> &[ItemEntry] {
        &self.slots
    }

    pub(crate) fn find_live(&self, id: ItemId) -> Option<&ItemEntry> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// The item that `spec` names, whether it is live or was removed. Walks history only if no live item has the name.
    pub(crate) fn item(&self, spec: &str) -> Result<ItemId, TraceError> {
        match self.items(spec)?.as_slice() {
            [item] => Ok(*item),
            items => Err(TraceError::NotOneItem { spec: spec.to_owned(), count: items.len() }),
        }
    }

    /// As [`Self::item`], or all items that a commit touched, at least one.
    pub(crate) fn items(&self, spec: &str) -> Result<Vec<ItemId>, TraceError> {
        let unknown = || match spec.parse::<TraceName>() {
            Ok(name) if matches!(self.repo.find_ref(&name.refname()), Ok(Some(_))) => TraceError::NotAnItem { name },
            _ => TraceError::UnknownItem { spec: spec.to_owned(), trace: self.name.clone() },
        };
        if let Some(digits) = spec.strip_prefix('#') {
            let seq: u32 = digits.parse().map_err(|_| unknown())?;
            let at_seq = |slot: &ItemEntry| slot.seq == seq;
            if let Some(id) = self.only_live(spec, at_seq)? {
                return Ok(vec![id]);
            }
            return Ok(vec![self.only_removed(spec, at_seq)?.ok_or_else(unknown)?]);
        }
        let is_hex = is_hex(spec);
        if is_hex && spec.len() < 4 {
            return Err(TraceError::TooShort { spec: spec.to_owned() });
        }
        let is_prefix = is_hex && spec.len() <= 16;
        let has_prefix = |slot: &ItemEntry| slot.id.has_prefix(spec);
        if is_prefix && let Some(id) = self.only_live(spec, has_prefix)? {
            return Ok(vec![id]);
        }
        if let Some(commit) = self.repo.find_commit(spec)? {
            return self.touched(spec, &Tip::read(self.repo, commit)?);
        }
        let removed = if is_prefix { self.only_removed(spec, has_prefix)? } else { None };
        Ok(vec![removed.ok_or_else(unknown)?])
    }

    /// The commit that [`Self::items`] would take `spec` for, if it is one.
    pub(crate) fn commit(&self, spec: &str) -> Result<Option<Tip>, TraceError> {
        let is_item = spec.starts_with(['#', '@']) || spec.contains("..") || (is_hex(spec) && spec.len() < 4);
        if is_item || (is_hex(spec) && spec.len() <= 16 && self.slots.iter().any(|slot| slot.id.has_prefix(spec))) {
            return Ok(None);
        }
        self.repo.find_commit(spec)?.map(|oid| Tip::read(self.repo, oid)).transpose()
    }

    fn only_live(&self, spec: &str, fits: impl Fn(&ItemEntry) -> bool) -> Result<Option<ItemId>, TraceError> {
        only(spec, self.slots.iter().filter(|slot| fits(slot)).map(|slot| slot.id))
    }

    /// The only item that history has, but the tip does not, for which `fits` is true.
    fn only_removed(&self, spec: &str, fits: impl Fn(&ItemEntry) -> bool) -> Result<Option<ItemId>, TraceError> {
        only(spec, self.removed_with(fits)?.into_iter().map(|slot| slot.id))
    }

    /// The last entries of the items that history has, but the tip does not, in reading order.
    pub(crate) fn removed(&self) -> Result<Vec<ItemEntry>, TraceError> {
        let live: HashSet<ItemId> = self.slots.iter().map(|slot| slot.id).collect();
        self.removed_with(|slot| !live.contains(&slot.id))
    }

    fn removed_with(&self, fits: impl Fn(&ItemEntry) -> bool) -> Result<Vec<ItemEntry>, TraceError> {
        let mut found: HashMap<ItemId, ItemEntry> = HashMap::new();
        for tip in Walk::new(self.repo, self.tip.clone(), Parents::All) {
            let tip = tip?;
            // An item that the tip lacks was removed, which these operations do not do.
            if tip.is_ours() && matches!(tip.trailers.op, Some(Op::Append | Op::Edit | Op::Import | Op::Restore)) {
                continue;
            }
            for change in changes_of(self.repo, &tip)? {
                if let Change::Removed(slot) = change
                    && fits(&slot)
                {
                    found.entry(slot.id).or_insert(slot);
                }
            }
        }
        let mut found: Vec<ItemEntry> = found.into_values().collect();
        found.sort_unstable_by_key(|slot| (slot.seq, slot.id));
        Ok(found)
    }

    /// The items of this trace that a commit touched.
    fn touched(&self, spec: &str, tip: &Tip) -> Result<Vec<ItemId>, TraceError> {
        let mut items = touched_by(self.repo, tip)?;
        let Some(&first) = items.first() else {
            return Err(TraceError::NotOneItem { spec: spec.to_owned(), count: 0 });
        };
        if !self.repo.is_ancestor(tip.commit.oid, self.tip.commit.oid)? {
            let removed: HashSet<ItemId> = self.removed()?.iter().map(|slot| slot.id).collect();
            items.retain(|id| self.find_live(*id).is_some() || removed.contains(id));
        }
        if items.is_empty() {
            return Err(TraceError::NotInTrace { item: first, trace: self.name.clone() });
        }
        Ok(items)
    }
}

fn is_hex(spec: &str) -> bool {
    spec.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn only(spec: &str, ids: impl Iterator<Item = ItemId>) -> Result<Option<ItemId>, TraceError> {
    let mut candidates: Vec<ItemId> = ids.take(CANDIDATES).collect();
    candidates.dedup();
    match candidates.as_slice() {
        [] => Ok(None),
        [id] => Ok(Some(*id)),
        _ => Err(TraceError::AmbiguousItem { spec: spec.to_owned(), candidates }),
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub tip: Tip,
    /// The time up to which changes of priority count; `None` for the tip of a trace: now.
    pub at: Option<Time>,
    pub refname: Option<String>,
}

impl State {
    pub(crate) fn of_trace(repo: &Repo, name: &TraceName) -> Result<Self, TraceError> {
        Ok(Self { tip: Tip::of_trace(repo, name)?, at: None, refname: Some(name.refname()) })
    }

    /// The state after a commit, with the priorities of its time.
    pub(crate) fn after(tip: Tip) -> Self {
        Self { at: Some(tip.time()), tip, refname: None }
    }
}

/// Resolves the name of a state: a trace, a fetched trace (`origin/main`), or an earlier state of the trace `current`, as
/// [`moment`] resolves it. A name with two meanings is an error, because a remote may call its traces anything. Full names of refs
/// and commits have one meaning.
pub(crate) fn state(repo: &Repo, current: &TraceName, spec: &str) -> Result<State, TraceError> {
    // As in git, a full oid is a commit.
    let is_oid = Oid::parse(spec, repo.object_format()).is_some_and(|oid| repo.read_commit(oid).is_ok());
    if !is_oid && let Some(found) = find_tip(repo, spec)? {
        return match other_meaning(repo, current, spec, &found) {
            Some(other) => {
                let (spec, refname) = (spec.to_owned(), found.refname.unwrap_or_default());
                Err(TraceError::AmbiguousState { spec, refname, other })
            }
            None => Ok(found),
        };
    }
    if let Some(found) = ancestor_of_trace(repo, spec)? {
        return Ok(State::after(found));
    }
    let unknown = || TraceError::UnknownState { spec: spec.to_owned(), meant: closest(repo, spec).ok().flatten() };
    let found = Tip::find(repo, current)
        .and_then(|tip| moment(repo, current, &tip.ok_or_else(unknown)?, spec))
        // A damaged tip names no item, but git may name a commit.
        .or_else(|error| match error {
            TraceError::Git(ref damage) if damage.is_damage() => {
                match repo.find_commit(spec)?.map(|oid| Tip::read(repo, oid)).transpose()? {
                    Some(tip) if tip.is_ours() => Ok(State::after(tip)),
                    _ => Err(error),
                }
            }
            error => Err(error),
        });
    found.map_err(|error| match (error, spec.parse().ok().map(|name| archived::find(repo, &name))) {
        (TraceError::UnknownMoment { .. } | TraceError::UnknownState { .. }, Some(Ok(Some(archived)))) => {
            archived.into()
        }
        (TraceError::UnknownMoment { .. }, _) => unknown(),
        (error, _) => error,
    })
}

/// The commit that `work~3` or `origin/work^2` names. git knows it only by the full name of the ref.
fn ancestor_of_trace(repo: &Repo, spec: &str) -> Result<Option<Tip>, TraceError> {
    let Some((name, steps)) = spec.find(['~', '^']).map(|at| spec.split_at(at)) else { return Ok(None) };
    for refname in refnames(name) {
        if repo.find_ref(&refname)?.is_some()
            && let Some(oid) = repo.find_commit(&format!("{refname}{steps}"))?
        {
            return Ok(Some(Tip::read(repo, oid)?).filter(Tip::is_ours));
        }
    }
    Ok(None)
}

/// The only fetched trace with this name, or with this name after that of its remote: its full name, and the part after the remote.
pub(crate) fn fetched(repo: &Repo, name: &TraceName) -> Result<Option<(String, TraceName)>, TraceError> {
    let refs = repo.list_refs(REMOTES)?;
    let mut found = refs.iter().filter_map(|(refname, _)| {
        let full = &refname[REMOTES.len()..];
        let (_, own) = full.split_once('/')?;
        let is_meant = full == name.as_str() || own == name.as_str();
        Some((full.to_owned(), own.parse().ok().filter(|_| is_meant)?))
    });
    let first = found.next();
    Ok(first.filter(|_| found.next().is_none()))
}

/// The trace with the name that is most like this one, if it is like it.
pub(crate) fn closest(repo: &Repo, name: &str) -> Result<Option<TraceName>, TraceError> {
    let refs = repo.list_refs(TRACES)?;
    let names = refs.iter().filter_map(|(refname, _)| refname.strip_prefix(TRACES));
    Ok(most_alike(name, names).and_then(|name| name.parse().ok()))
}

/// The full name of another state that the name of a trace, `found`, may mean.
fn other_meaning(repo: &Repo, current: &TraceName, spec: &str, found: &State) -> Option<String> {
    let differs = |oid: &Oid| *oid != found.tip.commit.oid;
    for refname in refnames(spec).filter(|refname| Some(refname) != found.refname.as_ref()) {
        if repo.find_ref(&refname).ok().flatten().is_some_and(|oid| differs(&oid)) {
            return Some(refname);
        }
    }
    // Other names can only be those of traces.
    let is_hex = is_hex(spec);
    let is_moment = !is_hex && (spec.starts_with(['@', '#']) || spec.parse::<When>().is_ok());
    let may_be_moment = is_moment || (is_hex && spec.len() >= 4);
    let tip = may_be_moment.then(|| Tip::find(repo, current).ok().flatten()).flatten()?;
    match moment(repo, current, &tip, spec) {
        Ok(other) => Some(other.tip.commit.oid).filter(differs).map(|oid| format!("commit {oid}")),
        Err(TraceError::AmbiguousItem { .. }) => Some("an item".to_owned()),
        Err(_) if is_moment => Some("a time, turn, or item".to_owned()),
        Err(_) => None,
    }
}

/// The refs that a text may name: a trace, or a fetched one.
fn refnames(spec: &str) -> impl Iterator<Item = String> {
    let is_fetched = spec.starts_with(REMOTES);
    let local = spec.parse::<TraceName>().ok().map(|name| name.refname()).filter(|_| !is_fetched);
    let fetched = format!("{REMOTES}{}", spec.strip_prefix(REMOTES).unwrap_or(spec));
    local.into_iter().chain(Some(fetched).filter(|fetched| !spec.starts_with(TRACES) && Repo::is_refname(fetched)))
}

pub(crate) fn find_tip(repo: &Repo, spec: &str) -> Result<Option<State>, TraceError> {
    for refname in refnames(spec) {
        if let Some(oid) = repo.find_ref(&refname)? {
            return Ok(Some(State { tip: Tip::read(repo, oid)?, at: None, refname: Some(refname) }));
        }
    }
    Ok(None)
}

/// Resolves the name of an earlier state of a trace: a commit, an item (the last commit that touched it), a turn (the commit that
/// added its last item), or a time (the newest commit on the first-parent line that is not later).
pub(crate) fn moment(repo: &Repo, name: &TraceName, tip: &Tip, spec: &str) -> Result<State, TraceError> {
    let unknown = || TraceError::UnknownMoment { spec: spec.to_owned(), trace: name.clone() };
    if let Ok(ItemSpec::One(ItemName::Turn(turn))) = spec.parse()
        && turn.unsigned_abs() < LEAST_EPOCH
    {
        return end_of_turn(repo, name, tip, turn);
    }
    let time = spec.parse::<When>().ok();
    // `100d` is an age, but first the beginning of an id.
    let may_be_name = time.is_none() || is_hex(spec);
    let found = match may_be_name.then(|| item_by_name(repo, name, tip, spec)).transpose()?.flatten() {
        Some(id) => last_touch(repo, tip, id)?,
        None if may_be_name => repo.find_commit(spec)?.map(|oid| Tip::read(repo, oid)).transpose()?,
        None => None,
    };
    let Some(found) = found else {
        let at = time.and_then(|time| time.before(&repo.env().clock()).ok()).ok_or_else(unknown)?;
        return as_of_time(repo, name, tip, at);
    };
    // The code has commits too. Whether a commit of a trace belongs to this trace is not worth a walk through its history.
    if !found.is_ours() && !repo.is_ancestor(found.commit.oid, tip.commit.oid)? {
        return Err(unknown());
    }
    Ok(State::after(found))
}

fn end_of_turn(repo: &Repo, name: &TraceName, tip: &Tip, turn: i64) -> Result<State, TraceError> {
    let view = View::at(repo, tip.clone(), None)?;
    let turns = Turns::of_view(repo, &view)?;
    let number = turns.number(turn, name)?;
    if number == turns.count() {
        return Ok(State { tip: tip.clone(), at: None, refname: None });
    }
    let last = (0..view.slots.len()).rev().find(|index| turns.place(*index).turn <= number);
    let added = last.map(|index| introduction(repo, tip, view.slots[index].id)).transpose()?.flatten();
    let added = added.ok_or_else(|| TraceError::UnknownMoment { spec: format!("@{turn}"), trace: name.clone() })?;
    Ok(State::after(Tip::read(repo, added)?))
}

fn as_of_time(repo: &Repo, name: &TraceName, tip: &Tip, at: Time) -> Result<State, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::First) {
        let tip = earlier?;
        if tip.time() <= at {
            return Ok(State { tip, at: Some(at), refname: None });
        }
    }
    Err(TraceError::BeforeTheFirst { trace: name.clone(), at })
}

/// The item that `spec` names by an id, a prefix, or a position; `None` if it names a commit or nothing.
pub(crate) fn item_by_name(repo: &Repo, name: &TraceName, tip: &Tip, spec: &str) -> Result<Option<ItemId>, TraceError> {
    let is_position = spec.starts_with('#');
    if !is_position && (!is_hex(spec) || spec.len() > 16) {
        return Ok(None);
    }
    let resolver = Resolver::new(repo, name, tip)?;
    let is_live = |slot: &ItemEntry| slot.id.has_prefix(spec);
    // Which items a commit touched is of no interest here, and takes a walk.
    if !is_position && !resolver.slots.iter().any(is_live) && repo.find_commit(spec)?.is_some() {
        return Ok(None);
    }
    match resolver.item(spec) {
        Ok(id) => Ok(Some(id)),
        Err(
            TraceError::UnknownItem { .. }
            | TraceError::NotAnItem { .. }
            | TraceError::NotOneItem { .. }
            | TraceError::NotInTrace { .. }
            | TraceError::TooShort { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn last_touch(repo: &Repo, tip: &Tip, id: ItemId) -> Result<Option<Tip>, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if touched_by(repo, &earlier)?.contains(&id) {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}
