//! `git trace bisect`: which item makes a command fail.

use crate::base::error::Result;
use std::ffi::OsString;
use std::io::{IsTerminal as _, stderr};

use clap::Subcommand;
use serde_json::{Value, json};

use super::materialize::FormatArg;
use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::app::ui::escaped;
use crate::materialize::bisect::{Outcome, Verdict, judge, search};
use crate::materialize::envelope::{MessageFormat, render};
use crate::materialize::{Cut, Options, command, materialize};
use crate::trace::model::level::Level;
use crate::trace::model::trailers::preview;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total::read_item;
use crate::trace::store::view::View;

/// Find the first item that makes a command fail
#[derive(clap::Args, Debug)]
pub(crate) struct BisectArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Run(RunArgs),
}

/// Run a command on halves of the items until one item is left
///
/// The command gets the messages of each candidate, as `materialize` prints them, on stdin and in the file
/// `$GITTRACE_CANDIDATE`; `$GITTRACE_CANDIDATE_ITEM` is the id of its last item. Exit status 0 means good, 125 unknown, any
/// other from 1 to 127 bad; everything else stops the search. Nothing is written to the repository.
#[derive(clap::Args, Debug)]
struct RunArgs {
    /// Format of the messages [default: the output of the command in git config `trace.materializer`, or messages]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl BisectArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let Action::Run(args) = &self.action;
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let view = View::open(repo, &name, None)?;
        let seen = |slot: &&ItemEntry| view.level(slot).level() != Level::Skip;
        let slots: Vec<ItemEntry> = view.slots.iter().filter(seen).cloned().collect();
        let shows_progress = stderr().is_terminal();
        let mut tests = 0;
        let outcome = search(slots.len(), |present| -> Result<Verdict> {
            let candidate = content(
                context,
                args.format.map(MessageFormat::from),
                &View::of_slots(repo, view.tip.clone(), slots[..present].to_vec(), None)?,
            )?;
            let last = present.checked_sub(1).map(|index| slots[index].id);
            let verdict = judge(&args.command, &candidate, last)?;
            tests += 1;
            if shows_progress {
                let word = match verdict {
                    Verdict::Good => "good",
                    Verdict::Bad => "bad",
                    Verdict::Unknown => "cannot be told",
                };
                context.ui.note(format!("with {present} of {} items: {word}", slots.len()));
            }
            Ok(verdict)
        })?;
        answer(context, args, &slots, &outcome, tests)
    }
}

/// What the command is shown.
fn content(context: &Context, format: Option<MessageFormat>, view: &View) -> Result<Vec<u8>> {
    let repo = context.repo()?;
    if format.is_none()
        && let Some(materializer) = repo.config()?.text("trace.materializer")?.filter(|command| !command.is_empty())
    {
        return Ok(command::run(repo, view, &materializer, &Cut::default(), context.encoding()?)?.bytes);
    }
    let materialized = materialize(repo, view, &Options::default(), context.encoding()?)?;
    Ok(render(format.unwrap_or(MessageFormat::Messages), &materialized, None)?.content)
}

fn answer(
    context: &Context,
    args: &RunArgs,
    slots: &[ItemEntry],
    outcome: &Outcome,
    tests: usize,
) -> Result<ExitStatus> {
    let (word, range) = match *outcome {
        Outcome::First(index) => ("first_bad", index..index + 1),
        Outcome::Among(first, last) => ("among", first..last + 1),
        Outcome::NeverFails => ("never_fails", 0..0),
        Outcome::AlwaysFails => ("always_fails", 0..0),
        Outcome::Untold => ("untold", 0..0),
    };
    let suspects = &slots[range];
    let status = if matches!(outcome, Outcome::First(_)) { ExitStatus::Success } else { ExitStatus::No };
    if args.json {
        let items: Vec<Value> = suspects
            .iter()
            .map(|slot| json!({ "id": slot.id.to_string(), "seq": slot.seq, "type": slot.item_type.as_str() }))
            .collect();
        context.ui.json(&json!({ "outcome": word, "items": items, "tests": tests }))?;
        return Ok(status);
    }
    match outcome {
        Outcome::First(_) => {}
        Outcome::Among(..) => context.ui.note("the command cannot tell which of these it is:"),
        Outcome::NeverFails => context.ui.note("the command does not fail with all items present"),
        Outcome::AlwaysFails => context.ui.note("the command fails without any item"),
        Outcome::Untold => context.ui.note("the command cannot tell (125) with all items, or without any"),
    }
    for slot in suspects {
        let subject = preview(&read_item(context.repo()?, slot)?);
        let id = context.ui.id(slot.id);
        let first = if matches!(outcome, Outcome::First(_)) { "first bad: " } else { "" };
        writeln!(context.ui, "{first}#{} {} {id}", slot.seq, escaped(&subject))?;
    }
    Ok(status)
}
