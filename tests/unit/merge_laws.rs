//! Laws of merging, rebasing and compressing, over random histories of two branches of one trace.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::merge::Side;
use crate::git::{Env, Oid, Repo};
use crate::materialize::{Options as View_, materialize};
use crate::message::text;
use crate::tokens::Counter;
use crate::trace::change::compress::{Extent, Scope, select};
use crate::trace::change::edit::Patch;
use crate::trace::change::merge::{FastForward, Options, Outcome, Settlement, Strategy as Settle};
use crate::trace::change::replay;
use crate::trace::model::item::Role;
use crate::trace::store::signature::Signature;
use crate::trace::store::total;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, Tip, TraceName};
use proptest::prelude::*;

use crate::unit::repo::TestRepo;

const TEXTS: [&str; 4] =
    ["one\ntwo\nthree\nfour\nfive\n", "ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n", "x"];
const COUNTER: Counter = Counter::DEFAULT;

#[derive(Clone, Debug)]
enum Op {
    Say(usize),
    /// Of the item of this number, modulo how many are live.
    Edit(usize, usize),
    Delete(usize),
    /// The item that was taken out last.
    Restore,
    /// All but the last so many.
    Compress(usize),
    Merge,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (0..TEXTS.len()).prop_map(Op::Say),
        4 => (0..6_usize, 0..TEXTS.len()).prop_map(|(item, text)| Op::Edit(item, text)),
        2 => (0..6_usize).prop_map(Op::Delete),
        1 => Just(Op::Restore),
        1 => (0..3_usize).prop_map(Op::Compress),
        1 => Just(Op::Merge),
    ]
}

fn ops(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(op(), len)
}

/// Two traces of one repository.
struct World {
    test: TestRepo,
    repo: Repo,
    seconds: Cell<i64>,
}

impl World {
    fn new() -> Self {
        let test = TestRepo::new();
        let who = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let env = Env::capture(who.map(|name| (name.into(), "a@example.com".into())));
        let repo = Repo::open(test.folder(), env).unwrap();
        Self { test, repo, seconds: Cell::new(1_770_714_000) }
    }

    fn signature(&self) -> Signature {
        self.seconds.set(self.seconds.get() + 1);
        Signature::take(&self.repo, Time::from_second(self.seconds.get())).unwrap()
    }

    fn tip(&self, name: &TraceName) -> Tip {
        Tip::of_trace(&self.repo, name).unwrap()
    }

    fn view(&self, name: &TraceName) -> View {
        View::open(&self.repo, name, None).unwrap()
    }

    fn ids(&self, name: &TraceName) -> Vec<ItemId> {
        self.view(name).slots.iter().map(|slot| slot.id).collect()
    }

    fn texts(&self, name: &TraceName) -> BTreeMap<ItemId, Oid> {
        self.view(name).slots.iter().map(|slot| (slot.id, slot.blob)).collect()
    }

    fn page(&self, view: &View) -> String {
        let materialized = materialize(&self.repo, view, &View_::default(), COUNTER).unwrap();
        let mut page = Vec::new();
        text::write(&materialized.messages, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    /// Makes `to` a branch at `from`'s tip.
    fn branch(&self, from: &TraceName, to: &TraceName) {
        self.test.git(&["update-ref", &to.refname(), &from.refname()]);
    }

    fn trace(&self, name: &TraceName) -> Trace<'_> {
        Trace::new(&self.repo, name.clone(), self.signature()).with_counter(COUNTER)
    }

    fn merge(&self, name: &TraceName, other: &TraceName, settlement: Settlement, fast_forward: FastForward) -> Outcome {
        let options = Options { settlement, fast_forward, first: Side::Ours, arrange: None, subject: "merge" };
        self.trace(name).merge(&self.tip(other), &options).unwrap()
    }

    /// Every id exactly once, the kept total true.
    fn check(&self, name: &TraceName) {
        let tip = self.tip(name);
        let ids = self.ids(name);
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "each once: {ids:?}");
        let counted = total::recount(&self.repo, tip.commit.tree, COUNTER).unwrap();
        assert!(tip.is_ours());
        assert_eq!(tip.total(&self.repo, COUNTER).unwrap().tokens, counted, "the kept total is true");
        let last = self.view(name).slots.last().map_or(0, |slot| slot.seq + 1);
        assert!(tip.next_seq(&self.repo).unwrap() >= last);
    }

    fn act(&self, name: &TraceName, other: &TraceName, op: &Op, gone: &mut Vec<ItemId>) {
        let (repo, trace) = (&self.repo, self.trace(name));
        let live = Tip::find(repo, name).unwrap().map(|_| self.ids(name)).unwrap_or_default();
        let pick = |item: usize| live.get(item.checked_rem(live.len())?).copied();
        match *op {
            Op::Say(text) => {
                let mut fields = Fields::new(ItemType::dialogue());
                fields.role = Some(Role::User);
                let draft = Draft { fields, body: TEXTS[text].into() };
                trace.append(draft).unwrap();
            }
            Op::Edit(item, text) => {
                let Some(id) = pick(item) else { return };
                let patch = Patch { body: Some(TEXTS[text].into()), ..Patch::default() };
                trace.edit(id, patch).unwrap();
            }
            Op::Delete(item) => {
                let Some(id) = pick(item) else { return };
                trace.delete(id, None).unwrap();
                gone.push(id);
            }
            Op::Restore => {
                let Some(id) = gone.pop().filter(|id| !live.contains(id)) else { return };
                trace.restore(id, None, None).unwrap();
            }
            Op::Compress(kept) => {
                if live.len() < 2 {
                    return;
                }
                let scope = Scope { extent: Extent::AllButLast(kept), ..Scope::default() };
                let selection = select(repo, name, &self.view(name), COUNTER, &scope).unwrap();
                if selection.items.is_empty() {
                    return;
                }
                let mut fields = Fields::new(ItemType::freeform());
                fields.name = None;
                let summary = Draft { fields, body: b"in short".to_vec() };
                trace.compress(&selection, summary, None, None).unwrap();
            }
            Op::Merge => {
                if Tip::find(repo, other).unwrap().is_some() && Tip::find(repo, name).unwrap().is_some() {
                    self.merge(name, other, newest(), FastForward::Allowed);
                }
            }
        }
    }
}

fn newest() -> Settlement {
    Settlement { strategy: Some(Settle::Newest), by_item: HashMap::new() }
}

fn names() -> [TraceName; 4] {
    ["main", "idea", "main-copy", "idea-copy"].map(|name| name.parse().unwrap())
}

/// A shared part, then two branches that may merge each other on the way, so that merges cross.
fn grown(shared: &[Op], turns: &[(bool, Op)]) -> World {
    let world = World::new();
    let [main, idea, ..] = names();
    let mut gone = Vec::new();
    world.act(&main, &idea, &Op::Say(0), &mut gone);
    for op in shared {
        world.act(&main, &main, op, &mut gone);
    }
    world.branch(&main, &idea);
    // Items deleted before the branch point are restored at the end, in their order; here each side restores what it deleted.
    let mut gone = [Vec::new(), Vec::new()];
    for (on_idea, op) in turns {
        let (name, other) = if *on_idea { (&idea, &main) } else { (&main, &idea) };
        world.act(name, other, op, &mut gone[usize::from(*on_idea)]);
        world.check(name);
    }
    world
}

fn turns() -> impl Strategy<Value = Vec<(bool, Op)>> {
    proptest::collection::vec((any::<bool>(), op()), 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_commutative_and_idempotent(shared in ops(0..4), turns in turns()) {
        let world = grown(&shared, &turns);
        let [main, idea, main_copy, idea_copy] = names();
        world.branch(&main, &main_copy);
        world.branch(&idea, &idea_copy);
        let one = world.merge(&main_copy, &idea, newest(), FastForward::Never);
        world.merge(&idea_copy, &main, newest(), FastForward::Never);
        world.check(&main_copy);
        world.check(&idea_copy);
        prop_assert_eq!(world.texts(&main_copy), world.texts(&idea_copy), "{:?}", one);
        prop_assert!(matches!(world.merge(&main_copy, &idea, newest(), FastForward::Never), Outcome::UpToDate));
        // Both sides reached the same result, so merging it changes neither list.
        let before = world.ids(&main_copy);
        world.merge(&main_copy, &idea_copy, Settlement::default(), FastForward::Never);
        prop_assert_eq!(world.ids(&main_copy), before);
        world.test.fsck();
    }

    #[test]
    fn a_merge_loses_nothing_and_keeps_our_items_first(shared in ops(0..4), turns in turns()) {
        let world = grown(&shared, &turns);
        let [main, idea, ..] = names();
        let (ours, theirs) = (world.texts(&main), world.texts(&idea));
        let (our_list, tip) = (world.ids(&main), world.tip(&main));
        let then = world.page(&world.view(&main));
        match world.merge(&main, &idea, Settlement::default(), FastForward::Never) {
            Outcome::Conflicts(conflicts) => {
                prop_assert!(!conflicts.is_empty());
                prop_assert_eq!(world.tip(&main).commit.oid, tip.commit.oid, "a merge that stops changes nothing");
            }
            Outcome::Merged(_, merged) => {
                world.check(&main);
                let list = world.ids(&main);
                let kept: Vec<ItemId> = our_list.iter().copied().filter(|id| list.contains(id)).collect();
                let still: Vec<ItemId> = list.iter().copied().filter(|id| our_list.contains(id)).collect();
                prop_assert_eq!(kept, still, "what we have stays in order");
                for id in ours.keys().chain(theirs.keys()) {
                    let removed = merged.removed.iter().any(|slot| slot.id == *id);
                    // An item of one side that is missing in the result was deleted by the other side and unchanged on this one.
                    prop_assert!(list.contains(id) || removed || !ours.contains_key(id), "{} is lost", id);
                }
            }
            _ => {}
        }
        let as_of = View::open(&world.repo, &main, Some(&tip.commit.oid.to_string())).unwrap();
        prop_assert_eq!(world.page(&as_of), then, "an earlier moment looks as it did");
    }

    #[test]
    fn a_rebase_gives_the_items_of_a_merge(shared in ops(0..4), ours in ops(0..6), theirs in ops(0..6)) {
        let turns: Vec<(bool, Op)> = ours.into_iter().map(|op| (false, op)).chain(theirs.into_iter().map(|op| (true, op)))
            // Delete and restore, or edit and edit back, mean nothing to a merge, but a rebase replays them.
            .filter(|(_, op)| !matches!(op, Op::Merge | Op::Restore)).collect();
        let mut edits = [0; 2];
        let turns: Vec<(bool, Op)> = turns.into_iter().filter(|(on_idea, op)| {
            edits[usize::from(*on_idea)] += usize::from(matches!(op, Op::Edit(..)));
            !matches!(op, Op::Edit(..)) || edits[usize::from(*on_idea)] == 1
        }).collect();
        let world = grown(&shared, &turns);
        let [main, idea, main_copy, idea_copy] = names();
        world.branch(&main, &main_copy);
        world.branch(&idea, &idea_copy);
        let merged = world.merge(&idea_copy, &main, Settlement::default(), FastForward::Never);
        let done = world.trace(&main).rebase(&world.tip(&idea), &Settlement::default()).unwrap();
        world.check(&main);
        if let (Outcome::Merged(..) | Outcome::UpToDate, replay::Outcome::Done(_)) = (&merged, &done) {
            prop_assert_eq!(world.page(&world.view(&main)), world.page(&world.view(&idea_copy)), "{:?} {:?}", merged, done);
        }
        if let replay::Outcome::Conflicts(_) = done {
            prop_assert_eq!(world.ids(&main), world.ids(&main_copy));
        }
        world.test.fsck();
    }

    #[test]
    fn a_compressed_trace_expands_to_the_same_bytes(shared in ops(1..9), kept in 0..4_usize) {
        let world = grown(&shared, &[]);
        let [main, idea, ..] = names();
        let before = (world.page(&world.view(&main)), world.texts(&main));
        let tip = world.tip(&main);
        world.act(&main, &idea, &Op::Compress(kept), &mut Vec::new());
        let compressed = world.tip(&main);
        world.check(&main);
        if compressed.commit.oid != tip.commit.oid {
            let summary = compressed.trailers.item.unwrap();
            world.trace(&main).expand(summary, None).unwrap();
            world.check(&main);
            prop_assert_eq!((world.page(&world.view(&main)), world.texts(&main)), before);
        }
    }
}
