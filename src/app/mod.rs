pub(crate) mod cli;
pub(crate) mod install;
pub(crate) mod mcp;
pub(crate) mod secrets;
pub(crate) mod view;
