//! Judging files together: each by itself, checkpoints against one another, lists against the files beside them.

use serde_json::Value;

use super::document::Document;
use super::folder::File;
use super::index::validate_index;
use super::set::validate_set;
use super::validate::{Rules, validate, validate_document};
use crate::base::finding::{Finding, Weight};
use crate::base::merge::FileKind;
use crate::trace::Time;

/// A file with what there is to say about it.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'f> {
    /// The file.
    pub file: &'f File,
    /// Findings by place.
    pub findings: Vec<Finding>,
}

impl Judged<'_> {
    /// Whether it is accepted.
    #[must_use]
    pub(crate) fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.weight != Weight::Error)
    }

    /// A finding of the file as JSON, with the file's path.
    ///
    /// # Errors
    ///
    /// None that is known of: a finding has only texts and numbers.
    pub(crate) fn finding_to_json(&self, finding: &Finding) -> serde_json::Result<Value> {
        let mut value = serde_json::to_value(finding)?;
        value["path"] = self.file.path.clone().into();
        Ok(value)
    }
}

/// Judges files, in their order. A list is held against the files of its folder that are among them, if there are any.
#[must_use]
pub(crate) fn judge(files: &[File], now: Time) -> Vec<Judged<'_>> {
    let documents: Vec<_> = files
        .iter()
        .map(|file| file.text().ok().filter(|_| file.kind == FileKind::Checkpoint).map(Document::parse))
        .collect();
    let read = || files.iter().zip(&documents).filter_map(|(file, document)| Some((file, document.as_ref()?)));
    let set: Vec<_> = read().map(|(file, document)| (file.path.as_str(), document)).collect();
    let mut between = validate_set(&set).into_iter();
    let mut judged = Vec::with_capacity(files.len());
    for (file, document) in files.iter().zip(&documents) {
        let rules = Rules { advise_at: Some(now), is_archived: file.is_archived() };
        let mut findings = match (file.kind, document) {
            (FileKind::CheckpointIndex, _) => {
                let beside = read().filter(|(other, _)| other.parent() == file.parent());
                let names = |(other, document): (&File, &Document<'_>)| {
                    std::iter::once(other.stem()).chain(document.id()).map(str::to_owned).collect()
                };
                let beside: Vec<Vec<String>> = beside.map(names).collect();
                // A list that is judged alone says nothing of files, and nor does a folder of which it is all that is known.
                let is_alone = files.iter().all(|file| file.kind == FileKind::CheckpointIndex);
                validate_index(&file.bytes, (!is_alone).then_some(&beside[..]))
            }
            (_, Some(document)) => {
                let mut findings = validate_document(document, rules);
                findings.extend(between.next().unwrap_or_default());
                findings
            }
            (_, None) => validate(&file.bytes, rules),
        };
        findings.sort_by_key(|finding| finding.position);
        judged.push(Judged { file, findings });
    }
    judged
}
