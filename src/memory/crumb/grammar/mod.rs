//! The grammar of crumb files: lines, entries, and their other forms.

pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod textconv;
