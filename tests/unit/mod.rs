//! Tests of internals: laws, readers and merges, below the command line. They are part of the library's unit tests.

#![expect(clippy::format_collect, reason = "a line of input reads best as it is written, and tests write few")]

mod agents;
mod ancestry;
mod as_seen;
mod breadcrumb;
mod checkpoint;
mod crumb;
mod diff;
mod formats;
mod forward;
mod fuzz;
mod hooks;
mod hostile_transcripts;
mod html;
mod incremental;
mod install;
mod merge_laws;
mod model;
#[path = "../it/playground.rs"]
mod playground;
mod providers;
mod readers;
#[allow(dead_code, reason = "the integration tests use the rest")]
#[path = "../it/repo.rs"]
pub(crate) mod repo;
mod rewind;
#[path = "../it/samples.rs"]
mod samples;
mod secrets;
mod settings;
mod tokens;
mod trace;
mod transcript;
