//! Whether this process has changed anything that lasts: a ref, an object store, a setting, or a file.
//!
//! A command whose answer cannot be written has failed only if it changed nothing. A change is noted where it is made, because
//! which commands make one depends on the repository.

use std::sync::atomic::{AtomicBool, Ordering};

static CHANGED: AtomicBool = AtomicBool::new(false);

pub(crate) fn note_change() {
    CHANGED.store(true, Ordering::Relaxed);
}

pub(crate) fn has_changed() -> bool {
    CHANGED.load(Ordering::Relaxed)
}
