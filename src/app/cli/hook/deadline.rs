//! How long an agent waits for a hook: a second at most, whatever a lock, a disk, or a long transcript takes.
//!
//! A thread ends the process in time. Until then the hook has done all, some, or nothing of its work, as if it had been killed, which
//! every write survives.

use std::process::exit;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::Duration;

/// The rest of the second is for starting the process, and for handing the work over. A command that waits for a lock says so later.
const PATIENCE: Duration = Duration::from_millis(450);

/// Whether it is decided how the process ends: by its result, or by the deadline.
static IS_DECIDED: Mutex<bool> = Mutex::new(false);

/// After the patience, calls `hand_over` and ends the process.
pub(super) fn start(hand_over: impl FnOnce() + Send + 'static) {
    let watch = move || {
        sleep(PATIENCE);
        if is_first() {
            hand_over();
            exit(0);
        }
    };
    // Without a thread, the agent waits longer.
    let _ = thread::Builder::new().name("deadline".to_owned()).spawn(watch);
}

/// The result is there. If the deadline was first, this does not return.
pub(super) fn meet() {
    while !is_first() {
        sleep(PATIENCE);
    }
}

fn is_first() -> bool {
    !std::mem::replace(&mut *IS_DECIDED.lock().unwrap_or_else(PoisonError::into_inner), true)
}
