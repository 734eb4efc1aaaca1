//! Entry point of the `git-trace` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_trace::cli::main(std::env::args_os(), git_trace::git::Env::capture(std::env::vars_os()))
}
