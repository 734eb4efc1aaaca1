//! Cleaning: presets select items of a conversation that the model no longer needs, and a person may change the selection.
//!
//! [`Session`] reads the items, [`Plan`] says what happens to each, and [`Plan::apply`] writes one commit of edits and deletions.
//!
//! - The same items and parameters give the same selection, and a second run selects nothing.
//! - A call and its results stay together. Their names, ids, and status stay.
//! - Priorities are never set, so undoing the commit takes everything back.

mod apply;
mod json;
mod plan;
mod preset;
mod roles;
mod room;
mod rules;
mod session;
pub(crate) mod stub;
mod summarize;
mod todo;
mod tools;

pub(crate) use apply::{Cleaned, branch_name, newest_branch};
pub(crate) use plan::{Action, Plan, Row, WORTH};
pub(crate) use preset::{Bundle, Choice, Parameters, Preset};
pub(crate) use roles::Call;
pub(crate) use room::make_room;
pub(crate) use session::Session;
