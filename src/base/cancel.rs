//! Whether the request that this process works on was canceled.
//!
//! A server works on one request at a time and reads the next message meanwhile, on another thread. Reading an object checks this,
//! because nothing takes long without it.

use std::sync::atomic::{AtomicBool, Ordering};

static CANCELED: AtomicBool = AtomicBool::new(false);

pub(crate) fn set_canceled(is_canceled: bool) {
    CANCELED.store(is_canceled, Ordering::Relaxed);
}

pub(crate) fn is_canceled() -> bool {
    CANCELED.load(Ordering::Relaxed)
}
