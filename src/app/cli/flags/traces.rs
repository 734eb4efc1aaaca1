//! Which traces are listed, and in which order.

use regex::{Regex, RegexBuilder};

use crate::app::cli::flags::one_of;
use crate::app::cli::{Context, Result, Values};
use crate::base::when::When;
use crate::trace::query::find::{Order, Wanted};
use crate::transcript::format::Format;

const ORDERS: &[(&str, Order)] = &[("newest", Order::Newest), ("oldest", Order::Oldest), ("name", Order::Name)];

/// Filters of traces. All that are given must match.
#[derive(clap::Args, Debug)]
pub(crate) struct TraceFilterArgs {
    /// Maximum number of traces to list; a session and its branches count as one
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Only those changed since then, such as `yesterday` or `2 days ago`
    #[arg(long, value_name = "TIME", alias = "after")]
    since: Option<When>,
    /// Only sessions of this agent, such as codex, and their branches
    #[arg(long, value_name = "AGENT", add = Values::OneOf(Format::VALUES))]
    agent: Option<String>,
    /// Only those whose newest commit has an author that matches this regular expression
    #[arg(long, value_name = "PATTERN", value_parser = any_case)]
    author: Option<Regex>,
    /// Only those with a title that matches this regular expression
    #[arg(long, value_name = "PATTERN", value_parser = any_case)]
    grep: Option<Regex>,
    /// Order [default: newest for sessions, name for traces]
    #[arg(long, value_name = "ORDER", value_parser = one_of(ORDERS))]
    sort: Option<Order>,
}

fn any_case(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).case_insensitive(true).build()
}

impl TraceFilterArgs {
    pub(crate) fn read(&self, context: &Context, order: Order) -> Result<Wanted> {
        Ok(Wanted {
            most: self.max_count.unwrap_or(usize::MAX),
            since: self.since.as_ref().map(|when| when.before(&context.clock())).transpose()?,
            agent: self.agent.clone(),
            author: self.author.clone(),
            title: self.grep.clone(),
            order: self.sort.unwrap_or(order),
        })
    }
}
