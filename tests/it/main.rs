//! The integration tests: one binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]
#![expect(clippy::format_collect, reason = "a line of input reads best as it is written, and tests write few")]

mod accounting;
mod as_of;
mod bisect;
mod branch;
mod breadcrumb_cli;
mod brief;
mod bulk;
mod check;
mod checkpoint;
mod clean;
mod clean_at;
mod cleaned;
mod clients;
mod commands;
mod compress;
mod content;
mod counting;
mod crumb;
mod extremes;
mod faults;
mod fsck;
mod fsync;
mod hostile;
mod import;
mod items;
mod layout;
mod links;
mod materialize;
mod mcp;
mod merge_driver;
mod merging;
mod mistakes;
mod operations;
mod packages;

mod demo;
mod pages;
mod places;
mod plain_git;
mod playground;
mod purge;
mod purge_sharing;
mod recording;
mod reftable;
mod refusals;
mod repo;
mod resume;
mod room;
mod samples;
mod screening;
mod search;
mod sharing;
mod shells;
mod sign;
mod sparse;
mod stored;
mod top;
mod trust;
mod types;
mod unattended;
mod undo;
mod view;
mod writers;
