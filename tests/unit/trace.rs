//! The values of a trace: files, names, trailers, and differences.

mod compression;
mod file;
mod globs;
mod id;
mod line_history;
mod lines;
mod markdown;
mod name;
mod order;
mod prompt;
mod select;
mod setting;
mod trailers;
mod turns;
