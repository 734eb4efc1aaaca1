//! Entry point of the `git-trace` command.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

fn main() -> ExitCode {
    keep_freed_memory();
    git_trace::main(std::env::args_os(), git_trace::Env::capture(std::env::vars_os()))
}

/// Makes glibc keep freed memory: zlib allocates a quarter of a MiB for each object, which caused 110 of a commit's 360 page
/// faults. Freeing one large block raises glibc's threshold, and does nothing in other allocators.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(4 << 20)));
}

/// The system's allocator. If there is no memory left, the process ends with an error, where Rust would abort it. That is as safe
/// as being killed, which every command is tested for.
struct ReportingAllocator;

impl ReportingAllocator {
    fn reported(block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            // This does not allocate. If stderr is closed, nobody can be told.
            let _ = writeln!(
                std::io::stderr(),
                "error: out of memory: {size} bytes could not be allocated\n\
                 hint: raise the limit (`ulimit -v`), or split the input"
            );
            std::process::exit(2);
        }
        block
    }
}

#[allow(unsafe_code, reason = "the trait has no safe form, and a failed allocation is seen only here")]
// SAFETY: every call is passed on to the system's allocator with the arguments of the caller, who has to keep its contract.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::reported(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::reported(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        Self::reported(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
