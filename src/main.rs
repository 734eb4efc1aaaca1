//! Entry point of the `git-trace` command.

fn main() {}
