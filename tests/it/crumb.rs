//! Crumb files: the commands in real repositories.

mod commands;
