//! The integration tests: one binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod breadcrumb;
mod readme;
mod tokens;
mod transcript;
