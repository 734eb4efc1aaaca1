//! Errors, as the user reads them: one line that says what, where and why, and a hint where there is a next step.

use std::io::{self, Write as _};

use anyhow::Error;

use super::ui::escaped;
pub(crate) use crate::app::advice::{Advised, hint};
use crate::memory::breadcrumb::StoreError;
use crate::memory::crumb::CrumbError;
use crate::trace::TraceError;

/// Prints an error on stderr.
pub(crate) fn print(error: &Error) {
    let mut text = format!("error: {}\n", escaped(&format!("{error:#}")));
    if let Some(hint) = hint(error) {
        text.extend(["hint: ", &escaped(&hint), "\n"]);
    }
    // Where stderr is closed there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints what clap answers. Help and version go to stdout; what it refuses is quoted, and so is made safe to be seen.
pub(crate) fn print_usage(error: &clap::Error) {
    let _ = if error.use_stderr() {
        io::stderr().write_all(escaped(&error.render().to_string()).as_bytes())
    } else {
        error.print()
    };
}

/// The exit status of an error: 1 where the command ran and the answer is no, else 2.
pub(crate) fn status(error: &Error) -> u8 {
    let over_budget = |cause: &TraceError| matches!(cause, TraceError::OverBudget { .. });
    let no_such_key = |cause: &StoreError| matches!(cause, StoreError::NoSuchKey { .. });
    let no_such_entry =
        |cause: &CrumbError| matches!(cause, CrumbError::NoSuchEntry { .. } | CrumbError::NotArchived { .. });
    let is_no = error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(over_budget)
            || cause.downcast_ref().is_some_and(no_such_key)
            || cause.downcast_ref().is_some_and(no_such_entry)
    });
    if is_no { 1 } else { 2 }
}

/// Whether the reader of stdout went away, which git takes as an end and not as an error.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe))
}
