//! `git trace materialize`: a trace as messages for a model.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::app::cli::{Context, Error, ExitStatus, Result, Values, bail};
use crate::materialize::command::{self, CommandError};
use crate::materialize::envelope::{MessageFormat, Rendered, envelope, render};
use crate::materialize::{Cut, MaterializeError, Materialized, Options, OverBudget, materialize};
use crate::message::adjustment::{Adjustment, AdjustmentReason};
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::types::Types;
use crate::trace::store::resolve::Resolver;
use crate::trace::{ItemId, TraceError, TraceName};

/// Print a trace as messages for a model
///
/// Skipped items are left out, instructions become one system message, and adjacent items with the same type and role are
/// joined. The output is deterministic. Content that a provider does not accept becomes text or is left out, with a note.
#[derive(clap::Args, Debug)]
pub(crate) struct MaterializeArgs {
    /// Trace to materialize [default: the current trace]
    name: Option<TraceName>,
    /// State to use: a commit, an item (the commit that last changed it), a turn (@3, as it ended), or a time, such as
    /// `yesterday`
    #[arg(long, value_name = "WHEN", add = Values::States)]
    as_of: Option<String>,
    /// Output format [default: the output of the command in git config `trace.materializer`, or messages]
    #[arg(long, value_parser = message_format())]
    format: Option<MessageFormat>,
    /// `none`: one message per item
    #[arg(long, value_enum, default_value_t = Aggregate::Join)]
    aggregate: Aggregate,
    /// Mark the text of edited items
    #[arg(long)]
    edit_markers: bool,
    /// Role to use for a type, such as output=user; tool items with a role are sent as text
    #[arg(long = "role", value_name = "TYPE=ROLE", value_parser = type_role)]
    roles: Vec<(ItemType, Role)>,
    /// Keep pinned items and the newest items that fit into this number of tokens; a call stays with its result
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Keep pinned items and this number of the newest items; replace older ones with a line that describes them
    #[arg(long, value_name = "ITEMS")]
    recent: Option<usize>,
    /// Keep pinned items, this item and all later items
    #[arg(long, value_name = "ITEM", add = Values::Items)]
    since_item: Option<String>,
    /// Number of cache marks for Anthropic: after the system texts, the pinned items, all items
    #[arg(long, value_name = "MARKS", value_parser = clap::value_parser!(u8).range(0..=4))]
    cache_marks: Option<u8>,
    /// Print an envelope: messages with their items, token counts, commit, and each omission or change with its reason
    #[arg(long)]
    json: bool,
}

pub(crate) fn message_format() -> impl TypedValueParser<Value = MessageFormat> {
    const FORMATS: [(&str, &str, MessageFormat); 6] = [
        ("messages", "An array of messages with a role and content", MessageFormat::Messages),
        ("openai", "Messages of `OpenAI` Chat Completions", MessageFormat::OpenAi),
        ("responses", "Input items of `OpenAI` Responses", MessageFormat::Responses),
        ("anthropic", "System and messages of Anthropic", MessageFormat::Anthropic),
        ("gemini", "System instruction and contents of Gemini", MessageFormat::Gemini),
        ("text", "A page for people", MessageFormat::Text),
    ];
    let words = FORMATS.map(|(word, help, _)| PossibleValue::new(word).help(help));
    let value = |word: String| FORMATS.iter().find(|(name, ..)| *name == word).map(|(.., format)| *format);
    PossibleValuesParser::new(words).try_map(move |word| value(word).ok_or("unknown format"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Aggregate {
    /// Join items that belong together
    Join,
    /// One message per item
    None,
}

fn type_role(text: &str) -> Result<(ItemType, Role), String> {
    let (item_type, role) = text.split_once('=').ok_or("TYPE=ROLE is expected")?;
    let role = role.parse().ok().filter(|role| *role != Role::Tool);
    let role = role.ok_or("the roles are system, user and assistant")?;
    Ok((item_type.parse().map_err(|error| format!("{error}"))?, role))
}

impl MaterializeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        if self.cache_marks.is_some() && !matches!(self.format, Some(MessageFormat::Anthropic)) {
            bail!("--cache-marks requires --format anthropic: no other provider has cache marks");
        }
        let (repo, name) = (context.repo()?, context.trace_name(self.name.as_ref())?);
        let counter = context.counter()?;
        let view = context.find_view(&name, self.as_of.as_deref())?;
        context.warn_of_replacements()?;
        let seq = |spec: &String| match &view {
            Some(view) => Ok(Resolver::new(repo, &name, &view.tip)?.live(spec)?.seq),
            None => Err(TraceError::UnknownItem { spec: spec.clone(), trace: name.clone() }),
        };
        let is_empty = view.as_ref().is_none_or(|view| view.slots.is_empty());
        if is_empty {
            context.ui.note(format!(
                "trace `{name}` has no items{}",
                if self.as_of.is_some() { " at that time" } else { "" }
            ));
        }
        let since = self.since_item.as_ref().map(seq).transpose()?;
        let types = view.as_ref().map_or_else(|| Types::read(repo), |view| Ok(view.types().clone()))?;
        let has_type = |wanted: &ItemType| {
            let mut items = view.iter().flat_map(|view| &view.slots);
            types.is_known(wanted) || items.any(|slot| slot.item_type == *wanted)
        };
        if let Some((unknown, _)) = self.roles.iter().find(|(item_type, _)| !has_type(item_type)) {
            let known: Vec<String> = types.all().map(|(item_type, _)| item_type.to_string()).collect();
            let hint = format!("the types are {}", known.join(", "));
            return Err(Error::with_hint(format!("unknown type `{unknown}` in --role"), hint));
        }
        let cut = Cut { since, recent: self.recent, budget: self.budget };
        if self.format.is_none()
            && let Some(command) = repo.config()?.text("trace.materializer")?.filter(|command| !command.is_empty())
        {
            if self.json || self.edit_markers || !self.roles.is_empty() || self.aggregate == Aggregate::None {
                bail!("--json, --role, --aggregate and --edit-markers require --format if `trace.materializer` is set");
            }
            let printed = match command::run(repo, view.as_ref(), &command, &cut, counter) {
                Err(CommandError::Items(MaterializeError::OverBudget(over))) => return Ok(refuse(context, &over)),
                printed => printed?,
            };
            note_changes(context, &printed.omitted, &[]);
            return print(context, &printed.bytes);
        }
        let format = self.format.unwrap_or(MessageFormat::Messages);
        let options = Options {
            one_message_an_item: self.aggregate == Aggregate::None,
            edit_markers: self.edit_markers,
            roles: self.roles.iter().cloned().collect(),
            cut,
        };
        let materialized = match view.as_ref().map(|view| materialize(repo, view, &options, counter)).transpose() {
            Err(MaterializeError::OverBudget(over)) => return Ok(refuse(context, &over)),
            materialized => materialized?.unwrap_or_default(),
        };

        let Rendered { content, adjustments, .. } = render(format, &materialized, self.cache_marks)?;
        note_changes(context, &materialized, &adjustments);
        if self.json {
            let rendered = Rendered { format, content, adjustments };
            context.ui.json(&envelope(repo, &name, view.as_ref(), &materialized, rendered, counter)?)?;
            return Ok(ExitStatus::Success);
        }
        print(context, &content)
    }
}

fn print(context: &Context, content: &[u8]) -> Result<ExitStatus> {
    context.ui.page(true);
    context.ui.write_content(content)?;
    Ok(ExitStatus::Success)
}

const NAMED: usize = 5;

fn refuse(context: &Context, over: &OverBudget) -> ExitStatus {
    context.ui.note(format!("error: {over}"));
    ExitStatus::No
}

/// Notes damage, omissions, and changes, one line for each reason.
fn note_changes(context: &Context, materialized: &Materialized, adjustments: &[Adjustment]) {
    for (path, damage) in &materialized.damaged {
        context.ui.note(format!("warning: item file `{path}` is damaged and used as it is: {damage}"));
    }
    let note = |items: Vec<ItemId>, what: &str| {
        if items.is_empty() {
            return;
        }
        let named: Vec<String> = items.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if items.len() > NAMED { format!(" and {} more", items.len() - NAMED) } else { String::new() };
        context.ui.note(format!("{}{more}: {what}", named.join(", ")));
    };
    for (why, what) in [("older", "left out: before the item to begin with"), ("budget", "left out: over the budget")] {
        let dropped = materialized.left_out.iter().filter(|omission| omission.why == why);
        note(dropped.map(|omission| omission.item).collect(), what);
    }
    note(materialized.shortened.clone(), "shortened to their subjects: not among the newest");
    for reason in AdjustmentReason::VALUES.iter().filter_map(|word| word.parse::<AdjustmentReason>().ok()) {
        let positions = adjustments.iter().filter(|adjustment| adjustment.reason == reason);
        let mut items: Vec<ItemId> =
            positions.flat_map(|adjustment| materialized.items_at(adjustment.position)).copied().collect();
        items.dedup();
        note(items, reason.describe());
    }
}
