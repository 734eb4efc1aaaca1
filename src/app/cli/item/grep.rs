//! `git trace grep`: searches what items say.

use std::ops::ControlFlow;

use crate::app::cli::flags::NulArgs;
use crate::app::cli::flags::items::FieldArgs;
use crate::app::cli::{Context, DIM, Error, ExitStatus, MATCH, Result, Ui, columns, escaped, with_note};
use crate::git::short_oid;
use crate::trace::query::grep::{Hit, Line, PatternOptions, Query, history, live, to_json};
use crate::trace::query::select::in_history;
use crate::trace::store::priority::Record;
use crate::trace::{ItemType, Tip};

/// Columns of a line that is longer, without a terminal.
const LONGEST: usize = 240;

/// Search the content of items, line by line
///
/// Of a long line, the surroundings of the first match are printed; --json prints the complete line. The exit status is 1 if nothing matches.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct GrepArgs {
    /// Regular expression to search for
    pattern: String,
    /// Ignore case
    #[arg(short = 'i', long)]
    ignore_case: bool,
    /// Treat the pattern as plain text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Print only the ids of matching items
    #[arg(short = 'l', long, conflicts_with_all = ["count", "json"])]
    name_only: bool,
    /// Print only the number of matching lines per item
    #[arg(short = 'c', long, conflicts_with = "json")]
    count: bool,
    /// Print nothing; the exit status says whether anything matches
    #[arg(short, long)]
    quiet: bool,
    /// Only items of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,
    #[command(flatten)]
    fields: FieldArgs,
    // For hands that know git: lines are always numbered, and patterns always extended.
    #[arg(short = 'n', short_aliases = ['E', 'e'], hide = true)]
    numbered: bool,
    /// Search the entire history, newest first, including earlier revisions and deleted items
    #[arg(long)]
    all_history: bool,
    /// Print one JSON object per item
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl GrepArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.nul.apply(context);
        let (repo, name, tip) = context.current(None)?;
        let options = PatternOptions { fixed: self.fixed_strings, ignore_case: self.ignore_case };
        let mut query = Query::new(&self.pattern, options, self.item_type.clone()).map_err(|error| {
            // The last line says what is wrong, those before it where.
            let text = error.to_string();
            let cause = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("cannot search for `{}`: {cause}", escaped(&self.pattern));
            Error::with_hint(message, "`git trace grep -F TEXT` searches for plain text")
        })?;
        let filter = self.fields.read();
        if !filter.is_empty() {
            query.items = Some(in_history(repo, &name, &tip, &filter)?);
        }
        let write_json = |commit: Option<&Tip>, hit: &Hit| {
            let record = Record::open(repo)?;
            context.ui.json(&to_json(repo, &record, commit, hit, context.counter()?)?)
        };
        let ui = &context.ui;
        let mut found = false;
        let mut printed = Ok(());
        let mut show = |commit: Option<&Tip>, hit: Hit| {
            found = true;
            if self.quiet {
                return ControlFlow::Break(());
            }
            printed = if self.json { write_json(commit, &hit) } else { print(ui, self, &query, commit, &hit) };
            if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        if self.all_history {
            history(repo, &tip, &query, |commit, hit| show(Some(commit), hit))?;
        } else {
            live(repo, &tip, &query, |hit| show(None, hit))?;
        }
        printed?;
        Ok(if found { ExitStatus::Success } else { ExitStatus::No })
    }
}

fn print(ui: &Ui, args: &GrepArgs, query: &Query, commit: Option<&Tip>, hit: &Hit) -> Result<()> {
    let commit = commit.map(|tip| ui.styled(DIM, &short_oid(tip.commit.oid)) + " ").unwrap_or_default();
    let id = ui.id(hit.slot.id);
    if args.name_only {
        return writeln!(ui, "{commit}{id}");
    }
    let label = format!("{commit}#{} {id}", hit.slot.seq);
    let plain = format!("{}#{} {}", if commit.is_empty() { "" } else { "1234567 " }, hit.slot.seq, hit.slot.id);
    if args.count {
        return writeln!(ui, "{label}:{}", hit.count());
    }
    if hit.lines.is_empty() {
        writeln!(ui, "{label}: binary content matches")?;
    }
    for Line { number, text } in &hit.lines {
        let used = columns(&plain) + format!(":{number}:").len();
        let width = match ui.width() {
            _ if ui.ends_with_nul() => usize::MAX,
            None => LONGEST,
            Some(_) => ui.left(used),
        };
        let parts =
            query.parts(text).into_iter().map(|(matches, part)| (matches, escaped(part).into_owned())).collect();
        let (shown, more) = with_note(parts, width);
        let shown = shown.iter().map(|(matches, part)| if *matches { ui.styled(MATCH, part) } else { part.clone() });
        let more = ui.styled(DIM, &more);
        writeln!(ui, "{label}:{number}:{}{more}", shown.collect::<String>())?;
    }
    Ok(())
}
