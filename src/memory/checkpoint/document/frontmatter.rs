//! Frontmatter: the YAML mapping between the first line `---` and the next.

use std::ops::Range;

use serde_json::Value;

use super::markdown::lines;
use super::yaml::{self, Key, YamlError};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Frontmatter {
    pub span: Range<usize>,
    pub end: usize,
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub value: Value,
    pub span: Range<usize>,
}

/// Why a text has no readable frontmatter, as a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FrontmatterError {
    pub span: Range<usize>,
    pub code: &'static str,
    pub message: String,
    pub remedy: &'static str,
}

/// The code of the error for a file that does not start with frontmatter.
pub(crate) const NO_FRONTMATTER: &str = "no-frontmatter";

impl FrontmatterError {
    fn new(span: Range<usize>, code: &'static str, message: impl Into<String>, remedy: &'static str) -> Self {
        Self { span, code, message: message.into(), remedy }
    }
}

impl Frontmatter {
    /// Parses the frontmatter that starts at `from`, after a byte order mark if there is one.
    pub(crate) fn parse(text: &str, from: usize) -> Result<Self, FrontmatterError> {
        let (span, end) = fences(text, from)?;
        let yaml = &text[span.clone()];
        let members = yaml::members(yaml).map_err(|error| {
            let YamlError::Invalid { at, message } = error else {
                let (message, remedy) = ("the frontmatter is not a mapping", "write one `key: value` per line");
                return FrontmatterError::new(span.start..span.start, "not-a-mapping", message, remedy);
            };
            if let Some(at) = unclosed_quote(yaml, at) {
                let at = span.start + at;
                return FrontmatterError::new(
                    at..at + 1,
                    "bad-yaml",
                    "the quote is not closed",
                    "close it on this line",
                );
            }
            let at = span.start + at;
            FrontmatterError::new(
                at..at,
                "bad-yaml",
                format!("the frontmatter is not YAML: {message}"),
                "correct the line",
            )
        })?;
        let entry = |(key, value): (Key, Value)| {
            let within = span.start + key.span.start..span.start + key.span.end;
            Entry { key: key.text, value, span: within }
        };
        let entries = members.into_iter().map(entry).collect();
        Ok(Self { span, end, entries })
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.entry(key)?.value.as_str().map(str::trim)
    }
}

/// The offset of a quote before `end` that starts a value and is not closed on its line. YAML reports it where the text ends.
fn unclosed_quote(yaml: &str, end: usize) -> Option<usize> {
    let in_lines = lines(yaml, 0..yaml.len()).take_while(|(start, _)| *start <= end);
    in_lines.into_iter().find_map(|(start, line)| {
        let at = line.find(": ")? + 2;
        let value = line[at..].trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let is_open = !value[1..].replace("\\\"", "").contains(quote);
        is_open.then(|| start + line.len() - value.len())
    })
}

/// The span between the fences, and the start of the text after them.
fn fences(text: &str, from: usize) -> Result<(Range<usize>, usize), FrontmatterError> {
    let mut fences = lines(text, from..text.len()).filter(|(at, line)| *at == from || line.trim_end() == "---");
    let Some((_, open)) = fences.next().filter(|(_, line)| line.trim_end() == "---") else {
        let remedy = "add `checkpoint` and `created` between two lines `---` at the top";
        let message = "the file does not start with frontmatter";
        return Err(FrontmatterError::new(from..from, NO_FRONTMATTER, message, remedy));
    };
    let Some((end, close)) = fences.next() else {
        let (message, remedy) = ("the frontmatter is not closed", "end it with a line `---`");
        return Err(FrontmatterError::new(from..from + 3, "unclosed-frontmatter", message, remedy));
    };
    Ok((from + open.len()..end, end + close.len()))
}
