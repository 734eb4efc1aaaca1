//! `git trace forward`: notes from one session of an agent to its next.

mod change;
mod exchange;
mod leave;
mod migrate;
mod read;
mod share;

use std::ops::Deref;

use crate::app::cli::{Context, DIM, ExitStatus, Result, escaped};
use crate::memory::forward::text::gist;
use crate::memory::forward::{CrumbType, DamagedCrumb, ForwardCrumb, ForwardError, Priority, reads, resolve_agent};
use crate::trace::model::trailers::one_line;
use crate::trace::{AgentName, Time};

/// Forward crumbs: notes of one session to the next of its agent
///
/// Each agent has its own ref, `refs/crumbs/<agent>`, which is pushed and fetched only if it is named.
#[derive(clap::Args, Debug)]
pub(crate) struct ForwardArgs {
    /// Agent whose forward crumbs are meant [default: `$GITTRACE_AGENT`, or git config `trace.agent`]
    #[arg(long, global = true, value_name = "NAME")]
    agent: Option<AgentName>,
    #[command(subcommand)]
    command: ForwardCommand,
}

commands! {
    ForwardCommand(&ForwardContext<'_>) {
        Leave(Box<leave::LeaveArgs>),
        Get(read::GetArgs),
        Show(read::ShowArgs),
        Status(change::StatusArgs),
        Chain(read::ChainArgs),
        Export(exchange::ExportArgs),
        Import(exchange::ImportArgs),
        Expire(change::ExpireArgs),
        Dedupe(change::DedupeArgs),
        Stats(exchange::StatsArgs),
        Migrate(migrate::MigrateArgs),
        Push(share::PushArgs),
        Fetch(share::FetchArgs),
        Pull(share::PullArgs),
    }
}

impl ForwardArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let agent = resolve_agent(context.repo()?, self.agent.as_ref())?;
        self.command.run(&ForwardContext { context, agent })
    }
}

/// The context with the agent whose forward crumbs are meant.
struct ForwardContext<'c> {
    context: &'c Context,
    agent: Option<AgentName>,
}

impl Deref for ForwardContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
    }
}

impl ForwardContext<'_> {
    /// Notes that forward crumbs were read, if the user wants statistics about it.
    fn mark_read(&self, agent: &AgentName, crumbs: &[ForwardCrumb], now: Time) -> Result<()> {
        let repo = self.repo()?;
        if repo.config()?.boolean(reads::SETTING)? == Some(true)
            && let Err(error) = reads::mark(repo, agent, crumbs, now)
        {
            self.ui.note(format!("warning: cannot note what was read: {error}"));
        }
        Ok(())
    }

    fn agent(&self) -> Result<&AgentName, ForwardError> {
        self.agent.as_ref().ok_or(ForwardError::NoAgent)
    }
}

/// The end of a message that an agent has no forward crumbs.
fn did_you_mean(agent: Option<AgentName>) -> String {
    agent.map_or(String::new(), |agent| format!("; did you mean `{agent}`?"))
}

fn note_damaged(context: &Context, damaged: &[DamagedCrumb]) {
    for DamagedCrumb { path, cause, .. } in damaged {
        context.ui.note(format!("warning: forward crumb {path}: skipped: {cause}"));
    }
}

fn priority(text: &str) -> Result<Priority, String> {
    text.to_ascii_uppercase().parse().map_err(|error| format!("{error}"))
}

fn crumb_type(text: &str) -> Result<CrumbType, String> {
    text.to_ascii_lowercase().parse().map_err(|error| format!("{error}"))
}

fn line(context: &Context, crumb: &ForwardCrumb) -> String {
    let metadata = &crumb.metadata;
    let summary = one_line(&gist(&crumb.text));
    let summary: String = summary.chars().take(80).collect();
    let id = context.ui.id(crumb.id);
    let details =
        format!("{} {} {} {}", second(metadata.created), metadata.priority, metadata.crumb_type, metadata.status);
    format!("{id} {} {}", context.ui.styled(DIM, &details), escaped(&summary))
}

fn second(time: Time) -> String {
    Time::from_second(time.as_second()).to_string()
}

/// Prints forward crumbs, each complete or as one line.
fn print_crumbs(context: &Context, crumbs: &[ForwardCrumb], is_oneline: bool) -> Result<()> {
    for (index, crumb) in crumbs.iter().enumerate() {
        if is_oneline {
            writeln!(context.ui, "{}", line(context, crumb))?;
            continue;
        }
        let gap = if index == 0 || context.ui.ends_with_nul() { "" } else { "\n" };
        let id = context.ui.id(crumb.id);
        context.ui.entry(|| {
            writeln!(context.ui, "{gap}forward crumb {id} ({})", crumb.metadata.status)?;
            // A model reads it, also through a pipe; `show` and JSON have the exact text.
            context.ui.write_content(&*escaped(&crumb.text))?;
            writeln!(context.ui)
        })?;
    }
    Ok(())
}
