//! Any text as the name of an item, a range, a time, and a state, in a real repository.

use std::cell::RefCell;

use super::World;
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::store::resolve::{Resolver, moment, state};
use crate::trace::store::trace::Trace;
use crate::trace::{Draft, Fields, ItemType, Tip, TraceName};

thread_local!(static WORLD: RefCell<World> = RefCell::new(three_items()));

fn three_items() -> World {
    let world = World::new();
    for text in ["one", "two", "three"] {
        let draft = Draft { fields: Fields::new(ItemType::dialogue()), body: text.into() };
        let trace = Trace::new(&world.repo, TraceName::default_name(), world.signature());
        trace.append(draft).expect("an item can be added");
    }
    world
}

pub(super) fn run(bytes: &[u8]) {
    let Ok(spec) = std::str::from_utf8(bytes) else { return };
    WORLD.with_borrow(|world| {
        let (repo, name) = (&world.repo, TraceName::default_name());
        let tip = Tip::of_trace(repo, &name).expect("it was just made");
        let resolver = Resolver::new(repo, &name, &tip).expect("it was just made");
        if let Ok(slot) = resolver.live(spec) {
            assert_eq!(resolver.item(spec).ok(), Some(slot.id));
            assert_eq!(resolver.item(&slot.id.to_string()).ok(), Some(slot.id));
            assert_eq!(resolver.items(spec).ok(), Some(vec![slot.id]));
        }
        for among in [Among::Live, Among::LiveOrNamed, Among::RemovedOrNamed] {
            if let Ok(selected) = select(repo, &name, &tip, &[spec], &ItemFilter::default(), among) {
                assert!((1..=3).contains(&selected.len()));
            }
        }
        if let Ok(moment) = moment(repo, &name, &tip, spec) {
            assert!(moment.tip.is_ours());
        }
        let _ = state(repo, &name, spec);
    });
}
