pub(crate) mod bounded;
pub(crate) mod changes;
pub(crate) mod finding;
pub(crate) mod merge;
pub(crate) mod replace;
pub(crate) mod shell;
pub(crate) mod string_enum;
pub(crate) mod time;
