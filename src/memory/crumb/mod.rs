//! Crumb files: an agent's own notes. The agent reads the file at the start of a session, and appends to it at the end.
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
//! - Lines that do not change keep their bytes. A [`CrumbFile`] is a list of lines; entries are parsed on demand.
//! - Order has no meaning, and sessions are compared by number. A new entry is added at the end of its section.
//! - Text that we write is always one line, so no note can forge an entry, a section, or a header.
//! - Failures are never reworded.

mod check;
pub(crate) mod compress;
mod edit;
mod error;
mod exchange;
mod file;
pub(crate) mod grammar;
pub(crate) mod merge;
mod select;

pub(crate) use check::{FAILURES, TOKEN_LIMIT, check};
pub(crate) use compress::expand::expand;
pub(crate) use compress::score::triage;
pub(crate) use compress::tier::Tier;
pub(crate) use compress::{CompressionPlan, archive, plan};
pub(crate) use edit::{NewEntry, new_file};
pub(crate) use error::CrumbError;
pub(crate) use exchange::{receive, send};
pub(crate) use file::{create, edit, read};
pub(crate) use grammar::document::{CrumbFile, LineKind};
pub(crate) use grammar::entry::{Entry, EntryKind};
pub(crate) use grammar::format::format;
pub(crate) use grammar::json::to_json;
pub(crate) use grammar::textconv::textconv;
pub(crate) use merge::merge;
