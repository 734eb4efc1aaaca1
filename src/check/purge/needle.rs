//! Finding a text in bytes, in each form in which it may be stored, and replacing it.

mod base64;
mod forms;

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use forms::{Form, forms_of};

/// A literal text and a pattern; each may be absent.
#[derive(Debug, Default)]
pub(crate) struct Needle {
    literal: Option<Literal>,
    pattern: Option<Regex>,
}

#[derive(Debug)]
struct Literal {
    finder: AhoCorasick,
    forms: Vec<Form>,
    /// The text on one line, as in the subject of a commit.
    line: String,
}

/// A shorter text would be found everywhere.
pub(crate) const SHORTEST: usize = 4;

impl Needle {
    /// `text` has at least [`SHORTEST`] bytes.
    pub(crate) fn new(text: Option<&[u8]>, pattern: Option<Regex>) -> Self {
        let literal = text.and_then(|text| {
            let forms = forms_of(text);
            let finder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(forms.iter().map(|form| &form.bytes))
                .ok()?;
            let line = String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
            Some(Literal { finder, forms, line })
        });
        Self { literal, pattern }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.literal.is_none() && self.pattern.is_none()
    }

    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.finder.is_match(bytes))
            || self.pattern.as_ref().is_some_and(|pattern| pattern.find_iter(bytes).any(|found| !found.is_empty()))
    }

    /// `bytes` with `marker` in place of each match; `None` if there is none.
    pub(crate) fn replace(&self, bytes: &[u8], marker: &str) -> Option<Vec<u8>> {
        let mut changed = None;
        if let Some(literal) = &self.literal {
            changed = splice(bytes, literal.replacements(bytes, marker));
        }
        if let Some(pattern) = &self.pattern {
            let bytes = changed.as_deref().unwrap_or(bytes);
            let found = pattern.find_iter(bytes).filter(|found| !found.is_empty());
            let spans: Vec<_> = found.map(|found| (found.range(), marker.as_bytes().to_vec())).collect();
            // A pattern may match the marker that replaced the literal; that is replaced again, once.
            changed = splice(bytes, spans).or(changed);
        }
        changed
    }

    /// As [`Needle::replace`], for text.
    pub(crate) fn replace_text(&self, text: &str, marker: &str) -> Option<String> {
        self.replace(text.as_bytes(), marker).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A subject that was cut off within the literal, with `marker` in place of its beginning.
    pub(crate) fn replace_cut(&self, subject: &str, marker: &str) -> Option<String> {
        let line = &self.literal.as_ref()?.line;
        let head = subject.strip_suffix('…')?;
        let ends = line.char_indices().map(|(end, _)| end).skip(SHORTEST);
        let longest = ends.map(|end| line[..end].trim_end()).filter(|start| head.ends_with(start)).last()?;
        Some(format!("{}{marker}", &head[..head.len() - longest.len()]))
    }
}

impl Literal {
    fn replacements(&self, bytes: &[u8], marker: &str) -> Vec<(Range<usize>, Vec<u8>)> {
        let replacement = |found: aho_corasick::Match| match &self.forms[found.pattern().as_usize()].base64 {
            Some(form) => form.replace(bytes, found.range(), marker),
            None => (found.range(), marker.as_bytes().to_vec()),
        };
        self.finder.find_iter(bytes).map(replacement).collect()
    }
}

/// Replaces spans, which are in order; one that overlaps the previous one only adds what is beyond it.
fn splice(bytes: &[u8], spans: Vec<(Range<usize>, Vec<u8>)>) -> Option<Vec<u8>> {
    if spans.is_empty() {
        return None;
    }
    let (mut changed, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for (span, replacement) in spans {
        if span.start >= at {
            changed.extend_from_slice(&bytes[at..span.start]);
            changed.extend(replacement);
        }
        at = at.max(span.end);
    }
    changed.extend_from_slice(&bytes[at..]);
    Some(changed)
}

#[cfg(test)]
#[path = "../../../tests/unit/check/needle.rs"]
mod tests;
