//! Rebasing: what a trace did since it left another is done again on that one's tip.

use std::collections::HashMap;

use super::{Chain, Outcome};
use crate::git::{Ident, Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Placement, Sides, three_way};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::advance::Advance;
use crate::trace::store::place::relocate;
use crate::trace::store::tip::Tip;
use crate::trace::store::write::Signature;

/// Replays the commits of a trace that `onto` does not have on top of it, oldest first; merges are passed over, since what
/// they brought in is replayed itself. Items keep their ids, authors theirs; new items come behind those of `onto`. The place
/// before is kept, see [`mod@crate::trace::store::place`].
///
/// # Errors
///
/// Those of [`three_way`] and of moving the ref; nothing was changed then.
pub(crate) fn rebase(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    onto: &Tip,
    settlement: &Settlement,
) -> Result<Outcome, TraceError> {
    relocate(repo, name, &signature.committer, |tip| {
        let own = repo.commits_beyond(tip.commit.oid, Some(onto.commit.oid))?;
        if own.is_empty() && tip.commit.oid == onto.commit.oid {
            return Ok((None, Outcome::Nothing));
        }
        let mut chain = Chain::new(repo, signature, encoding, onto.clone());
        let mut in_line = true;
        // What is taken out and put back while it is replayed comes back to its place.
        let mut places = HashMap::new();
        for commit in &own {
            let replayed = Tip::read(repo, *commit)?;
            let parents = &replayed.commit.parents;
            in_line &= parents.as_slice() == [chain.tip.commit.oid];
            if in_line {
                chain.tip = replayed;
                continue;
            }
            if parents.len() > 1 {
                continue;
            }
            if let Some(conflicts) = replay(repo, name, &mut chain, &replayed, settlement, &mut places)? {
                return Ok((None, conflicts));
            }
        }
        if chain.tip.commit.oid == tip.commit.oid {
            return Ok((None, Outcome::Nothing));
        }
        let to = chain.tip.commit.oid;
        Ok((Some(Advance { to, log: format!("rebase: onto {}", onto.commit.oid) }), Outcome::Done(chain.made)))
    })
}

/// Does again what one commit did; what a person must decide is returned.
fn replay(
    repo: &Repo,
    name: &TraceName,
    chain: &mut Chain<'_>,
    replayed: &Tip,
    settlement: &Settlement,
    places: &mut HashMap<ItemId, u32>,
) -> Result<Option<Outcome>, TraceError> {
    let base = parent_tree(repo, replayed)?;
    let plain = !replayed.is_ours() || !chain.tip.is_ours();
    let onto = chain.tip.clone();
    let mut sides = Sides::compare(repo, base, onto.commit.tree, replayed.commit.tree, plain)?;
    sides.places = std::mem::take(places);
    let mut decide = |conflict: &_| settlement.settle(repo, conflict, &onto, replayed);
    let merged = three_way(repo, name, chain.encoding, &onto, &sides, Placement::AtEnd, &mut decide)?;
    *places = sides.places;
    places.extend(merged.removed.iter().map(|slot| (slot.id, slot.seq)));
    if !merged.conflicts.is_empty() {
        return Ok(Some(Outcome::Conflicts(merged.conflicts)));
    }
    if merged.is_unchanged() {
        return Ok(None);
    }
    let (person, seconds) = (&replayed.commit.author, replayed.commit.author_time);
    let own = if replayed.is_ours() { replayed.trailers.clone() } else { Trailers::default() };
    let trailers = Trailers { from: own.from.or_else(|| Some(replayed.commit.oid.to_string())), ..own };
    chain.add(&merged, trailers, &Ident::of(person, seconds), replayed.commit.subject())?;
    Ok(None)
}

fn parent_tree(repo: &Repo, tip: &Tip) -> Result<Option<Oid>, TraceError> {
    Ok(tip.commit.parents.first().map(|parent| repo.read_commit(*parent)).transpose()?.map(|commit| commit.tree))
}
