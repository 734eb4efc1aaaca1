//! Finding a text in bytes, in each form in which it may be stored, and replacing it.

mod base64;
mod cuts;
mod decoded;
mod forms;
mod lines;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::Regex;

use crate::base::decoded::Decoded;
use cuts::Cuts;
use decoded::decode;
use forms::{Encoding, Form, forms_of};
use lines::Joined;

/// A literal text and a pattern; each may be absent.
#[derive(Debug, Default)]
pub(crate) struct Needle {
    literal: Option<Literal>,
    pattern: Option<Regex>,
    /// What the pattern matches in this repository.
    matched: OnceLock<HashSet<Vec<u8>>>,
    cuts: OnceLock<Cuts>,
}

#[derive(Debug)]
struct Literal {
    finder: AhoCorasick,
    forms: Vec<Form>,
    /// Finds base64 that line breaks divide, in bytes without them.
    joined_finder: AhoCorasick,
    joined_forms: Vec<Form>,
    text: Vec<u8>,
}

/// Building the faster automaton takes quadratic time if a text repeats itself.
const LONGEST_OF_DFA: usize = 128;

/// A shorter text would be found everywhere.
pub(crate) const SHORTEST: usize = 4;

impl Needle {
    /// `text` has at least [`SHORTEST`] bytes.
    pub(crate) fn new(text: Option<&[u8]>, pattern: Option<Regex>) -> Self {
        let literal = text.and_then(|text| {
            let forms = forms_of(text);
            let build = |forms: &[Form]| {
                let bytes = forms.iter().map(|form| &form.bytes);
                let is_short = text.len() <= LONGEST_OF_DFA;
                let kind = if is_short { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(Some(kind)).build(bytes).ok()
            };
            let is_base64 = |form: &&Form| matches!(form.encoding, Encoding::Base64(_));
            let joined_forms: Vec<Form> = forms.iter().filter(is_base64).cloned().collect();
            let (finder, joined_finder) = (build(&forms)?, build(&joined_forms)?);
            Some(Literal { finder, forms, joined_finder, joined_forms, text: text.to_owned() })
        });
        Self { literal, pattern, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.literal.is_none() && self.pattern.is_none()
    }

    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.is_in(bytes))
            || self.pattern.as_ref().is_some_and(|pattern| pattern.find_iter(bytes).any(|found| !found.is_empty()))
    }

    /// Where the literal is, in any form on one line.
    pub(crate) fn literal_spans(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let found = self.literal.iter().flat_map(|literal| literal.finder.find_iter(bytes));
        found.map(|found| found.range()).collect()
    }

    /// `bytes` with `marker` in place of each match; `None` if there is none.
    pub(crate) fn replace(&self, bytes: &[u8], marker: &str) -> Option<Vec<u8>> {
        let mut changed = None;
        if let Some(literal) = &self.literal {
            for depth in 0..=DEPTH {
                for find in [Literal::replacements, Literal::replacements_on_lines] {
                    let bytes = changed.as_deref().unwrap_or(bytes);
                    let Some(layers) = Layers::new(bytes, depth) else { break };
                    let found = find(literal, layers.innermost(bytes), marker);
                    let spans = found.into_iter().map(|(span, new)| (layers.original(span), new));
                    changed = splice(bytes, spans.collect()).or(changed);
                }
            }
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

    /// What the pattern matches; `None` without a pattern.
    pub(crate) fn matches<'b>(&self, bytes: &'b [u8]) -> Option<impl Iterator<Item = &'b [u8]>> {
        let matches = self.pattern.as_ref()?.find_iter(bytes).map(|found| found.as_bytes());
        Some(matches.filter(|found| found.len() > SHORTEST))
    }

    /// Parts of these matches are searched where texts were cut off. Only the first call counts.
    pub(crate) fn learn(&self, matched: HashSet<Vec<u8>>) {
        // The first call has read the same objects.
        let _ = self.matched.set(matched);
    }

    /// `bytes` with `marker` in place of each beginning or end of the literal, or of a match, at a place where a text was cut off.
    pub(crate) fn replace_cuts(&self, bytes: &[u8], marker: &str) -> Option<Vec<u8>> {
        let cuts = self.cuts.get_or_init(|| {
            let literal = self.literal.iter().map(|literal| &*literal.text);
            Cuts::of(literal.chain(self.matched.get().into_iter().flatten().map(|text| &**text)))
        });
        let mut changed = None;
        for depth in 0..=DEPTH {
            let bytes = changed.as_deref().unwrap_or(bytes);
            let Some(layers) = Layers::new(bytes, depth) else { break };
            let found = cuts.spans(layers.innermost(bytes)).into_iter();
            let spans = found.map(|span| (layers.original(span), marker.as_bytes().to_vec()));
            changed = splice(bytes, spans.collect()).or(changed);
        }
        changed
    }

    /// As [`Needle::replace_cuts`], for text.
    pub(crate) fn replace_cuts_of(&self, text: &str, marker: &str) -> Option<String> {
        self.replace_cuts(text.as_bytes(), marker).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// How often a text is decoded. Each time, all forms are searched.
const DEPTH: usize = 2;

/// Bytes that were decoded several times.
struct Layers(Vec<Decoded>);

impl Layers {
    /// `None` if there is nothing to decode so often.
    fn new(bytes: &[u8], depth: usize) -> Option<Self> {
        let mut layers = Self(Vec::new());
        for _ in 0..depth {
            let next = decode(layers.innermost(bytes))?;
            layers.0.push(next);
        }
        Some(layers)
    }

    fn innermost<'b>(&'b self, bytes: &'b [u8]) -> &'b [u8] {
        self.0.last().map_or(bytes, |decoded| &decoded.text)
    }

    fn original(&self, span: Range<usize>) -> Range<usize> {
        self.0.iter().rfold(span, |span, layer| layer.in_source(&span))
    }
}

impl Literal {
    fn is_in(&self, bytes: &[u8]) -> bool {
        (0..=DEPTH).map_while(|depth| Layers::new(bytes, depth)).any(|layers| {
            let bytes = layers.innermost(bytes);
            self.finder.is_match(bytes)
                || Joined::new(bytes).is_some_and(|joined| self.joined_finder.is_match(&joined.bytes))
        })
    }

    fn replacements(&self, bytes: &[u8], marker: &str) -> Vec<(Range<usize>, Vec<u8>)> {
        let found = self.finder.find_iter(bytes).filter_map(|found| {
            let form = &self.forms[found.pattern().as_usize()];
            // The `n` of an escaped line break may be what base64 has there. Then the line before ends with the same letter.
            let is_break = matches!(form.encoding, Encoding::Base64(_)) && lines::ends_break(bytes, found.start());
            (!is_break).then(|| form.replace(bytes, found.range(), marker))
        });
        found.collect()
    }

    /// The replacement is on one line.
    fn replacements_on_lines(&self, bytes: &[u8], marker: &str) -> Vec<(Range<usize>, Vec<u8>)> {
        let Some(joined) = Joined::new(bytes) else { return Vec::new() };
        let found = self.joined_finder.find_iter(&joined.bytes);
        let replacement = |found: aho_corasick::Match| {
            let form = &self.joined_forms[found.pattern().as_usize()];
            let (span, new) = form.replace(&joined.bytes, found.range(), marker);
            (joined.original(&span), new)
        };
        found.map(replacement).collect()
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
