//! The integration tests: one binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::format_collect, reason = "a line of input reads best as it is written, and tests write few")]

mod accounting;
mod agents;
mod ancestry;
mod as_of;
mod as_seen;
mod bisect;
mod branch;
mod breadcrumb;
mod breadcrumb_cli;
mod brief;
mod bulk;
mod check;
mod checkpoint;
mod clients;
mod commands;
mod compress;
mod content;
mod crumb;
mod diff;
mod extremes;
mod faults;
mod formats;
mod forward;
mod fsck;
mod hooks;
mod hostile;
mod import;
mod incremental;
mod install;
mod merge_driver;
mod merge_laws;
mod merging;
mod model;

mod pages;
mod places;
mod plain_git;
mod playground;
mod providers;
mod readme;
mod reftable;
mod refusals;
mod repo;
mod rewind;
mod search;
mod secrets;
mod sharing;
mod shells;
mod sign;
mod stored;
mod tokens;
mod transcript;
mod types;
mod view;
mod writers;
