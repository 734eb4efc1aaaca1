//! Tests of the private parts of `src/base/error.rs`.

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("no")]
struct No;

impl Diagnostic for No {
    fn hint(&self) -> Option<String> {
        Some("say yes".to_owned())
    }

    fn exit_status(&self) -> u8 {
        1
    }
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Wrapper(No);

impl Diagnostic for Wrapper {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        Some(&self.0)
    }
}

#[test]
fn a_hint_and_an_exit_status_survive_wrapping_and_context() {
    let error = Err::<(), _>(Wrapper(No)).context("cannot ask").with_context(|| "cannot start").unwrap_err();
    assert_eq!(format!("{error:#}"), "cannot start: cannot ask: no");
    assert_eq!((error.hint(), error.exit_status()), (Some("say yes"), 1));
    let error = None::<()>.context("nothing there").unwrap_err();
    assert_eq!((error.hint(), error.exit_status()), (None, 2));
}

#[test]
fn a_broken_pipe_is_found_below_context() {
    let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
    assert!(Err::<(), _>(broken()).context("cannot print").unwrap_err().is_broken_pipe());
    assert!(!failure!("other").is_broken_pipe());
}
