//! A command of the user's in place of the built-in materializing: git config `trace.materializer`.
//!
//! It gets the items that are not left out on stdin, oldest first, one JSON object a line (the fields of `export`, with `seq`
//! and `priority`), and what it prints is the result, byte for byte. Of items that a cut shortened, `text` is the line that is
//! left and `shortened` is true. It runs in the shell, as git's own commands in settings do.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::cut::{Cut, Kept};
use super::piece::{self, Gathered};
use super::{MaterializeError, Materialized, Options};
use crate::base::error::Diagnostic;
use crate::base::shell::{self, ShellError};
use crate::git::Repo;
use crate::message::Content;
use crate::tokens::Encoding;
use crate::trace::model::json::to_json;
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceError};

/// Why the user's command gave no result.
#[derive(Debug, Error)]
pub(crate) enum CommandError {
    /// The items cannot be read, or not be cut.
    #[error(transparent)]
    Items(#[from] MaterializeError),
    /// It did not run, or said that it failed.
    #[error(transparent)]
    Shell(#[from] ShellError),
}

impl Diagnostic for CommandError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Items(error) => Some(error),
            _ => None,
        }
    }
}

/// What the user's command made of the items.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// What it printed.
    pub bytes: Vec<u8>,
    /// What it was not told, or not in full; without messages.
    pub aside: Materialized,
}

/// Runs `command` on what a view shows and a cut keeps. Its stderr is the user's.
///
/// # Errors
///
/// [`ShellError::Failed`] if its exit status is not 0, whatever it printed; [`CommandError::Items`] where what may not be
/// cut is more than the budget.
pub(crate) fn run(
    repo: &Repo,
    view: &View,
    command: &str,
    cut: &Cut,
    encoding: Encoding,
) -> Result<Printed, CommandError> {
    let Gathered { kept, damaged } = piece::gather(&Options::default(), repo, view, cut, encoding)?;
    let Kept { pieces, left_out, shortened } = kept;
    let short: HashSet<ItemId> = shortened.iter().copied().collect();
    // What is left of each item: `None` for the whole.
    let mut told: HashMap<ItemId, Option<String>> = HashMap::with_capacity(pieces.len());
    told.extend(pieces.into_iter().map(|piece| match piece.block.content {
        Content::Text(line) if short.contains(&piece.item) => (piece.item, Some(line)),
        _ => (piece.item, None),
    }));
    let mut lines = Vec::new();
    let read = view.for_each_item(repo, |slot, reading| {
        let Some(line) = told.get(&slot.id) else { return Ok(()) };
        let mut object = to_json(&reading.item);
        object.insert("seq".to_owned(), slot.seq.into());
        object.insert("priority".to_owned(), view.level(slot).level().as_str().into());
        if let Some(line) = line {
            object.remove("base64");
            object.insert("text".to_owned(), line.as_str().into());
            object.insert("shortened".to_owned(), true.into());
        }
        lines.extend(serde_json::Value::Object(object).to_string().into_bytes());
        lines.push(b'\n');
        Ok::<_, TraceError>(())
    });
    read.map_err(MaterializeError::from)?;
    let bytes = shell::filter(command, lines)?;
    Ok(Printed { bytes, aside: Materialized { shortened, left_out, damaged, ..Materialized::default() } })
}
