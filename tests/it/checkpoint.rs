//! Checkpoints: the commands, and the breadcrumbs they follow.

mod commands;
mod follow;
