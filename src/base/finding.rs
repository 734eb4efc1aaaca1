//! Findings of the validators.
//!
//! A finding has a position, a rule, a weight, a message, and a remedy. It is printed as one line,
//! `path:line:col: code: message; remedy`, and as an object with `--json`.

use std::ops::Range;

use serde::Serialize;

use super::escape::Plain;
use super::string_enum::string_enum;

string_enum! {
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    Weight {
        /// The file is valid and could be better.
        Advice = "advice",
        Warning = "warning",
        Error = "error",
    }
}

/// A position in a text, as people and editors count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1; a byte that is not UTF-8 counts as one.
    pub(crate) column: usize,
}

impl Position {
    /// The position in the complete text, from that in a part of the text that starts at `self`.
    pub(crate) fn then(self, inner: Self) -> Self {
        let column = if inner.line == 1 { self.column - 1 + inner.column } else { inner.column };
        Self { line: self.line - 1 + inner.line, column }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub(crate) struct Finding {
    /// The bytes in question, within the file; empty if something is missing.
    pub(crate) span: Range<usize>,
    #[serde(flatten)]
    pub(crate) position: Position,
    /// Name of the rule, which never changes: `unknown-key`.
    pub(crate) code: &'static str,
    pub(crate) weight: Weight,
    pub(crate) message: String,
    /// What to do, in the imperative; may be empty.
    pub(crate) remedy: String,
}

impl Finding {
    /// The finding with its file's name, as one line without control characters.
    pub(crate) fn in_file(&self, path: &str) -> String {
        let Self { position: Position { line, column }, code, message, remedy, .. } = self;
        let separator = if remedy.is_empty() { "" } else { "; " };
        format!("{}:{line}:{column}: {code}: {}{separator}{}", Plain(path), Plain(message), Plain(remedy))
    }
}

#[derive(Debug)]
pub(crate) struct LineIndex<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1)).collect();
        Self { text, starts }
    }

    /// An offset past the end counts as the end.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &self.text[self.starts[line - 1]..offset];
        let column =
            before.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum::<usize>();
        Position { line, column: column + 1 }
    }
}

/// Collects the findings about one text.
pub(crate) struct Findings<'a> {
    index: LineIndex<'a>,
    findings: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { index: LineIndex::new(text), findings: Vec::new() }
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Range<usize>, message: impl Into<String>, remedy: &str) {
        self.add(Weight::Error, code, span, message, remedy);
    }

    pub(crate) fn warning(&mut self, code: &'static str, span: Range<usize>, message: impl Into<String>, remedy: &str) {
        self.add(Weight::Warning, code, span, message, remedy);
    }

    pub(crate) fn add(
        &mut self,
        weight: Weight,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        remedy: &str,
    ) {
        let start = span.start.min(self.index.text.len());
        let span = start..span.end.clamp(start, self.index.text.len());
        let position = self.index.position(start);
        let (message, remedy) = (message.into(), remedy.to_owned());
        self.findings.push(Finding { span, position, code, weight, message, remedy });
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.weight == Weight::Error)
    }

    /// The findings, sorted by position.
    pub(crate) fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.span.start);
        self.findings
    }
}

#[cfg(test)]
#[path = "../../tests/unit/base/finding.rs"]
mod tests;
