//! Breadcrumbs: lines and records, the laws of the merge, its outcome line by line, and the store on disk.

mod edit;
mod exchange;
mod fix;
mod invalid_line;
mod key;
mod laws;
mod lines;
mod merge;
mod namespace;
mod part;
mod record;
mod sorted;
mod store;
