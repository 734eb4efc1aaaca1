//! An error's hint and exit status, and one error type that cannot lose them.
//!
//! Each error enum implements [`Diagnostic`] beside its definition. [`Error`] is made from one by `?` and takes the hint and the
//! exit status with it, so neither depends on which types sit between the cause and the command that prints it.

use std::fmt::{self, Display};
use std::{io, iter};

pub(crate) trait Diagnostic: std::error::Error + Send + Sync + 'static {
    /// The one command or step that helps now.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The exit status of a command that ends with this error: 1 if it ran and the answer is no, 2 if it was refused or failed.
    fn exit_status(&self) -> u8 {
        2
    }

    /// The error that this one wraps without adding anything; its hint and exit status apply.
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        None
    }
}

fn wrapped_errors(error: &dyn Diagnostic) -> impl Iterator<Item = &dyn Diagnostic> {
    iter::successors(Some(error), |error| error.wrapped())
}

impl Diagnostic for io::Error {}
impl Diagnostic for serde_json::Error {}
impl Diagnostic for regex::Error {}
impl Diagnostic for std::env::JoinPathsError {}
impl Diagnostic for std::str::Utf8Error {}
impl Diagnostic for std::string::FromUtf8Error {}

/// Any error on its way to the user, with the hint and the exit status of its cause.
///
/// Like [`anyhow::Error`], it does not implement [`std::error::Error`] itself. Unlike there, only a [`Diagnostic`] becomes one.
pub(crate) struct Error {
    chain: anyhow::Error,
    hint: Option<String>,
    exit_status: u8,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn msg(message: impl Into<String>) -> Self {
        Self { chain: anyhow::Error::msg(message.into()), hint: None, exit_status: 2 }
    }

    pub(crate) fn with_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::msg(message) }
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit_status(&self) -> u8 {
        self.exit_status
    }

    /// Whether the reader of stdout is gone, which git treats as the end and not as an error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let kinds = self.chain.chain().filter_map(|cause| cause.downcast_ref().map(io::Error::kind));
        kinds.into_iter().any(|kind| kind == io::ErrorKind::BrokenPipe)
    }
}

impl<E: Diagnostic> From<E> for Error {
    fn from(error: E) -> Self {
        let hint = wrapped_errors(&error).find_map(Diagnostic::hint);
        let exit_status = wrapped_errors(&error).map(Diagnostic::exit_status).min().unwrap_or(2);
        Self { chain: error.into(), hint, exit_status }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.chain, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.chain, f)
    }
}

pub(crate) trait Context<T>: Sized {
    fn with_context<C: Display + Send + Sync + 'static>(self, context: impl FnOnce() -> C) -> Result<T>;

    fn context(self, context: impl Display + Send + Sync + 'static) -> Result<T> {
        self.with_context(|| context)
    }
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn with_context<C: Display + Send + Sync + 'static>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| {
            let Error { chain, hint, exit_status } = error.into();
            Error { chain: chain.context(context()), hint, exit_status }
        })
    }
}

impl<T> Context<T> for Option<T> {
    fn with_context<C: Display + Send + Sync + 'static>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.ok_or_else(|| Error::msg(context().to_string()))
    }
}

macro_rules! failure {
    ($($message:tt)+) => {
        $crate::base::error::Error::msg(format!($($message)+))
    };
}

macro_rules! bail {
    ($($message:tt)+) => {
        return Err($crate::base::error::failure!($($message)+))
    };
}

pub(crate) use {bail, failure};

#[cfg(test)]
#[path = "../../tests/unit/base/error.rs"]
mod tests;
