//! Forward crumbs: notes that one session of an agent leaves for its next.
//!
//! The crumbs of an agent are a trace of their own kind, `refs/crumbs/<agent>`, written by the code of every trace: one item
//! a crumb, one commit a change. The body is the published text (see [`mod@text`]); everything that is filtered by stands in
//! the headers:
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
//! - No filter parses a body, and reading goes from the newest back until it has enough (see `order`), so it costs what it
//!   returns and not what there is.
//! - An agent's crumbs are read by its name only; nothing here takes the name of another place.
//! - Crumbs are private: they are pushed and fetched only when the ref is named.
//! - A crumb that cannot be read is named and hides no other.
//!
//! Source: the Forward Crumb Protocol, with what it lists as future: filters, chains, status, templates, expiry, figures.

pub(crate) mod agent;
pub(crate) mod chain;
pub(crate) mod crumb;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod health;
pub(crate) mod json;
pub(crate) mod leave;
pub(crate) mod migrate;
mod order;
pub(crate) mod read;
pub(crate) mod stats;
pub(crate) mod template;
pub(crate) mod text;

pub(crate) use crumb::fault_of;
pub(crate) use crumb::{Crumb, CrumbStatus, CrumbType, Priority};
pub(crate) use error::ForwardError;
pub(crate) use leave::{Note, leave, set_status};
pub(crate) use read::{Found, Query, find, get};
