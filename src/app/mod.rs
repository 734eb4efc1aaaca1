pub(crate) mod cli;
pub(crate) mod context;
pub(crate) mod install;
pub(crate) mod mcp;
mod progress;
pub(crate) mod screen;
pub(crate) mod secrets;
pub(crate) mod ui;
pub(crate) mod view;
