//! Looking for the first item whose presence makes a command fail.
//!
//! The command is shown prefixes of the items, as messages. Its exit status is read as `git bisect run` reads it: 0 is good,
//! 125 cannot be told, 1 to 127 is bad, and anything else stops the search. Nothing is written to the repository.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::trace::ItemId;

/// The variable that names the file with the candidate, for a command that does not read its stdin.
pub(crate) const CANDIDATE: &str = "GITTRACE_CANDIDATE";
/// The variable with the id of the candidate's last item; empty where it has none.
pub(crate) const LAST_ITEM: &str = "GITTRACE_CANDIDATE_ITEM";

/// What a command says of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It does not fail.
    Good,
    /// It fails.
    Bad,
    /// It cannot tell.
    Unknown,
}

/// What came of a search among `n` items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// With this item, counted from 0, it begins to fail.
    First(usize),
    /// With one of these, from the first to the last; between them the command cannot tell.
    Among(usize, usize),
    /// With all items it does not fail.
    NeverFails,
    /// Without any item it fails.
    AlwaysFails,
    /// With all items, or without any, it cannot tell.
    Untold,
}

/// Searches for the first of `len` items with which `test`, given how many of the first items are present, begins to fail.
///
/// Tests the whole and the empty one first, then halves; about log₂ `len` tests, more where the command cannot tell.
///
/// # Errors
///
/// What `test` returns.
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
    // With `good` items it is good, with `bad` items bad.
    let (mut good, mut bad) = (0, len);
    let mut unknown: BTreeSet<usize> = BTreeSet::new();
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        let open = (good + 1..bad).filter(|present| !unknown.contains(present));
        let Some(present) = open.min_by_key(|present| present.abs_diff(middle)) else {
            return Ok(Outcome::Among(good, bad - 1));
        };
        match test(present)? {
            Verdict::Good => good = present,
            Verdict::Bad => bad = present,
            Verdict::Unknown => {
                unknown.insert(present);
            }
        }
    }
    Ok(Outcome::First(good))
}

/// Why a command gave no verdict.
#[derive(Debug, Error)]
pub(crate) enum BisectError {
    /// It could not be shown the candidate, or be run.
    #[error("cannot run `{command}`")]
    Run {
        /// The command.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// It asked for the search to end.
    #[error("`{command}` ended with {status}, which stops the search")]
    Stopped {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
    },
}

impl Diagnostic for BisectError {}

/// Shows a candidate to a command, on its stdin and as a file, and reads the verdict off its exit status.
///
/// What the command prints goes to stderr: stdout is for the answer.
///
/// # Errors
///
/// [`BisectError`].
pub(crate) fn judge(command: &[OsString], candidate: &[u8], last_item: Option<ItemId>) -> Result<Verdict, BisectError> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let name = words.join(" ");
    let failed = |source| BisectError::Run { command: name.clone(), source };
    let Some((program, args)) = command.split_first() else {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is empty")));
    };
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    file.write_all(candidate).and_then(|()| file.flush()).map_err(failed)?;
    let mut child = Command::new(program);
    child.args(args).env(CANDIDATE, file.path());
    child.env(LAST_ITEM, last_item.map(|id| id.to_string()).unwrap_or_default());
    child.stdin(File::open(file.path()).map_err(failed)?).stdout(Stdio::from(io::stderr()));
    let status = child.status().map_err(failed)?;
    match status.code() {
        Some(0) => Ok(Verdict::Good),
        Some(125) => Ok(Verdict::Unknown),
        Some(1..=127) => Ok(Verdict::Bad),
        _ => Err(BisectError::Stopped { command: name, status: status.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(len: usize, verdict: impl Fn(usize) -> Verdict) -> (Outcome, usize) {
        let mut tests = 0;
        let outcome = search(len, |present| {
            tests += 1;
            Ok::<_, ()>(verdict(present))
        });
        (outcome.unwrap(), tests)
    }

    proptest! {
        #[test]
        fn the_culprit_is_found_in_few_tests(len in 1_usize..200, culprit in 0_usize..200) {
            let culprit = culprit % len;
            let (outcome, tests) = found(len, |present| if present > culprit { Verdict::Bad } else { Verdict::Good });
            prop_assert_eq!(outcome, Outcome::First(culprit));
            prop_assert!(tests <= 2 + len.next_power_of_two().ilog2() as usize);
        }

        #[test]
        fn where_some_cannot_be_told_the_culprit_is_among_what_is_named(culprit in 0_usize..20, untold: u32) {
            let verdict = |present: usize| match present {
                1..20 if untold & (1 << present) != 0 => Verdict::Unknown,
                present if present > culprit => Verdict::Bad,
                _ => Verdict::Good,
            };
            match found(20, verdict).0 {
                Outcome::First(found) => prop_assert_eq!(found, culprit),
                Outcome::Among(first, last) => prop_assert!((first..=last).contains(&culprit)),
                outcome => prop_assert!(false, "{outcome:?}"),
            }
        }
    }

    #[test]
    fn what_never_or_always_fails_is_said() {
        assert_eq!(found(5, |_| Verdict::Good).0, Outcome::NeverFails);
        assert_eq!(found(5, |_| Verdict::Bad).0, Outcome::AlwaysFails);
        assert_eq!(found(5, |_| Verdict::Unknown).0, Outcome::Untold);
        assert_eq!(found(0, |_| Verdict::Bad).0, Outcome::AlwaysFails);
    }
}
