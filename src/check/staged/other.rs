//! Secrets in files of any kind, with `trace.hookScope` set to `all`, and where checkpoints are by default.
//!
//! - A file is read by pieces, so memory does not grow with its size.
//! - Git's rule tells binary files, which are not searched: they have a NUL among their first 8,000 bytes.

use std::io::{self, Read};

use super::settings::Settings;
use super::source::OtherFile;
use super::{CheckError, Checked, judge_secrets, of_file};
use crate::base::finding::{Finding, LineIndex, Position, Weight};
use crate::git::{Git, GitError};
use crate::secrets;

const HEAD: u64 = 8000;

/// The part of a file that is searched, which takes a few seconds.
const MAX_SEARCHED: u64 = 256 * 1024 * 1024;

pub(super) fn judge(
    git: &Git,
    settings: &Settings<'_>,
    files: &[OtherFile],
    checked: &mut Vec<Checked>,
) -> Result<(), CheckError> {
    let oids: Vec<_> = files.iter().map(|file| file.oid.clone()).collect();
    git.blob_readers::<CheckError>(&oids, |index, blob| {
        let findings = match blob {
            None => Some(vec![of_file("missing", "the blob is not in this repository", "fetch it with `git fetch`")]),
            Some(text) => search(text, MAX_SEARCHED, settings)
                .map_err(|source| GitError::Spawn { command: "cat-file".to_owned(), source })?,
        };
        let path = String::from_utf8_lossy(&files[index].path).into_owned();
        checked.extend(findings.map(|findings| Checked { path, kind: None, findings }));
        Ok(())
    })
}

/// `None` if the file is binary.
fn search(mut text: &mut dyn Read, limit: u64, settings: &Settings<'_>) -> io::Result<Option<Vec<Finding>>> {
    let mut head = Vec::new();
    Read::take(&mut text, HEAD).read_to_end(&mut head)?;
    if head.contains(&0) {
        return Ok(None);
    }
    let (mut findings, mut start, mut here) = (Vec::new(), 0, Position { line: 1, column: 1 });
    let remedy = "read it from the environment or from a file that git ignores";
    secrets::find_in(head.as_slice().chain(&mut text).take(limit), |part, secrets, next| {
        findings.extend(judge_secrets(part, secrets, remedy, settings).into_iter().map(|finding| Finding {
            span: start + finding.span.start..start + finding.span.end,
            position: here.then(finding.position),
            ..finding
        }));
        here = here.then(LineIndex::new(&part[..next]).position(next));
        start += next;
    })?;
    if io::copy(&mut Read::take(text, 1), &mut io::sink())? > 0 {
        let (message, remedy) =
            ("the file is so large that its end was not searched for secrets", "search it yourself");
        let position = here;
        findings.push(Finding { weight: Weight::Warning, position, ..of_file("not-searched", message, remedy) });
    }
    Ok(Some(findings))
}

#[cfg(test)]
#[path = "../../../tests/unit/check/other.rs"]
mod tests;
