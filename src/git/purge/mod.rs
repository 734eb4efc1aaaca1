//! The parts of a purge that need git: reading every object, writing changed ones, moving many refs at once, and removing objects.
//!
//! The caller holds [`Repo::lock_out_writers`](super::Repo::lock_out_writers), which stops our own processes. Plain git is not
//! stopped: refs move in one transaction from the values that were read, and objects that git copied into a new pack meanwhile
//! are removed by repeating the removal.

mod code;
mod objects;
mod packs;
mod refs;
mod remove;

pub(crate) use code::Reflog;
pub(crate) use objects::{ObjectKind, Objects};
pub(crate) use refs::RefChange;
pub(crate) use remove::remove_derived;
