//! `git trace commit`: adds an item.

use std::io::{self, BufRead};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::app::cli::flags::QuietArgs;
use crate::app::cli::flags::content::{BudgetArgs, ContentArgs, field_value, key_value, meta_value, read};
use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Result, Values, escaped};
use crate::tokens::{TokenUsage, UsageReader, counter};
use crate::trace::change::append::Committed;
use crate::trace::change::commit::{self, NewItem};
use crate::trace::model::json::set_field;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::preview;
use crate::trace::store::budget_policy::BudgetPolicy;
use crate::trace::store::settings;
use crate::trace::store::tombstone::note_purges_again;
use crate::trace::store::trace::Trace;
use crate::trace::{Draft, Fields, ItemType, TraceName};

/// Append an item to the trace
///
/// An instruction with a name that the trace already contains replaces that instruction.
#[derive(clap::Args, Debug)]
pub(crate) struct CommitArgs {
    #[command(flatten)]
    content: ContentArgs,
    /// Type: instruction, dialogue, `tool_io`, reasoning, artifact, output, freeform, or another that `git trace types` lists
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "dialogue")]
    item_type: ItemType,
    /// Role: user, assistant or system; for the result of a tool: tool
    #[arg(short = 'r', long, value_name = "ROLE", add = Values::OneOf(&["user", "assistant", "system", "tool"]))]
    role: Option<String>,
    /// First line of the commit message [default: a preview of the content]
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,
    /// Name of the instruction, speaker or tool
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    name: Option<String>,
    /// Provider's id that links a tool result to its call
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    call_id: Option<String>,
    /// Item that this item replies to
    #[arg(long, value_name = "ITEM", add = Values::Items)]
    reply_to: Option<String>,
    /// Metadata entry; the value may be JSON
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,
    /// Other field to set, such as direction=call, status=error, path=src/lib.rs
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = field_value)]
    set: Vec<(String, String)>,
    /// Priority: skip, normal or pinned [default: depends on the type]
    #[arg(short = 'p', long, value_name = "LEVEL")]
    priority: Option<Level>,
    /// Reason for the priority
    #[arg(long, value_name = "TEXT", requires = "priority", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Token usage that the provider reported: its response, or the usage in it, as a file, `-`, or JSON
    #[arg(long, value_name = "FILE|JSON|-")]
    usage: Option<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Read items from stdin, one JSON object per line, and answer each line before reading the next
    #[arg(long, conflicts_with_all = ["message", "file", "stdin", "role", "subject", "name", "call_id", "reply_to", "meta", "set", "priority", "usage"])]
    batch: bool,
    #[command(flatten)]
    quiet: QuietArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CommitArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let name = context.trace_name(None)?;
        let budget = self.budget.policy(context)?;
        if self.batch {
            return run_batch(context, &name, budget.as_ref());
        }
        let (set_reply_to, set): (Vec<_>, Vec<_>) = self.set.iter().partition(|(field, _)| field == "reply_to");
        let entry = NewItem {
            draft: Draft { fields: fields(self, &set)?, body: self.content.read_or_edit(context, b"")? },
            subject: self.subject.clone(),
            reply_to: self.reply_to.as_ref().or(set_reply_to.last().map(|(_, item)| item)).cloned(),
            priority: self.priority,
            reason: self.reason.clone(),
            usage: self
                .usage
                .as_deref()
                .map(|source| read_usage(&settings::usage(context.repo()?)?, source))
                .transpose()?,
        };
        let committed = commit(context, &name, budget.as_ref(), entry)?;
        let subject = self.subject.clone().unwrap_or_else(|| preview(&committed.item));
        if self.json {
            context.ui.json(&commit::to_json(&committed))?;
            return Ok(ExitStatus::Success);
        }
        let Committed { item, seq, commit, .. } = &committed;
        let what = commit.as_ref().map_or("unchanged: the trace already has this text", |_| &subject);
        writeln!(context.ui, "[{name} #{seq}] {} {}", escaped(what), context.ui.id(item.id))?;
        Ok(ExitStatus::Success)
    }
}

fn read_usage(reader: &UsageReader, source: &str) -> Result<TokenUsage> {
    let is_json = source.trim_start().starts_with('{');
    let bytes = if is_json { source.as_bytes().to_vec() } else { read(Path::new(source))? };
    reader.parse(&bytes).context("cannot read the usage")
}

fn fields(args: &CommitArgs, set: &[&(String, String)]) -> Result<Fields> {
    let mut fields = Fields::new(args.item_type.clone());
    let flags = [("role", &args.role), ("name", &args.name), ("call_id", &args.call_id)];
    let flags = flags.into_iter().filter_map(|(field, value)| Some((field, value.as_ref()?)));
    for (field, value) in flags.chain(set.iter().map(|(field, value)| (field.as_str(), value))) {
        set_field(&mut fields, field, &Value::String(value.clone()))?;
    }
    fields.meta.extend(args.meta.iter().map(|(key, value)| (key.clone(), meta_value(value))));
    Ok(fields)
}

/// Commits line by line. A refused line is answered with its error, and the next one is read.
fn run_batch(context: &Context, name: &TraceName, budget: Option<&BudgetPolicy>) -> Result<ExitStatus> {
    let mut status = ExitStatus::Success;
    let mut input = io::stdin().lock();
    let usage = settings::usage(context.repo()?)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).context("cannot read stdin")? == 0 {
            return Ok(status);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        // A purge before this line does not concern it.
        note_purges_again(context.repo()?)?;
        let object = serde_json::from_slice::<Map<String, Value>>(&line).context("the line is not a JSON object");
        let item = object.and_then(|object| Ok(NewItem::from_json(&object, &usage)?));
        let answer = match item.and_then(|item| commit(context, name, budget, item)) {
            Ok(committed) => commit::to_json(&committed),
            Err(failure) => {
                status = ExitStatus::No;
                let message = format!("{failure:#}");
                match failure.hint() {
                    Some(hint) => json!({ "error": message, "hint": hint }),
                    None => json!({ "error": message }),
                }
            }
        };
        // A failed count is the error of this line only, and no answer contains a count.
        counter::clear();
        context.ui.json(&answer)?;
        context.ui.flush()?;
    }
}

fn commit(context: &Context, name: &TraceName, budget: Option<&BudgetPolicy>, item: NewItem) -> Result<Committed> {
    let warn = |warning: &str| context.ui.note(warning);
    let trace = Trace::open(context.repo()?, name.clone());
    Ok(trace.with_budget(budget.cloned()).with_warnings(&warn).commit(item)?)
}
