//! `git trace brief`: what a session needs at its start.

use std::path::PathBuf;

use crate::app::cli::{Context, Result, Values};
use crate::memory::brief::{BriefRequest, compile};
use crate::memory::forward::query_time;
use crate::trace::AgentName;

/// Print what a session needs at its start, within a token budget
///
/// Use it to start a session; `forward get` and `checkpoint prime` print single parts in full.
///
/// The brief combines the agent's crumb file and forward crumbs, the current checkpoint, the inbox, the team file, the requested
/// breadcrumbs, and the end of the trace. Each has a share of the budget and may use what others leave. Rules, constraints, and
/// directives come first. The brief says how much is left out, and where it is. Inbox, team file, and imported text are marked
/// as data.
#[derive(clap::Args, Debug)]
pub(crate) struct BriefArgs {
    /// Agent to write the brief for [default: `$GITTRACE_AGENT`, or git config `trace.agent`]
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Token budget [default: git config `trace.briefBudget`, or 800]
    #[arg(long, value_name = "N")]
    budget: Option<u64>,
    /// Crumb file of the agent [default: git config `trace.briefCrumb`, or `<agent>.crumb` at the root]
    #[arg(long, value_name = "FILE")]
    crumb: Option<PathBuf>,
    /// File that all agents share [default: git config `trace.briefTeam`]
    #[arg(long, value_name = "FILE")]
    team: Option<PathBuf>,
    /// File of messages, one per line [default: git config `trace.briefInbox`]
    #[arg(long, value_name = "FILE")]
    inbox: Option<PathBuf>,
    /// Breadcrumb to include: a key, or a prefix of keys such as `auth.` [default: git config `trace.briefBreadcrumbs`]
    #[arg(long = "breadcrumb", value_name = "KEY", add = Values::Keys)]
    breadcrumbs: Vec<String>,
    /// Print JSON that lists what was left out
    #[arg(long)]
    json: bool,
}

impl BriefArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let mut request = BriefRequest::from_config(context.repo()?, self.agent.as_ref(), &context.folder()?)?;
        request.trace = Some(context.trace_name(None)?);
        request.budget = self.budget.unwrap_or(request.budget);
        request.crumb = self.crumb.clone().map(Ok).or(request.crumb);
        request.team = self.team.clone().map(Ok).or(request.team);
        request.inbox = self.inbox.clone().map(Ok).or(request.inbox);
        if !self.breadcrumbs.is_empty() {
            request.breadcrumbs.clone_from(&self.breadcrumbs);
        }
        let brief = compile(context.repo()?, &request, query_time(context.repo()?, context.now())?);
        for warning in &brief.warnings {
            context.ui.note(format!("warning: {warning}"));
        }
        if self.json {
            return context.ui.json(&brief.to_json(&request));
        }
        if brief.text.is_empty() {
            context.ui.note(brief.empty_note());
        }
        context.ui.write_content(brief.text.as_bytes())
    }
}
