pub(crate) mod blame;
pub(crate) mod code;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod grep;
pub(crate) mod log;
pub(crate) mod show;
pub(crate) mod status;
