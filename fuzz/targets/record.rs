//! Two priority records of one item, in a real repository: their union is the same from either side and has no duplicates.
//! Also any bytes as a tree object.

use std::cell::RefCell;

use super::{World, versions};
use crate::git::tree::render_tree;
use crate::git::{Entry, ObjectFormat, Oid, Tree, TreeStore as _};
use crate::trace::ItemId;
use crate::trace::store::priority::HISTORY;

thread_local!(static WORLD: RefCell<World> = RefCell::new(World::new()));

/// The tree of a record with this file as its only item.
fn record(world: &World, text: &[u8]) -> Oid {
    let id: ItemId = "0be7719d3a2f61c8".parse().expect("sixteen digits are an id");
    let (folder, file) = id.fan_out();
    let blob = world.repo.write_blob(text).expect("objects can be written");
    let inner = world.repo.write_tree(&mut [Entry::file(file, blob)]).expect("objects can be written");
    world.repo.write_tree(&mut [Entry::folder(folder, inner)]).expect("objects can be written")
}

pub(super) fn run(data: &[u8]) {
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        if let Some(tree) = Tree::parse(data, format) {
            let mut entries: Vec<Entry> = tree.entries().map(crate::git::EntryRef::to_entry).collect();
            let written = render_tree(&mut entries);
            assert_eq!(Tree::parse(&written, format).map(|tree| tree.entries().count()), Some(entries.len()));
            let other = Tree::parse(&written, format).expect("it was written just now");
            let [only_here, only_there] = tree.between_common_ends(&other);
            assert_eq!(only_here.len(), only_there.len());
        }
    }
    let [_, ours, theirs] = versions(data);
    WORLD.with_borrow_mut(|world| {
        world.fresh_name();
        let (ours, theirs) = (record(world, &ours), record(world, &theirs));
        let unite = |into, from| HISTORY.format.union(&world.repo, into, from, |_| Ok(true)).expect("all is there");
        // The union with an empty record has every readable line.
        let (ours, theirs) = (unite(None, ours).tree, unite(None, theirs).tree);
        let both = unite(Some(ours), theirs).tree;
        assert_eq!(unite(Some(theirs), ours).tree, both);
        for side in [ours, theirs, both] {
            assert_eq!(unite(Some(both), side).tree, both);
        }
    });
}
