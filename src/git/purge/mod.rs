//! The parts of a purge that need git: reading every object, writing changed ones, moving many refs at once, and removing objects.
//!
//! The caller holds [`Repo::lock_out_writers`](super::Repo::lock_out_writers), which stops our own processes, and
//! [`Repo::lock_out_collectors`](super::Repo::lock_out_collectors), which stops `git gc` and `git maintenance`. Other commands of git are not
//! stopped: refs move in one transaction from the values that were read, and objects that `git repack` copied into a new pack before the
//! removal ended are removed by repeating it.

mod code;
mod collector;
mod noted;
mod objects;
mod packs;
mod readable;
mod refs;
mod remove;

pub(crate) use code::{Ours, Reflog};
pub(crate) use noted::{NOTED_REMOVAL, Noted};
pub(crate) use objects::{ObjectKind, Objects};
pub(crate) use refs::RefChange;
pub(crate) use remove::remove_derived;
