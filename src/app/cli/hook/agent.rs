//! The hooks of agents: each event imports what is new in the session's transcript.

use std::env::{current_dir, current_exe};
use std::io::{self, Read as _};

use super::full::announce;
use crate::app::cli::{Context, Result, json};
use crate::base::process::Process;
use crate::memory::brief::{self, BriefRequest};
use crate::memory::forward::query_time;
use crate::trace::{Tip, View};
use crate::transcript::continuation::recorded_by;
use crate::transcript::format::Format;
use crate::transcript::import::hook::{self, HookInput};
use crate::transcript::import::{CompactionMode, ImportContext};

/// Most bytes of the input that are read; it is short.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// More bytes than this are imported by a background process, so that the agent does not wait.
const MAX_WAIT: u64 = 8 * 1024 * 1024;

#[derive(clap::Args, Debug)]
pub(crate) struct AgentArgs {
    /// Print the brief for a session that starts
    #[arg(long)]
    brief: bool,
    /// Finish the import before returning, however long it takes
    #[arg(long)]
    wait: bool,
    /// Finish the import without an agent that waits for it
    #[arg(long, hide = true)]
    background: bool,
}

impl AgentArgs {
    pub(crate) fn run(&self, context: &Context, format: Format) {
        // Outside of a repository, nothing is recorded, and there is no log to write to.
        let Ok(repo) = context.repo() else { return };
        if let Err(error) = self.act(context, format) {
            // If the log cannot be written either, nobody can be told.
            let _ = hook::log(repo.common_dir(), context.now(), format.as_str(), &format!("{error:#}"));
        }
    }

    fn act(&self, context: &Context, format: Format) -> Result<()> {
        let repo = context.repo()?;
        let mut input = Vec::new();
        io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input)?;
        let call = HookInput::parse(&input)?;
        if call.hook_event_name == "SessionStart" {
            return if self.brief && call.is_new_session() { print_brief(context, format) } else { Ok(()) };
        }
        if !self.wait && !self.background && hook::backlog(repo, format, &call)? > MAX_WAIT {
            let mut command = Process::new(current_exe()?);
            return Ok(command.args(["hook", format.as_str(), "--background"]).input(input.as_slice()).detach()?);
        }
        let (signature, counter) = (context.signature()?, context.counter()?);
        let compactions = CompactionMode::from_settings(repo)?;
        let imported =
            hook::import(ImportContext { repo, signature: &signature, counter, compactions }, format, &call)?;
        match imported.iter().flat_map(|imported| &imported.traces).next() {
            Some((name, report)) if report.recorded > 0 && call.ends_turn() && !self.background => {
                announce(context, name)
            }
            _ => Ok(()),
        }
    }
}

/// Prints the brief in the form that all of these agents read. It quotes the current trace only if the same agent recorded it.
fn print_brief(context: &Context, format: Format) -> Result<()> {
    let repo = context.repo()?;
    let folder = repo.worktree().map_or_else(current_dir, Ok)?;
    let mut request = BriefRequest::from_config(repo, None, &folder)?;
    let mut is_own = false;
    if let Some(name) = &request.trace
        && let Some(tip) = Tip::find(repo, name)?
    {
        is_own = recorded_by(repo, name, &View::at(repo, tip, None)?)? == Some(format);
    }
    request.trace = request.trace.filter(|_| is_own);
    let brief = brief::compile(repo, &request, query_time(repo, context.now())?).text;
    if brief.trim().is_empty() {
        return Ok(());
    }
    let output = json!({ "hookEventName": "SessionStart", "additionalContext": brief });
    context.ui.json(&json!({ "hookSpecificOutput": output }))
}
