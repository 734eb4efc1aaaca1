//! `git trace materialize`: a trace as messages for a model.

use crate::base::error::{Result, bail};
use std::collections::HashMap;

use clap::ValueEnum;

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::materialize::command::{self, CommandError};
use crate::materialize::envelope::{MessageFormat, Rendered, envelope, render};
use crate::materialize::{Cut, MaterializeError, Materialized, Options, OverBudget, materialize};
use crate::message::adjustment::{Adjustment, AdjustmentReason};
use crate::trace::model::item::{ItemType, Role};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceName};

/// Print a trace as messages for a model
///
/// Skipped items are left out, instructions become one system message, and adjacent items with the same type and role are
/// joined. The output is deterministic. Content that a provider does not accept becomes text or is left out, with a note.
#[derive(clap::Args, Debug)]
pub(crate) struct MaterializeArgs {
    /// Trace to materialize [default: the current trace]
    name: Option<TraceName>,

    /// State to use: a commit, an item (the commit that last changed it), or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,

    /// Output format [default: the output of the command in git config `trace.materializer`, or messages]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,

    /// `none`: one message per item
    #[arg(long, value_enum, default_value_t = Aggregate::Join)]
    aggregate: Aggregate,

    /// Mark the text of edited items
    #[arg(long)]
    edit_markers: bool,

    /// Role to use for a type, such as output=user
    #[arg(long = "role", value_name = "TYPE=ROLE", value_parser = type_role)]
    roles: Vec<(ItemType, Role)>,

    /// Keep pinned items and the newest items that fit into this number of tokens; a call stays with its result
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,

    /// Keep pinned items and this number of the newest items; replace older ones with a line that describes them
    #[arg(long, value_name = "ITEMS")]
    recent: Option<usize>,

    /// Keep pinned items, this item and all later items
    #[arg(long, value_name = "ITEM")]
    since_item: Option<String>,

    /// Number of cache marks for Anthropic: after the system texts, the pinned items, all items
    #[arg(long, value_name = "MARKS", value_parser = clap::value_parser!(u8).range(0..=4))]
    cache_marks: Option<u8>,

    /// Print an envelope: messages with their items, token counts, commit, and what was left out or changed and why
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    /// An array of messages with a role and content
    Messages,
    /// Messages of `OpenAI` Chat Completions
    #[value(name = "openai")]
    OpenAi,
    /// Input items of `OpenAI` Responses
    Responses,
    /// System and messages of Anthropic
    Anthropic,
    /// System instruction and contents of Gemini
    Gemini,
    /// A page for people
    Text,
}

impl From<FormatArg> for MessageFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Messages => Self::Messages,
            FormatArg::OpenAi => Self::OpenAi,
            FormatArg::Responses => Self::Responses,
            FormatArg::Anthropic => Self::Anthropic,
            FormatArg::Gemini => Self::Gemini,
            FormatArg::Text => Self::Text,
        }
    }
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
    if item_type == "tool_io" {
        return Err("the roles of tool_io are fixed: a call is the assistant's, a result the tool's".to_owned());
    }
    let role = role.parse().map_err(|error| format!("{error}"))?;
    if role == Role::Tool {
        return Err("only tool_io has the role tool".to_owned());
    }
    Ok((item_type.parse().map_err(|error| format!("{error}"))?, role))
}

impl MaterializeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(self.name.as_ref())?;
        if self.cache_marks.is_some() && !matches!(self.format, Some(FormatArg::Anthropic)) {
            bail!("--cache-marks goes with --format anthropic: no other provider has marks");
        }
        let encoding = context.encoding()?;
        let view = View::open(repo, &name, self.as_of.as_deref())?;
        let since = match &self.since_item {
            Some(spec) => Some(Resolver::new(repo, &name, &view.tip)?.live(spec)?.seq),
            None => None,
        };
        let cut = Cut { since, recent: self.recent, budget: self.budget };
        if self.format.is_none()
            && let Some(command) = repo.config()?.text("trace.materializer")?.filter(|command| !command.is_empty())
        {
            if self.json || self.edit_markers || !self.roles.is_empty() || self.aggregate == Aggregate::None {
                bail!(
                    "--json, --role, --aggregate and --edit-markers go with --format: `trace.materializer` makes of the items what \
                 it likes"
                );
            }
            let printed = match command::run(repo, &view, &command, &cut, encoding) {
                Err(CommandError::Items(MaterializeError::OverBudget(over))) => return Ok(refuse(context, &over)),
                printed => printed?,
            };
            say_what_changed(context, &printed.omitted, &[]);
            print(context, &printed.bytes)?;
            return Ok(ExitStatus::Success);
        }
        let format = self.format.map_or(MessageFormat::Messages, MessageFormat::from);
        let options = Options {
            one_message_an_item: self.aggregate == Aggregate::None,
            edit_markers: self.edit_markers,
            roles: self.roles.iter().cloned().collect::<HashMap<_, _>>(),
            cut,
        };
        let materialized = match materialize(repo, &view, &options, encoding) {
            Err(MaterializeError::OverBudget(over)) => return Ok(refuse(context, &over)),
            materialized => materialized?,
        };

        let Rendered { content, adjustments, .. } = render(format, &materialized, self.cache_marks)?;
        say_what_changed(context, &materialized, &adjustments);
        if self.json {
            let rendered = Rendered { format, content, adjustments };
            let mut line = serde_json::to_vec(&envelope(repo, &name, &view, &materialized, rendered, encoding)?)?;
            line.push(b'\n');
            context.ui.write_content(&line)?;
        } else {
            print(context, &content)?;
        }
        Ok(ExitStatus::Success)
    }
}

fn print(context: &Context, content: &[u8]) -> Result<()> {
    if context.ui.is_terminal() {
        context.ui.page()?;
        context.ui.write_content(content)?;
    } else {
        context.ui.write_raw(content)?;
    }
    Ok(())
}

/// How many items are named with a note.
const NAMED: usize = 5;

/// Says that what may not be cut is too much.
fn refuse(context: &Context, over: &OverBudget) -> ExitStatus {
    context.ui.note(format!("error: {over}"));
    ExitStatus::No
}

/// Says on stderr what is damaged, what was cut, and what is not sent as it is: one line for each reason.
fn say_what_changed(context: &Context, materialized: &Materialized, adjustments: &[Adjustment]) {
    for (path, damage) in &materialized.damaged {
        context.ui.note(format!("warning: item file `{path}` is damaged and taken as it stands: {damage}"));
    }
    let say = |items: Vec<ItemId>, what: &str| {
        if items.is_empty() {
            return;
        }
        let named: Vec<String> = items.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if items.len() > NAMED { format!(" and {} more", items.len() - NAMED) } else { String::new() };
        context.ui.note(format!("{}{more}: {what}", named.join(", ")));
    };
    for (why, what) in [("older", "left out: before the item to begin with"), ("budget", "left out: over the budget")] {
        let dropped = materialized.left_out.iter().filter(|omission| omission.why == why);
        say(dropped.map(|omission| omission.item).collect(), what);
    }
    say(materialized.shortened.clone(), "shortened to what they are: not among the newest");
    for reason in AdjustmentReason::VALUES.iter().filter_map(|word| word.parse::<AdjustmentReason>().ok()) {
        let positions = adjustments.iter().filter(|adjustment| adjustment.reason == reason);
        let mut items: Vec<ItemId> =
            positions.flat_map(|adjustment| materialized.items_at(adjustment.position)).copied().collect();
        items.dedup();
        say(items, reason.describe());
    }
}
