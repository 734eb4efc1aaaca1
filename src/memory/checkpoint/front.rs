//! Frontmatter: the YAML mapping between the first line `---` and the next.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

/// The frontmatter of a checkpoint.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Front {
    /// The lines between the fences.
    pub span: Range<usize>,
    /// Where the text behind the closing fence starts.
    pub end: usize,
    /// Keys and values in the order they stand in.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub key: String,
    /// Its value; times are texts.
    pub value: Value,
    /// Where the key stands.
    pub span: Range<usize>,
}

/// Why there is no frontmatter to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadFront {
    /// The file does not start with `---`.
    Missing,
    /// There is no second `---`.
    Unclosed,
    /// The YAML cannot be read.
    NotYaml {
        /// Where the reader gave up.
        at: usize,
        /// What it says, in one line.
        problem: String,
    },
    /// It is YAML, but a list or a single value.
    NotAMapping {
        /// Where it starts.
        at: usize,
    },
}

impl Front {
    /// Reads the frontmatter that starts at `from`, behind a byte order mark if there is one.
    ///
    /// # Errors
    ///
    /// [`BadFront`].
    pub(crate) fn parse(text: &str, from: usize) -> Result<Self, BadFront> {
        let (span, end) = fences(text, from)?;
        let yaml = &text[span.clone()];
        let starts = line_starts(yaml);
        let mut options = serde_saphyr::Options::default();
        options.with_snippet = false;
        let keys = match serde_saphyr::from_str_with_options::<Keys>(yaml, options) {
            Ok(Keys::Pairs(pairs)) => pairs,
            Ok(Keys::Other) => return Err(BadFront::NotAMapping { at: span.start }),
            Err(error) => {
                let at =
                    error.location().map_or(0, |location| offset(yaml, &starts, location.line(), location.column()));
                // What stands behind the place is told by the finding itself.
                let problem = error.without_snippet().to_string();
                let problem = problem.lines().next().unwrap_or_default();
                let problem = problem.find(" at line ").map_or(problem, |cut| &problem[..cut]);
                let problem = problem.strip_prefix("error: ").unwrap_or(problem);
                let problem = problem
                    .find(": ")
                    .filter(|_| problem.starts_with("line "))
                    .map_or(problem, |cut| &problem[cut + 2..]);
                return Err(BadFront::NotYaml { at: span.start + at, problem: problem.to_owned() });
            }
        };
        let entry = |(key, value): (Spanned<String>, Value)| {
            let start = span.start + offset(yaml, &starts, key.referenced.line(), key.referenced.column());
            let line_end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            let end = start + key.value.len();
            let end = if end <= line_end && text.is_char_boundary(end) { end } else { line_end };
            Entry { key: key.value, value, span: start..end }
        };
        let entries = keys.into_iter().map(entry).collect();
        Ok(Self { span, end, entries })
    }

    /// The entry of a key.
    #[must_use]
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The text of a key; `None` where it is something else than a text.
    #[must_use]
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.entry(key)?.value.as_str().map(str::trim)
    }
}

/// The span between the fences, and where what follows them starts.
fn fences(text: &str, from: usize) -> Result<(Range<usize>, usize), BadFront> {
    let mut start = from;
    let mut open = None;
    for line in text[from..].split_inclusive('\n') {
        let end = start + line.len();
        match open {
            None if line.trim_end() == "---" => open = Some(end),
            None => return Err(BadFront::Missing),
            Some(open) if line.trim_end() == "---" => return Ok((open..start, end)),
            Some(_) => {}
        }
        start = end;
    }
    Err(if open.is_some() { BadFront::Unclosed } else { BadFront::Missing })
}

/// Where the lines of a text start.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

/// The byte at a line and column of a text, both from 1, whose lines start at `starts`.
fn offset(text: &str, starts: &[usize], line: u64, column: u64) -> usize {
    let line = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    let column = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
    let Some(&start) = starts.get(line) else { return text.len() };
    let content = text[start..].split('\n').next().unwrap_or_default();
    start + content.char_indices().nth(column).map_or(content.len(), |(at, _)| at)
}

/// What YAML may hold, as far as it matters here.
enum Keys {
    Pairs(Vec<(Spanned<String>, Value)>),
    Other,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;

        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Keys::Pairs(pairs))
            }

            fn visit_unit<E>(self) -> Result<Keys, E> {
                Ok(Keys::Pairs(Vec::new()))
            }

            fn visit_none<E>(self) -> Result<Keys, E> {
                Ok(Keys::Pairs(Vec::new()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Keys, A::Error> {
                while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                Ok(Keys::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Keys, E> {
                Ok(Keys::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Keys, E> {
                Ok(Keys::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Keys, E> {
                Ok(Keys::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Keys, E> {
                Ok(Keys::Other)
            }

            fn visit_str<E>(self, _: &str) -> Result<Keys, E> {
                Ok(Keys::Other)
            }
        }

        deserializer.deserialize_any(KeysVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_take_no_longer_each() {
        let keys: Vec<String> = (0..20_000).map(|n| format!("k{n}: é\n")).collect();
        let text = format!("---\n{}---\n", keys.concat());
        let front = Front::parse(&text, 0).unwrap();
        assert_eq!(front.entries.len(), 20_000);
        assert!(front.entries.iter().all(|entry| text[entry.span.clone()] == entry.key));
    }

    #[test]
    fn keys_are_read_with_their_places() {
        let text = "\u{feff}---\r\ncheckpoint: chk-a\r\ncreated: 2025-12-17T14:00:00Z\r\nparent:\r\n---\r\nrest";
        let front = Front::parse(text, 3).unwrap();
        assert_eq!(front.text("checkpoint"), Some("chk-a"));
        assert_eq!(front.text("created"), Some("2025-12-17T14:00:00Z"));
        assert_eq!(front.entry("parent").unwrap().value, Value::Null);
        for entry in &front.entries {
            assert_eq!(text[entry.span.clone()], entry.key);
        }
        assert_eq!(&text[front.end..], "rest");
    }

    #[test]
    fn what_cannot_be_read_is_told_by_place() {
        assert_eq!(Front::parse("# Title\n", 0), Err(BadFront::Missing));
        assert_eq!(Front::parse("", 0), Err(BadFront::Missing));
        assert_eq!(Front::parse("---\na: b\n", 0), Err(BadFront::Unclosed));
        assert_eq!(Front::parse("---\n- a\n- b\n---\n", 0), Err(BadFront::NotAMapping { at: 4 }));
        assert_eq!(Front::parse("---\nplain\n---\n", 0), Err(BadFront::NotAMapping { at: 4 }));
        assert_eq!(Front::parse("---\n---\n", 0).unwrap().entries, []);
        for (text, place) in [("---\na: b\nc: [d\n---\n", 9), ("---\na: b\na: c\n---\n", 9)] {
            match Front::parse(text, 0) {
                Err(BadFront::NotYaml { at, problem }) => {
                    assert!(at >= place && !problem.contains('\n'), "{at} {problem}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
