//! Which items a command is about, and why it changes them.

use std::convert::Infallible;

use regex::bytes::{Regex, RegexBuilder};

use crate::app::cli::{Context, Error, Result, Values};
use crate::base::when::When;
use crate::secrets::Policy;
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::store::secrets::SecretScanner;
use crate::trace::{ItemId, ItemType, Tip, TraceName};

/// Names and filters of items.
#[derive(clap::Args, Debug)]
pub(crate) struct ItemsArgs {
    /// Items: #7 (position), #7..#9, #7.., an id or at least four digits of it, @3 (turn), @3..@5, @-1 (the last turn), or a commit
    /// that changed them
    #[arg(value_name = "ITEM", add = Values::Items)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Heading of the filters in the help. Set on the struct, it would also be the heading of the options after them.
const FILTERS: &str = "Filters of items (all must match)";

/// Filters of items. All that are given must match.
#[derive(clap::Args, Debug)]
pub(crate) struct FilterArgs {
    /// Only items of this type
    #[arg(help_heading = FILTERS, short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,
    #[command(flatten)]
    fields: FieldArgs,
    /// Only items whose content matches this regular expression
    #[arg(help_heading = FILTERS, long, value_name = "PATTERN", allow_hyphen_values = true, value_parser = lines_pattern)]
    grep: Option<Regex>,
    /// Only items with more tokens
    #[arg(help_heading = FILTERS, long, value_name = "TOKENS")]
    larger_than: Option<u64>,
    /// Only items with at least this number of steps after them; a step is one message of the model with its tools' results
    #[arg(help_heading = FILTERS, long, value_name = "STEPS")]
    age: Option<usize>,
    /// Only items recorded before this time, such as `yesterday` or `2 days ago`
    #[arg(help_heading = FILTERS, long, value_name = "TIME")]
    older_than: Option<When>,
}

/// Filters of items by what their headers say.
#[derive(clap::Args, Debug)]
pub(crate) struct FieldArgs {
    /// Only calls and results of this tool
    #[arg(help_heading = FILTERS, long, value_name = "NAME", allow_hyphen_values = true)]
    tool: Option<String>,
    /// Only artifacts, calls, and results about a file whose path, or its end, matches
    #[arg(help_heading = FILTERS, long, value_name = "GLOB")]
    path: Option<String>,
    /// Only items with this key in their metadata, or this field of their JSON, such as model or status=error
    #[arg(help_heading = FILTERS, long, value_name = "KEY[=VALUE]", value_parser = key_and_value)]
    meta: Vec<(String, Option<String>)>,
}

#[expect(clippy::unnecessary_wraps, reason = "clap expects a result")]
fn key_and_value(text: &str) -> Result<(String, Option<String>), Infallible> {
    Ok(text
        .split_once('=')
        .map_or_else(|| (text.to_owned(), None), |(key, value)| (key.to_owned(), Some(value.to_owned()))))
}

impl FieldArgs {
    pub(crate) fn read(&self) -> ItemFilter {
        let Self { tool, path, meta } = self;
        ItemFilter { tool: tool.clone(), path: path.clone(), meta: meta.clone(), ..ItemFilter::default() }
    }
}

/// As in `git trace grep`, `^` and `$` match at line ends.
fn lines_pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).multi_line(true).build()
}

impl FilterArgs {
    pub(crate) fn read(&self, context: &Context) -> Result<ItemFilter> {
        let older_than = self.older_than.as_ref().map(|when| when.before(&context.clock())).transpose()?;
        let Self { item_type, grep, larger_than, age, .. } = self;
        Ok(ItemFilter {
            item_type: item_type.clone(),
            grep: grep.clone(),
            larger_than: *larger_than,
            age: *age,
            older_than,
            ..self.fields.read()
        })
    }
}

impl ItemsArgs {
    pub(crate) fn are_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// Selects items. Without a name and a filter it fails.
    pub(crate) fn select(&self, context: &Context, name: &TraceName, tip: &Tip, among: Among) -> Result<Vec<ItemId>> {
        self.select_named(context, name, tip, &self.names, among)
    }

    /// As [`Self::select`], with only the first of the names.
    pub(crate) fn select_named(
        &self,
        context: &Context,
        name: &TraceName,
        tip: &Tip,
        names: &[String],
        among: Among,
    ) -> Result<Vec<ItemId>> {
        let filter = self.filter.read(context)?;
        if names.is_empty() && filter.is_empty() {
            return Err(Error::with_hint(
                "no item was named",
                "name items, such as `'#7'` or `@3`, or give a filter, such as `-t tool_io`; a shell needs the quotes around #",
            ));
        }
        Ok(select(context.repo()?, name, tip, names, &filter, among)?)
    }
}

/// The reason for a change.
#[derive(clap::Args, Debug)]
pub(crate) struct ReasonArgs {
    /// Reason
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    // What version 0.1 called it.
    #[arg(short = 'm', long = "message", hide = true, allow_hyphen_values = true, conflicts_with = "reason")]
    message: Option<String>,
}

impl ReasonArgs {
    /// The reason, screened for secrets as the text of a commit is.
    pub(crate) fn get(&self, context: &Context) -> Result<Option<String>> {
        if self.message.is_some() {
            context.ui.note("warning: `-m` is deprecated in this command; use `--reason`");
        }
        let Some(mut reason) = self.reason.clone().or_else(|| self.message.clone()) else { return Ok(None) };
        for found in SecretScanner::new(context.repo()?, Policy::Warn).scan_texts([&mut reason])? {
            context.ui.note(found.to_string());
        }
        Ok(Some(reason))
    }

    pub(crate) fn is_given(&self) -> bool {
        self.reason.is_some() || self.message.is_some()
    }
}
