pub(crate) mod bounded;
pub(crate) mod changes;
pub(crate) mod error;
pub(crate) mod finding;
pub(crate) mod members;
pub(crate) mod merge;
pub(crate) mod process;
pub(crate) mod replace;

pub(crate) mod string_enum;
pub(crate) mod time;
