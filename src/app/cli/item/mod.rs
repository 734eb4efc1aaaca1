//! Commands about single items.

pub(crate) mod blame;
pub(crate) mod commit;
pub(crate) mod compress;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod grep;
pub(crate) mod priority;
pub(crate) mod show;
pub(crate) mod types;
pub(crate) mod why;
