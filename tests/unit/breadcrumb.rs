//! Breadcrumbs: the laws of the merge, its outcome line by line, and the store on disk.

mod laws;
mod merge;
mod store;
