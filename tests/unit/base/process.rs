//! Tests of the private parts of `src/base/process.rs`.

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
