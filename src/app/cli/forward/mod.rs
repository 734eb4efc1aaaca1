//! `git trace forward`: notes from one session of an agent to its next.

mod change;
mod exchange;
mod leave;
mod migrate;
mod read;

use clap::Subcommand;

use super::ui::{DIM, ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::{Diagnostic as _, Result};
use crate::memory::forward::agent::chosen;
use crate::memory::forward::crumb::Damaged;
use crate::memory::forward::{Crumb, CrumbType, ForwardError, Priority};
use crate::trace::model::trailers::one_line;
use crate::trace::{AgentName, Time};

/// Leave notes for the next session of an agent, and read them there
///
/// Each agent has its own, under `refs/crumbs/<agent>`; they are pushed and fetched only where that ref is named.
#[derive(clap::Args, Debug)]
pub(crate) struct ForwardArgs {
    /// Agent whose crumbs are meant [default: `$GITTRACE_AGENT`, or git config `trace.agent`]
    #[arg(long, global = true, value_name = "NAME")]
    agent: Option<AgentName>,

    #[command(subcommand)]
    command: ForwardCommand,
}

#[derive(Subcommand, Debug)]
enum ForwardCommand {
    Leave(Box<leave::LeaveArgs>),
    Get(read::GetArgs),
    Show(read::ShowArgs),
    Status(change::StatusArgs),
    Chain(read::ChainArgs),
    Export(exchange::ExportArgs),
    Import(exchange::ImportArgs),
    Expire(change::ExpireArgs),
    Stats(exchange::StatsArgs),
    Migrate(migrate::MigrateArgs),
}

pub(crate) fn run(session: &mut Session, args: &ForwardArgs) -> Result<ExitStatus> {
    let agent = chosen(&session.repo, args.agent.as_ref())?;
    let agent = agent.as_ref();
    match &args.command {
        ForwardCommand::Leave(args) => leave::run(session, agent, args),
        ForwardCommand::Get(args) => read::run_get(session, agent, args),
        ForwardCommand::Show(args) => read::run_show(session, agent, args),
        ForwardCommand::Status(args) => change::run_status(session, agent, args),
        ForwardCommand::Chain(args) => read::run_chain(session, agent, args),
        ForwardCommand::Export(args) => exchange::run_export(session, agent, args),
        ForwardCommand::Import(args) => exchange::run_import(session, agent, args),
        ForwardCommand::Expire(args) => change::run_expire(session, agent, args),
        ForwardCommand::Stats(args) => exchange::run_stats(session, agent, args),
        ForwardCommand::Migrate(args) => migrate::run(session, agent, args),
    }
}

/// The agent, where a command can do nothing without one.
fn required(agent: Option<&AgentName>) -> Result<&AgentName, ForwardError> {
    agent.ok_or(ForwardError::NoAgent)
}

/// Says that there is nothing, because no agent was named.
fn note_no_agent(session: &Session) {
    let hint = ForwardError::NoAgent.hint().unwrap_or_default();
    session.ui.note(&format!("no agent was named, so there are no crumbs\nhint: {hint}"));
}

/// Says which crumbs could not be read.
fn note_damaged(session: &Session, damaged: &[Damaged]) {
    for Damaged { path, cause, .. } in damaged {
        session.ui.note(&format!("warning: {path}: passed over: {cause}"));
    }
}

/// Reads a priority, in whatever case.
fn priority(text: &str) -> Result<Priority, String> {
    text.to_ascii_uppercase().parse().map_err(|error| format!("{error}"))
}

/// Reads a type, in whatever case.
fn crumb_type(text: &str) -> Result<CrumbType, String> {
    text.to_ascii_lowercase().parse().map_err(|error| format!("{error}"))
}

/// A crumb in one line: its id, when it was left, what it is, and how its summary begins.
fn line(session: &Session, crumb: &Crumb) -> String {
    let about = &crumb.about;
    let content = crate::memory::forward::text::parse(&crumb.text).map(|(_, content)| content);
    let summary = one_line(content.as_ref().map_or(crumb.text.as_str(), |content| content.summary.as_str()));
    let summary: String = summary.chars().take(80).collect();
    let id = session.ui.styled(ID, &crumb.id.to_string());
    let details = format!("{} {} {} {}", second(about.created), about.priority, about.crumb_type, about.status);
    format!("{id} {} {}", session.ui.styled(DIM, &details), escaped(&summary))
}

/// A time to the second.
fn second(time: Time) -> String {
    Time::from_second(time.as_second()).to_string()
}

/// Writes crumbs whole, each under a line that names it, or a line each.
fn write_crumbs(session: &mut Session, crumbs: &[Crumb], is_oneline: bool) -> Result<()> {
    session.ui.page(&session.repo)?;
    for (index, crumb) in crumbs.iter().enumerate() {
        if is_oneline {
            let line = line(session, crumb);
            writeln!(session.ui.out(), "{line}")?;
            continue;
        }
        let gap = if index == 0 { "" } else { "\n" };
        let id = session.ui.styled(ID, &crumb.id.to_string());
        writeln!(session.ui.out(), "{gap}crumb {id} ({})", crumb.about.status)?;
        session.ui.write_content(crumb.text.as_bytes())?;
        writeln!(session.ui.out())?;
    }
    Ok(())
}

/// Writes a value as JSON on many lines.
fn write_pretty(session: &mut Session, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(session.ui.write_content(text.as_bytes())?)
}
