//! Printing errors: one line that says what failed and why, and a hint if there is a next step.

use std::io::{self, Write as _};

use crate::app::ui::escaped;
use crate::base::error::Error;

pub(crate) fn print(error: &Error) {
    let mut text = format!("error: {}\n", escaped(&format!("{error:#}")));
    if let Some(hint) = error.hint() {
        text.extend(["hint: ", &escaped(hint), "\n"]);
    }
    // If stderr is closed, nobody can be told.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints clap's answer. Help and version go to stdout; errors quote the arguments, so they are escaped for the terminal.
pub(crate) fn print_usage(error: &clap::Error) {
    let _ = if error.use_stderr() {
        io::stderr().write_all(escaped(&error.render().to_string()).as_bytes())
    } else {
        error.print()
    };
}
