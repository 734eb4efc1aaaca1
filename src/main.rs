//! Entry point of the `git-trace` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    keep_freed_memory();
    git_trace::main(std::env::args_os(), git_trace::Env::capture(std::env::vars_os()))
}

/// Makes glibc keep freed memory in place of handing it back to the system after each object.
///
/// zlib takes and frees a quarter of a MiB for every object that is written, and the pages came and went each time: 110 of
/// the 360 page faults of a commit. To have freed one large block raises the threshold, by glibc's own rule; other
/// allocators do not mind.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(4 << 20)));
}
