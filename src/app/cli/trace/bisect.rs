//! `git trace bisect`: which item makes a command fail.

use std::ffi::OsString;
use std::io::{IsTerminal as _, stderr};

use super::materialize::message_format;
use crate::app::cli::{Context, ExitStatus, Result, Value, escaped, json};
use crate::materialize::bisect::{Outcome, Verdict, judge, search};
use crate::materialize::envelope::{MessageFormat, render};
use crate::materialize::{Cut, Options, command, materialize};
use crate::trace::model::level::Level;
use crate::trace::model::trailers::preview;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total::read_item;
use crate::trace::store::view::View;

commands! {
    /// Find the first item that makes a command fail
    pub(crate) BisectCommand(&Context) {
        Run(RunArgs),
    }
}

/// Run a command on halves of the items until one item is left
///
/// The command gets the messages of each candidate, as `materialize` prints them, on stdin and in the file
/// `$GITTRACE_CANDIDATE`; `$GITTRACE_CANDIDATE_ITEM` is the id of its last item. Exit status 0 means good, 125 unknown, any
/// other from 1 to 127 bad; everything else stops the search. Nothing is written to the repository.
#[derive(clap::Args, Debug)]
pub(crate) struct RunArgs {
    /// Format of the messages [default: the output of the command in git config `trace.materializer`, or messages]
    #[arg(long, value_parser = message_format())]
    format: Option<MessageFormat>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl RunArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let (repo, _, view) = context.view(None, None)?;
        let is_seen = |slot: &&ItemEntry| view.level(slot).level() != Level::Skip;
        let slots: Vec<ItemEntry> = view.slots.iter().filter(is_seen).cloned().collect();
        let shows_progress = stderr().is_terminal();
        let mut tests = 0;
        let outcome = search(slots.len(), |present| -> Result<Verdict> {
            let view = View::of_slots(repo, view.tip.clone(), slots[..present].to_vec(), None)?;
            let candidate = content(context, self.format, &view)?;
            let last = present.checked_sub(1).map(|index| slots[index].id);
            let verdict = judge(&self.command, &candidate, last)?;
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
        print(context, self.json, &slots, &outcome, tests)
    }
}

fn content(context: &Context, format: Option<MessageFormat>, view: &View) -> Result<Vec<u8>> {
    let repo = context.repo()?;
    if format.is_none()
        && let Some(materializer) = repo.config()?.text("trace.materializer")?.filter(|command| !command.is_empty())
    {
        return Ok(command::run(repo, Some(view), &materializer, &Cut::default(), context.counter()?)?.bytes);
    }
    let materialized = materialize(repo, view, &Options::default(), context.counter()?)?;
    Ok(render(format.unwrap_or(MessageFormat::Messages), &materialized, None)?.content)
}

fn print(context: &Context, json: bool, slots: &[ItemEntry], outcome: &Outcome, tests: usize) -> Result<ExitStatus> {
    let (word, range, note) = match *outcome {
        Outcome::First(index) => ("first_bad", index..index + 1, None),
        Outcome::Among(first, last) => {
            ("among", first..last + 1, Some("the command cannot tell which of these it is:"))
        }
        Outcome::NeverFails => ("never_fails", 0..0, Some("the command does not fail with all items present")),
        Outcome::AlwaysFails => ("always_fails", 0..0, Some("the command fails without any item")),
        Outcome::Untold => ("untold", 0..0, Some("the command cannot tell (125) with all items, or without any")),
    };
    let suspects = &slots[range];
    let status = ExitStatus::of(note.is_none());
    if json {
        let item =
            |slot: &ItemEntry| json!({ "id": slot.id.to_string(), "seq": slot.seq, "type": slot.item_type.as_str() });
        let items: Vec<Value> = suspects.iter().map(item).collect();
        context.ui.json(&json!({ "outcome": word, "items": items, "tests": tests }))?;
        return Ok(status);
    }
    if let Some(note) = &note {
        context.ui.note(note);
    }
    let first = if note.is_none() { "first bad: " } else { "" };
    for slot in suspects {
        let subject = preview(&read_item(context.repo()?, slot)?);
        writeln!(context.ui, "{first}#{} {} {}", slot.seq, escaped(&subject), context.ui.id(slot.id))?;
    }
    Ok(status)
}
