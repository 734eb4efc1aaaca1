//! Where a command takes content from: a flag, a file, stdin, or an editor.

use crate::base::error::{Context as _, Error, Result};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::app::cli::editor;
use crate::app::context::Context;
use crate::base::bounded;

/// Content on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct ContentArgs {
    /// Content
    #[arg(short = 'm', long, value_name = "TEXT", conflicts_with_all = ["file", "stdin"], allow_hyphen_values = true)]
    message: Option<String>,

    /// Read the content from a file, unchanged (`-` is stdin)
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "stdin")]
    file: Option<PathBuf>,

    /// `-` reads the content from stdin, unchanged
    #[arg(value_name = "-", value_parser = ["-"])]
    stdin: Option<String>,
}

impl ContentArgs {
    /// The content that was given; `None` where no source was named.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>> {
        if let Some(text) = &self.message {
            return Ok(Some(text.clone().into_bytes()));
        }
        match &self.file {
            Some(path) => read(path).map(Some),
            None if self.stdin.is_none() => Ok(None),
            None => read_stdin().map(Some),
        }
    }

    /// The content that was given, or what an editor that starts with `before` leaves.
    pub(crate) fn read_or_edit(&self, context: &Context, before: &[u8]) -> Result<Vec<u8>> {
        if let Some(bytes) = self.read()? {
            return Ok(bytes);
        }
        if !io::stdin().is_terminal() {
            let hint = "-m TEXT, -F FILE, or `-` for stdin".to_owned();
            return Err(Error::with_hint("no content was given".to_owned(), hint));
        }
        editor::edit(context.repo()?, before)
    }
}

/// All of a file, or of stdin where it is `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        return read_stdin();
    }
    bounded::read_file(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// All of stdin.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    bounded::read_all(io::stdin()).context("cannot read stdin")
}

/// Reads `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("KEY=VALUE is expected".to_owned()),
    }
}

/// A value for `meta`: JSON where it is JSON, else a text.
pub(crate) fn meta_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
