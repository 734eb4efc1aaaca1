//! Validating files together: each file alone, checkpoints against one another, indexes against the files in their folder.

use serde_json::Value;

use super::{Rules, validate, validate_document, validate_index, validate_set};
use crate::base::finding::{Finding, Weight};
use crate::base::merge::FileKind;
use crate::memory::checkpoint::document::Document;
use crate::memory::checkpoint::folder::File;
use crate::trace::Time;

#[derive(Clone, Debug)]
pub(crate) struct ValidatedFile<'f> {
    pub file: &'f File,
    pub findings: Vec<Finding>,
}

impl ValidatedFile<'_> {
    pub(crate) fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.weight != Weight::Error)
    }

    pub(crate) fn finding_to_json(&self, finding: &Finding) -> serde_json::Result<Value> {
        let mut value = serde_json::to_value(finding)?;
        value["path"] = self.file.path.clone().into();
        Ok(value)
    }
}

/// Validates files, in order. An index is compared with the checkpoints of its folder, if `files` contains any checkpoint.
pub(crate) fn validate_files(files: &[File], now: Time) -> Vec<ValidatedFile<'_>> {
    let documents: Vec<_> = files
        .iter()
        .map(|file| file.text().ok().filter(|_| file.kind == FileKind::Checkpoint).map(Document::parse))
        .collect();
    let read = || files.iter().zip(&documents).filter_map(|(file, document)| Some((file, document.as_ref()?)));
    let set: Vec<_> = read().map(|(file, document)| (file.path.as_str(), document)).collect();
    let mut between = validate_set(&set).into_iter();
    let mut validated = Vec::with_capacity(files.len());
    for (file, document) in files.iter().zip(&documents) {
        let rules = Rules { advise_at: Some(now), is_archived: file.is_archived() };
        let mut findings = match (file.kind, document) {
            (FileKind::CheckpointIndex, _) => {
                let beside = read().filter(|(other, _)| other.parent() == file.parent());
                let names = |(other, document): (&File, &Document<'_>)| {
                    std::iter::once(other.stem()).chain(document.id()).map(str::to_owned).collect()
                };
                let beside: Vec<Vec<String>> = beside.map(names).collect();
                // Without checkpoints among the files, nothing is known about the folder of the index.
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
        validated.push(ValidatedFile { file, findings });
    }
    validated
}
