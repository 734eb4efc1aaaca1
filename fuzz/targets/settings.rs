//! Any bytes as shared project settings: they declare types, or are refused with a reason.

use std::cell::RefCell;
use std::fs;

use super::World;
use crate::git::SHARED_SETTINGS;
use crate::trace::model::types::Types;
use crate::trace::store::settings;
use crate::trace::{Draft, Fields};

thread_local!(static WORLD: RefCell<World> = RefCell::new(World::new()));

pub(super) fn run(bytes: &[u8]) {
    WORLD.with_borrow(|world| {
        fs::write(world.folder().join(SHARED_SETTINGS), bytes).expect("a file can be written");
        let repo = world.open();
        for key in ["trace.budget", "trace.encoding", "trace.checkpoints"] {
            let _ = (settings::text(&repo, key), settings::number(&repo, key));
        }
        let Ok(types) = Types::read(&repo) else { return };
        let _ = (types.unknown().len(), types.check_schemas(&repo));
        for (item_type, rules) in types.all() {
            assert!(types.is_known(&item_type), "{rules:?}");
            let draft = Draft { fields: Fields::new(item_type), body: b"{}".to_vec() };
            let _ = (types.role(&draft.fields), types.judge(&repo, &draft));
        }
    });
}
