//! Checks checkpoints and their lists.
//!
//! Advice is left out: it depends on the clock, and a file that was accepted once must be accepted again.

use super::settings::Settings;
use super::source::{Entry, names_beside};
use super::{CheckError, Checked, Source, with_secrets};
use crate::base::merge::FileKind;
use crate::git::Git;
use crate::memory::checkpoint::pathspec::is_archived;
use crate::memory::checkpoint::{Document, Rules, validate, validate_document, validate_index, validate_set};

/// Checks checkpoints alone and against each other, and lists against the files in their folder. An id that occurs twice is
/// found only if both files are in the source.
pub(crate) fn judge(
    git: &Git,
    source: &Source,
    settings: &Settings<'_>,
    entries: &[Entry],
    read: &[(usize, Vec<u8>)],
    checked: &mut [Checked],
) -> Result<(), CheckError> {
    let rules = |at: usize| Rules { advise_at: None, is_archived: is_archived(&entries[at].path) };
    let mut documents = Vec::with_capacity(read.len());
    for (at, text) in read.iter().filter(|(at, _)| entries[*at].kind == FileKind::Checkpoint) {
        match std::str::from_utf8(text) {
            Ok(text) => documents.push((*at, Document::parse(text))),
            Err(_) => {
                checked[*at].findings = with_secrets(validate(text, rules(*at)), text, FileKind::Checkpoint, settings);
            }
        }
    }
    let paths: Vec<_> = documents.iter().map(|(at, _)| entries[*at].shown_path()).collect();
    let set: Vec<_> = paths.iter().map(String::as_str).zip(documents.iter().map(|(_, document)| document)).collect();
    for ((at, document), between) in documents.iter().zip(validate_set(&set)) {
        let mut findings = validate_document(document, rules(*at));
        findings.extend(between);
        checked[*at].findings = with_secrets(findings, document.text.as_bytes(), FileKind::Checkpoint, settings);
    }
    for (at, text) in read.iter().filter(|(at, _)| entries[*at].kind == FileKind::CheckpointIndex) {
        let folder = entries[*at].folder();
        let beside = names_beside(git, source, folder)?;
        let files: Vec<_> = beside.iter().filter_map(|name| names_of(name, folder, entries, &documents)).collect();
        checked[*at].findings =
            with_secrets(validate_index(text, Some(&files)), text, FileKind::CheckpointIndex, settings);
    }
    Ok(())
}

/// The names of a file in a list: the file name without `.md`, and the id if it was read.
fn names_of(name: &[u8], folder: &[u8], entries: &[Entry], read: &[(usize, Document<'_>)]) -> Option<Vec<String>> {
    let stem = std::str::from_utf8(name).ok()?.strip_suffix(".md")?;
    if matches!(stem, "INDEX" | "README" | "LEARNINGS") {
        return None;
    }
    let path = [folder, name].concat();
    let id = read.iter().find(|(at, _)| entries[*at].path == path).and_then(|(_, document)| document.id());
    Some(std::iter::once(stem).chain(id).map(str::to_owned).collect())
}
