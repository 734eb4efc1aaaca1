//! Limits on JSON Schemas, because a clone may contain any schema.
//!
//! Before a schema is compiled, its size, nesting, references, and patterns are limited. Before a body is checked, [`Limits::check`]
//! counts the steps of that check: definitions that refer to each other twice multiply, and recursion in a body does, too.

use std::collections::HashMap;

use regex::RegexBuilder;
use serde_json::Value;

/// In bytes.
const MAX_SCHEMA: usize = 64 * 1024;
const MAX_OBJECTS: usize = 2000;
const MAX_NESTING: usize = 64;
const MAX_PATTERNS: usize = 100;
/// In bytes.
const MAX_PATTERN: usize = 1000;
/// Sizes of a compiled pattern in bytes, each with the steps that it may take for a byte of text.
const PATTERN_STEPS: [(usize, u64); 3] = [(1 << 13, 1), (1 << 16, 8), (1 << 20, 128)];
/// A step takes about a microsecond.
const MAX_STEPS: u64 = 3_000_000;
/// How deep a check may nest. Each level needs a few kilobytes of the stack.
const MAX_DEPTH: usize = 500;

pub(super) struct Limits {
    schema: Value,
    /// The steps of each pattern for a byte of text.
    patterns: HashMap<String, u64>,
}

impl Limits {
    /// Reads a schema; or returns why it is refused.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        if text.len() > MAX_SCHEMA {
            return Err(format!("it is larger than {} KiB", MAX_SCHEMA / 1024));
        }
        let schema: Value = serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let is_draft_4 = schema["$schema"].as_str().is_some_and(|draft| draft.contains("draft-04"));
        let mut scan = Scan { is_draft_4, objects: 0, patterns: HashMap::new() };
        scan.value(&schema, 0)?;
        let patterns = scan.patterns;
        Ok(Self { schema, patterns })
    }

    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Fails if the check of a body takes too many steps.
    pub(super) fn check(&self, body: &Value) -> Result<(), &'static str> {
        Count { limits: self, left: MAX_STEPS }.schema(&self.schema, body, 0)
    }
}

struct Scan {
    is_draft_4: bool,
    objects: usize,
    patterns: HashMap<String, u64>,
}

impl Scan {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), String> {
        if depth > MAX_NESTING {
            return Err(format!("it nests deeper than {MAX_NESTING} levels"));
        }
        match value {
            Value::Array(values) => values.iter().try_for_each(|value| self.value(value, depth + 1)),
            Value::Object(members) => {
                self.objects += 1;
                if self.objects > MAX_OBJECTS {
                    return Err(format!("it has more than {MAX_OBJECTS} objects"));
                }
                members.iter().try_for_each(|(key, value)| {
                    self.member(key, value, depth)?;
                    self.value(value, depth + 1)
                })
            }
            _ => Ok(()),
        }
    }

    fn member(&mut self, key: &str, value: &Value, depth: usize) -> Result<(), String> {
        match (key, value) {
            ("$ref", Value::String(to)) if (to != "#" && !to.starts_with("#/")) || to.contains('%') => Err(format!(
                "a schema must stand alone: it cannot refer to `{}`, only to `#` and `#/…`",
                to.escape_debug()
            )),
            ("$dynamicRef" | "$recursiveRef", Value::String(_)) => Err(format!("`{key}` is not supported")),
            ("$id", Value::String(_)) if depth > 0 => Err("only the outermost schema can have an `$id`".to_owned()),
            ("id", Value::String(_)) if depth > 0 && self.is_draft_4 => {
                Err("only the outermost schema can have an `id`".to_owned())
            }
            ("pattern", Value::String(pattern)) => self.pattern(pattern),
            ("patternProperties", Value::Object(members)) => {
                members.keys().try_for_each(|pattern| self.pattern(pattern))
            }
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        if pattern.len() > MAX_PATTERN {
            return Err(format!("a pattern is longer than {MAX_PATTERN} bytes"));
        }
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        if self.patterns.len() == MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        let fits = |limit: usize| RegexBuilder::new(pattern).size_limit(limit).build();
        let found = PATTERN_STEPS.iter().find_map(|(limit, steps)| match fits(*limit) {
            Err(regex::Error::CompiledTooBig(_)) => None,
            // The compiler understands `\cM`, too, and says what else is wrong.
            _ => Some(*steps),
        });
        let steps = found.ok_or_else(|| format!("the pattern `{}` is too large", pattern.escape_debug()))?;
        self.patterns.insert(pattern.to_owned(), steps);
        Ok(())
    }
}

/// Counts steps as if every part of the schema applied.
struct Count<'l> {
    limits: &'l Limits,
    left: u64,
}

impl Count<'_> {
    fn take(&mut self, steps: u64) -> Result<(), &'static str> {
        self.left = self.left.checked_sub(steps).ok_or("checking it takes too many steps")?;
        Ok(())
    }

    fn schema(&mut self, schema: &Value, body: &Value, depth: usize) -> Result<(), &'static str> {
        if depth > MAX_DEPTH {
            return Err("the schema and the body nest too deep");
        }
        let Value::Object(members) = schema else { return self.take(1) };
        self.take(1 + (members.len() + children(body).count()) as u64)?;
        members.iter().try_for_each(|(key, value)| self.member(key, value, body, depth + 1))
    }

    fn member(&mut self, key: &str, value: &Value, body: &Value, depth: usize) -> Result<(), &'static str> {
        match (key, value) {
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    let names = body.as_object().into_iter().flatten();
                    names.clone().try_for_each(|(name, _)| self.pattern(pattern, name))?;
                    names.map(|(_, child)| child).try_for_each(|child| self.schema(schema, child, depth))?;
                }
                Ok(())
            }
            ("items" | "prefixItems", Value::Array(schemas)) => {
                let items = body.as_array().into_iter().flatten();
                schemas.iter().zip(items).try_for_each(|(schema, item)| self.schema(schema, item, depth))
            }
            (
                "additionalItems"
                | "additionalProperties"
                | "contains"
                | "items"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                _,
            ) => children(body).try_for_each(|child| self.schema(value, child, depth)),
            ("properties", Value::Object(schemas)) => {
                let mut found = schemas.iter().filter_map(|(name, schema)| Some((schema, body.get(name)?)));
                found.try_for_each(|(schema, child)| self.schema(schema, child, depth))
            }
            ("propertyNames", _) => {
                let mut names = body.as_object().into_iter().flat_map(|members| members.keys());
                names.try_for_each(|name| self.schema(value, &Value::String(name.clone()), depth))
            }
            ("dependencies" | "dependentSchemas", Value::Object(schemas)) => {
                self.take(size(value))?;
                schemas.values().try_for_each(|schema| self.schema(schema, body, depth))
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter().try_for_each(|schema| self.schema(schema, body, depth))
            }
            ("else" | "if" | "not" | "then", _) => self.schema(value, body, depth),
            ("$ref", Value::String(to)) => {
                let to = to.strip_prefix('#').and_then(|pointer| self.limits.schema.pointer(pointer));
                // The compiler refuses a missing target.
                to.map_or(Ok(()), |to| self.schema(to, body, depth))
            }
            ("const" | "dependentRequired" | "enum" | "required", _) => self.take(size(value)),
            ("pattern", Value::String(pattern)) => self.pattern(pattern, body.as_str().unwrap_or_default()),
            // The first needs hashes of all items, or compares the first ones; the second parses the text again and again.
            ("uniqueItems", _) if body.is_array() => self.take(20 * size(body)),
            ("format", Value::String(format)) => {
                let len = body.as_str().map_or(0, str::len) as u64;
                self.take(if format == "regex" { len.saturating_mul(len) } else { len })
            }
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str, text: &str) -> Result<(), &'static str> {
        let steps = self.limits.patterns.get(pattern).copied().unwrap_or(1);
        self.take(steps.saturating_mul(1 + text.len() as u64))
    }
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten().chain(value.as_object().into_iter().flatten().map(|(_, value)| value))
}

/// The number of values in a value.
fn size(value: &Value) -> u64 {
    1 + children(value).map(size).sum::<u64>()
}
