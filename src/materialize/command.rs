//! A command that replaces the built-in materializer: git config `trace.materializer`.
//!
//! It gets the items that are not omitted on stdin, oldest first, one JSON object per line (the members of `export`, and `seq` and
//! `priority`). Its stdout is the result, byte for byte. For an item that a cut shortened, `text` is its subject and `shortened`
//! is true. It runs in the shell, as commands in git's own settings do.

use std::collections::HashMap;

use thiserror::Error;

use super::piece::{self, Gathered, Piece};
use super::{Cut, MaterializeError, Materialized, Options};
use crate::base::error::Diagnostic;
use crate::base::process::ProcessError;
use crate::git::Repo;
use crate::message::Content;
use crate::tokens::Counter;
use crate::trace::model::json::to_json;
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceError};

#[derive(Debug, Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Items(#[from] MaterializeError),
    #[error(transparent)]
    Shell(#[from] ProcessError),
}

impl Diagnostic for CommandError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Items(error) => Some(error),
            Self::Shell(_) => None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub bytes: Vec<u8>,
    pub omitted: Materialized,
}

/// Runs `command` on the items of a view that a cut keeps, or on none if there is no view. Its stderr is inherited. Fails if its exit status is not 0, whatever
/// it printed.
pub(crate) fn run(
    repo: &Repo,
    view: Option<&View>,
    command: &str,
    cut: &Cut,
    counter: Counter,
) -> Result<Printed, CommandError> {
    let Some(view) = view else {
        return Ok(Printed { bytes: repo.shell(command).input(Vec::new()).filter()?, ..Printed::default() });
    };
    let gathered = piece::gather(&Options { cut: *cut, ..Options::default() }, repo, view, counter)?;
    let shortened = gathered.shortened();
    let Gathered { pieces, left_out, damaged } = gathered;
    let kept: HashMap<ItemId, Piece> = pieces.into_iter().map(|piece| (piece.item, piece)).collect();
    let mut lines = Vec::new();
    let read = view.for_each_item(repo, |slot, reading| {
        let Some(piece) = kept.get(&slot.id) else { return Ok(()) };
        let mut object = to_json(&reading.item);
        object.insert("seq".to_owned(), slot.seq.into());
        object.insert("priority".to_owned(), view.level(slot).level().as_str().into());
        if let Content::Text(line) = piece.content()
            && piece.shortened
        {
            object.remove("base64");
            object.insert("text".to_owned(), line.as_str().into());
            object.insert("shortened".to_owned(), true.into());
        }
        lines.extend(serde_json::Value::Object(object).to_string().into_bytes());
        lines.push(b'\n');
        Ok::<_, TraceError>(())
    });
    read.map_err(MaterializeError::from)?;
    let bytes = repo.shell(command).input(lines).filter()?;
    Ok(Printed { bytes, omitted: Materialized { shortened, left_out, damaged, ..Materialized::default() } })
}
