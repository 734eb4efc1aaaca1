//! A trace as one web page: its items, their history, and their tokens.
//!
//! The page is one HTML file that makes no requests. Everything in it is visible without its script, which only filters and
//! explains the chart.
//!
//! - Text of others is escaped where it is inserted, see `html`; markup is text of this program only, by type.
//! - A Content Security Policy allows only the script and the style of the page, by their hashes. It holds even if markup
//!   could be smuggled in.
//! - Control characters, characters without a width, and those that change the direction of text are shown by their numbers.
//! - Possible secrets are removed, because pages are passed on, unless `trace.secrets` is `off`.
//! - The same trace produces the same bytes: no clock is read.

mod branches;
mod card;
mod chart;
mod data;
mod filter;
mod folder;
pub(crate) mod html;
mod index;
mod page;
pub(crate) mod redact;
pub(crate) mod site;
mod text;
mod timeline;

use crate::git::Repo;
use crate::tokens::Counter;
use crate::trace::query::size::ContextSize;
use crate::trace::store::resolve::moment;
use crate::trace::store::trace_index::Group;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceError, TraceName};
use crate::transcript::title::title;

pub(crate) const LAST: usize = 10_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// None: only the fact that something was changed or deleted.
    Nothing,
    Edits,
    All,
}

impl Past {
    /// Whether texts that are no longer in the context are shown.
    fn shows(self, is_summarized: bool) -> bool {
        self == Self::All || self == Self::Edits && is_summarized
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) last: usize,
    pub(crate) past: Past,
}

pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) earlier: usize,
    pub(crate) redacted: usize,
}

/// Renders a trace as it is now, or as it was at `as_of` (a commit, an item, or a time).
///
/// A page of a site has `family`, the traces that its links lead to.
///
/// Reads the list of items once, the newest `last` commits with the folders that they changed, each text that is shown or
/// counted once, and the commits of other traces down to the shared ones. Memory holds the texts and the page.
pub(crate) fn page(
    repo: &Repo,
    name: &TraceName,
    as_of: Option<&str>,
    options: Options,
    counter: Counter,
    family: Option<&Group>,
) -> Result<Page, TraceError> {
    let tip = Tip::of_trace(repo, name)?;
    let (tip, at) = match as_of.map(|spec| moment(repo, name, &tip, spec)).transpose()? {
        Some(moment) => (moment.tip, moment.at),
        None => (tip, None),
    };
    let view = View::at(repo, tip, at)?;
    let data = data::Data::read(repo, &view, at, options, counter)?;
    let html = page::render(
        &data,
        &page::About {
            name,
            title: title(repo, name, &view),
            size: ContextSize::of(repo, &view, counter, None)?,
            chart: chart::Chart::of(repo, &data, counter)?,
            branches: branches::Branches::find(repo, name, &data, family, counter)?,
            in_site: family.is_some(),
        },
    );
    Ok(Page { html, earlier: view.slots.len() - data.items.len(), redacted: data.redactor.count.get() })
}
