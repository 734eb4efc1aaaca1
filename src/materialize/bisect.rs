//! Finds the first item that makes a command fail.
//!
//! The command gets prefixes of the items, as messages, on stdin and in the file [`CANDIDATE`]. Its exit status has the meaning that `git bisect run` defines: 0 is good,
//! 125 is untestable, any other up to 127 is bad, and anything else stops the search. Nothing is written to the repository.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::process::{Process, ProcessError};
use crate::trace::ItemId;

pub(crate) const CANDIDATE: &str = "GITTRACE_CANDIDATE";
pub(crate) const LAST_ITEM: &str = "GITTRACE_CANDIDATE_ITEM";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Good,
    Bad,
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    First(usize),
    /// It starts to fail with one of the items between these indexes, inclusive; the prefixes between them are untestable.
    Among(usize, usize),
    NeverFails,
    AlwaysFails,
    /// The prefix of all items, or of none, is untestable.
    Untold,
}

/// Finds the first of `len` items with which `test`, given the number of items present, starts to fail.
///
/// Takes about log₂ `len` tests, more if prefixes are untestable.
pub(crate) fn search<E>(len: usize, mut test: impl FnMut(usize) -> Result<Verdict, E>) -> Result<Outcome, E> {
    match test(len)? {
        Verdict::Good => return Ok(Outcome::NeverFails),
        Verdict::Unknown => return Ok(Outcome::Untold),
        Verdict::Bad if len == 0 => return Ok(Outcome::AlwaysFails),
        Verdict::Bad => {}
    }
    match test(0)? {
        Verdict::Bad => return Ok(Outcome::AlwaysFails),
        Verdict::Unknown => return Ok(Outcome::Untold),
        Verdict::Good => {}
    }
    // The prefix of `good` items is good, that of `bad` items is bad.
    let (mut good, mut bad, mut unknown) = (0, len, BTreeSet::new());
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        let open = (good + 1..bad).filter(|present| !unknown.contains(present));
        let Some(present) = open.min_by_key(|present| present.abs_diff(middle)) else {
            return Ok(Outcome::Among(good, bad - 1));
        };
        match test(present)? {
            Verdict::Good => good = present,
            Verdict::Bad => bad = present,
            Verdict::Unknown => drop(unknown.insert(present)),
        }
    }
    Ok(Outcome::First(good))
}

#[derive(Debug, Error)]
pub(crate) enum BisectError {
    #[error("cannot run `{command}`")]
    Run { command: String, source: io::Error },
    #[error("`{command}` ended with {status}, which stops the search")]
    Stopped { command: String, status: String },
}

impl Diagnostic for BisectError {}

/// Runs a command with a candidate on stdin and as a file, and returns the verdict of its exit status.
///
/// Its output goes to stderr, because stdout is for the result of the search.
pub(crate) fn judge(command: &[OsString], candidate: &[u8], last_item: Option<ItemId>) -> Result<Verdict, BisectError> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let name = words.join(" ");
    let failed = |source| BisectError::Run { command: name.clone(), source };
    let Some((program, args)) = command.split_first() else {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is empty")));
    };
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    file.write_all(candidate).and_then(|()| file.flush()).map_err(failed)?;
    let mut child = Process::new(program);
    child.args(args).env(CANDIDATE, file.path());
    child.env(LAST_ITEM, last_item.map(|id| id.to_string()).unwrap_or_default());
    child.stdin(File::open(file.path()).map_err(failed)?).stdout_to_stderr();
    let status = child.status().map_err(|error| match error {
        ProcessError::Start { source, .. } => failed(source),
        ProcessError::Failed { command, status } => BisectError::Stopped { command, status: status.to_string() },
    })?;
    match status.code() {
        Some(0) => Ok(Verdict::Good),
        Some(125) => Ok(Verdict::Unknown),
        Some(1..=127) => Ok(Verdict::Bad),
        _ => Err(BisectError::Stopped { command: name, status: status.to_string() }),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/materialize/bisect.rs"]
mod tests;
