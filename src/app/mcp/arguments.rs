//! The arguments of a tool call. An error names the argument.

use std::fmt::Display;
use std::str::FromStr;

use regex::bytes::RegexBuilder;
use serde_json::{Map, Value};

use super::page::{Cursor, DEFAULT_BUDGET, MIN_BUDGET, Page};
use super::tool::Schema;
use crate::app::context::Context;
use crate::base::error::{Context as _, Error, Result, bail, failure};
use crate::base::when::When;
use crate::git::Repo;
use crate::secrets::Policy;
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::store::secrets::SecretScanner;
use crate::trace::{ItemId, Tip, TraceName};

/// `null` is the same as absent.
pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    /// Refuses unknown arguments and a call without the required ones.
    pub(crate) fn new(given: &'a Map<String, Value>, schema: &Schema) -> Result<Self> {
        if let Some(name) = given.keys().find(|name| !schema.properties.contains_key(*name)) {
            let known: Vec<_> = schema.properties.keys().map(String::as_str).collect();
            bail!("argument `{}` is unknown; known are: {}", shortened(name), known.join(", "));
        }
        let arguments = Self(given);
        for name in &schema.required {
            arguments.value(name).with_context(|| missing(name))?;
        }
        Ok(arguments)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        let text = |value: &'a Value| value.as_str().ok_or_else(|| wrong(name, "a string", value));
        self.value(name).map(text).transpose()
    }

    /// The reason for a change. One that holds what looks like a secret is refused, unless the settings allow it.
    pub(crate) fn reason(&self, context: &Context) -> Result<Option<String>> {
        let Some(mut reason) = self.text("reason")?.map(str::to_owned) else { return Ok(None) };
        SecretScanner::new(context.repo()?, Policy::Refuse).scan_texts([&mut reason])?;
        Ok(Some(reason))
    }

    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        self.text(name)?.with_context(|| missing(name))
    }

    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        self.text(name)?.map(|text| text.parse().map_err(|error| failure!("argument `{name}`: {error}"))).transpose()
    }

    pub(crate) fn required_parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T> {
        self.parsed(name)?.with_context(|| missing(name))
    }

    /// One of several words; the first one if the argument is absent.
    pub(crate) fn choice<T: Copy, const N: usize>(&self, name: &str, choices: [(&str, T); N]) -> Result<T> {
        let Some(text) = self.text(name)? else { return Ok(choices[0].1) };
        let found = choices.iter().find(|(word, _)| *word == text);
        found
            .map(|(_, choice)| *choice)
            .with_context(|| format!("argument `{name}`: expected one of {}", choices.map(|(word, _)| word).join(", ")))
    }

    pub(crate) fn is_set(&self, name: &str) -> Result<bool> {
        self.value(name).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| wrong(name, "true or false", value)))
    }

    /// An integer of at least `min`, which may be written as `1.0`.
    pub(crate) fn integer<T: TryFrom<u64>>(&self, name: &str, min: u64) -> Result<Option<T>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an integer in range, by the filter"
        )]
        let integer = |value: f64| (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64);
        let number = value.as_u64().or_else(|| value.as_f64().and_then(integer)).filter(|number| *number >= min);
        let number = number.ok_or_else(|| wrong(name, &format!("an integer of at least {min}"), value))?;
        number.try_into().map(Some).map_err(|_| failure!("argument `{name}`: {number} is too large"))
    }

    /// An array or object, which may also be given as JSON text.
    fn nested(&self, name: &str, what: &str) -> Result<Option<Value>> {
        match self.value(name) {
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value @ Value::String(text)) => serde_json::from_str(text)
                .map(Some)
                .map_err(|_| wrong(name, &format!("{what}, or JSON text of it"), value)),
            value => Ok(value.cloned()),
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        const WHAT: &str = "an array of strings";
        let Some(value) = self.nested(name, WHAT)? else { return Ok(Vec::new()) };
        let entries = value.as_array().ok_or_else(|| wrong(name, WHAT, &value))?;
        let text = |entry: &Value| entry.as_str().map(str::to_owned).ok_or_else(|| wrong(name, WHAT, entry));
        entries.iter().map(text).collect()
    }

    pub(crate) fn object(&self, name: &str) -> Result<Map<String, Value>> {
        match self.nested(name, "an object")? {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }

    /// The trace that the argument `trace` names, else the one of the server, else the current one.
    pub(crate) fn trace(&self, context: &Context) -> Result<TraceName> {
        context.trace_name(self.parsed("trace")?.as_ref())
    }

    /// The tokens that the answer may have.
    pub(crate) fn budget(&self, default: u64) -> Result<u64> {
        Ok(self.integer("budget", MIN_BUDGET)?.unwrap_or(default))
    }

    /// The trace at the state that the argument `cursor` names, else now, and the page to write.
    pub(crate) fn page<'c>(&self, context: &'c Context) -> Result<(&'c Repo, TraceName, Tip, Page)> {
        let (repo, name) = (context.repo()?, self.trace(context)?);
        let cursor: Option<Cursor> = self.parsed("cursor")?;
        let tip = match cursor.as_ref().and_then(|cursor| cursor.commit.as_deref()) {
            Some(commit) => context.tip(&name, commit).context("argument `cursor`")?,
            None => Tip::of_trace(repo, &name)?,
        };
        let page = Page::new(self.budget(DEFAULT_BUDGET)?, context.counter()?, cursor.as_ref());
        Ok((repo, name, tip, page))
    }

    /// Of a list that `cost` measures in tokens, a page from the argument `cursor` on with at most `limit` entries, and the cursor
    /// of the next page. A page has at least one entry.
    pub(crate) fn entries<T>(
        &self,
        all: Vec<T>,
        limit: usize,
        cost: impl Fn(&T) -> u64,
    ) -> Result<(Vec<T>, Option<usize>)> {
        let (start, len) = (self.integer("cursor", 0)?.unwrap_or(0), all.len());
        let mut left = DEFAULT_BUDGET;
        let fits = |entry: &T| {
            let fits = left >= cost(entry) || left == DEFAULT_BUDGET;
            left = left.saturating_sub(cost(entry).max(1));
            fits
        };
        let page: Vec<T> = all.into_iter().skip(start).take(limit).take_while(fits).collect();
        let end = start.saturating_add(page.len());
        Ok((page, (end < len).then_some(end)))
    }

    /// The items that the argument `item` names, separated by spaces, and the argument `filter` lets pass.
    pub(crate) fn items(&self, context: &Context, name: &TraceName, tip: &Tip, among: Among) -> Result<Vec<ItemId>> {
        let filter = self.filter(context).context("argument `filter`")?;
        let named = if filter.is_empty() { Some(self.required("item")?) } else { self.text("item")? };
        let names: Vec<&str> = named.unwrap_or_default().split_whitespace().collect();
        if names.is_empty() && filter.is_empty() {
            bail!("argument `item` names no item");
        }
        select(context.repo()?, name, tip, &names, &filter, among).context("argument `item`")
    }

    /// The filter of items in the argument `filter`, by the names of the command line's options.
    fn filter(&self, context: &Context) -> Result<ItemFilter> {
        const MEMBERS: [&str; 7] = ["type", "tool", "path", "grep", "larger_than", "age", "older_than"];
        let object = self.object("filter")?;
        if let Some(unknown) = object.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
            bail!("no filter is named `{}`; the filters are {}", shortened(unknown), MEMBERS.join(", "));
        }
        let filter = Arguments(&object);
        let grep = filter.text("grep")?.map(|pattern| RegexBuilder::new(pattern).multi_line(true).build());
        let older_than: Option<When> = filter.parsed("older_than")?;
        Ok(ItemFilter {
            item_type: filter.parsed("type")?,
            tool: filter.text("tool")?.map(str::to_owned),
            path: filter.text("path")?.map(str::to_owned),
            meta: Vec::new(),
            grep: grep.transpose().context("argument `grep`")?,
            larger_than: filter.integer("larger_than", 0)?,
            age: filter.integer("age", 0)?,
            older_than: older_than.map(|when| when.before(&context.clock())).transpose()?,
        })
    }

    pub(crate) fn tip<'c>(&self, context: &'c Context) -> Result<(&'c Repo, TraceName, Tip)> {
        let (repo, name) = (context.repo()?, self.trace(context)?);
        let tip = Tip::of_trace(repo, &name)?;
        Ok((repo, name, tip))
    }
}

fn missing(name: &str) -> String {
    format!("argument `{name}` is missing")
}

pub(crate) fn wrong(name: &str, expected: &str, given: &Value) -> Error {
    let kind = match given {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("`{}`", shortened(text)),
        other => other.to_string(),
    };
    failure!("argument `{name}`: expected {expected}, not {kind}")
}

/// The beginning of a text from the client, without control characters.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(60).collect::<String>().escape_debug().to_string()
}
