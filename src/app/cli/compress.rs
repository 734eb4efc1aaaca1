//! `git trace compress` and `git trace expand`: many items become one summary, and come back.

use serde_json::json;

use super::input::{ContentArgs, read_stdin};
use super::ui::{ID, escaped};
use super::{ExitStatus, Session, pick};
use crate::base::error::{Error, Result};
use crate::tokens::Budget;
use crate::trace::change::compress::{self, Compressed, Extent, Request, Selection, compress, expand, prompt, select};
use crate::trace::change::compressor;
use crate::trace::model::trailers::preview;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::view::View;
use crate::trace::store::write::{Accounting, Signature, encoding};
use crate::trace::{ItemType, TraceName};

/// What a summary costs that is yet to be written, where a budget is to be met.
const EXPECTED_SUMMARY: u64 = 500;

/// Replace many items by one summary
///
/// Pinned and skipped items stay as they are, and a call goes together with its results. The summary is given by -m, -F or
/// stdin (`-`), or written by the command in `trace.compressor`, which reads the prompt and prints the summary. `git trace
/// expand` brings everything back.
#[derive(clap::Args, Debug)]
pub(crate) struct CompressArgs {
    /// Items from A to B; all of the trace where nothing else says what
    #[arg(value_name = "A..B", conflicts_with_all = ["keep", "to"])]
    range: Option<String>,

    /// All but the last so many items
    #[arg(long, value_name = "COUNT", conflicts_with = "to")]
    keep: Option<usize>,

    /// What compresses best and is oldest, until the trace counts for no more than so many tokens
    #[arg(long, value_name = "TOKENS")]
    to: Option<u64>,

    /// Only items of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,

    #[command(flatten)]
    content: ContentArgs,

    /// Print the prompt for the summary, and change nothing
    #[arg(long)]
    print_prompt: bool,

    /// Say what would be replaced, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// First line of the commit
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Bring back the items that a summary stands for
#[derive(clap::Args, Debug)]
pub(crate) struct ExpandArgs {
    /// The summary
    item: String,

    /// Why
    #[arg(short = 'm', long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &CompressArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let view = View::open(repo, &name, None)?;
    let encoding = encoding(repo)?;
    // Alone, `-` is no range but stdin.
    let (range, from_stdin) = match args.range.as_deref() {
        Some("-") => (None, true),
        range => (range, false),
    };
    let body = match (args.print_prompt || args.dry_run, from_stdin) {
        (true, _) => None,
        (false, true) => Some(read_stdin()?),
        (false, false) => args.content.read()?,
    };
    let expected = body.as_ref().map_or(EXPECTED_SUMMARY, |body| encoding.count(body) + 3);
    let extent = match (range, args.keep, args.to) {
        (Some(range), ..) => {
            let resolver = Resolver::new(repo, &name, &view.tip)?;
            Extent::of_range(resolver.range(range)?)
        }
        (_, Some(keep), _) => Extent::AllButLast(keep),
        (.., Some(tokens)) => Extent::DownTo { tokens, summary: expected },
        _ => Extent::All,
    };
    let selection = select(repo, &view, encoding, extent, args.item_type.as_ref())?;
    if selection.items.is_empty() {
        session.ui.note(
            "Nothing to compress: what was named is pinned, skipped, within the budget, or bound to a call that is",
        );
        return Ok(ExitStatus::No);
    }
    if args.print_prompt {
        let text = prompt(repo, view.types(), &selection)?;
        session.ui.write_content(text.as_bytes())?;
        return Ok(ExitStatus::Success);
    }
    let before = view.total(repo, encoding)?.tokens;
    if args.dry_run {
        return print_plan(session, &name, &selection, before, args.json);
    }
    let body = match body {
        Some(body) => body,
        None => written_by_command(session, &view, &selection)?,
    };
    let summary = compress::summary(body);
    let budget = args.to.map(|max_tokens| Budget { max_tokens });
    let signature = Signature::take(repo, session.now())?;
    let (subject, reason) = (args.subject.as_deref(), args.reason.as_deref());
    let request = Request { selection: &selection, summary: &summary, subject, reason };
    let done = compress(repo, &name, &signature, Accounting { encoding, budget }, &request)?;
    print_done(session, &name, &selection, &done, before, args.json)
}

fn written_by_command(session: &Session, view: &View, selection: &Selection) -> Result<Vec<u8>> {
    let command = session.repo.config()?.text(compressor::SETTING)?.ok_or_else(|| {
        Error::with_hint(
            "no summary was given",
            "give it with -m, -F or `-`, or set `trace.compressor` to a command; --print-prompt shows what it reads",
        )
    })?;
    Ok(compressor::run(&command, prompt(&session.repo, view.types(), selection)?)?)
}

fn print_plan(
    session: &mut Session,
    name: &TraceName,
    selection: &Selection,
    before: u64,
    json: bool,
) -> Result<ExitStatus> {
    let ids: Vec<String> = selection.items.iter().map(|slot| slot.id.to_string()).collect();
    if json {
        let tokens = json!({ "before": before, "selected": selection.cost });
        session.ui.json_line(&json!({ "trace": name.as_str(), "items": ids, "tokens": tokens }))?;
        return Ok(ExitStatus::Success);
    }
    session.ui.settle_colour(&session.repo)?;
    let (count, cost) = (ids.len(), selection.cost);
    writeln!(session.ui.out(), "Would replace {count} items, {cost} of {before} tokens:")?;
    for slot in &selection.items {
        let id = session.ui.styled(ID, &slot.id.to_string());
        writeln!(session.ui.out(), "  #{} {} {id}", slot.seq, slot.item_type)?;
    }
    Ok(ExitStatus::Success)
}

fn print_done(
    session: &mut Session,
    name: &TraceName,
    selection: &Selection,
    done: &Compressed,
    before: u64,
    json: bool,
) -> Result<ExitStatus> {
    let (items, after, Compressed { summary, seq, .. }) = (selection.items.len(), done.after(before), done);
    if json {
        session.ui.json_line(&compress::to_json(name, items, done, before))?;
        return Ok(ExitStatus::Success);
    }
    session.ui.settle_colour(&session.repo)?;
    let id = session.ui.styled(ID, &summary.id.to_string());
    let what = escaped(&preview(summary)).into_owned();
    let out = session.ui.out();
    writeln!(out, "[{name} #{seq}] {items} items became one: {what} {id}")?;
    writeln!(out, "  {before} → {after} tokens; `git trace expand {}` brings them back", summary.id)?;
    Ok(ExitStatus::Success)
}

pub(crate) fn run_expand(session: &mut Session, args: &ExpandArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let view = View::open(repo, &name, None)?;
    let summary = Resolver::new(repo, &name, &view.tip)?.live(&args.item)?.id;
    let signature = Signature::take(repo, session.now())?;
    let outcome = expand(repo, &name, &signature, encoding(repo)?, summary, args.reason.as_deref())?;
    pick::print(session, &name, &outcome, "nothing to bring back: all of it is here", args.json)
}
