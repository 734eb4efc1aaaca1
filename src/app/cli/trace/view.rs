//! `git trace view`: a trace as one page for a browser, or all traces as a site.

use std::path::{Path, PathBuf};

use crate::app::cli::flags::traces::TraceFilterArgs;
use crate::app::cli::{Context, ErrorContext as _, Plain, Result, Values, bail};
use crate::app::progress::Progress;
use crate::app::ui::grouped;
use crate::app::view::site::{self, Report};
use crate::app::view::{LAST, Options, Past, page};
use crate::base::replace::{Access, put};
use crate::git::{Repo, browse};
use crate::trace::TraceName;
use crate::trace::query::find::{Order, Wanted};
use crate::trace::store::settings;

/// Show a trace as a web page, with its branches and a timeline
///
/// The page is one file that makes no network requests, so it can be attached to a pull request. It does not contain the
/// texts of deleted items, and possible secrets are redacted. Texts that a summary replaced are on it.
///
/// `view --all -o DIR` writes a page for each trace, and index.html with the sessions by date, the tokens over time and by tool, and the
/// costs, if git config `trace.price` has the prices of models. Repeated, it writes only pages that changed. --since, --agent, --author,
/// --grep, -n, and --sort choose and sort the sessions.
///
/// Without --output, the page is written to the git folder, its path is printed, and it is opened in the browser that git config
/// `trace.browser` or `web.browser` names. If none is named, git finds one, but only on a terminal with a display.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ViewArgs {
    /// Trace to show [default: the current trace]
    name: Option<TraceName>,
    /// Write the pages of all traces to the folder -o, with an index
    #[arg(long, requires = "output", conflicts_with_all = ["name", "as_of"])]
    all: bool,
    #[command(flatten)]
    filter: Option<TraceFilterArgs>,
    /// State to show: a commit, an item (the commit that last changed it), a turn (@3, as it ended), or a time, such as
    /// `yesterday`
    #[arg(long, value_name = "WHEN", add = Values::States)]
    as_of: Option<String>,
    /// File to write instead of opening a browser, or folder for --all; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Number of the newest items and commits to show
    #[arg(long, value_name = "N", default_value_t = LAST)]
    last: usize,
    /// Include deleted items with their texts
    #[arg(long, conflicts_with = "no_edits")]
    deleted: bool,
    /// Leave out earlier revisions of edited items
    #[arg(long)]
    no_edits: bool,
    /// Write the page and print its path, without opening a browser
    #[arg(long, conflicts_with = "output")]
    no_open: bool,
}

impl ViewArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let past = match (self.deleted, self.no_edits) {
            (true, _) => Past::All,
            (_, true) => Past::Nothing,
            _ => Past::Edits,
        };
        let options = Options { last: self.last, past };
        let wanted = self.filter.as_ref().map(|filter| filter.read(context, Order::Newest)).transpose()?;
        match self.output.as_deref().filter(|_| self.all) {
            Some(folder) => write_site(context, folder, &wanted.unwrap_or_default(), options),
            None if wanted.is_some() => bail!("filters of sessions are for --all"),
            None => self.write_page(context, options),
        }
    }

    fn write_page(&self, context: &Context, options: Options) -> Result<()> {
        let repo = context.repo()?;
        let name = context.trace_name(self.name.as_ref())?;
        // A purge removes saved pages, and must not miss one that is being made.
        let held = self.output.is_none().then(|| repo.lock_objects()).transpose()?;
        let page = page(repo, &name, self.as_of.as_deref(), options, context.counter()?, None)?;
        if page.earlier > 0 {
            let earlier = page.earlier;
            context.ui.note(format!("{earlier} earlier items are not on the page; increase --last to show them"));
        }
        if page.redacted > 0 {
            context.ui.note(format!("possible secrets were removed from the page in {} places", page.redacted));
        }
        match self.output.as_deref() {
            Some(path) if path.as_os_str() == "-" => context.ui.write_raw(page.html.as_bytes()),
            Some(path) => context.ui.write_file(Some(path), page.html.as_bytes()),
            None => {
                let path = save(&context.repo()?.common_dir().join("trace").join("view"), &name, page.html.as_bytes())?;
                drop(held);
                writeln!(context.ui, "{}", Plain(&path.to_string_lossy()))?;
                context.ui.flush()?;
                if !self.no_open
                    && may_browse(repo, context.ui.is_terminal())?
                    && browse(&path, "trace.browser").is_err()
                {
                    context.ui.note("no browser could be opened; set git config trace.browser to one");
                }
                Ok(())
            }
        }
    }
}

/// Writes the pages of the wanted traces to `folder`.
fn write_site(context: &Context, folder: &Path, wanted: &Wanted, options: Options) -> Result<()> {
    if folder.as_os_str() == "-" {
        bail!("--all writes a folder: name it with -o DIR");
    }
    let Report { written, unchanged, removed, redacted, index } =
        site::write(context.repo()?, folder, wanted, options, |count| Progress::of_units(count, "pages"))?;
    if redacted > 0 {
        context.ui.note(format!("possible secrets were removed from the pages in {redacted} places"));
    }
    let gone = if removed > 0 { format!(", {removed} removed") } else { String::new() };
    let [written, unchanged] = [written, unchanged].map(|count| grouped(count as u64));
    context.ui.note(format!("pages: {written} written, {unchanged} unchanged{gone}"));
    writeln!(context.ui, "{}", Plain(&index.to_string_lossy()))
}

/// Whether to open a browser. One that git finds may be a text browser, which needs a terminal and must not take it over where the
/// user has no display.
fn may_browse(repo: &Repo, is_terminal: bool) -> Result<bool> {
    const TEXT: [&str; 5] = ["w3m", "lynx", "links", "elinks", "www-browser"];
    let named = match settings::text(repo, "trace.browser")? {
        None => settings::text(repo, "web.browser")?,
        named => named,
    };
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_display = cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    Ok(match named {
        Some(name) => is_terminal || !TEXT.contains(&name.as_str()),
        None => is_terminal && has_display,
    })
}

/// Writes the page of a trace in `folder`, one file per trace, readable by its owner only.
fn save(folder: &Path, name: &TraceName, html: &[u8]) -> Result<PathBuf> {
    // Names contain slashes. Percent signs are encoded too, so that file names stay unique.
    let path = folder.join(format!("{}.html", name.as_str().replace('%', "%25").replace('/', "%2F")));
    put(&path, Access::Private, html).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}
