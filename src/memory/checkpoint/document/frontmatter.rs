//! Frontmatter: the YAML mapping between the first line `---` and the next.

use std::ops::Range;

use serde_json::Value;
use serde_saphyr::{Location, Spanned};

use super::markdown::lines;
use crate::base::members::{EXPECTED, Members};

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
        let mut options = serde_saphyr::Options::default();
        options.with_snippet = false;
        let Members(pairs) = serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
            let problem = error.without_snippet().to_string();
            if problem.contains(EXPECTED) {
                let (message, remedy) = ("the frontmatter is not a mapping", "write one `key: value` per line");
                return FrontmatterError::new(span.start..span.start, "not-a-mapping", message, remedy);
            }
            if let Some(at) =
                unclosed_quote(yaml, error.location().map_or(yaml.len(), |location| offset(yaml, location)))
            {
                let at = span.start + at;
                return FrontmatterError::new(
                    at..at + 1,
                    "bad-yaml",
                    "the quote is not closed",
                    "close it on this line",
                );
            }
            let at = span.start + error.location().map_or(0, |location| offset(yaml, location));
            let message = format!("the frontmatter is not YAML: {}", without_position(&problem));
            FrontmatterError::new(at..at, "bad-yaml", message, "correct the line")
        })?;
        let entry = |(key, value): (Spanned<String>, Value)| {
            let start = key.referenced.span().byte_offset().and_then(|start| usize::try_from(start).ok());
            let start = span.start + start.unwrap_or_else(|| offset(yaml, key.referenced));
            let line_end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            let end = start + key.value.len();
            let end = if end <= line_end && text.is_char_boundary(end) { end } else { line_end };
            Entry { key: key.value, value, span: start..end }
        };
        let entries = pairs.into_iter().map(entry).collect();
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

/// The first line of a YAML error without the position, which the finding states already.
fn without_position(problem: &str) -> &str {
    let problem = problem.lines().next().unwrap_or_default();
    let problem = problem.find(" at line ").map_or(problem, |cut| &problem[..cut]);
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let cut = problem.find(": ").filter(|_| problem.starts_with("line "));
    cut.map_or(problem, |cut| &problem[cut + 2..])
}

/// The offset of a location, whose line and column count from 1. Errors have no byte offset.
fn offset(yaml: &str, location: Location) -> usize {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let Some((start, line)) = lines(yaml, 0..yaml.len()).nth(index(location.line())) else { return yaml.len() };
    let line = line.trim_end_matches('\n');
    start + line.char_indices().nth(index(location.column())).map_or(line.len(), |(at, _)| at)
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
