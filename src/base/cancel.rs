//! Whether the request that this process works on was canceled.
//!
//! A server works on one request at a time and reads the next message meanwhile, on another thread. Reading an object checks this,
//! because nothing takes long without it, except other programs: a cancellation ends those, with the programs that they started.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static CANCELED: AtomicBool = AtomicBool::new(false);

/// Whether programs run in their own process groups, so that a cancellation can end them.
static ENDS_PROGRAMS: AtomicBool = AtomicBool::new(false);

/// The process groups of the programs that run now.
static PROGRAMS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A program that a cancellation ends, until this is dropped.
pub(crate) struct Cancelable(u32);

/// From now on, a cancellation ends programs. They no longer get the signals of the terminal.
pub(crate) fn end_programs() {
    ENDS_PROGRAMS.store(true, Ordering::Relaxed);
}

pub(crate) fn ends_programs() -> bool {
    ENDS_PROGRAMS.load(Ordering::Relaxed)
}

pub(crate) fn set_canceled(is_canceled: bool) {
    let programs = programs();
    CANCELED.store(is_canceled, Ordering::Relaxed);
    if is_canceled {
        programs.iter().copied().for_each(end_group);
    }
}

pub(crate) fn is_canceled() -> bool {
    CANCELED.load(Ordering::Relaxed)
}

impl Cancelable {
    /// Notes a program that leads its own process group.
    pub(crate) fn new(child: &Child) -> Self {
        let mut programs = programs();
        programs.push(child.id());
        if is_canceled() {
            end_group(child.id());
        }
        Self(child.id())
    }
}

impl Drop for Cancelable {
    fn drop(&mut self) {
        programs().retain(|group| *group != self.0);
    }
}

fn programs() -> MutexGuard<'static, Vec<u32>> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library has no such call")]
fn end_group(group: u32) {
    if let Ok(group) = libc::pid_t::try_from(group) {
        // SAFETY: the call takes no pointer. The group is that of a child that was not waited for yet.
        unsafe { libc::kill(-group, libc::SIGTERM) };
    }
}

#[cfg(not(unix))]
fn end_group(_: u32) {}
