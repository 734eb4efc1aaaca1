//! git-trace: version control for what a language model sees, inside the user's own git repository.

pub mod tokens;
pub mod trace;
