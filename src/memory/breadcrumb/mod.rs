//! Breadcrumbs: short key-value facts that outlive a session, one JSON object per line.
//!
//! The file `.synapse/breadcrumbs.jsonl` is UTF-8 JSON Lines, sorted by the bytes of `key`. Each key occurs once.
//!
//! ```text
//! {"key":"auth.method","value":"JWT","task_id":15,"created_at":"2025-12-20T14:30:00Z","updated_at":"2025-12-21T09:15:00Z"}
//! ```
//!
//! - A record that is not being changed keeps its exact bytes, including unknown members and the digits of numbers.
//! - Times are compared as instants, never as text. Times that we write are in UTC, and `updated_at` never moves back.
//! - An invalid line blocks writes but not reads. The error names the line, and the line is kept.
//! - Of several lines with the same key, the one with the latest `updated_at` wins.
//! - The sorted file is its own index. Whether a large one is sorted is noted, see [`store::sorted`]; no other index exists.
//! - Keys in the namespace `secret` are in `.synapse/breadcrumbs-secret.jsonl`, which git must ignore, unless their values are
//!   [encrypted](encryption).

pub(crate) mod check;
pub(crate) mod encryption;
pub(crate) mod exchange;
mod invalid_line;
mod json;
pub(crate) mod key;
pub(crate) mod measured;
pub(crate) mod merge;
pub(crate) mod namespace;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod store;

pub(crate) use check::check;
pub(crate) use invalid_line::{InvalidLine, LineError};
pub(crate) use key::{Key, namespace_of};
pub(crate) use merge::{
    merge,
    resolve::{Stages, resolve_file},
};
pub(crate) use namespace::Namespaces;
pub(crate) use query::Query;
pub(crate) use record::Record;
pub(crate) use store::fix::fix;
pub(crate) use store::write::Writer;
pub(crate) use store::{Listing, Lookup, Store, StoreError, StoreFile};
