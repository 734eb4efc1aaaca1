//! The changes that a pull or a merge made in the prompt of a trace, as lines and as JSON.

use std::collections::HashSet;

use crate::app::cli::{Context, Result, Value, json};
use crate::git::{Oid, Repo};
use crate::materialize::compare::{ChangedSignatures, Prompts, changed_signatures, inserted, moved};
use crate::memory::forward;
use crate::trace::change::merge::Outcome;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::priority::{Before, Changes, Level, Record};
use crate::trace::store::view::View;
use crate::trace::sync::is_private;
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceName};

/// How many items a line names, besides pinned ones and instructions.
pub(super) const MAX_CHANGED: usize = 20;

/// The items that a pull or a merge edited, removed, or moved behind a later one, and those that it added where the model sees them before
/// others that were here.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    edited: Vec<Place>,
    removed: Vec<Place>,
    moved: Vec<Place>,
    inserted: Vec<Place>,
    /// Calls and results that were here, and now belong to others or to none.
    paired: Vec<Place>,
    /// A new instruction takes the place of an earlier one of the same name in the prompt.
    instructions: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// The position; of a forward crumb, the id.
    at: Value,
    /// Whether it was pinned or an instruction, so that a line always names it.
    is_vital: bool,
}

impl Changed {
    /// Compares what the model sees before and after, and not the trees: a remote may have several files for an item, or links.
    ///
    /// `own` are items that only this repository has, and that follow those of others, which another line says.
    pub(crate) fn between(
        repo: &Repo,
        name: &TraceName,
        before: (Option<Oid>, &Record),
        outcome: &Outcome,
        own: &[ItemId],
    ) -> Result<Self> {
        let ((Some(before), record), Outcome::FastForward(after) | Outcome::Merged(after, _)) = (before, outcome)
        else {
            return Ok(Self::default());
        };
        let [before, after] = [before, *after].map(|oid| Tip::read(repo, oid));
        let (before, after) = (before?, after?);
        let slots = tree::list(repo, before.commit.tree)?;
        if is_private(&name.refname()) {
            return Self::of_crumbs(repo, slots, tree::list(repo, after.commit.tree)?);
        }
        let before = View::with_record(repo, record, before, slots, None)?;
        let after = View::at(repo, after, None)?;
        let prompts = Prompts::of(repo, &before, &after)?;
        let place = |entry: &ItemEntry| {
            let is_pinned = before.level(entry).level() == Level::Pinned;
            Place { at: json!(entry.seq), is_vital: is_pinned || entry.item_type == ItemType::instruction() }
        };
        // Another program may send the items by their positions.
        let [old, now] = [&before, &after].map(|view| view.slots.iter().map(|entry| entry.id).collect::<Vec<ItemId>>());
        let orders = [(&prompts.before.items, &prompts.after.items), (&old, &now)];
        let moved: HashSet<ItemId> = orders.iter().flat_map(|(before, after)| moved(before, after)).collect();
        let mut found = Self {
            moved: after.slots.iter().filter(|entry| moved.contains(&entry.id)).map(place).collect(),
            ..Self::default()
        };
        let mut added = Vec::new();
        for change in tree::changes_of_lists(before.slots.clone(), after.slots.clone()) {
            match change {
                Change::Changed(before, after) => {
                    let is_edited = (before.blob, &before.item_type) != (after.blob, &after.item_type);
                    found.edited.extend(is_edited.then(|| place(&before)));
                }
                Change::Removed(before) => found.removed.push(place(&before)),
                Change::Added(after) => added.push(after),
            }
        }
        let new: HashSet<ItemId> = added.iter().map(|entry| entry.id).collect();
        let (answered, answered_now) = (&prompts.before.answered, &prompts.after.answered);
        let answers_other = answered_now.difference(answered).filter(|(_, result)| !new.contains(result));
        let paired: HashSet<ItemId> = answered
            .difference(answered_now)
            .chain(answers_other)
            .flat_map(|(call, result)| [*call, *result])
            .collect();
        let is_paired = |entry: &&ItemEntry| paired.contains(&entry.id) && !new.contains(&entry.id);
        found.paired = after.slots.iter().filter(is_paired).map(place).collect();
        let earlier = old.iter().copied().filter(|id| !own.contains(id)).collect();
        let inserted: HashSet<ItemId> = orders.iter().flat_map(|(_, after)| inserted(after, &new, &earlier)).collect();
        for entry in &added {
            if prompts.instructions.contains(&entry.id) {
                found.instructions.push(Place { is_vital: true, ..place(entry) });
            } else if inserted.contains(&entry.id) {
                found.inserted.push(place(entry));
            }
        }
        Ok(found)
    }

    /// Of forward crumbs, which are sorted by time.
    fn of_crumbs(repo: &Repo, before: Vec<ItemEntry>, after: Vec<ItemEntry>) -> Result<Self> {
        let place = |entry: &ItemEntry| Place { at: json!(entry.id.to_string()), is_vital: false };
        let mut found = Self::default();
        for change in tree::changes_of_lists(before, after) {
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

    fn kinds(&self) -> [(&'static str, &'static str, &[Place]); 6] {
        [
            ("edited", "edited", &self.edited),
            ("removed", "removed", &self.removed),
            ("moved", "moved", &self.moved),
            ("inserted", "added before earlier items", &self.inserted),
            ("paired", "paired differently", &self.paired),
            ("instructions", "instructions added", &self.instructions),
        ]
    }

    /// The positions, by the key of the kind.
    pub(crate) fn to_json(&self) -> Value {
        let places = |places: &[Place]| places.iter().map(|place| place.at.clone()).collect::<Vec<Value>>();
        self.kinds().into_iter().map(|(key, _, found)| (key.to_owned(), json!(places(found)))).collect()
    }

    /// Prints a line for each kind. `act` is what changed them: `pull` or `merge`.
    pub(crate) fn print(&self, context: &Context, name: &TraceName, act: &str) -> Result<()> {
        for (_, what, places) in self.kinds() {
            if !places.is_empty() {
                writeln!(context.ui, "{name}: {what} by the {act}: {}", shown(places))?;
            }
        }
        Ok(())
    }
}

/// The places, first those that are never left out.
fn shown(places: &[Place]) -> String {
    let (vital, others): (Vec<&Place>, Vec<&Place>) = places.iter().partition(|place| place.is_vital);
    let room = MAX_CHANGED.saturating_sub(vital.len());
    let more = others.len().saturating_sub(room);
    let named = vital.into_iter().chain(others.into_iter().take(room));
    let named = named.map(|place| place.at.as_str().map_or(format!("#{}", place.at), str::to_owned));
    let more = (more > 0).then(|| format!("and {more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// Signed reasoning that a request no longer contains because something before it changed, also if the items are the same again: a
/// provider may have answered meanwhile. And signed reasoning that a request contains again.
#[derive(Debug, Default)]
pub(crate) struct Signatures(Vec<ChangedSignatures>);

impl Signatures {
    pub(crate) fn changed_since(repo: &Repo, before: &Before, changes: &Changes) -> Result<Self> {
        Ok(Self(changed_signatures(repo, before, changes)?))
    }

    /// Those that were lost, and those that hold again.
    pub(crate) fn to_json(&self) -> (Value, Value) {
        let listed = |of: fn(&ChangedSignatures) -> &[ItemEntry]| {
            let listed = self.0.iter().flat_map(|changed| of(changed).iter().map(|entry| (&changed.trace, entry)));
            let to_json = |(trace, entry): (&TraceName, &ItemEntry)| json!({ "trace": trace.as_str(), "seq": entry.seq, "id": entry.id.to_string() });
            listed.map(to_json).collect()
        };
        (listed(|changed| &changed.lost), listed(|changed| &changed.regained))
    }

    pub(crate) fn print(&self, context: &Context) -> Result<()> {
        for ChangedSignatures { trace, lost, regained } in &self.0 {
            let kinds = [
                (lost, "signed reasoning is no longer sent, because its context changed"),
                (regained, "signed reasoning is sent again"),
            ];
            for (entries, what) in kinds.into_iter().filter(|(entries, _)| !entries.is_empty()) {
                let places = entries.iter().map(|entry| Place { at: json!(entry.seq), is_vital: false });
                writeln!(context.ui, "{trace}: {what}: {}", shown(&places.collect::<Vec<Place>>()))?;
            }
        }
        Ok(())
    }
}
