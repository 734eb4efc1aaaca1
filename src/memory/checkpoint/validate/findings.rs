//! Collecting the findings of one file.

use std::ops::Range;

use crate::base::finding::{Finding, LineIndex, Weight};

pub(crate) struct Findings<'a> {
    index: LineIndex<'a>,
    len: usize,
    findings: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { index: LineIndex::new(text), len: text.len(), findings: Vec::new() }
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Range<usize>, message: String, remedy: &str) {
        self.add(Weight::Error, code, span, message, remedy);
    }

    pub(crate) fn warning(&mut self, code: &'static str, span: Range<usize>, message: String, remedy: &str) {
        self.add(Weight::Warning, code, span, message, remedy);
    }

    pub(crate) fn add(
        &mut self,
        weight: Weight,
        code: &'static str,
        span: Range<usize>,
        message: String,
        remedy: &str,
    ) {
        let span = span.start.min(self.len)..span.end.clamp(span.start.min(self.len), self.len);
        let position = self.index.position(span.start);
        self.findings.push(Finding { span, position, code, weight, message, remedy: remedy.to_owned() });
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.weight == Weight::Error)
    }

    /// The findings, sorted by position.
    pub(crate) fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.position);
        self.findings
    }
}
