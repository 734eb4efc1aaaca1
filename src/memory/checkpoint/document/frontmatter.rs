//! Frontmatter: the YAML mapping between the first line `---` and the next.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Frontmatter {
    pub span: Range<usize>,
    /// The start of the text after the closing fence.
    pub end: usize,
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub value: Value,
    /// The bytes of the key.
    pub span: Range<usize>,
}

/// Why a text has no readable frontmatter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FrontmatterError {
    /// The text does not start with `---`.
    Missing,
    /// There is no second `---`.
    Unclosed,
    NotYaml {
        at: usize,
        problem: String,
    },
    /// The YAML is a list or a single value.
    NotAMapping {
        at: usize,
    },
}

impl Frontmatter {
    /// Parses the frontmatter that starts at `from`, after a byte order mark if there is one.
    pub(crate) fn parse(text: &str, from: usize) -> Result<Self, FrontmatterError> {
        let (span, end) = fences(text, from)?;
        let yaml = &text[span.clone()];
        let starts = line_starts(yaml);
        let mut options = serde_saphyr::Options::default();
        options.with_snippet = false;
        let Mapping(pairs) = serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
            let problem = error.without_snippet().to_string();
            if problem.contains(EXPECTED) {
                return FrontmatterError::NotAMapping { at: span.start };
            }
            let at = error.location().map_or(0, |location| offset(yaml, &starts, location.line(), location.column()));
            FrontmatterError::NotYaml { at: span.start + at, problem: without_position(&problem).to_owned() }
        })?;
        let entry = |(key, value): (Spanned<String>, Value)| {
            let start = span.start + offset(yaml, &starts, key.referenced.line(), key.referenced.column());
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

    /// The value of a key if it is a string.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.entry(key)?.value.as_str().map(str::trim)
    }
}

/// The first line of a YAML error without the position, which the finding states already.
fn without_position(problem: &str) -> &str {
    let problem = problem.lines().next().unwrap_or_default();
    let problem = problem.find(" at line ").map_or(problem, |cut| &problem[..cut]);
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let cut = problem.find(": ").filter(|_| problem.starts_with("line "));
    cut.map_or(problem, |cut| &problem[cut + 2..])
}

/// The span between the fences, and the start of the text after them.
fn fences(text: &str, from: usize) -> Result<(Range<usize>, usize), FrontmatterError> {
    let mut start = from;
    let mut open = None;
    for line in text[from..].split_inclusive('\n') {
        let end = start + line.len();
        match open {
            None if line.trim_end() == "---" => open = Some(end),
            None => return Err(FrontmatterError::Missing),
            Some(open) if line.trim_end() == "---" => return Ok((open..start, end)),
            Some(_) => {}
        }
        start = end;
    }
    Err(if open.is_some() { FrontmatterError::Unclosed } else { FrontmatterError::Missing })
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

/// The offset of a line and column, both counted from 1.
fn offset(text: &str, starts: &[usize], line: u64, column: u64) -> usize {
    let line = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    let column = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
    let Some(&start) = starts.get(line) else { return text.len() };
    let content = text[start..].split('\n').next().unwrap_or_default();
    start + content.char_indices().nth(column).map_or(content.len(), |(at, _)| at)
}

/// The keys and values of a YAML mapping; an empty document is an empty mapping.
struct Mapping(Vec<(Spanned<String>, Value)>);

const EXPECTED: &str = "a mapping of keys";

impl<'de> Deserialize<'de> for Mapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MappingVisitor;

        impl<'de> Visitor<'de> for MappingVisitor {
            type Value = Mapping;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Mapping, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Mapping(pairs))
            }

            fn visit_unit<E>(self) -> Result<Mapping, E> {
                Ok(Mapping(Vec::new()))
            }

            fn visit_none<E>(self) -> Result<Mapping, E> {
                Ok(Mapping(Vec::new()))
            }
        }

        deserializer.deserialize_any(MappingVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_is_linear_in_the_number_of_keys() {
        let keys: Vec<String> = (0..20_000).map(|n| format!("k{n}: é\n")).collect();
        let text = format!("---\n{}---\n", keys.concat());
        let front = Frontmatter::parse(&text, 0).unwrap();
        assert_eq!(front.entries.len(), 20_000);
        assert!(front.entries.iter().all(|entry| text[entry.span.clone()] == entry.key));
    }

    #[test]
    fn keys_have_positions() {
        let text = "\u{feff}---\r\ncheckpoint: chk-a\r\ncreated: 2025-12-17T14:00:00Z\r\nparent:\r\n---\r\nrest";
        let front = Frontmatter::parse(text, 3).unwrap();
        assert_eq!(front.text("checkpoint"), Some("chk-a"));
        assert_eq!(front.text("created"), Some("2025-12-17T14:00:00Z"));
        assert_eq!(front.entry("parent").unwrap().value, Value::Null);
        for entry in &front.entries {
            assert_eq!(text[entry.span.clone()], entry.key);
        }
        assert_eq!(&text[front.end..], "rest");
    }

    #[test]
    fn errors_have_positions() {
        assert_eq!(Frontmatter::parse("# Title\n", 0), Err(FrontmatterError::Missing));
        assert_eq!(Frontmatter::parse("", 0), Err(FrontmatterError::Missing));
        assert_eq!(Frontmatter::parse("---\na: b\n", 0), Err(FrontmatterError::Unclosed));
        assert_eq!(Frontmatter::parse("---\n- a\n- b\n---\n", 0), Err(FrontmatterError::NotAMapping { at: 4 }));
        assert_eq!(Frontmatter::parse("---\nplain\n---\n", 0), Err(FrontmatterError::NotAMapping { at: 4 }));
        assert_eq!(Frontmatter::parse("---\n---\n", 0).unwrap().entries, []);
        for (text, place) in [("---\na: b\nc: [d\n---\n", 9), ("---\na: b\na: c\n---\n", 9)] {
            match Frontmatter::parse(text, 0) {
                Err(FrontmatterError::NotYaml { at, problem }) => {
                    assert!(at >= place && !problem.contains('\n'), "{at} {problem}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
