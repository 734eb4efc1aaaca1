//! Names, ranges, turns, and filters of items.

use std::cell::LazyCell;

use proptest::prelude::*;
use serde_json::json;

use crate::git::{Env, Repo};
use crate::trace::model::item_spec::{ItemName, ItemSpec};
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::store::turns::Turns;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError, TraceName, View};
use crate::unit::repo::TestRepo;

fn any_name() -> impl Strategy<Value = ItemName> {
    prop_oneof![
        any::<u32>().prop_map(ItemName::Position),
        (-99..99_i64).prop_map(ItemName::Turn),
        "[0-9a-f]{4,40}|[a-z/]{1,9}~[0-9]".prop_map(ItemName::Other),
    ]
}

proptest! {
    #[test]
    fn what_is_rendered_is_read_back(first in any_name(), last in prop::option::of(any_name()), is_range in any::<bool>()) {
        let spec = if is_range { ItemSpec::Range(first, last) } else { ItemSpec::One(first) };
        prop_assert_eq!(spec.to_string().parse(), Ok(spec));
    }

    #[test]
    fn any_text_is_a_spec_that_renders_as_it_was(text in "[#@.0-9a-f+-]{0,12}|\\PC{0,9}") {
        let Ok(spec) = text.parse::<ItemSpec>();
        prop_assert_eq!(spec.to_string(), text);
    }
}

/// Six turns of a prompt, a call with its result, and an answer; some items are deleted.
struct World {
    _test: TestRepo,
    repo: Repo,
    tip: Tip,
    view: View,
    turns: Turns,
    removed: Vec<(u32, ItemId)>,
}

const TURNS: u32 = 6;

impl World {
    fn new() -> Self {
        let test = TestRepo::new();
        let lines = (0..TURNS).flat_map(|turn| {
            let (tool, path) = [("Read", "/home/a/src/lib.rs"), ("Bash", "")][turn as usize % 2];
            let id = format!("c{turn}");
            let arguments = if path.is_empty() { json!({}) } else { json!({ "file_path": path }) };
            [
                json!({ "text": format!("prompt {turn}") }),
                json!({ "type": "tool_io", "direction": "call", "name": tool, "call_id": id, "text": arguments.to_string() }),
                json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": "word ".repeat(10 * turn as usize) }),
                json!({ "role": "assistant", "text": format!("answer\n{turn}") }),
            ]
        });
        let lines: Vec<String> = lines.map(|line| line.to_string() + "\n").collect();
        test.bytes_with(&["commit", "--batch"], lines.concat().as_bytes());
        let removed = [3, 9, 10, 23].map(|seq| {
            let shown = test.json(&["show", &format!("#{seq}"), "--json"]);
            (seq, shown["id"].as_str().unwrap().parse().unwrap())
        });
        test.text(&["delete", "#3"]);
        test.text(&["delete", "#9", "#23"]);
        let repo = Repo::open(test.folder(), Env::capture([])).unwrap();
        let view = View::open(&repo, &TraceName::default_name(), None).unwrap();
        let turns = Turns::of_view(&repo, &view).unwrap();
        Self { tip: view.tip.clone(), removed: removed.to_vec(), _test: test, repo, view, turns }
    }

    fn select(&self, names: &[&str], filter: &ItemFilter, among: Among) -> Result<Vec<ItemId>, TraceError> {
        select(&self.repo, &TraceName::default_name(), &self.tip, names, filter, among)
    }

    fn seqs(&self, names: &[&str], filter: &ItemFilter) -> Vec<u32> {
        let selected = self.select(names, filter, Among::Live).unwrap();
        selected.iter().map(|id| self.view.slots.iter().find(|slot| slot.id == *id).unwrap().seq).collect()
    }
}

thread_local!(static WORLD: LazyCell<World> = const { LazyCell::new(World::new) });

/// Positions that an end of a range stands for.
fn naive(world: &World, name: &ItemName) -> (u32, u32) {
    match name {
        ItemName::Position(seq) => (*seq, *seq),
        ItemName::Turn(turn) => {
            let count = i64::try_from(world.turns.count()).unwrap();
            let number = usize::try_from(if *turn < 0 { count + 1 + turn } else { *turn }).unwrap();
            let slots = world.view.slots.iter().enumerate();
            let of_turn = slots.filter(|(index, _)| world.turns.place(*index).turn == number).map(|(_, slot)| slot.seq);
            (of_turn.clone().min().unwrap(), of_turn.max().unwrap())
        }
        ItemName::Other(id) => {
            let seq = world.view.slots.iter().find(|slot| slot.id.to_string() == *id).unwrap().seq;
            (seq, seq)
        }
    }
}

fn an_end() -> impl Strategy<Value = ItemName> {
    let turn = 1..=i64::from(TURNS);
    prop_oneof![
        (0..4 * TURNS).prop_map(ItemName::Position),
        (turn, any::<bool>()).prop_map(|(turn, back)| ItemName::Turn(if back { -turn } else { turn })),
        prop::sample::select(vec![0_usize, 4, 11, 19])
            .prop_map(|index| { WORLD.with(|world| ItemName::Other(world.view.slots[index].id.to_string())) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_range_is_what_lies_between_its_ends(first in an_end(), last in prop::option::of(an_end())) {
        WORLD.with(|world| {
            let (one, other) = (naive(world, &first), last.as_ref().map_or((u32::MAX, u32::MAX), |last| naive(world, last)));
            let range = one.0.min(other.0)..=one.1.max(other.1);
            let expected: Vec<ItemId> =
                world.view.slots.iter().filter(|slot| range.contains(&slot.seq)).map(|slot: &ItemEntry| slot.id).collect();
            let spec = ItemSpec::Range(first, last).to_string();
            let selected = world.select(&[&spec], &ItemFilter::default(), Among::Live);
            prop_assert_eq!(selected.unwrap_or_default(), expected, "{}", spec);
            Ok(())
        })?;
    }
}

#[test]
fn items_are_selected_by_position_turn_id_and_commit() {
    WORLD.with(|world| {
        let none = ItemFilter::default();
        assert_eq!(world.seqs(&["#7", "#0..#2", "#1"], &none), [7, 0, 1, 2], "each once, in the order of the names");
        assert_eq!(world.seqs(&["@1"], &none), [0, 1, 2]);
        assert_eq!(world.seqs(&["@-1"], &none), [20, 21, 22]);
        assert_eq!(world.seqs(&["@-2.."], &none), [16, 17, 18, 19, 20, 21, 22]);
        assert_eq!(world.seqs(&["#18..@6"], &none), [18, 19, 20, 21, 22]);
        let error = |names: &[&str], among| world.select(names, &none, among).unwrap_err().to_string();
        assert_eq!(error(&["@7"], Among::Live), "trace `main` has no turn 7: it has 6");
        assert_eq!(error(&["@0"], Among::Live), "trace `main` has no turn 0: it has 6");
        assert_eq!(error(&["@-7"], Among::LiveOrNamed), "trace `main` has no turn -7: it has 6");
        assert_eq!(error(&["#9..#10"], Among::Live), "no item of trace `main` matches");
        assert_eq!(error(&["#0..#24"], Among::Live), "no item of trace `main` is named `#24`");
        assert_eq!(error(&["#99"], Among::Live), "no item of trace `main` is named `#99`");
        assert!(
            error(&["#9"], Among::Live).contains(" was removed from trace `main`"),
            "{}",
            error(&["#9"], Among::Live)
        );

        let commits: Vec<Tip> = Walk::new(&world.repo, world.tip.clone(), Parents::First).map(Result::unwrap).collect();
        let both = commits[0].commit.oid.to_string();
        let ids = |seqs: &[u32]| -> Vec<ItemId> {
            world.removed.iter().filter(|(seq, _)| seqs.contains(seq)).map(|(_, id)| *id).collect()
        };
        let selected = |names: &[&str]| world.select(names, &none, Among::RemovedOrNamed).unwrap();
        assert_eq!(selected(&[&both]), ids(&[9, 10, 23]), "a call and its result were deleted together");
        assert_eq!(selected(&["#0..#12"]), ids(&[3, 9, 10]));
        assert_eq!(selected(&["@3"]), ids(&[9, 10]), "removed items belong to the turn around them");
        assert_eq!(selected(&["#23"]), ids(&[23]));
    });
}

#[test]
fn filters_must_all_match() {
    WORLD.with(|world| {
        let none = ItemFilter::default;
        let tool = |name: &str| ItemFilter { tool: Some(name.to_owned()), ..none() };
        assert_eq!(world.seqs(&[], &tool("Read")), [1, 2, 17, 18], "results have the tool of their call");
        let path = |path: &str| ItemFilter { path: Some(path.to_owned()), ..none() };
        assert_eq!(world.seqs(&[], &path("src/*.rs")), [1, 2, 17, 18]);
        assert_eq!(world.seqs(&["#3.."], &path("/home/**/lib.rs")), [17, 18]);
        let filter = ItemFilter { item_type: Some(ItemType::tool_io()), larger_than: Some(35), ..none() };
        assert_eq!(world.seqs(&[], &filter), [18, 22]);
        let grep = ItemFilter { grep: Some(regex::bytes::Regex::new("(?m)^[24]$").unwrap()), ..none() };
        assert_eq!(world.seqs(&[], &grep), [11, 19]);
        let age = |age| ItemFilter { age: Some(age), ..none() };
        assert_eq!(world.seqs(&["#16.."], &age(0)).len(), 7);
        let oldest = world.turns.steps();
        for least in 0..=oldest {
            let expected: Vec<u32> = (0..world.view.slots.len())
                .filter(|index| world.turns.age(*index) >= least)
                .map(|index| world.view.slots[index].seq)
                .collect();
            assert_eq!(world.seqs(&[], &age(least)), expected, "age {least}");
        }
        assert_eq!(
            world.select(&[], &age(oldest + 1), Among::Live).unwrap_err().to_string(),
            "no item of trace `main` matches"
        );
        let older = |than: &str| ItemFilter { older_than: Some(than.parse().unwrap()), ..none() };
        assert_eq!(world.seqs(&["#0..#2"], &older("2100-01-01T00:00:00Z")).len(), 3);
        assert!(world.select(&[], &older("2001-01-01T00:00:00Z"), Among::Live).is_err());
    });
}
