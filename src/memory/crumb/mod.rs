//! Crumb files: the memory that an agent reads whole at the start of a session and appends to at its end.
//!
//! ```text
//! ∴CRUMB2 MYAGENT s15
//!
//! §failures
//! ~ api:rate-limit hit 429 when batch-processing — 3x @s8
//!
//! §volatile
//! n @15 analyzed 847 feedback entries, found 3 clusters
//! c @10-13 initial project setup, api integration
//! ```
//!
//! - What is not changed keeps its bytes: a [`CrumbFile`] is the lines of a file, and entries are read from them when asked for.
//! - Order means nothing; sessions are compared by their numbers. A new entry goes last in its section.
//! - Text that we write is one line, so that no note can forge an entry, a section or a header.
//! - Failures are never reworded.

pub(crate) mod archive;
mod check;
mod compress;
mod document;
mod edit;
mod entry;
mod error;
mod exchange;
mod expand;
mod format;
mod json;
mod layout;
pub(crate) mod merge;
mod select;
mod shorten;
mod textconv;
mod tier;
mod triage;
mod writer;

pub(crate) use check::{FAILURE_LIMIT, FAILURES, TOKEN_LIMIT, check};
pub(crate) use compress::{CompressionPlan, plan};
pub(crate) use document::{CrumbFile, Line, LineKind};
pub(crate) use edit::{NewEntry, add, add_failure, new_file, remove, start};
pub(crate) use entry::{Entry, EntryKind, SessionRange};
pub(crate) use error::CrumbError;
pub(crate) use exchange::{receive, send};
pub(crate) use expand::expand;
pub(crate) use format::format;
pub(crate) use json::to_json;
pub(crate) use merge::merge;
pub(crate) use select::{Selector, select};
pub(crate) use textconv::textconv;
pub(crate) use tier::Tier;
pub(crate) use triage::triage;
pub(crate) use writer::{create, edit, read};
