//! A tool's arguments: read by name, refused by name.

use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::base::error::{Error, Result, bail, failure};

/// What a tool was called with. `null` is as good as absent.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Refuses arguments whose names are not among `known`.
    pub(crate) fn new(given: &'a Map<String, Value>, known: &Map<String, Value>) -> Result<Self> {
        if let Some(name) = given.keys().find(|name| !known.contains_key(*name)) {
            let known: Vec<_> = known.keys().map(String::as_str).collect();
            let name: String = name.chars().take(60).collect();
            bail!("argument `{}` is unknown; there are: {}", name.escape_debug(), known.join(", "));
        }
        Ok(Self { given })
    }

    /// The value as it is.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.given.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// A text that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// A text that has a form.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        self.text(name)?.map(|text| text.parse().map_err(|error| failure!("argument `{name}`: {error}"))).transpose()
    }

    pub(crate) fn is_set(&self, name: &str) -> Result<bool> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(is_set)) => Ok(*is_set),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// A whole number of at least `min`; `1.0` is one too.
    pub(crate) fn integer(&self, name: &str, min: u64) -> Result<Option<u64>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range by the filter")]
        let whole = |value: f64| (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64);
        let number = value.as_u64().or_else(|| value.as_f64().and_then(whole));
        match number.filter(|number| *number >= min) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, &format!("a whole number of at least {min}"), value)),
        }
    }

    pub(crate) fn count(&self, name: &str, min: u64) -> Result<Option<usize>> {
        Ok(self.integer(name, min)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// A list or an object that may also be given as JSON text.
    pub(crate) fn nested(&self, name: &str, what: &str) -> Result<Option<Value>> {
        match self.value(name) {
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value @ Value::String(text)) => serde_json::from_str(text)
                .map(Some)
                .map_err(|_| wrong(name, &format!("{what}, or JSON text of it"), value)),
            value => Ok(value.cloned()),
        }
    }

    /// Texts: an array, or JSON text of one.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        const WHAT: &str = "an array of strings";
        match self.nested(name, WHAT)? {
            None => Ok(Vec::new()),
            Some(Value::Array(entries)) => {
                let text = |entry| match entry {
                    Value::String(text) => Ok(text),
                    other => Err(wrong(name, WHAT, &other)),
                };
                entries.into_iter().map(text).collect()
            }
            Some(other) => Err(wrong(name, WHAT, &other)),
        }
    }

    /// Names with values: an object, or JSON text of one.
    pub(crate) fn object(&self, name: &str) -> Result<Map<String, Value>> {
        match self.nested(name, "an object")? {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }
}

/// An argument that must be there and is not.
pub(crate) fn missing(name: &str) -> Error {
    failure!("argument `{name}` is missing")
}

/// A value as it is refused: what is expected, and the beginning of what was given.
pub(crate) fn wrong(name: &str, expected: &str, given: &Value) -> Error {
    let kind = match given {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("`{}`", text.chars().take(60).collect::<String>().escape_debug()),
        other => other.to_string(),
    };
    failure!("argument `{name}`: {expected} is expected, not {kind}")
}
