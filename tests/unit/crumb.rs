//! Crumb files: what is wrong with them, and the laws of parser and merge.

mod entry;
mod exchange;
mod laws;
mod merge;
mod rules;
mod shorten;
mod tier;
