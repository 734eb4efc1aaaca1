//! Commands that check and maintain what a repository keeps.

pub(crate) mod check;
pub(crate) mod count;
pub(crate) mod fsck;
pub(crate) mod gc;
pub(crate) mod op;
pub(crate) mod purge;
