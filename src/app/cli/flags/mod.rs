//! Arguments that several commands share.

pub(crate) mod budget;
pub(crate) mod conflicts;
pub(crate) mod content;
