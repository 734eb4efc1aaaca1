#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_trace::fuzz::run("item", bytes));
