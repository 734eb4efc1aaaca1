//! The parts that all transcript readers share, in the order in which bytes pass through them.
//!
//! [`document`] turns a JSON document into lines; [`lines`] splits bytes into lines; [`reader`] finds the records in them and
//! hands each to a [`reader::RecordReader`]; [`json`] gives typed access to a record's members; [`header`] cleans text that goes
//! into item headers and refs; [`builder`] makes the entries, with the [`calls`] that results belong to;
//! [`active`] knows which messages the model still sees. [`dialect`] is a reader for formats whose messages have a role and
//! [`blocks`], and [`object`] the access to a record's members that it uses.

pub(crate) mod active;
pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod calls;
pub(crate) mod dialect;
pub(crate) mod document;
pub(crate) mod header;
pub(crate) mod json;
mod lines;
pub(crate) mod object;
pub(crate) mod packed;
pub(crate) mod reader;
