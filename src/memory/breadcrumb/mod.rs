//! Breadcrumbs: small facts that outlive a session, one JSON object a line.
//!
//! The file is `.synapse/breadcrumbs.jsonl`: UTF-8 JSON Lines, sorted by the bytes of `key`; a key occurs once.
//!
//! ```text
//! {"key":"auth.method","value":"JWT","task_id":15,"created_at":"2025-12-20T14:30:00Z","updated_at":"2025-12-21T09:15:00Z"}
//! ```
//!
//! - A record that is not being changed keeps its bytes, unknown members and digits of numbers included.
//! - Times compare as instants, never as text; what we write is UTC, and `updated_at` always moves forward.
//! - A line that cannot be read stops a write and never a read, is named with its line, and is never dropped.
//! - Of several lines with one key the one with the later `updated_at` counts.
//! - The sorted text is the index: nothing is cached, so nothing goes stale.
//! - Keys in the namespace `secret` live in `.synapse/breadcrumbs-secret.jsonl`, which git must ignore.

mod bisect;
pub(crate) mod check;
mod document;
pub(crate) mod exchange;
pub(crate) mod history;
pub(crate) mod key;
mod lines;
pub mod merge;
pub(crate) mod namespace;
pub(crate) mod query;
pub(crate) mod record;
mod resolve;
pub(crate) mod store;
mod tidy;
pub(crate) mod unreadable;
pub(crate) mod writer;

pub(crate) use check::check;
pub use key::Key;
pub(crate) use merge::merge;
pub(crate) use namespace::Namespaces;
pub use query::Query;
pub(crate) use record::Record;
pub(crate) use resolve::resolve_file;
pub use store::{Store, StoreError, StoreFile};
pub(crate) use tidy::tidy;
pub use writer::Writer;
