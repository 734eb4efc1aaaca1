//! Commands that exchange traces with agents and files.

pub(crate) mod attribute;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod resume;
pub(crate) mod sessions;
