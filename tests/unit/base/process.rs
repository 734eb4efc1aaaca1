//! Tests of the private parts of `src/base/process.rs`.

use std::time::Duration;

use super::*;

#[test]
fn a_program_that_prints_while_it_reads_is_not_waited_for_forever() {
    let input = vec![b'x'; 1 << 20];
    assert_eq!(Process::shell("cat").input(input.clone()).filter().unwrap(), input);
    assert_eq!(Process::shell("head -c 1").input(input).filter().unwrap(), b"x");
}

#[test]
fn errors_name_the_command_and_its_exit_status() {
    let error = Process::shell("exit 3").run().unwrap_err();
    assert_eq!(error.to_string(), "`exit 3` ended with exit status: 3");
    let error = Process::new("/no/such/program").output().unwrap_err();
    assert_eq!(error.to_string(), "cannot run `/no/such/program`");
}

#[test]
fn a_coprocess_answers_lines_until_it_ends() {
    let limit = Duration::from_secs(60);
    let mut process = Process::shell("read -r a; echo \"1 $a\"; read -r b; echo \"2 $b\"").start_answering().unwrap();
    assert_eq!(process.ask("x".to_owned(), limit).unwrap(), "1 x\n");
    assert_eq!(process.ask("y".repeat(1000), limit).unwrap(), format!("2 {}\n", "y".repeat(1000)));
    let error = process.ask("z".to_owned(), limit).unwrap_err().to_string();
    assert!(error.ends_with("` ended without an answer"), "{error}");
}

#[test]
fn a_coprocess_that_hangs_is_not_waited_for() {
    let limit = Duration::from_millis(20);
    // It does not read either, and the line is larger than a pipe.
    let mut process = Process::shell("exec sleep 600").start_answering().unwrap();
    let error = process.ask("x".repeat(1 << 20), limit).unwrap_err();
    assert_eq!(error.to_string(), "`exec sleep 600` did not answer within 20ms");
    let mut endless = Process::shell("exec cat /dev/zero").start_answering().unwrap();
    assert!(endless.ask(String::new(), Duration::from_secs(60)).is_err(), "an answer has an end");
}
