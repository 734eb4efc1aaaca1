//! Crumb files: what is wrong with them, the laws of parser and merge, and the commands in real repositories.

mod commands;
mod exchange;
mod laws;
mod merge;
mod rules;
