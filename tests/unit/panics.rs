//! A panic ends the process with the status that its caller needs.

use std::env;
use std::process::{Command, Output};

use super::exit_on_panic;

const STATUS: &str = "GIT_TRACE_TEST_PANIC";

/// Runs this test again in a separate process, where it panics.
fn panicking(status: &str) -> Output {
    let name = "app::cli::panics::a_panic_ends_the_process_with_a_status";
    Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(STATUS, status)
        .output()
        .unwrap()
}

#[test]
fn a_panic_ends_the_process_with_a_status() {
    if let Ok(status) = env::var(STATUS) {
        let status = status.parse().unwrap();
        exit_on_panic(status, status == 0);
        panic!("this panic is part of the test");
    }
    for (status, is_told) in [("129", true), ("2", true), ("0", false)] {
        let ended = panicking(status);
        assert_eq!(ended.status.code(), Some(status.parse().unwrap()));
        assert_eq!(String::from_utf8(ended.stderr).unwrap().contains("this panic is part of the test"), is_told);
    }
}
