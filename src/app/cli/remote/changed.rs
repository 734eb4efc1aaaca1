//! The changes that a pull, a merge, or a similar command made in the prompt of a trace, as lines and as JSON.

use std::collections::{HashMap, HashSet};

use crate::app::cli::{Context, Result, Value, escaped, json};
use crate::git::{Oid, Repo};
use crate::materialize::compare::Prompt;
use crate::memory::forward;
use crate::trace::model::name::TRACES;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::priority::{Before, ChangedPriority, Level, SetLevel};
use crate::trace::store::revision::find_known;
use crate::trace::store::view::View;
use crate::trace::store::walk::{renamed, touched_between};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceName};
use crate::transcript::continuation::{Recordings, recorded_otherwise};

/// How many items a line names, besides pinned ones and instructions.
pub(super) const MAX_CHANGED: usize = 20;

/// The changes by such a command in the requests of a trace, apart from items at the end.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    edited: Vec<Place>,
    removed: Vec<Place>,
    moved: Vec<Place>,
    inserted: Vec<Place>,
    /// Not edited, but no longer sent, sent again, or sent in another form, because of other items.
    dropped: Vec<Place>,
    returned: Vec<Place>,
    reshaped: Vec<Place>,
    /// Their subjects, which `materialize --recent` sends in place of them.
    renamed: Vec<Place>,
    /// A new instruction takes the place of an earlier one of the same name in the prompt.
    instructions: Vec<Place>,
    /// Of recorded sessions: those that were changed and changed back, which decides about their next import.
    touched: Vec<Place>,
    /// The sessions that are recorded otherwise from now on.
    recorded: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// The position; of a forward crumb, the id; of a session, that of the agent.
    at: Value,
    /// Whether it was pinned or an instruction, so that a line always names it.
    is_vital: bool,
}

/// A trace that moved, or that has an item with a new priority.
pub(crate) struct Touched {
    pub(crate) name: TraceName,
    /// Its commits before and after.
    commits: [Tip; 2],
    /// Those that this repository records in it.
    sessions: Vec<TraceName>,
}

/// The traces that moved, or that have an item with a new priority.
pub(crate) fn touched(repo: &Repo, before: &Before) -> Result<Vec<Touched>> {
    let (changed, mut touched, recordings) = (before.changed_items(repo)?, Vec::new(), Recordings::new(repo));
    for (refname, oid) in repo.list_refs(TRACES)? {
        let Some(name) = TraceName::of_ref(&refname) else { continue };
        let Some(earlier) = before.tip(&name).filter(|earlier| *earlier != oid || !changed.is_empty()) else {
            continue;
        };
        // `fsck` reports damaged tips.
        let (Ok(earlier), Ok(tip)) = (Tip::read(repo, earlier), Tip::read(repo, oid)) else { continue };
        let is_moved = earlier.commit.oid != oid;
        if is_moved || tree::list(repo, tip.commit.tree)?.iter().any(|slot| changed.contains(&slot.id)) {
            let sessions = recordings.in_trace(&name)?;
            touched.push(Touched { name, commits: [earlier, tip], sessions });
        }
    }
    Ok(touched)
}

impl Changed {
    /// Compares what requests contain, and not the trees: a remote may have several files for an item, or links.
    ///
    /// Another line says that `own`, the items that only this repository has, follow those of others.
    pub(crate) fn between(
        repo: &Repo,
        Touched { name, commits: [earlier, tip], sessions }: Touched,
        before: &Before,
        priorities: &[ChangedPriority],
        own: &HashSet<ItemId>,
    ) -> Result<Self> {
        let commits = [earlier.clone(), tip.clone()];
        let levels = before.changed_items(repo)?;
        let recorded = recorded_otherwise(repo, &sessions, commits.each_ref())?.into_iter();
        let recorded = recorded.map(|session| Place { at: json!(session), is_vital: true }).collect();
        let before = View::earlier(repo, before, earlier)?;
        let after = View::at(repo, tip, None)?;
        let prompt = Prompt::of(repo, &after)?;
        let earlier_prompt = Prompt::of(repo, &before)?;
        let affected = earlier_prompt.compare([&before, &after], &prompt, own);
        let is_instruction = |entry: &ItemEntry, prompt: &Prompt| {
            entry.item_type == ItemType::instruction() || prompt.system.contains(&entry.id)
        };
        let was_vital =
            |entry: &ItemEntry| before.level(entry).level() == Level::Pinned || is_instruction(entry, &earlier_prompt);
        let is_vital = |entry: &ItemEntry| {
            was_vital(entry) || after.level(entry).level() == Level::Pinned || is_instruction(entry, &prompt)
        };
        let place = |entry: &ItemEntry| Place { at: json!(entry.seq), is_vital: is_vital(entry) };
        let positions: HashMap<ItemId, u32> = after.slots.iter().map(|slot| (slot.id, slot.seq)).collect();
        let taken: HashSet<u32> = positions.values().copied().collect();
        let others = before.slots.iter().filter(|slot| !own.contains(&slot.id));
        let is_renumbered =
            others.into_iter().any(|slot| positions.get(&slot.id).is_some_and(|position| *position != slot.seq));
        let is_here = |change: &&ChangedPriority| change.place.as_ref().is_some_and(|(trace, _)| *trace == name);
        let set = |is_skip: fn(&ChangedPriority) -> bool| -> HashSet<ItemId> {
            priorities.iter().filter(is_here).filter(|change| is_skip(change)).map(|change| change.item).collect()
        };
        let (skipped, unskipped) =
            (set(|change| change.level == Level::Skip), set(|change| change.before == Some(Level::Skip)));
        let (mut found, mut edited, mut new_at_end) =
            (Self { recorded, ..Self::default() }, HashSet::new(), Vec::new());
        for change in tree::changes_of_lists(before.slots.clone(), after.slots.clone()) {
            match change {
                Change::Changed(old, new) => {
                    if (old.blob, &old.item_type) != (new.blob, &new.item_type) {
                        edited.insert(old.id);
                        let is_vital = was_vital(&old) || is_vital(&new);
                        found.edited.push(Place { is_vital, ..place(&new) });
                        if is_instruction(&new, &prompt) && !is_instruction(&old, &earlier_prompt) {
                            found.instructions.push(place(&new));
                        }
                    }
                }
                Change::Removed(old) => {
                    // Other lines name the positions of now.
                    let is_other = is_renumbered || taken.contains(&old.seq);
                    let at = if is_other { json!(old.id.to_string()) } else { json!(old.seq) };
                    found.removed.push(Place { at, is_vital: was_vital(&old) });
                }
                Change::Added(new) => {
                    if is_instruction(&new, &prompt) {
                        found.instructions.push(place(&new));
                    } else if affected.inserted.contains(&new.id) {
                        found.inserted.push(place(&new));
                    } else if after.left_out(&new).is_none() {
                        new_at_end.push(new.id);
                    }
                }
            }
        }
        let places =
            |items: &HashSet<ItemId>| after.slots.iter().filter(|slot| items.contains(&slot.id)).map(place).collect();
        // One that was deleted here may come back, at any position.
        let restored = if new_at_end.is_empty() { HashMap::new() } else { find_known(repo, &commits[0], &new_at_end)? };
        // Other lines name these.
        found.dropped = places(&(&affected.dropped - &skipped));
        found.returned = places(
            &affected
                .returned
                .iter()
                .copied()
                .chain(restored.into_keys())
                .filter(|id| !unskipped.contains(id))
                .collect(),
        );
        found.reshaped = places(&(&affected.reshaped - &edited));
        found.moved = places(&affected.moved);
        let files = |view: &View| view.slots.iter().map(|slot| (slot.id, slot.blob)).collect::<HashMap<_, _>>();
        let (mut same, then) = (files(&before), files(&after));
        same.retain(|item, file| then.get(item) == Some(file));
        found.renamed = places(&renamed(repo, commits.each_ref(), &same)?);
        if !sessions.is_empty() {
            let changed = priorities.iter().filter(|change| change.is_changed).map(|change| change.item);
            let listed: HashSet<ItemId> = edited.into_iter().chain(own.iter().copied()).chain(changed).collect();
            found.touched = touched_in_sessions(repo, commits.each_ref(), [&before, &after], levels, &listed)?;
        }
        Ok(found)
    }

    /// Of forward crumbs, which are sorted by time.
    pub(crate) fn of_crumbs(repo: &Repo, commits: [Oid; 2]) -> Result<Self> {
        let place = |entry: &ItemEntry| Place { at: json!(entry.id.to_string()), is_vital: false };
        let [before, after] = commits.map(|commit| Tip::read(repo, commit));
        let [before, after] = [before?, after?].map(|tip| tree::list(repo, tip.commit.tree));
        let mut found = Self::default();
        for change in tree::changes_of_lists(before?, after?) {
            match change {
                Change::Changed(before, after) => {
                    let is_edited = forward::merge::is_edited(repo, &before, &after)?;
                    found.edited.extend(is_edited.then(|| place(&before)));
                }
                Change::Removed(before) => found.removed.push(place(&before)),
                Change::Added(_) => {}
            }
        }
        Ok(found)
    }

    fn kinds(&self) -> [(&'static str, &'static str, &[Place]); 11] {
        [
            ("edited", "edited by", &self.edited),
            ("removed", "removed by", &self.removed),
            ("moved", "moved by", &self.moved),
            ("inserted", "added before earlier items by", &self.inserted),
            ("dropped", "no longer sent after", &self.dropped),
            ("returned", "sent again after", &self.returned),
            ("reshaped", "sent in another form after", &self.reshaped),
            ("renamed", "with another subject after", &self.renamed),
            ("instructions", "instructions added by", &self.instructions),
            ("touched", "changed and changed back by", &self.touched),
            ("recorded", "sessions that are recorded otherwise after", &self.recorded),
        ]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds().iter().all(|(.., places)| places.is_empty())
    }

    /// The positions, by the key of the kind.
    pub(crate) fn to_json(&self, name: &TraceName) -> Value {
        let places = |places: &[Place]| places.iter().map(|place| place.at.clone()).collect::<Vec<Value>>();
        let mut answer: Value =
            self.kinds().into_iter().map(|(key, _, found)| (key.to_owned(), json!(places(found)))).collect();
        answer["trace"] = name.as_str().into();
        answer
    }

    /// Prints a line for each kind. `act` is what changed them, such as `pull`.
    pub(crate) fn print(&self, context: &Context, name: &TraceName, act: &str) -> Result<()> {
        for (_, what, places) in self.kinds() {
            if !places.is_empty() {
                writeln!(context.ui, "{name}: {what} the {act}: {}", shown(places))?;
            }
        }
        Ok(())
    }
}

/// Of a trace with recorded sessions: the items that were here, that others changed or set `levels` of, and that no other line names, as it does
/// those of `listed`. Such acts decide what the next import does.
fn touched_in_sessions(
    repo: &Repo,
    commits: [&Tip; 2],
    [before, after]: [&View; 2],
    mut levels: HashSet<ItemId>,
    listed: &HashSet<ItemId>,
) -> Result<Vec<Place>> {
    let positions = |view: &View| view.slots.iter().map(|slot| (slot.id, slot.seq)).collect::<HashMap<_, _>>();
    let (was_here, is_here) = (positions(before), positions(after));
    // Whether a level is set decides, too.
    let is_set = |view: &View| -> HashSet<ItemId> {
        let set = view.slots.iter().filter(|slot| matches!(view.level(slot), SetLevel::Set(_)));
        set.map(|slot| slot.id).collect()
    };
    let (was_set, set) = (is_set(before), is_set(after));
    levels.retain(|id| is_here.contains_key(id) && was_set.contains(id) != set.contains(id));
    let touched = touched_between(repo, commits)?.into_iter().filter(|(id, gives)| *gives || is_here.contains_key(id));
    let mut touched: Vec<ItemId> = touched.map(|(id, _)| id).chain(levels).collect();
    touched.retain(|id| was_here.contains_key(id) == is_here.contains_key(id) && !listed.contains(id));
    if touched.is_empty() {
        return Ok(Vec::new());
    }
    let known = find_known(repo, commits[0], &touched)?.into_keys();
    let mut touched: Vec<_> = known.map(|id| (is_here.get(&id).copied(), id)).collect();
    touched.sort();
    let at = |(seq, id): (Option<u32>, ItemId)| seq.map_or_else(|| json!(id.to_string()), |seq| json!(seq));
    Ok(touched.into_iter().map(|one| Place { at: at(one), is_vital: false }).collect())
}

/// The places, first those that are never left out.
fn shown(places: &[Place]) -> String {
    let (vital, others): (Vec<&Place>, Vec<&Place>) = places.iter().partition(|place| place.is_vital);
    let room = MAX_CHANGED.saturating_sub(vital.len());
    let more = others.len().saturating_sub(room);
    let named = vital.into_iter().chain(others.into_iter().take(room));
    let named = named.map(|place| place.at.as_str().map_or(format!("#{}", place.at), |id| escaped(id).into_owned()));
    let more = (more > 0).then(|| format!("and {more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}
