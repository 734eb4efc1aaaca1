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
pub mod check;
mod document;
pub mod exchange;
pub mod history;
pub mod key;
mod lines;
pub mod merge;
pub mod namespace;
pub mod query;
pub mod record;
mod resolve;
pub mod store;
mod tidy;
pub mod unreadable;
pub mod writer;

pub use check::check;
pub use history::history;
pub use key::Key;
pub use merge::{merge, resolve};
pub use namespace::Namespaces;
pub use query::Query;
pub use record::Record;
pub use resolve::{ResolveError, Resolved, resolve_file};
pub use store::{Half, Store, StoreError};
pub use tidy::tidy;
pub use unreadable::{Reason, Unreadable};
pub use writer::Writer;
