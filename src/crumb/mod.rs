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
//! - What is not changed keeps its bytes: a [`Crumb`] is the lines of a file, and entries are read from them when asked for.
//! - Order means nothing; sessions are compared by their numbers. A new entry goes last in its section.
//! - Text that we write is one line, so that no note can forge an entry, a section or a header.
//! - Failures are never reworded.

pub mod archive;
mod check;
mod compress;
mod document;
mod edit;
mod entry;
mod error;
mod exchange;
mod expand;
mod format;
mod heat;
mod json;
mod layout;
mod merge;
mod select;
mod shorten;
mod textconv;
mod triage;
mod writer;

pub use check::{FAILURE_LIMIT, FAILURES, TOKEN_LIMIT, check};
pub use compress::{Evicted, Group, Member, Plan, plan};
pub use document::{BadHeader, Crumb, Ending, Header, Line, Mark, NotUtf8, Role, Section};
pub use edit::{Addition, Counted, add, add_failure, new_file, remove, start};
pub use entry::{Counter, Entry, Form, Kind, Point, Reference, Tag, is_key};
pub use error::CrumbError;
pub use exchange::{Received, receive, send};
pub use expand::expand;
pub use format::format;
pub use heat::Heat;
pub use json::to_json;
pub use merge::{Note, merge};
pub use select::{Selector, select};
pub use shorten::{prompt, shorten};
pub use textconv::textconv;
pub use triage::{Score, triage};
pub use writer::{create, edit, read};
