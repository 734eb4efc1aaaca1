//! A trace as one page to look at: what it holds, how it came to be, what it counts for.
//!
//! The page is one HTML file that loads nothing and sends nothing. Everything in it is there without its script, which only
//! filters, and tells the figures of the chart.
//!
//! - What others wrote is escaped where it is put in, see `html`; markup itself is text of this program only, by type.
//! - A Content Security Policy stands in the page: no source but the one script and the one style, named by their hashes. It
//!   holds even if something could be smuggled in.
//! - Control characters, characters without a width, and those that turn the direction of a text are shown as what they are.
//! - What looks like a secret is taken out, as pages are passed on; `trace.secrets` set to `off` leaves it in.
//! - The same trace gives the same bytes: no clock is read.

mod branches;
mod chart;
mod data;
mod html;
mod item;
mod page;
mod redact;
mod timeline;

use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::store::resolve::moment;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceError, TraceName};

/// How many items and commits a page has at most, where nothing else is asked for.
pub(crate) const LAST: usize = 10_000;

/// What of the past goes into a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Past {
    /// Only that something was changed or taken out.
    Nothing,
    /// The earlier texts of items that are there, as differences.
    #[default]
    Edits,
    /// Those, and the items that were taken out.
    All,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    /// How many of the newest items, and of the newest commits.
    pub last: usize,
    pub past: Past,
}

impl Default for Options {
    fn default() -> Self {
        Self { last: LAST, past: Past::default() }
    }
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    pub html: String,
    /// How many earlier ones it leaves out.
    pub earlier: usize,
    /// How many texts had what looks like a secret, which was taken out.
    pub redacted: usize,
}

/// Makes the page of a trace, as it is now or as it was at `as_of` (a commit, an item or a time).
///
/// Reads the list of items once, the newest `last` commits with the folders that they changed, and each text that is shown or
/// counted once. Of other traces it reads where they parted, see `branches`. Memory holds the texts and the page.
pub(crate) fn page(
    repo: &Repo,
    name: &TraceName,
    as_of: Option<&str>,
    options: Options,
    encoding: Encoding,
) -> Result<Page, TraceError> {
    let tip = Tip::of_trace(repo, name)?;
    let (tip, at) = match as_of {
        Some(spec) => {
            let moment = moment(repo, name, &tip, spec)?;
            (moment.tip, Some(moment.at))
        }
        None => (tip, None),
    };
    let view = View::at(repo, tip, at)?;
    let data = data::gather(repo, &view, at, options, encoding)?;
    let chart = chart::Chart::of(repo, &data, encoding)?;
    let branches = branches::parted(repo, name, &data, encoding)?;
    let html = page::render(repo, name, &data, &chart, &branches, encoding)?;
    let earlier = view.slots.len() - data.slots.len();
    Ok(Page { html, earlier, redacted: data.redactor.count() })
}
