//! Chains: a crumb, the one it goes on from, and so on to the first.

use std::collections::{HashMap, HashSet};

use super::crumb::{self, Crumb};
use super::error::ForwardError;
use super::read::slots;
use crate::git::Repo;
use crate::trace::{AgentName, ItemId};

/// A crumb and what it goes on from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    /// The crumbs, the first one first, whatever their status and age.
    pub crumbs: Vec<Crumb>,
    /// How it begins.
    pub start: Start,
}

/// How a chain begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// With a crumb that goes on from none.
    First,
    /// With one whose parent is not there, or cannot be read.
    Missing(ItemId),
    /// With one that goes on from a later one of this very chain.
    Cycle(ItemId),
}

/// Follows parents from `last` back.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn chain(repo: &Repo, agent: &AgentName, last: Crumb) -> Result<Chain, ForwardError> {
    let slots = slots(repo, agent)?;
    let by_id: HashMap<_, _> = slots.iter().map(|slot| (slot.id, slot)).collect();
    let mut seen = HashSet::from([last.id]);
    let mut next = last.about.parent;
    let mut crumbs = vec![last];
    let start = loop {
        let Some(parent) = next else { break Start::First };
        if !seen.insert(parent) {
            break Start::Cycle(parent);
        }
        let Some(slot) = by_id.get(&parent) else { break Start::Missing(parent) };
        let (Ok(crumb), _) = crumb::read(repo, slot)? else { break Start::Missing(parent) };
        next = crumb.about.parent;
        crumbs.push(crumb);
    };
    crumbs.reverse();
    Ok(Chain { crumbs, start })
}
