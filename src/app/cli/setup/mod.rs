//! Commands that connect git-trace to git, shells, and agents.

pub(crate) mod agents;
pub(crate) mod complete;
pub(crate) mod demo;
pub(crate) mod install;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge_driver;
pub(crate) mod recording;
