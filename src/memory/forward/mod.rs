//! Forward crumbs: notes that one session of an agent leaves for the next.
//!
//! The forward crumbs of an agent are a trace with the ref `refs/crumbs/<agent>`: one item per forward crumb, one commit per
//! change. The body is the published text (see [`mod@text`]). Everything that queries filter by is in the headers:
//!
//! ```text
//! id: 3f9a1c2e7b10d4e5
//! type: freeform
//! created: 2026-01-03T18:30:45.120934Z
//! tokens: 203 o200k_base 9c1185a5
//! crumb-priority: HIGH
//! crumb-type: orientation
//! crumb-status: active
//! session-id: azoth_20260103_183045
//! parent-crumb: 81d2f0a94c55b9a0
//! newest: 41 2026-01-03T18:30:45.120934Z
//!
//! <body>
//! ```
//!
//! - A query reads from the newest back until the header `newest` shows that no earlier one can match. Its cost depends on what
//!   it returns and what its filters exclude, not on how many there are.
//! - Forward crumbs are found by the name of their agent only; no function here takes another ref.
//! - They are private: push and fetch transfer them only when the ref is named.
//! - An unreadable forward crumb is reported and does not hide others.
//!
//! Source: the Forward Crumb Protocol, with the extensions that it lists as future: filters, chains, status, templates,
//! expiry, statistics.

pub(crate) mod crumb;
pub(crate) mod dedupe;
pub(crate) mod error;
pub(crate) mod head;
pub(crate) mod import;
pub(crate) mod json;
pub(crate) mod merge;
pub(crate) mod migrate;
pub(crate) mod query;
pub(crate) mod reads;
pub(crate) mod stats;
pub(crate) mod text;
pub(crate) mod write;

pub(crate) use crumb::{CrumbStatus, CrumbType, DamagedCrumb, ForwardCrumb, Priority, header_problem};
pub(crate) use error::ForwardError;
pub(crate) use query::{
    FUTURE_REMEDY, Query, QueryResult, future, future_warnings, query_time, resolve, resolve_agent, search,
};
pub(crate) use text::CrumbContent;
pub(crate) use write::{NewCrumb, add, set_status};
