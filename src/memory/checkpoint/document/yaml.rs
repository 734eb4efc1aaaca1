//! YAML as JSON values, with the place of each key of the outermost mapping.
//!
//! Aliases are refused: with them, a few bytes can expand to any amount of data.

use std::collections::HashSet;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use serde_json::Value;

/// A key of a mapping, and where it is written.
#[derive(PartialEq, Debug)]
pub(crate) struct Key {
    pub text: String,
    pub span: Range<usize>,
}

#[derive(PartialEq, Debug)]
pub(crate) enum YamlError {
    NotAMapping,
    Invalid { at: usize, message: String },
}

/// The members of the mapping in `yaml`, in the order in which they are written. An empty text is an empty mapping.
pub(crate) fn members(yaml: &str) -> Result<Vec<(Key, Value)>, YamlError> {
    let mut document = Document { events: Parser::new_from_str(yaml), len: yaml.len() };
    let members = match document.next()? {
        (Event::StreamEnd, _) => return Ok(Vec::new()),
        (Event::MappingStart(..), _) => document.members()?,
        (Event::Scalar(text, ScalarStyle::Plain, _, None), _) if plain(&text).is_null() => Vec::new(),
        _ => return Err(YamlError::NotAMapping),
    };
    match document.next()? {
        (Event::StreamEnd, _) => Ok(members),
        (_, at) => Err(invalid(&at, "there is more than one document")),
    }
}

struct Document<'a> {
    events: Parser<'a, StrInput<'a>>,
    len: usize,
}

impl<'a> Document<'a> {
    /// The next event that is about content.
    fn next(&mut self) -> Result<(Event<'a>, Range<usize>), YamlError> {
        loop {
            let (event, span) = match self.events.next() {
                None => return Ok((Event::StreamEnd, self.len..self.len)),
                Some(Ok(next)) => next,
                Some(Err(error)) => {
                    let at = error.marker().byte_offset().unwrap_or(self.len).min(self.len);
                    return Err(YamlError::Invalid { at, message: error.info() });
                }
            };
            if !matches!(event, Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd) {
                return Ok((event, self.range(&span)));
            }
        }
    }

    fn range(&self, span: &Span) -> Range<usize> {
        span.byte_range().unwrap_or(self.len..self.len)
    }

    /// The members up to the end of the mapping that has started.
    fn members(&mut self) -> Result<Vec<(Key, Value)>, YamlError> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let (text, span) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(members),
                (Event::Scalar(text, ..), span) => (text.into_owned(), span),
                (_, span) => return Err(invalid(&span, "a key is not a text")),
            };
            if !seen.insert(text.clone()) {
                return Err(invalid(&span, format!("the key `{text}` occurs twice")));
            }
            let value = self.next()?;
            members.push((Key { text, span }, self.value(value)?));
        }
    }

    // The parser limits how deep collections are nested, and with it this recursion.
    fn value(&mut self, (event, span): (Event<'a>, Range<usize>)) -> Result<Value, YamlError> {
        Ok(match event {
            Event::Scalar(text, ScalarStyle::Plain, _, tag)
                if !tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str")) =>
            {
                plain(&text)
            }
            Event::Scalar(text, ..) => text.into(),
            Event::MappingStart(..) => self.members()?.into_iter().map(|(key, value)| (key.text, value)).collect(),
            Event::SequenceStart(..) => {
                let mut values = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::Array(values),
                        next => values.push(self.value(next)?),
                    }
                }
            }
            Event::Alias(_) => return Err(invalid(&span, "aliases are not supported; write the value itself")),
            _ => return Err(invalid(&span, "a value is missing")),
        })
    }
}

fn invalid(span: &Range<usize>, message: impl Into<String>) -> YamlError {
    YamlError::Invalid { at: span.start, message: message.into() }
}

/// A scalar without quotes. Beside what JSON knows, YAML has words for null and for truth.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "Null" | "NULL" => Value::Null,
        "True" | "TRUE" => Value::Bool(true),
        "False" | "FALSE" => Value::Bool(false),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}
